package watchdog

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// A check that hangs is reported in every round and started once.
func TestRounds_hangingCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		release := make(chan struct{})
		r := newRounds([]Component{
			{"ok", func(context.Context) error { return nil }},
			{"hangs", func(context.Context) error { calls.Add(1); <-release; return nil }},
			{"fails", func(context.Context) error { return errors.New("no progress") }},
		}, 5*time.Second)
		for range 2 {
			var names []string
			for _, f := range r.check(t.Context()) {
				names = append(names, f.name)
			}
			if !slices.Equal(names, []string{"hangs", "fails"}) || calls.Load() != 1 {
				t.Errorf("failures %v, want hangs and fails; the check that hangs was called %d times, want once",
					names, calls.Load())
			}
		}
		close(release)
		synctest.Wait()
		if failed := r.check(t.Context()); len(failed) != 1 || calls.Load() != 1 {
			t.Errorf("after the check returned: %v, called %d times", failed, calls.Load())
		}
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p Progress
		end := p.Begin()
		time.Sleep(Limit)
		p.Begin()()
		if err := p.Check(); err != nil || p.Count() != 1 {
			t.Errorf("at the limit: %v, %d ended", err, p.Count())
		}
		time.Sleep(time.Second)
		if err := p.Check(); err == nil {
			t.Error("beyond the limit there is no error")
		}
		end()
		if err := p.Check(); err != nil || p.Count() != 2 {
			t.Errorf("at the end: %v, %d ended", err, p.Count())
		}
	})
}

// The queue hangs only if announcements wait, there is an audio output, and there is no progress.
func TestQueueCheck(t *testing.T) {
	t.Parallel()
	busy := announce.Stats{Current: "a", Waiting: 1, Oldest: time.Unix(1, 0)}
	for name, tt := range map[string]struct {
		stats    func(minute int) announce.Stats
		progress func(minute int) uint64
		hangs    bool
	}{
		"no progress": {func(int) announce.Stats { return busy }, func(int) uint64 { return 7 }, true},
		"samples are written": {
			func(int) announce.Stats { return busy }, func(minute int) uint64 { return uint64(minute) }, false,
		},
		"no sink": {
			func(int) announce.Stats { s := busy; s.SinkError = audio.ErrSinkLost; return s },
			func(int) uint64 { return 7 }, false,
		},
		"no announcements": {
			func(int) announce.Stats { return announce.Stats{} }, func(int) uint64 { return 7 }, false,
		},
		"one after another": {func(minute int) announce.Stats {
			s := busy
			s.Current = string(rune('a' +
				minute))
			return s
		}, func(int) uint64 { return 7 }, false},
		"the next is not played": {
			func(int) announce.Stats { return announce.Stats{Oldest: time.Unix(1, 0)} }, func(int) uint64 { return 7 },
			true,
		},
	} {
		var q QueueCheck
		var err error
		for minute := range 4 {
			err = q.Check(time.Unix(0, 0).Add(time.Duration(minute)*time.Minute), tt.stats(minute), tt.progress(minute))
		}
		check.That(t, (err != nil) == tt.hangs, "%s: %v", name, err)
	}
	var q QueueCheck
	for _, after := range []time.Duration{0, Limit, Limit + time.Second} {
		if err := q.Check(time.Unix(0, 0).Add(after), busy, 7); (err != nil) != (after > Limit) {
			t.Errorf("after %v without progress: %v", after, err)
		}
	}
}
