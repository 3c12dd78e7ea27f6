package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/live"
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
		r.wantCode("after seven days", check.Err(r.Game(t.Context(), ann, r.id)), protocol.UnknownGame)
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
		"no opponent": {func(_ *rig, a *watcher) { a.leave() }, func(r *rig, a *watcher) { r.rejoin(a, ann, 0) }, 0},
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

// Who may be away for a whole day: an open game by default, and any with more than an hour for each decision.
func TestCorrespondence_default(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	for _, tt := range []struct {
		change  option
		seconds int
	}{
		{func(*protocol.Options) {}, 86_400},
		{withBot, 0},
		{hotSeat, 0},
		{turnSeconds(0), 0},
		{turnSeconds(60), 60},
		{turnSeconds(86_400), 86_400},
	} {
		q := protocol.Request{HomeTeam: "BWH", AwayTeam: "CPR", Options: protocol.Defaults()}
		tt.change(&q.Options)
		g := check.Must(r.Create(t.Context(), ann, q))(t)
		check.Equal(t, g.Options.TurnSeconds, tt.seconds, "seconds for a decision")
		check.Equal(t, g.Options.ByCorrespondence(), tt.seconds > 3600, "by correspondence")
	}
	check.That(t, !(&protocol.Options{TurnSeconds: 3600}).ByCorrespondence(), "an hour is by correspondence")
	check.That(t, (&protocol.Options{TurnSeconds: 3601}).ByCorrespondence(), "more than an hour is not")
}

// By correspondence nothing is decided when the time is over, with or without the managers; the one who has called
// may claim the game then.
func TestCorrespondence_claim(t *testing.T) {
	t.Parallel()
	claim := protocol.Action{Verb: protocol.DoClaim}
	offered := func(c protocol.Choice) bool { return c.Action.Verb == protocol.DoClaim }
	inBubble(t, func(r *rig) {
		a, b := r.watchBoth()
		begun := r.get(ann)
		check.That(r, begun.Clock != nil && begun.Clock.LeftMS > 7000_000, "the clock is %+v", begun.Clock)
		b.leave()
		pass(time.Hour)
		p := a.presence().Away
		check.That(r, !p.Online && !p.Gone && p.GoneIn == 0, "Bob is %+v", p)
		check.That(r, r.try(ann, protocol.Action{Verb: protocol.DoTakeover, Side: "away", On: new(true)}) != nil,
			"Bob, who may be away, was replaced")
		a.leave()
		r.decide(ann)
		pass(time.Hour - time.Second)
		a = r.watch(ann, 0)
		check.That(r, r.try(ann, claim) != nil && !slices.ContainsFunc(r.get(ann).Offers, offered), "claimed too early")
		pass(2 * time.Second)
		check.Equal(r, r.get(ann).State.Decision, begun.State.Decision, "the decision after the time was over")
		last, ok := a.last("state").Data.(*protocol.Snapshot)
		check.That(r, ok && slices.ContainsFunc(last.Offers, offered), "Ann was not offered to claim the game")
		check.That(r, r.try(bob, claim) != nil, "Bob, who is late, claimed the game")
		again := r.reloaded(r.journal)
		check.That(r, slices.ContainsFunc(again.get(ann).Offers, offered), "not offered after a restart")
		r.do(ann, "Claim the game")
		g := r.get(ann)
		check.That(r, g.Status == protocol.Finished && g.Result.Winner == "home" && g.Result.How == "conceded",
			"the result is %+v", g.Result)
	}, turnSeconds(7200))
}

// Who calls late as well has no claim at once: the other has the whole time from then on. A pause takes no time.
func TestCorrespondence_bothLate(t *testing.T) {
	t.Parallel()
	mayClaim := func(r *rig) bool {
		return slices.ContainsFunc(r.get(ann).Offers,
			func(c protocol.Choice) bool { return c.Action.Verb == protocol.DoClaim })
	}
	inBubble(t, func(r *rig) {
		pass(time.Hour)
		r.do(bob, "Pause the game")
		pass(10 * time.Hour)
		r.do(bob, "Resume")
		pass(3 * time.Hour / 2)
		check.That(r, !mayClaim(r), "Ann has a claim, although she is late")
		r.decide(ann)
		pass(2*time.Hour - time.Second)
		check.That(r, !mayClaim(r), "Ann has a claim before Bob had the whole time from her call on")
		pass(time.Second)
		check.That(r, mayClaim(r), "Ann has no claim although Bob had the whole time")
		r.decide(bob)
		check.That(r, !mayClaim(r), "Ann has a claim to the next decision at once")
		r.decide(ann)
		pass(time.Hour)
		r.do(bob, "Pause the game")
		pass(10 * time.Hour)
		r.do(bob, "Resume")
		pass(time.Hour - time.Second)
		check.That(r, !mayClaim(r), "the pause took time")
		pass(time.Second)
		check.That(r, mayClaim(r), "the time did not go on after the pause")
	}, turnSeconds(7200))
}

