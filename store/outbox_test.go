package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/packaging/check"
	"pressbox/store/clock"
	"pressbox/voice/announce"
)

// The remaining time of an announcement survives restarts and corrections of the clock.
func TestMoved_clockChanges(t *testing.T) {
	t.Parallel()
	wall := time.Now()
	then := at(wall, "b1", time.Hour)
	const ttl = 10 * time.Minute
	for name, tt := range map[string]struct {
		boot       string
		passed, up time.Duration // on the wall clock; since the boot
		left       time.Duration
	}{
		"the server was restarted":         {"b1", time.Minute, time.Hour + time.Minute, 9 * time.Minute},
		"the clock was set 50 years ahead": {"b1", 50 * 365 * 24 * time.Hour, time.Hour + time.Minute, 9 * time.Minute},
		"the clock was set back":           {"b1", -24 * time.Hour, time.Hour + time.Minute, 9 * time.Minute},
		"the host was restarted":           {"b2", 4 * time.Minute, 10 * time.Second, 6 * time.Minute},
		"an hour without power":            {"b2", time.Hour, 10 * time.Second, -50 * time.Minute},
		"the clock was lost":               {"b2", -24 * time.Hour, 10 * time.Second, ttl},
	} {
		now := at(wall.Add(tt.passed), tt.boot, tt.up)
		got := moved(wall.Add(ttl), then, now)
		check.Equal(t, got.Sub(now.Wall), tt.left, "%s: left", name)
		check.Equal(t, got != got.Round(0), tt.boot == "b1", "%s: monotonic reading", name)
	}
}

// stopClock replaces the clock of s by the returned moment.
func stopClock(s *Store) *clock.Moment {
	present := s.now()
	s.now = func() clock.Moment { return present }
	return &present
}

// waiting returns an announcement that waits for a minute.
func waiting(now time.Time) announce.Announcement {
	return announce.Announcement{
		ID: "a", Seq: 1, Content: announce.Content{Message: "a"}, Created: now, Expires: now.Add(time.Minute),
		Status: announce.Queued,
	}
}

func appendOne(t *testing.T, s *Store, n announce.Announcement) {
	t.Helper()
	_, _, err := s.Append(t.Context(), n, announce.IdempotencyKey{})
	check.NoError(t, err)
}

// load returns the one announcement of a store.
func load(t *testing.T, s *Store) announce.Announcement {
	t.Helper()
	all, _, err := s.Load(t.Context())
	check.Require(t, err == nil && len(all) == 1, "load: %v, %v", all, err)
	return all[0]
}

func TestLoad_movesExpiry(t *testing.T) {
	s := NewForTest(t, Options{})
	present := stopClock(s)
	appendOne(t, s, waiting(present.Wall))
	present.Wall, present.Since = present.Wall.Add(1000*time.Hour), present.Since+time.Second
	left := load(t, s).Expires.Sub(present.Wall)
	check.Equal(t, left, 59*time.Second, "left after a second in which the clock was set")
}

// updated appends an announcement, changes it after a first correction of the clock, as one that waits for its
// next repetition, and returns it as it is loaded after a second one.
func updated(
	t *testing.T, s *Store, present *clock.Moment, n announce.Announcement, by [2]time.Duration,
) announce.Announcement {
	t.Helper()
	appendOne(t, s, n)
	*present = at(present.Wall.Add(by[0]), present.Boot, present.Since+time.Minute)
	n.Spoken++
	if !n.FixedTime {
		n.At, n.Expires = present.Wall.Add(time.Minute), present.Wall.Add(2*time.Minute)
	}
	check.NoError(t, s.Update(t.Context(), n))
	*present = at(present.Wall.Add(by[1]), present.Boot, present.Since+10*time.Second)
	got := load(t, s)
	check.Require(t, got.Spoken == n.Spoken, "loaded %+v", got)
	return got
}

