package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

var errFull = errors.New("full")

// A manager who leaves is counted down; then, without a clock, the other manager may let the bot manage the side. It is
// returned when its manager comes back.
func TestAbsence_replacedAndReturned(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		a, b, tab := r.watch(ann, 0), r.watch(bob, 0), r.watch(bob, 0)
		pass(time.Hour)
		tab.leave()
		pass(0)
		p := a.presence().Away
		check.That(r, p.Online, "as Bob closes one of two tabs: %+v", p)
		b.leave()
		pass(0)
		p = a.presence().Away
		check.That(r, !p.Online && !p.Gone && p.GoneIn == 60 && !p.Since.IsZero(), "as Bob leaves: %+v", p)
		pass(59 * time.Second)
		offered := func(c protocol.Choice) bool { return c.Action.Verb == "takeover" && c.Action.Side == "away" }
		check.That(r, !slices.ContainsFunc(r.get(ann).Offers, offered), "offered after 59 s")
		pass(time.Second)
		if p := a.presence().Away; !p.Gone || p.GoneIn != 0 || !slices.ContainsFunc(r.get(ann).Offers, offered) {
			r.Errorf("after 60 s: %+v, offers %s", p, text(r, r.get(ann).Offers))
		}
		check.That(r, slices.ContainsFunc(a.last("state").Data.(*protocol.Snapshot).Offers, offered),
			"Ann did not receive the offer")
		r.do(ann, "Let the bot manage")
		rev := r.get(ann).Revision
		r.decide(ann)
		if kinds := a.kinds()[rev:]; len(kinds) == 0 || kinds[0] != "play" && kinds[0] != "question" {
			r.Errorf("with the bot for Bob, Ann received %v", kinds)
		}
		r.watch(bob, 0)
		check.Equal(r, a.lastKind(), "giveback", "when Bob returns, Ann received")
		now := r.get(bob).State
		check.That(r, !now.BotManages.Away && len(now.Waiting) != 0, "Bob's side is not returned: %s", text(r, now))
	})
}

// With a clock, the bot replaces an absent manager without being asked, but only while the other manager is present; if
// both are gone, neither the bot nor the clock plays, whoever else watches.
func TestAbsence_replacedByClock(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		a, b := r.watchBoth()
		b.leave()
		pass(61 * time.Second)
		v := r.get(ann).State.BotManages
		check.That(r, v.Away && !v.Home, "after 61 s the bot manages %+v", v)
		r.watch(carl, 0)
		a.leave()
		rev := r.get(ann).Revision
		pass(24 * time.Hour)
		if now := r.get(ann); now.Revision != rev || now.State.BotManages.Home {
			r.Errorf("with both gone the game went from %d to %d: %s", rev, now.Revision, text(r, now.State))
		}
		kind := a.lastKind()
		check.That(r, kind == "takeover", "Ann received %s last", kind)
	}, turnSeconds(600))
}

// With a clock, the bot replaces an absent manager as soon as an obstacle is gone: a pause, the other manager's
// absence, a full disk.
func TestAbsence_replacedAfterObstacle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set, remove func(*rig, *watcher)
		failures    int
	}{
		"a pause": {
			func(r *rig, _ *watcher) { r.do(ann, "Pause") },
			func(r *rig, _ *watcher) { r.do(ann, "Resume") }, 0,
		},
		"no opponent": {
			func(_ *rig, a *watcher) { a.leave() },
			func(r *rig, a *watcher) { r.rejoin(a, ann, 0) }, 0,
		},
		"a full disk": {
			func(r *rig, _ *watcher) { r.journal.setErr(errFull) },
			func(r *rig, _ *watcher) { r.journal.setErr(nil); time.Sleep(5 * time.Second) }, 7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				a, b := r.watchBoth()
				r.watch(carl, 0)
				tt.set(r, a)
				b.leave()
				pass(92 * time.Second)
				check.Require(r, !r.get(ann).State.BotManages.Away, "the bot manages already")
				tt.remove(r, a)
				pass(0)
				check.That(r, r.get(ann).State.BotManages.Away, "the bot does not manage; Ann received %v", a.kinds())
				n := strings.Count(r.log.String(), "automatic game update failed")
				check.That(r, n == tt.failures, "logged %d failures, want %d: %q", n, tt.failures, r.log)
				a.leave()
			}, turnSeconds(600))
		})
	}
}

// What is due while Run ends is not logged as an error.
func TestRun_endIsNoError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begun(t, turnSeconds(30))
		ctx, cancel := context.WithCancel(t.Context())
		appended := false
		r.journal.before = func(live.Change) error {
			appended = true
			cancel()
			return nil
		}
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		r.watch(ann, 0)
		pass(30 * time.Second)
		if err := <-done; err != nil || r.log.String() != "" || !appended {
			t.Errorf("Run: %v, logged %q, journal used %v", err, r.log, appended)
		}
	})
}
