package live_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// wantClock checks the time left for Ann's decision; -1: no clock runs.
func (r *rig) wantClock(what string, want int64) {
	r.Helper()
	left := int64(-1)
	if c := r.get(ann).Clock; c != nil {
		left = c.LeftMS
	}
	check.Equal(r, left, want, "%s: ms are left", what)
}

// With a clock, a side that has not decided in time decides by default. The clock runs only while a manager is
// connected.
func TestClock_decidesByDefault(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		rev := r.get(ann).Revision
		pass(time.Hour)
		if now := r.get(ann); now.Revision != rev || now.Clock != nil {
			r.Errorf("without managers the game went from %d to %d, clock %+v", rev, now.Revision, now.Clock)
		}
		a, b := r.watchBoth()
		c := r.get(bob).Clock
		check.Require(r, c != nil && c.LeftMS == 30_000 && c.Side == game.Away, "Bob's clock: %+v", c)
		pass(29 * time.Second)
		r.do(ann, "Pitch around")
		if now := r.get(bob); now.Revision != rev+1 || now.Clock.LeftMS != 1000 {
			r.Errorf("after 29 s at %d, clock %+v", now.Revision, now.Clock)
		}
		pass(time.Second)
		kinds := b.kinds()[rev:]
		check.That(r, kinds[0] == "skip" && kinds[1] == "clock" && (kinds[2] == "play" || kinds[2] == "question"),
			"Bob received %v", kinds)
		for n := 0; r.get(ann).Status == protocol.Active; n++ {
			check.Require(r, n <= 2000, "the clock does not play the game to its end")
			pass(30 * time.Second)
		}
		checkContiguous(r, a.received("event", "skip"), 1, r.get(ann).Revision)
	}, turnSeconds(30), innings(3))
}

// Each decision has the whole time, whatever was left of the one before, or of a pause during it.
func TestClock_wholeTimeForEachDecision(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		a := r.watch(ann, 0)
		for n := range 5 {
			pass(20 * time.Second)
			if n > 2 {
				r.do(ann, "Pause")
				r.do(ann, "Resume")
			}
			r.decide(ann)
			if c := r.get(ann).Clock; c == nil || c.LeftMS != 30_000 || *a.last("clock").Data.(*protocol.Clock) != *c {
				r.Fatalf("a new decision's clock: %+v, received %s", c, text(r, a.last("clock")))
			}
		}
		pass(10 * time.Second)
		a.leave()
		r.rejoin(a, ann, 0)
		r.wantClock("after no manager was connected", 30_000)
		a.leave()
	}, turnSeconds(30), withBot)
}

// While a game is paused nothing is decided; the clock keeps the time that is left. Either manager may resume.
func TestPause_stopsEverything(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.watchBoth()
		action := r.get(bob).Legal[0].Action
		pass(20 * time.Second)
		rev := r.do(ann, "Pause")
		now := r.get(bob)
		check.That(r, len(now.Legal) == 0 && now.Clock == nil && now.State.Paused != nil && len(now.State.Waiting) == 0,
			"paused: %s", text(r, now.State))
		for _, again := range []protocol.Action{action, {Verb: "pause"}} {
			r.wantCode(again.Verb+" while paused", r.try(bob, again), protocol.GamePaused)
		}
		pass(time.Hour)
		if now := r.get(bob).Revision; now != rev {
			r.Errorf("a paused game went from %d to %d", rev, now)
		}
		r.do(bob, "Resume")
		r.wantClock("after the pause", 10_000)
		check.NoError(r, r.try(bob, action)) // the decision that was open before the pause
	}, turnSeconds(30))
}

