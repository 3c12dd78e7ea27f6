package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/store/clock"
	"pressbox/voice/announce"
)

// Find returns the announcement that was accepted with a key in the last 24
// hours; see announcer.Outbox.
func (s *Store) Find(ctx context.Context, key announce.IdempotencyKey) (earlier announce.Accepted, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return announce.Accepted{}, false, err
	}
	now := s.now()
	err = s.view(func(tx *bolt.Tx) (err error) {
		earlier, ok, err = keysOf(tx).find(key, now)
		return err
	})
	if err != nil {
		return announce.Accepted{}, false, fmt.Errorf("look up an idempotency key: %w", err)
	}
	return earlier, ok, nil
}

// Append saves an announcement and its idempotency key, if it has one; see
// [announcer.Outbox].
func (s *Store) Append(
	ctx context.Context, n announce.Announcement, key announce.IdempotencyKey,
) (stored announce.Accepted, fresh bool, err error) {
	now := s.now()
	value, err := encode(n, now)
	if err != nil {
		return announce.Accepted{}, false, err
	}
	accepted := announce.Accepted{ID: n.ID, Status: n.Status}
	if errors.Is(s.checkSpace(announcementsShare), ErrFull) {
		if err := s.DeleteExpired(ctx); err != nil {
			return announce.Accepted{}, false, err
		}
	}
	err = s.grow(ctx, announcementsShare, func(tx *bolt.Tx) error {
		if key.Key != "" {
			t := keysOf(tx)
			earlier, repeated, err := t.find(key, now)
			if err != nil || repeated {
				stored, fresh = earlier, false
				return err
			}
			if err := t.save(key, accepted, n.Seq, now, s.maxKeys()); err != nil {
				return err
			}
		}
		stored, fresh = accepted, true
		if err := s.checkPlanned(tx, n, value); err != nil {
			return err
		}
		if err := tableOf(tx, waitingBucket).Put(number(n.Seq), value); err != nil {
			return err
		}
		return s.deleteOldEnded(tx, now)
	})
	if err != nil {
		return announce.Accepted{}, false, fmt.Errorf("save announcement %s: %w", n.ID, err)
	}
	return stored, fresh, nil
}

// checkPlanned returns [announce.ErrScheduleFull] if the announcements that wait
// for a time or for repetitions, with the new one n, would use more than half of
// the share: the others are for those that are spoken soon.
func (s *Store) checkPlanned(tx *bolt.Tx, n announce.Announcement, value []byte) error {
	size, limit := entryCost(8, len(value)), s.limit(announcementsShare)/2
	waiting := tableOf(tx, waitingBucket)
	if !planned(n) || size+waiting.bytes() <= limit {
		return nil
	}
	for _, v := range pairs(waiting.Bucket) {
		if other, _, err := decode(v); err == nil && planned(other) {
			size += entryCost(8, len(v))
		}
	}
	if size > limit {
		return fmt.Errorf("%w: they would use %d of %d bytes", announce.ErrScheduleFull, size, limit)
	}
	return nil
}

// planned reports whether an announcement is stored until a time.
func planned(n announce.Announcement) bool {
	return n.Rooms.Only || n.Status == announce.Scheduled || n.Repeat.Times > 0 || !n.At.IsZero()
}

// Done saves the ends of announcements and deletes the oldest ended ones; see
// announcer.Outbox.
func (s *Store) Done(ctx context.Context, ns ...announce.Announcement) error {
	now := s.now()
	values := make([][]byte, len(ns))
	for i, n := range ns {
		var err error
		if values[i], err = encode(n, now); err != nil {
			return err
		}
	}
	err := s.update(ctx, func(tx *bolt.Tx) error {
		for i, n := range ns {
			seq := number(n.Seq)
			if err := errors.Join(moveToEnded(tx, seq, values[i]), keysOf(tx).setStatus(seq, n.Status)); err != nil {
				return err
			}
		}
		return s.deleteOldEnded(tx, now)
	})
	return wrapped(err, "save the ends of %d announcements", len(ns))
}

// Update saves a changed announcement that has not ended; see announcer.Outbox.
func (s *Store) Update(ctx context.Context, n announce.Announcement) error {
	value, err := encodeChanged(n, s.now())
	if err != nil {
		return err
	}
	err = s.update(ctx, func(tx *bolt.Tx) error {
		waiting := tableOf(tx, waitingBucket)
		if waiting.Get(number(n.Seq)) == nil {
			return nil
		}
		return waiting.Put(number(n.Seq), value)
	})
	return wrapped(err, "save the change of announcement %s", n.ID)
}

// Load returns the waiting and the ended announcements; see announcer.Outbox. It
// logs and skips unreadable ones, which stay in the file.
func (s *Store) Load(ctx context.Context) (waiting, ended []announce.Announcement, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	now := s.now()
	err = s.view(func(tx *bolt.Tx) error {
		waiting = s.announcements(tx, waitingBucket, now)
		ended = s.announcements(tx, endedBucket, now)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the announcements: %w", err)
	}
	slices.SortStableFunc(ended, func(a, b announce.Announcement) int { return b.Ended.Compare(a.Ended) })
	return waiting, ended, nil
}

func (s *Store) announcements(tx *bolt.Tx, bucket []byte, now clock.Moment) []announce.Announcement {
	var ns []announce.Announcement
	for k, v := range pairs(tx.Bucket(bucket)) {
		n, then, err := decode(v)
		if err != nil {
			key := fmt.Sprintf("%x", k)
			s.log.Error("an announcement cannot be read", "bucket", string(bucket), "key", key, "err", err)
			continue
		}
		if (!n.Status.Ended() || n.Rooms.Open()) && !n.FixedTime {
			n.Expires = moved(n.Expires, then, now)
			if !n.At.IsZero() {
				n.At = moved(n.At, then, now)
			}
		}
		ns = append(ns, n)
	}
	return ns
}

// moved returns the time t that was to come when the clock showed then, by the
// wall clock of now. Within one boot the remaining time is known and the result
// holds also when the wall clock is set later. After another boot the wall clock
// may be set at any moment, so the result has no monotonic reading.
func moved(t time.Time, then, now clock.Moment) time.Time {
	at := now.Wall.Add(t.Sub(then.Wall) - now.Sub(then))
	if now.Boot != then.Boot {
		at = at.Round(0)
	}
	return at
}

// moveToEnded saves an announcement as ended.
func moveToEnded(tx *bolt.Tx, seq, value []byte) error {
	if err := tableOf(tx, waitingBucket).Delete(seq); err != nil {
		return err
	}
	ended := tableOf(tx, endedBucket)
	if ended.Get(seq) == nil {
		if err := ended.SetSequence(ended.Sequence() + 1); err != nil {
			return err
		}
	}
	return ended.Put(seq, value)
}

// deleteOldEnded deletes the oldest ended announcements that are evictable, or as
// many as their share needs.
func (s *Store) deleteOldEnded(tx *bolt.Tx, now clock.Moment) error {
	ended := tableOf(tx, endedBucket)
	limit := s.limit(announcementsShare)
	count := ended.Sequence()
	c := ended.Cursor()
	for k, v := c.First(); k != nil; k, v = c.First() {
		_, then, err := decode(v)
		remembered := int(count) //nolint:gosec // it counts what is in the file
		size, _ := used(tx, announcementsShare)
		over := size > limit || ended.bytes() > limit/2
		if err == nil && !over && !announce.Evictable(now.Sub(then), remembered, ended.bytes()) {
			break
		}
		if err := ended.Delete(bytes.Clone(k)); err != nil {
			return err
		}
		count--
	}
	return ended.SetSequence(count)
}
