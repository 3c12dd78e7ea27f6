package store

import (
	"fmt"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/clock"
	"pressbox/voice/announce"
)

func TestTheTimeThatIsLeftSurvivesTheClock(t *testing.T) {
	t.Parallel()
	wall := time.Now()
	then := at(wall, "b1", time.Hour)
	after := func(boot string, onTheWall, up time.Duration) clock.Moment {
		return at(wall.Add(onTheWall), boot, up)
	}
	const ttl = 10 * time.Minute
	for _, tt := range []struct {
		name string
		now  clock.Moment
		left time.Duration
	}{
		{"the daemon was restarted", after("b1", time.Minute, time.Hour+time.Minute), 9 * time.Minute},
		{"the clock was set 50 years ahead", after("b1", 50*365*24*time.Hour, time.Hour+time.Minute), 9 * time.Minute},
		{"the clock was set back", after("b1", -24*time.Hour, time.Hour+time.Minute), 9 * time.Minute},
		{"the machine was restarted", after("b2", 4*time.Minute, 10*time.Second), 6 * time.Minute},
		{"an hour without power", after("b2", time.Hour, 10*time.Second), -50 * time.Minute},
		{"the machine forgot the time", after("b2", -24*time.Hour, 10*time.Second), ttl},
	} {
		n := announce.Announcement{Created: wall, Expires: wall.Add(ttl)}
		at := expiry(n, then, tt.now)
		if left := at.Sub(tt.now.Wall); left != tt.left {
			t.Errorf("%s: %s are left, want %s", tt.name, left, tt.left)
		}
		if sameBoot, goesOn := tt.now.Boot == "b1", at != at.Round(0); goesOn != sameBoot {
			t.Errorf("%s: the time that is left goes on whatever the clock says: %v, want %v", tt.name, goesOn, sameBoot)
		}
	}
}

func TestLoadMovesExpiryWithTheClock(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	present := s.now()
	s.now = func() clock.Moment { return present }
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
		t.Errorf("%s are left after a second in which the clock was set, want 59s", left)
	}
}

func TestOldKeysAreForgottenAndUsedAnew(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	present := s.now()
	s.now = func() clock.Moment { return present }
	seq := uint64(0)
	keep := func(key string) (first string, fresh bool) {
		t.Helper()
		seq++
		n := announce.Announcement{ID: fmt.Sprint(key, seq), Seq: seq, Message: "a", Created: present.Wall, Status: announce.Queued}
		got, fresh, err := s.Append(t.Context(), n, announce.IdempotencyKey{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return got.ID, fresh
	}
	pass := func(d time.Duration) {
		present.Wall, present.Since = present.Wall.Add(d), present.Since+d
	}
	for i := range 30 { // more than one call forgets
		keep(fmt.Sprint("b", i))
	}
	pass(1)
	keep("a")
	pass(announce.KeyRetention - 1)
	if id, fresh := keep("a"); fresh || id != "a31" {
		t.Errorf("within the day the key gave %s, fresh %v, want a31", id, fresh)
	}
	pass(1)
	if id, fresh := keep("a"); !fresh {
		t.Errorf("after a day the key gave %s, want a new one", id)
	}
	for i := range 4 {
		keep(fmt.Sprint("c", i))
	}
	if got := count(t, s, keysBucket); got != 5 {
		t.Errorf("%d keys are remembered, want a and the four c", got)
	}
	if got := count(t, s, keysByAgeBucket); got != 5 {
		t.Errorf("%d keys are in the index, want 5", got)
	}
	if id, fresh := keep("a"); fresh || id != "a33" {
		t.Errorf("the key that was used anew gave %s, fresh %v, want a33", id, fresh)
	}
}

func TestTheEndedAreCountedOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	n := announce.Announcement{ID: "a", Message: "a", Created: time.Now(), Ended: time.Now(), Status: announce.Done}
	for seq := range uint64(250) {
		n.Seq = seq
		if err := s.Done(t.Context(), n, n); err != nil {
			t.Fatal(err)
		}
	}
	err := s.view(func(tx *bolt.Tx) error {
		if got := tx.Bucket(endedBucket).Sequence(); got != 250 {
			t.Errorf("%d are counted, want 250", got)
		}
		return nil
	})
	if got := count(t, s, endedBucket); got != 250 || err != nil {
		t.Errorf("%d are there, %v, want 250: they are not a day old", got, err)
	}
}

// at returns a moment.
func at(wall time.Time, boot string, since time.Duration) clock.Moment {
	return clock.Moment{Wall: wall, Instant: clock.Instant{Boot: boot, Since: since}}
}
