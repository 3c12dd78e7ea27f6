package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// run runs the hall for the rest of a test in a bubble of time.
func run(t *testing.T, h *live.Games) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// pass lets time pass, and everybody do what is due then.
func pass(d time.Duration) {
	time.Sleep(d) // in a bubble, which costs no time
	synctest.Wait()
}

// Where there is a clock, who has not decided in time has done nothing special; nobody else has to do anything.
func TestTheClockDecidesByDefault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 30; o.Innings = 3 })
		pass(time.Hour)
		if now := look(t, h, ann, g.ID); now.Revision != g.Revision || now.Clock != nil {
			t.Errorf("with nobody there the game went from %d to %d, clock %+v", g.Revision, now.Revision, now.Clock)
		}
		a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
		if c := look(t, h, bob, g.ID).Clock; c == nil || c.LeftMS != 30_000 || c.Side.String() != "away" {
			t.Fatalf("Bob's clock: %+v", c)
		}
		pass(29 * time.Second)
		do(t, h, ann, g.ID, "Pitch around")
		if now := look(t, h, bob, g.ID); now.Revision != g.Revision+1 || now.Clock.LeftMS != 1000 {
			t.Errorf("after 29 s at %d, clock %+v", now.Revision, now.Clock)
		}
		pass(time.Second)
		if kinds := b.kinds()[g.Revision:]; kinds[0] != "skip" || kinds[1] != "clock" || kinds[2] != "play" && kinds[2] != "question" {
			t.Errorf("Bob was told %v", kinds)
		}
		for n := 0; look(t, h, ann, g.ID).Status == protocol.Active; n++ {
			if n > 2000 {
				t.Fatal("the clock does not play the game to its end")
			}
			pass(30 * time.Second)
		}
		checkContiguous(t, a.told("event", "skip"), 1, look(t, h, ann, g.ID).Revision)
		a.leave()
		b.leave()
	})
}

// While a game is paused nothing is decided, by nobody; the clock keeps what was left of it. Either manager may end the
// pause.
func TestAPauseStopsEverything(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 30 })
		a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
		defer a.leave()
		defer b.leave()
		action := look(t, h, bob, g.ID).Legal[0].Action
		pass(20 * time.Second)
		do(t, h, ann, g.ID, "Pause")
		now := look(t, h, bob, g.ID)
		if len(now.Legal) != 0 || now.Clock != nil || now.State.Paused == nil || len(now.State.Waiting) != 0 {
			t.Errorf("paused: %s", text(t, now.State))
		}
		for _, again := range []protocol.Action{action, {Verb: "pause"}} {
			if _, _, err := h.Submit(t.Context(), bob, g.ID, command(t, h, bob, g.ID, again), nil); code(t, err) != protocol.GamePaused {
				t.Errorf("%+v while paused: %v", again, err)
			}
		}
		pass(time.Hour)
		if now := look(t, h, bob, g.ID); now.Revision != g.Revision+1 {
			t.Errorf("a paused game went from %d to %d", g.Revision+1, now.Revision)
		}
		do(t, h, bob, g.ID, "Resume")
		if c := look(t, h, bob, g.ID).Clock; c == nil || c.LeftMS != 10_000 {
			t.Errorf("the clock after the pause: %+v", c)
		}
		if _, _, err := h.Submit(t.Context(), bob, g.ID, command(t, h, bob, g.ID, action), nil); err != nil {
			t.Errorf("the decision that was open before the pause: %v", err)
		}
	})
}

// A call can be taken back until the other one's is in.
func TestACallIsTakenBackBeforeItResolves(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil)
	b := watch(t, h, bob, g.ID, 0)
	do(t, h, ann, g.ID, "Pitch around")
	if legal := look(t, h, ann, g.ID).Legal; len(legal) != 0 {
		t.Errorf("after sealing %d decisions are legal", len(legal))
	}
	again := protocol.Action{Verb: "defence", Decision: look(t, h, ann, g.ID).State.Decision}
	if _, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, again), nil); code(t, err) != protocol.AlreadySealed {
		t.Errorf("a second call: %v", err)
	}
	do(t, h, ann, g.ID, "Take the call back")
	if legal := look(t, h, ann, g.ID).Legal; len(legal) == 0 {
		t.Error("after taking it back nothing is legal")
	}
	do(t, h, ann, g.ID, "Intentional walk")
	do(t, h, bob, g.ID, "Swing away")
	if kinds := b.kinds()[g.Revision:]; !slices.Equal(kinds, []string{"skip", "skip", "skip", "play"}) {
		t.Errorf("Bob was told %v", kinds)
	}
	if e := b.last("event").Data.(*protocol.Event); e.Play.Kind.String() != "intentional walk" {
		t.Errorf("the play was %s, want what was called last", e.Play.Kind)
	}
	undo := protocol.Action{Verb: "undo", Decision: look(t, h, ann, g.ID).State.Decision - 1}
	if _, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, undo), nil); code(t, err) != protocol.StaleRevision {
		t.Errorf("taken back after the play: %v", err)
	}
}

