package store

import (
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/check"
	"pressbox/clock"
	"pressbox/voice/announce"
)

// The remaining time of an announcement survives restarts and corrections of the
// clock.
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
		if left := got.Sub(now.Wall); left != tt.left {
			t.Errorf("%s: %s left, want %s", name, left, tt.left)
		}
		if monotonic := got != got.Round(0); monotonic != (tt.boot == "b1") {
			t.Errorf("%s: monotonic reading: %v, want it within one boot", name, monotonic)
		}
	}
}

// stopClock replaces the clock of s by the returned moment.
func stopClock(s *Store) *clock.Moment {
	present := s.now()
	s.now = func() clock.Moment { return present }
	return &present
}

func TestLoad_movesExpiry(t *testing.T) {
	t.Parallel()
	s := OpenForTest(t, "", Options{})
	present := stopClock(s)
	n := announce.Announcement{ID: "a", Seq: 1, Message: "a", Created: present.Wall, Expires: present.Wall.Add(time.Minute), Status: announce.Queued}
	if _, _, err := s.Append(t.Context(), n, announce.IdempotencyKey{}); err != nil {
		t.Fatal(err)
	}
	present.Wall, present.Since = present.Wall.Add(1000*time.Hour), present.Since+time.Second
	waiting, _, err := s.Load(t.Context())
	if err != nil || len(waiting) != 1 {
		t.Fatalf("load: %v, %v", waiting, err)
	}
	if left := waiting[0].Expires.Sub(present.Wall); left != 59*time.Second {
		t.Errorf("%s left after a second in which the clock was set, want 59s", left)
	}
}

// The count of ended announcements is right when one ends twice.
func TestDone_count(t *testing.T) {
	t.Parallel()
	s := OpenForTest(t, "", Options{})
	n := announce.Announcement{ID: "a", Message: "a", Created: time.Now(), Ended: time.Now(), Status: announce.Done}
	for seq := range uint64(250) {
		n.Seq = seq
		check.NoError(t, s.Done(t.Context(), n, n))
	}
	err := s.view(func(tx *bolt.Tx) error {
		if got := tx.Bucket(endedBucket).Sequence(); got != 250 {
			t.Errorf("the count is %d, want 250", got)
		}
		return nil
	})
	if got := count(t, s, endedBucket); got != 250 || err != nil {
		t.Errorf("%d are stored, %v, want 250: they are not a day old", got, err)
	}
}
