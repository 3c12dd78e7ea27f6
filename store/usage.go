package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// A share is a part of the store that only one kind of data can use.
type share int

// The shares, in the order in which they lose room when the file is fragmented:
// the last one first.
const (
	announcementsShare share = iota
	signInShare
	gamesShare
	cachesShare
	shareCount
)

func (s share) String() string {
	return [...]string{"announcements", "sign-in", "games", "caches"}[s]
}

// A bucketRow describes a bucket. A store has exactly those with a row, and meta and usage.
type bucketRow struct {
	name  []byte
	share share
	// account: an account or what it needs to sign in. These use at most half of
	// their share, so that those who have an account can go on to sign in.
	account bool
}

// bucketRows returns the rows of all buckets with data, each with its bound; meta and
// usage have a fixed size.
func bucketRows() []bucketRow {
	return []bucketRow{
		// QUEUE_MAX_SIZE + 12, and 200 planned ones, in half of the share
		{waitingBucket, announcementsShare, false},
		{endedBucket, announcementsShare, false}, // 4 MiB, half of the share; 24 h or the last 200
		// 1,000 for each sender; 10,000 or 1/32 of the file; 24 h
		{keysBucket, announcementsShare, false},
		{keysBySeqBucket, announcementsShare, false},
		// a quarter of the share; 50 favorites, 100 schedules, single keys
		{controlsBucket, announcementsShare, false},
		{flowBucket, signInShare, false}, // 256 pending flows, 1/16 of the share
		{flowOrderBucket, signInShare, false},
		{[]byte("auth_access"), signInShare, false},  // 1 h; with the next one, 5 for each session
		{[]byte("auth_refresh"), signInShare, false}, // 7 days
		{[]byte("auth_session"), signInShare, false}, // 32 and 1/16 of the share for each account; 7 days without use
		{[]byte("auth_user"), signInShare, true},     // with the next two, half of the share
		{[]byte("auth_identity"), signInShare, true},
		{[]byte("auth_local"), signInShare, true},
		{[]byte("auth_apitoken"), signInShare, false}, // 100
		{[]byte("auth_invite"), signInShare, false},   // 100; 7 days
		{[]byte("auth_guest"), signInShare, false},    // 4 a game; an hour
		{adminCodeBucket, signInShare, false},         // one key
		{bootBucket, signInShare, false},              // the last boots
		{bootOrderBucket, signInShare, false},
		{summariesBucket, gamesShare, false}, // with the next three, one for each game, see [live.Games]
		{movesBucket, gamesShare, false},
		{packsBucket, gamesShare, false},
		{boxesBucket, gamesShare, false},
		{seasonsBucket, gamesShare, false},       // 50, by the administrator alone
		{lineupsBucket, gamesShare, false},       // of 500 accounts, 20 of 2 KiB each, see [live.Shelf]
		{leaguesBucket, gamesShare, false},       // 100 of at most 64 KiB, see [leagues.Leagues]
		{idpCacheBucket, cachesShare, false},     // one for each document of the provider
		{calibrationsBucket, cachesShare, false}, // one for each voice that was installed
		{teamDataBucket, cachesShare, false},     // deleted when the share is full
		{duckedBucket, cachesShare, false},       // one key, 128 KiB
	}
}

// mostAnnouncements is the largest share of announcements, in bytes: more than
// QUEUE_MAX_SIZE 1,000 of the longest, with the ended ones and the keys.
const mostAnnouncements = 64 << 20

// limit returns the bytes that a share can use. All shares together are what a
// new store can hold above the reserve.
func (s *Store) limit(sh share) int64 {
	usable := max(0, Stats{Max: s.maxSize}.left()-Stats{Max: s.maxSize}.reserve())
	announcements := min(usable*3/8, mostAnnouncements)
	switch sh {
	case announcementsShare:
		return announcements
	case gamesShare:
		return usable - announcements - 2*(usable/8)
	default:
		return usable / 8
	}
}

// entryCost returns the bytes of the file that an entry takes at most: pages are
// split in halves, between entries, and a long entry wastes at most half a page.
func entryCost(key, value int) int64 {
	const header = 16
	n := int64(header + key + value)
	return n + min(n*3/2, pageSize/2)
}

// A table is a bucket whose size is counted in the bucket of usage.
type table struct {
	*bolt.Bucket
	name  []byte
	usage *bolt.Bucket
}

func tableOf(tx *bolt.Tx, name []byte) table {
	return table{tx.Bucket(name), name, tx.Bucket(usageBucket)}
}

// Put writes an entry.
func (t table) Put(key, value []byte) error {
	cost := entryCost(len(key), len(value))
	if old := t.Get(key); old != nil {
		cost -= entryCost(len(key), len(old))
	}
	if err := t.Bucket.Put(key, value); err != nil {
		return err
	}
	return t.count(cost)
}