// Who leaves is counted down; then, without a clock, the other one may let the bot manage for him. When he returns, his
// side is his again.
func TestWhoIsGoneIsReplacedAndReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, nil)
		a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
		defer a.leave()
		pass(time.Hour)
		b.leave()
		pass(0)
		gone := a.last("presence").Data.(*protocol.Presence).Away
		if gone.Online || gone.Gone || gone.GoneIn != 60 || gone.Since.IsZero() {
			t.Errorf("as he leaves: %+v", gone)
		}
		pass(59 * time.Second)
		offered := func() bool {
			return slices.ContainsFunc(look(t, h, ann, g.ID).Offers, func(c protocol.Choice) bool { return c.Action.Verb == "takeover" && c.Action.Side == "away" })
		}
		if offered() {
			t.Error("offered after 59 s")
		}
		pass(time.Second)
		if gone = a.last("presence").Data.(*protocol.Presence).Away; !gone.Gone || gone.GoneIn != 0 || !offered() {
			t.Errorf("after 60 s: %+v, offered %v", gone, offered())
		}
		if s := a.last("state"); !slices.ContainsFunc(s.Data.(*protocol.Snapshot).Offers, func(c protocol.Choice) bool { return c.Action.Side == "away" }) {
			t.Error("Ann is not told of the offer")
		}
		do(t, h, ann, g.ID, "Let the bot manage")
		rev := look(t, h, ann, g.ID).Revision
		do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
		if kinds := a.kinds()[rev:]; len(kinds) == 0 || kinds[0] != "play" && kinds[0] != "question" {
			t.Errorf("with the bot for Bob, Ann was told %v", kinds)
		}
		b = watch(t, h, bob, g.ID, 0)
		if kinds := a.kinds(); kinds[len(kinds)-1] != "giveback" {
			t.Errorf("when Bob returns, Ann was told %v", kinds)
		}
		if now := look(t, h, bob, g.ID); now.State.BotManages.Away || !slices.Contains(now.State.Waiting, now.State.Batting) && !slices.Contains(now.State.Waiting, now.State.Batting.Other()) {
			t.Errorf("Bob's side is not his again: %s", text(t, now.State))
		}
		b.leave()
	})
}

// Where there is a clock, the bot takes over by itself; but not if nobody is there to play against.
func TestWithAClockTheBotTakesOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 600 })
		a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
		b.leave()
		pass(61 * time.Second)
		if v := look(t, h, ann, g.ID).State; !v.BotManages.Away || v.BotManages.Home {
			t.Errorf("after 61 s the bot manages %+v", v.BotManages)
		}
		a.leave()
		pass(time.Hour)
		now := look(t, h, ann, g.ID)
		if now.State.BotManages.Home || now.Status != protocol.Active {
			t.Errorf("with both gone: %s", text(t, now.State))
		}
		if last := a.kinds(); last[len(last)-1] != "takeover" {
			t.Errorf("Ann was told %v", last)
		}
	})
}

// A manager may hand his side to the bot, and take it back; meanwhile he decides nothing.
func TestOnesOwnSideIsHandedOverAndTakenBack(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil)
	do(t, h, bob, g.ID, "Let the bot manage for you")
	now := look(t, h, bob, g.ID)
	if len(now.Legal) != 0 || !now.State.BotManages.Away {
		t.Errorf("handed over: %s", text(t, now.State))
	}
	c := command(t, h, bob, g.ID, protocol.Action{Verb: "offence", Call: "swing", Decision: now.State.Decision})
	if _, _, err := h.Submit(t.Context(), bob, g.ID, c, nil); code(t, err) != protocol.IllegalAction {
		t.Errorf("a call while the bot manages: %v", err)
	}
	on := true
	c = command(t, h, ann, g.ID, protocol.Action{Verb: "takeover", On: &on})
	if _, _, err := h.Submit(t.Context(), ann, g.ID, c, nil); code(t, err) != protocol.IllegalAction {
		t.Errorf("two bots: %v", err)
	}
	do(t, h, ann, g.ID, "Pitch to the batter")
	do(t, h, bob, g.ID, "Take your side back")
	if now = look(t, h, bob, g.ID); now.State.BotManages.Away {
		t.Error("it was not given back")
	}
}