// The time until the next repetition survives corrections of the clock before and
// after it was saved; a time of day is not moved by them.
func TestUpdate_clockChanges(t *testing.T) {
	t.Parallel()
	const far = 1000 * time.Hour
	for n := range 9 {
		by := [2]time.Duration{
			[]time.Duration{time.Minute, far, -far}[n/3], []time.Duration{10 * time.Second, far, -far}[n%3],
		}
		s := OpenForTest(t, "", Options{})
		present := stopClock(s)
		n := waiting(present.Wall)
		n.Repeat = announce.Repeat{Times: 3, Every: time.Minute}
		got := updated(t, s, present, n, by)
		next, left := got.At.Sub(present.Wall), got.Expires.Sub(present.Wall)
		check.That(t, next == 50*time.Second && left == 110*time.Second,
			"clock changed by %s: next in %s, expires in %s; want 50s, 1m50s", by, next, left)
		s = OpenForTest(t, "", Options{})
		present = stopClock(s)
		n.FixedTime = true
		n.At, n.Expires = present.Wall.Add(time.Hour).Round(0), present.Wall.Add(2*time.Hour).Round(0)
		got = updated(t, s, present, n, by)
		check.That(t, got.At.Equal(n.At) && got.Expires.Equal(n.Expires),
			"clock changed by %s: a time of day became %s to %s", by, got.At, got.Expires)
	}
}

// An announcement that has ended is not changed any more.
func TestUpdate_ended(t *testing.T) {
	s := NewForTest(t, Options{})
	n := waiting(time.Now())
	appendOne(t, s, n)
	end := n
	end.Status, end.Ended = announce.Done, time.Now()
	check.NoError(t, s.Done(t.Context(), end))
	check.NoError(t, s.Update(t.Context(), n))
	all, ended, err := s.Load(t.Context())
	check.That(t, err == nil && len(all) == 0 && len(ended) == 1,
		"%d wait, %d have ended, %v", len(all), len(ended), err)
}

// Scheduled announcements leave half of the share to those that are spoken soon.
func TestAppend_scheduledShare(t *testing.T) {
	s := NewForTest(t, Options{MaxSize: 8 << 20})
	post := func(seq uint64, change func(*announce.Announcement)) error {
		n := waiting(time.Now())
		n.ID, n.Seq, n.Message = fmt.Sprint(seq), seq, largest
		change(&n)
		_, _, err := s.Append(t.Context(), n, announce.IdempotencyKey{})
		return err
	}
	kinds := []func(*announce.Announcement){
		func(n *announce.Announcement) { n.At = time.Now().Add(time.Hour) },
		func(n *announce.Announcement) { n.Repeat.Times = 2 },
		func(n *announce.Announcement) { n.Status = announce.Scheduled },
	}
	seq, err := uint64(0), error(nil)
	for err == nil {
		seq++
		err = post(seq, kinds[seq%3])
	}
	check.Require(t, errors.Is(err, announce.ErrScheduleFull) && seq >= 20, "announcement %d: %v", seq, err)
	soon := func(*announce.Announcement) {}
	for range seq / 2 { // ended ones have the rest
		seq++
		check.NoError(t, post(seq, soon))
	}
	check.ErrorIs(t, post(seq+1, kinds[0]), announce.ErrScheduleFull, "one more scheduled")
	checkUsage(t, s)
}

// The count of ended announcements is right when one ends twice.
func TestDone_count(t *testing.T) {
	s := NewForTest(t, Options{})
	n := waiting(time.Now())
	n.Status, n.Ended = announce.Done, n.Created
	for seq := range uint64(250) {
		n.Seq = seq
		check.NoError(t, s.Done(t.Context(), n, n))
	}
	look(t, s, func(tx *bolt.Tx) {
		check.Equal(t, tx.Bucket(endedBucket).Sequence(), 250, "the count")
	})
	check.Equal(t, count(t, s, endedBucket), 250, "stored, as they are not a day old")
}
