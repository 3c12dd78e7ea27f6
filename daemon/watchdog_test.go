package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
)

func TestAPartThatDoesNotAnswerIsNamedAndAskedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		release := make(chan struct{})
		r := newRounds([]part{
			{"well", func(context.Context) error { return nil }},
			{"deaf", func(context.Context) error { asked.Add(1); <-release; return nil }},
			{"ill", func(context.Context) error { return errors.New("no progress") }},
		}, 5*time.Second)
		for range 2 {
			var names []string
			for _, f := range r.ask(t.Context()) {
				names = append(names, f.name)
			}
			if !slices.Equal(names, []string{"deaf", "ill"}) || asked.Load() != 1 {
				t.Errorf("%v hang, want deaf and ill; the deaf one was asked %d times, want once", names, asked.Load())
			}
		}
		close(release)
		synctest.Wait()
		if failed := r.ask(t.Context()); len(failed) != 1 || asked.Load() != 1 {
			t.Errorf("after it answered at last: %v, asked %d times", failed, asked.Load())
		}
	})
}

func TestWorkThatTakesTooLongIsStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p progress
		end := p.begin()
		time.Sleep(unmoved)
		p.begin()()
		if err := p.stuck(); err != nil || p.count() != 1 {
			t.Errorf("at the limit: %v, %d done", err, p.count())
		}
		time.Sleep(time.Second)
		if err := p.stuck(); err == nil {
			t.Error("beyond the limit it is not stuck")
		}
		end()
		if err := p.stuck(); err != nil || p.count() != 2 {
			t.Errorf("when it is done: %v, %d done", err, p.count())
		}
	})
}

// The queue hangs only when there is something to say, something to say it on,
// and nothing moves.
func TestTheQueueHangsWhenNothingMoves(t *testing.T) {
	t.Parallel()
	busy := announce.Stats{Current: "a", Waiting: 1, Oldest: time.Unix(1, 0)}
	for name, tt := range map[string]struct {
		stats func(minute int) announce.Stats
		moved func(minute int) uint64
		hangs bool
	}{
		"nothing moves":         {func(int) announce.Stats { return busy }, func(int) uint64 { return 7 }, true},
		"samples are written":   {func(int) announce.Stats { return busy }, func(minute int) uint64 { return uint64(minute) }, false},
		"there is no sink":      {func(int) announce.Stats { s := busy; s.SinkError = audio.ErrSinkLost; return s }, func(int) uint64 { return 7 }, false},
		"there is nothing":      {func(int) announce.Stats { return announce.Stats{} }, func(int) uint64 { return 7 }, false},
		"one after another":     {func(minute int) announce.Stats { s := busy; s.Current = string(rune('a' + minute)); return s }, func(int) uint64 { return 7 }, false},
		"nobody takes the next": {func(int) announce.Stats { return announce.Stats{Oldest: time.Unix(1, 0)} }, func(int) uint64 { return 7 }, true},
	} {
		var q queueWatch
		var err error
		for minute := range 4 {
			err = q.check(time.Unix(0, 0).Add(time.Duration(minute)*time.Minute), tt.stats(minute), tt.moved(minute))
		}
		if (err != nil) != tt.hangs {
			t.Errorf("%s: %v", name, err)
		}
	}
	var q queueWatch
	for _, after := range []time.Duration{0, unmoved, unmoved + time.Second} {
		if err := q.check(time.Unix(0, 0).Add(after), busy, 7); (err != nil) != (after > unmoved) {
			t.Errorf("after %v without progress: %v", after, err)
		}
	}
}