// A game that nobody begins ends after seven days, for everybody; one that began does not.
func TestAPendingGameEndsAfterSevenDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		h := newHall(t, j)
		stop := run(t, h)
		g, err := h.Create(t.Context(), ann, request(nil))
		if err != nil {
			t.Fatal(err)
		}
		active := begin(t, h, nil)
		pass(7*24*time.Hour - time.Second)
		look(t, h, ann, g.ID)
		stop()
		h = newHall(t, j) // the time goes on over a restart
		defer run(t, h)()
		a := watch(t, h, ann, g.ID, 0)
		j.setFull(errors.New("full"))
		pass(3 * time.Second)
		look(t, h, ann, g.ID)
		j.setFull(nil)
		pass(5 * time.Second)
		if _, err := h.Game(t.Context(), ann, g.ID); code(t, err) != protocol.UnknownGame {
			t.Errorf("after seven days: %v, want %s", err, protocol.UnknownGame)
		}
		if m := a.last("bye"); m == nil || m.Data != (protocol.Bye{Code: "cancelled"}) {
			t.Errorf("Ann was told %s", text(t, m))
		}
		look(t, h, ann, active.ID)
	})
}

// When the hall closes everybody is told, and nothing is taken any more.
func TestAHallThatClosesSaysBye(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		stop := run(t, h)
		g := begin(t, h, nil)
		a := watch(t, h, ann, g.ID, 0)
		var lobby watcher
		_, leave := h.WatchLobby(lobby.tell)
		stop()
		for name, w := range map[string]*watcher{"Ann": a, "the lobby": &lobby} {
			if m := w.last("bye"); m == nil || m.Data != (protocol.Bye{Code: "restart"}) {
				t.Errorf("%s was told %s", name, text(t, m))
			}
		}
		if _, err := h.Watch(t.Context(), ann, g.ID, 0, a.tell); code(t, err) != protocol.Unavailable {
			t.Errorf("watch: %v", err)
		}
		a.leave()
		leave()
	})
}

// A crowd that comes is counted, not announced one by one.
func TestTheNumberOfWatchersIsToldNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, nil)
		a := watch(t, h, ann, g.ID, 0)
		defer a.leave()
		before := len(a.told("presence"))
		for range 100 {
			defer watch(t, h, carl, g.ID, 0).leave()
		}
		pass(10 * time.Second)
		all := a.told("presence")[before:]
		if len(all) != 1 || all[0].Data.(*protocol.Presence).Watchers != 101 {
			t.Errorf("100 came, Ann was told %s", text(t, all))
		}
	})
}

// Each decision has the whole of its time, however little the one before took.
func TestEveryDecisionHasItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds, o.Opponent = 30, protocol.Bot })
		a := watch(t, h, ann, g.ID, 0)
		defer a.leave()
		for range 5 {
			pass(20 * time.Second)
			do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
			if c := look(t, h, ann, g.ID).Clock; c == nil || c.LeftMS != 30_000 || *a.last("clock").Data.(*protocol.Clock) != *c {
				t.Fatalf("a new decision's clock: %+v, told %s", c, text(t, a.last("clock")))
			}
		}
	})
}

// If both managers are gone, nobody plays: neither a bot nor a clock.
func TestWithBothGoneNobodyPlays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 600 })
		a, b, c := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0), watch(t, h, carl, g.ID, 0)
		defer c.leave()
		a.leave()
		b.leave()
		pass(24 * time.Hour)
		if now := look(t, h, ann, g.ID); now.Revision != g.Revision || now.State.BotManages != (protocol.BySide[bool]{}) {
			t.Errorf("the game went from %d to %d: %v", g.Revision, now.Revision, c.kinds())
		}
	})
}