// Delete deletes an entry, if it exists.
func (t table) Delete(key []byte) error {
	old := t.Get(key)
	if old == nil {
		return nil
	}
	cost := entryCost(len(key), len(old))
	if err := t.Bucket.Delete(key); err != nil {
		return err
	}
	return t.count(-cost)
}

// bytes returns the counted size of the table.
func (t table) bytes() int64 { return usageOf(t.usage, t.name) }

// count adds to the counted size of the table.
func (t table) count(bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return t.usage.Put(t.name, number(uint64(max(0, usageOf(t.usage, t.name)+bytes))))
}

func usageOf(usage *bolt.Bucket, name []byte) int64 {
	if v := usage.Get(name); len(v) == 8 {
		return int64(binary.BigEndian.Uint64(v)) //nolint:gosec // written by count
	}
	return 0
}

// subBucketCost returns the bytes of the file that a bucket in a bucket takes at
// most.
func subBucketCost(key []byte, b *bolt.Bucket) int64 {
	const header = 32 // of the bucket, and of an empty page in it
	cost := entryCost(len(key), header)
	for k, v := range pairs(b) {
		cost += entryCost(len(k), len(v))
	}
	if cost > entryCost(len(key), header) {
		cost += pageSize
	}
	return cost
}

// used returns the counted size of a share, and of the accounts in it.
func used(tx *bolt.Tx, sh share) (all, accounts int64) {
	usage := tx.Bucket(usageBucket)
	for _, row := range bucketRows() {
		if row.share != sh {
			continue
		}
		size := usageOf(usage, row.name)
		all += size
		if row.account {
			accounts += size
		}
	}
	return all, accounts
}

// grow is [Store.update] for changes that may be rejected: it returns [ErrFull],
// and changes nothing, if fn makes its share larger while the share or the file is
// full.
func (s *Store) grow(ctx context.Context, sh share, fn func(*bolt.Tx) error) error {
	return s.growLeaving(ctx, sh, func(tx *bolt.Tx) (int64, error) { return 0, fn(tx) })
}

// growLeaving is [Store.grow] for an fn that returns how many bytes of the share are to be left.
func (s *Store) growLeaving(ctx context.Context, sh share, fn func(*bolt.Tx) (leave int64, err error)) error {
	short := s.checkSpace(sh)
	if short != nil && !errors.Is(short, ErrFull) {
		return short
	}
	return s.update(ctx, func(tx *bolt.Tx) error {
		before, accountsBefore := used(tx, sh)
		leave, err := fn(tx)
		if err != nil {
			return err
		}
		after, accounts := used(tx, sh)
		limit := s.limit(sh)
		if after > before && short != nil {
			return short
		}
		if after > before && after > limit-leave {
			return fmt.Errorf("%w: %s would use %d of %d bytes", ErrFull, sh, after, limit-leave)
		}
		if accounts > accountsBefore && accounts > limit/2 {
			return fmt.Errorf("%w: accounts would use %d of %d bytes", ErrFull, accounts, limit/2)
		}
		return nil
	})
}

// checkSpace returns [ErrFull] if the file has only the reserve left and what the
// shares before sh have not used. The reserve is for writes that must succeed,
// such as the end of an announcement.
func (s *Store) checkSpace(sh share) error {
	st, err := s.Stats()
	if err != nil {
		return err
	}
	others := int64(0)
	for _, other := range st.Shares[:sh] {
		others += max(0, other.Max-other.Used)
	}
	if st.left() < st.reserve()+others {
		return fmt.Errorf("%w: %d of %d bytes are used", ErrFull, st.Size-st.Free, st.Max)
	}
	return nil
}

// recount corrects the counted sizes that are wrong, and logs them: a share with
// a wrong one could be full for ever.
func (s *Store) recount() error {
	right := true
	err := s.view(func(tx *bolt.Tx) error {
		return miscounted(tx, func([]byte, int64, int64) error {
			right = false
			return nil
		})
	})
	if err == nil && !right {
		err = s.update(context.Background(), func(tx *bolt.Tx) error {
			usage := tx.Bucket(usageBucket)
			return miscounted(tx, func(name []byte, counted, size int64) error {
				s.log.Error("size of a bucket counted wrongly",
					"bucket", string(name), "counted", counted, "size", size)
				return usage.Put(name, number(uint64(size))) //nolint:gosec // not negative
			})
		})
	}
	return wrapped(err, "count the sizes of the buckets")
}

// miscounted calls visit for each bucket whose counted size is wrong.
func miscounted(tx *bolt.Tx, visit func(name []byte, counted, size int64) error) error {
	for _, row := range bucketRows() {
		t := tableOf(tx, row.name)
		if counted, size := t.bytes(), sizeOf(t.Bucket); counted != size {
			if err := visit(row.name, counted, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizeOf returns the bytes of the file that a bucket takes at most.
func sizeOf(b *bolt.Bucket) (size int64) {
	for k, v := range pairs(b) {
		if v == nil {
			size += subBucketCost(k, b.Bucket(k))
		} else {
			size += entryCost(len(k), len(v))
		}
	}
	return size
}