// A pause, or leaving and returning, does not give more time while the other side waits; but after a pause at least ten
// seconds are left.
func TestPause_givesNoTime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		_, b := r.watchBoth()
		left := int64(60_000)
		for _, want := range []int64{45_000, 30_000, 15_000, 10_000, 10_000} {
			pass(time.Duration(left-want) * time.Millisecond)
			r.do(bob, "Pause")
			b.leave()
			pass(30 * time.Second)
			r.rejoin(b, bob, 0)
			r.wantClock("while paused", -1)
			r.do(bob, "Resume")
			r.wantClock("after a pause", want)
			left = want
		}
		pass(8 * time.Second)
		b.leave()
		r.rejoin(b, bob, 0)
		r.wantClock("after Bob came back", 2000)
		rev := r.get(ann).Revision
		pass(2 * time.Second)
		now := r.get(ann).Revision
		check.That(r, now > rev+2, "when the time was up the game went from %d to %d", rev, now)
		r.wantClock("the next decision", 60_000)
		b.leave()
	}, turnSeconds(60))
}

// After a pinch hitter, the side must fill its positions before anything else is decided; the clock does so too.
func TestPinchHitter_fieldIsFilledFirst(t *testing.T) {
	t.Parallel()
	for _, seconds := range []int{0, 30} {
		inBubble(t, func(r *rig) {
			r.watchBoth()
			for _, c := range r.get(bob).Offers {
				if c.Action.Verb == "substitute" && c.Action.Subs[0].Position == game.PinchHitter {
					r.do(bob, c.Label)
					break
				}
			}
			for n := 0; r.get(ann).Half == "top"; n++ {
				if who := []protocol.Person{ann, bob}[n%2]; len(r.get(who).Legal) > 0 {
					r.decide(who)
				}
			}
			now := r.get(bob)
			check.Require(r, slices.Equal(now.State.Waiting, []game.Side{game.Away}) &&
				now.Legal[0].Action.Verb == "substitute" && len(r.get(ann).Legal) == 0,
				"with an empty position: waits for %v, Bob may %s", now.State.Waiting, text(r, now.Legal))
			r.wantCode("Ann decides", r.try(ann, protocol.Action{Verb: "offense", Call: "swing"}),
				protocol.IllegalAction)
			r.wantCode("Bob decides", r.try(bob, protocol.Action{Verb: "defense"}), protocol.IllegalAction)
			if seconds > 0 {
				pass(30 * time.Second)
			} else {
				r.do(bob, now.Legal[0].Label)
			}
			now = r.get(bob)
			check.That(r, len(now.State.Waiting) == 2 && len(now.Legal) != 0 && now.Legal[0].Group == "defense",
				"with nine in the field: waits for %v, Bob may %s", now.State.Waiting, text(r, now.Legal))
		}, turnSeconds(seconds))
	}
}

// A pending game is deleted after seven days, over a restart too; one that has started is not.
func TestPending_deletedAfterSevenDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		active := begun(t)
		r := newRig(t, active.journal)
		stop := r.run()
		r.create()
		pass(7*24*time.Hour - time.Second)
		r.get(ann)
		stop()
		r = r.reloaded(r.journal)
		defer r.run()()
		a := r.watch(ann, 0)
		r.journal.setErr(errFull)
		pass(3 * time.Second)
		r.get(ann)
		r.journal.setErr(nil)
		pass(5 * time.Second)
		r.wantCode("after seven days", second(r.Game(t.Context(), ann, r.id)), protocol.UnknownGame)
		m := a.last("bye")
		check.That(t, m != nil && m.Data == (protocol.Bye{Code: "cancelled"}), "Ann received %s", text(t, m))
		r.id = active.id
		r.get(ann)
	})
}

// A pending game is deleted after a week even if it cannot be read, or is of a newer version.
func TestPending_unreadableDeletedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := newRig(t, j)
		r.create()
		j.moves[r.id] = [][]byte{[]byte("}")}
		r = newRig(t, j)
		defer r.run()()
		var lobby watcher
		_, leave := r.WatchLobby(lobby.send)
		defer leave()
		pass(7*24*time.Hour - time.Second)
		check.That(t, len(j.summaries) == 1 && r.InMemory() == 0,
			"%d games, %d in memory", len(j.summaries), r.InMemory())
		pass(time.Hour)
		if len(j.summaries) != 0 || r.InMemory() != 0 || lobby.last("gone") == nil || r.log.String() != "" {
			t.Errorf("after a week %d games, %d in memory, the lobby received %s, logged %q",
				len(j.summaries), r.InMemory(), text(t, lobby.received()), r.log)
		}
	})
}