// Who hands over after the other one has decided does not make that void: the bot decides first, and changes players
// later.
func TestTheBotDoesNotVoidADecision(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	changed := 0
	for n := 0; n < 16 || changed == 0 && n < 300; n++ {
		turn := 36 + n%16
		g := begin(t, h, nil)
		a := watch(t, h, ann, g.ID, 0)
		for decided := 0; decided < turn || len(g.State.Waiting) == 1; decided++ {
			for _, who := range []protocol.Person{ann, bob} {
				if g = look(t, h, who, g.ID); len(g.Legal) == 0 {
					continue
				}
				c := protocol.Command{ID: fmt.Sprint(decided), Revision: g.Revision, Action: g.Legal[0].Action}
				if _, _, err := h.Submit(t.Context(), who, g.ID, c, nil); err != nil {
					t.Fatal(err)
				}
			}
			g = look(t, h, ann, g.ID)
		}
		if g.Status == protocol.Finished {
			continue
		}
		do(t, h, ann, g.ID, g.Legal[0].Label)
		rev := do(t, h, bob, g.ID, "Let the bot manage")
		kinds := a.kinds()[rev:]
		if kinds[0] != "play" && kinds[0] != "question" {
			t.Errorf("turn %d: after the take-over Ann was told %v", turn, kinds)
		}
		if slices.Contains(kinds, "substitution") {
			changed++
		}
	}
	if changed == 0 {
		t.Error("the bot has changed nobody")
	}
}

// A game stays in memory while somebody watches it or something is due, and a minute longer.
func TestAGameThatNobodyWatchesLeavesMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, nil)
		w := watch(t, h, carl, g.ID, 0)
		pass(time.Hour)
		if n := h.InMemory(); n != 1 {
			t.Errorf("while Carl watches %d games are in memory, want 1", n)
		}
		before := events(t, h, ann, g.ID)
		w.leave()
		pass(59 * time.Second)
		if n := h.InMemory(); n != 1 {
			t.Errorf("59 s after he left %d games are in memory, want 1", n)
		}
		pass(2 * time.Second)
		if n := h.InMemory(); n != 0 {
			t.Errorf("61 s after he left %d games are in memory, want none", n)
		}
		if after := events(t, h, ann, g.ID); after != before {
			t.Errorf("it came back otherwise: %s", difference(after, before))
		}
		pass(61 * time.Second)
		if n := h.InMemory(); n != 0 {
			t.Errorf("61 s after a look %d games are in memory, want none", n)
		}
	})
}

// After a pinch hitter the side must take the field before anything else is decided; the clock sees to that too.
func TestWhoWasBattedForIsReplacedInTheField(t *testing.T) {
	t.Parallel()
	for _, clock := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHall(t, newJournal())
			defer run(t, h)()
			g := begin(t, h, func(o *protocol.Options) {
				if clock {
					o.TurnSeconds = 30
				}
			})
			a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
			defer a.leave()
			defer b.leave()
			for _, c := range look(t, h, bob, g.ID).Offers {
				if c.Action.Verb == "substitute" && c.Action.Subs[0].Position == game.PinchHitter {
					do(t, h, bob, g.ID, c.Label)
					break
				}
			}
			for n := 0; look(t, h, ann, g.ID).Half == "top"; n++ {
				who := []protocol.Person{ann, bob}[n%2]
				if legal := look(t, h, who, g.ID).Legal; len(legal) > 0 {
					do(t, h, who, g.ID, legal[0].Label)
				}
			}
			now := look(t, h, bob, g.ID)
			if !slices.Equal(now.State.Waiting, []game.Side{game.Away}) || now.Legal[0].Action.Verb != "substitute" || len(look(t, h, ann, g.ID).Legal) != 0 {
				t.Fatalf("with nobody in the field: waits for %v, Bob may %s", now.State.Waiting, text(t, now.Legal))
			}
			for who, action := range map[protocol.Person]protocol.Action{ann: {Verb: "offence", Call: "swing"}, bob: {Verb: "defence"}} {
				if _, _, err := h.Submit(t.Context(), who, g.ID, command(t, h, who, g.ID, action), nil); code(t, err) != protocol.IllegalAction {
					t.Errorf("%s decides: %v", who.Name, err)
				}
			}
			if clock {
				pass(30 * time.Second)
			} else {
				do(t, h, bob, g.ID, now.Legal[0].Label)
			}
			now = look(t, h, bob, g.ID)
			if len(now.State.Waiting) != 2 || len(now.Legal) == 0 || now.Legal[0].Group != "defence" {
				t.Errorf("with nine in the field: waits for %v, Bob may %s", now.State.Waiting, text(t, now.Legal))
			}
		})
	}
}
