package live_test

import (
	"slices"
	"testing"
	"time"

	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// mayEnd reports whether who is offered to end the game, and checks that the command is refused if not.
func (r *rig) mayEnd(who protocol.Person) bool {
	r.Helper()
	offered := slices.ContainsFunc(r.get(who).Offers,
		func(c protocol.Choice) bool { return c.Action.Verb == protocol.DoEnd })
	if !offered {
		r.wantCode("ending a game that the other has not left", r.try(who, protocol.Action{Verb: protocol.DoEnd}),
			protocol.IllegalAction)
	}
	return offered
}

// halves returns the half-innings that have ended.
func (r *rig) halves() int {
	r.Helper()
	s := r.get(ann).State
	return 2*(s.Inning-1) + int(s.Half)
}

// A manager who lets the clock decide for three innings has left: the other may end the game, and wins by forfeit.
func TestLeft_threeInnings(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.watchBoth()
		for n := 0; r.halves() < 6; n++ {
			check.Require(r, !r.mayEnd(ann) && n <= 500, "offered after %d half-innings", r.halves())
			if len(r.get(ann).Legal) > 0 {
				r.decide(ann)
			}
			pass(30 * time.Second)
		}
		check.Require(r, !r.mayEnd(bob) && r.mayEnd(ann), "after three innings: not offered to Ann, or to Bob")
		r.do(ann, "End the game")
		g := r.get(ann)
		check.That(r, g.Status == protocol.Finished && *g.Result == (protocol.Result{Winner: "home", How: "forfeit"}),
			"ended: %s, %+v", g.Status, g.Result)
		again := r.reloaded(r.journal).get(ann)
		check.That(r, text(r, again.Result) == text(r, g.Result), "loaded again: %+v", again.Result)
	}, turnSeconds(30))
}

// One decision in three innings is enough to stay.
func TestLeft_oneDecision(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.watchBoth()
		decided := false
		for r.halves() < 8 {
			if r.halves() == 3 && !decided {
				r.decide(bob)
				decided = true
			}
			check.Require(r, !r.mayEnd(ann), "offered after %d half-innings", r.halves())
			if len(r.get(ann).Legal) > 0 {
				r.decide(ann)
			}
			pass(30 * time.Second)
		}
	}, turnSeconds(30))
}

// If neither decides, neither has left; nor has a manager whose side the bot manages by request.
func TestLeft_neither(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.watchBoth()
		for r.halves() < 7 {
			pass(30 * time.Second)
		}
		check.That(r, !r.mayEnd(ann) && !r.mayEnd(bob), "offered, and neither has decided anything")
	}, turnSeconds(30))
	inBubble(t, func(r *rig) {
		r.do(bob, "Let the bot manage for you")
		for r.halves() < 7 {
			r.decide(ann)
		}
		check.That(r, !r.mayEnd(ann), "offered, and the bot manages for Bob")
	})
}

// Without a clock, a manager who is absent and has decided nothing for a day has left.
func TestLeft_aDay(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		_, b := r.watchBoth()
		r.decide(bob)
		pass(24*time.Hour - time.Second)
		check.That(r, !r.mayEnd(ann), "offered after a second less than a day")
		pass(time.Second)
		check.That(r, !r.mayEnd(ann), "offered while Bob is connected")
		b.leave()
		pass(61 * time.Second)
		check.That(r, r.mayEnd(ann), "not offered after a day")
	})
}

// Against oneself and against the bot there is no other manager who could leave.
func TestLeft_noOther(t *testing.T) {
	t.Parallel()
	for _, o := range []option{hotSeat, withBot} {
		inBubble(t, func(r *rig) {
			for r.halves() < 7 {
				r.decide(ann)
			}
			pass(25 * time.Hour)
			check.That(r, !r.mayEnd(ann), "offered")
		}, o)
	}
}