func callTurn(o *protocol.Options) { o.CallTurn, o.Announce = true, protocol.AnnounceOff }

// turnRig returns a rig in a game that says whose turn it is and nothing else, and what is spoken.
func turnRig(t *testing.T, options ...option) (*rig, *recordingAnnouncer) {
	t.Helper()
	j, spoken := newJournal(), &recordingAnnouncer{}
	r := rigWith(t, j, live.Config{Journal: j, Announcer: spoken})
	r.begin(append([]option{callTurn}, options...)...)
	return r, spoken
}

// turnsOf returns the names that a comment calls.
func turnsOf(comment string) (names []string) {
	for _, who := range []protocol.Person{ann, bob} {
		if strings.Contains(comment, who.Name) {
			names = append(names, who.Name)
		}
	}
	return names
}

// The loudspeaker says once whose decision it is: not again when one of two has decided, has taken the call back,
// or has made a substitution that changes nothing for the other.
func TestCallTurn_oncePerDecision(t *testing.T) {
	t.Parallel()
	r, spoken := turnRig(t)
	want := func(what string, lines int, names ...string) {
		t.Helper()
		check.That(t, len(spoken.said()) == lines && slices.Equal(turnsOf(spoken.said()[len(spoken.said())-1]), names),
			"%s: %q, want %d with %v", what, spoken.said(), lines, names)
	}
	want("at the start", 1, "Ann", "Bob")
	r.decide(ann)
	want("after Ann's call", 1, "Ann", "Bob")
	r.do(ann, "Take the call back")
	want("after it is taken back", 1, "Ann", "Bob")
	substitution := slices.IndexFunc(r.get(bob).Offers,
		func(c protocol.Choice) bool { return c.Group == "substitution" })
	r.do(bob, r.get(bob).Offers[substitution].Label)
	want("after a substitution that voids no call", 1, "Ann", "Bob")
	r.do(ann, "Pause")
	r.do(ann, "Resume")
	want("after a pause", 1, "Ann", "Bob")
	r.decide(ann)
	substitution = slices.IndexFunc(r.get(bob).Offers,
		func(c protocol.Choice) bool { return c.Group == "substitution" })
	r.do(bob, r.get(bob).Offers[substitution].Label)
	want("after a substitution that voids Ann's call", 2, "Ann")
	before := r.get(ann).State.Decision
	r.playOn()
	if got := len(spoken.said()) - 2; got < 1 || got > int(r.get(ann).State.Decision-before) {
		t.Errorf("%d decisions were opened, and %d called: %q", r.get(ann).State.Decision-before, got, spoken.said())
	}
}

// The bot is not called, and without the option no one is.
func TestCallTurn_notTheBot(t *testing.T) {
	t.Parallel()
	r, spoken := turnRig(t, withBot)
	for range 12 {
		r.decide(ann)
	}
	notHers := func(line string) bool { return len(turnsOf(line)) != 1 || strings.Contains(line, "bot") }
	check.That(t, len(spoken.said()) >= 8 && !slices.ContainsFunc(spoken.said(), notHers), "%q", spoken.said())
	silent, none := turnRig(t, func(o *protocol.Options) { o.CallTurn = false })
	silent.playOn()
	check.That(t, len(none.lines) == 0, "without the option: %q", none.lines)
}

// What happened and whose turn it is are one comment, so that neither replaces the other.
func TestCallTurn_withPlay(t *testing.T) {
	t.Parallel()
	r, spoken := turnRig(t, func(o *protocol.Options) { o.Announce = protocol.AnnounceAll })
	lines := len(spoken.said())
	r.playOn()
	last := spoken.said()[len(spoken.said())-1]
	check.That(t, len(spoken.said()) != lines && len(turnsOf(last)) == 2 &&
		len(last) >= len("Your call, Ann and Bob.")+15, "%q", spoken.said())
}

// The clock's default decision opens the next decision, which is called; a manager who is away for the bot is not.
func TestCallTurn_clock(t *testing.T) {
	t.Parallel()
	spoken := &recordingAnnouncer{}
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := rigWith(t, j, live.Config{Journal: j, Announcer: spoken})
		r.begin(callTurn, turnSeconds(30))
		defer r.run()()
		_, b := r.watchBoth()
		before := len(spoken.said())
		pass(30 * time.Second)
		check.That(t, len(spoken.said()) == before+1, "after the clock ran out: %q", spoken.said()[before:])
		b.leave()
		pass(61 * time.Second)
		before = len(spoken.said())
		r.decide(ann)
		for _, line := range spoken.said()[before:] {
			check.That(t, !slices.Contains(turnsOf(line), "Bob"), "with the bot for Bob: %q", line)
		}
	})
}
