package live_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// Who stops the clock, or comes and goes, gets no more time for it while the other one waits; but whoever goes on after a
// pause has ten seconds.
func TestAPauseMakesNoTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 60 })
		a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
		defer a.leave()
		left := func() int64 {
			if c := look(t, h, ann, g.ID).Clock; c != nil {
				return c.LeftMS
			}
			return -1
		}
		for _, want := range []int64{45_000, 30_000, 15_000, 10_000, 10_000} {
			pass(time.Duration(left()-want) * time.Millisecond)
			do(t, h, bob, g.ID, "Pause")
			b.leave()
			pass(30 * time.Second)
			b.join(t, h, bob, g.ID, 0)
			if left() != -1 {
				t.Errorf("while paused the clock has %d ms", left())
			}
			do(t, h, bob, g.ID, "Resume")
			if left() != want {
				t.Errorf("after a pause the clock has %d ms, want %d", left(), want)
			}
		}
		pass(8 * time.Second)
		b.leave()
		b.join(t, h, bob, g.ID, 0)
		if left() != 2000 {
			t.Errorf("after Bob came back the clock has %d ms, want 2000", left())
		}
		rev := look(t, h, ann, g.ID).Revision
		pass(2 * time.Second)
		if now := look(t, h, ann, g.ID); now.Revision <= rev+2 || now.Clock == nil || left() != 60_000 {
			t.Errorf("when the time was up the game went from %d to %d, clock %+v", rev, now.Revision, now.Clock)
		}
		b.leave()
	})
}

// The time of a decision that was paused says nothing of the next one's.
func TestTheNextDecisionHasAllItsTimeAfterAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds, o.Opponent = 60, protocol.Bot })
		a := watch(t, h, ann, g.ID, 0)
		pass(40 * time.Second)
		do(t, h, ann, g.ID, "Pause")
		do(t, h, ann, g.ID, "Resume")
		do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
		if c := look(t, h, ann, g.ID).Clock; c == nil || c.LeftMS != 60_000 {
			t.Errorf("the next decision's clock: %+v", c)
		}
		a.leave()
		a.join(t, h, ann, g.ID, 0)
		if c := look(t, h, ann, g.ID).Clock; c == nil || c.LeftMS != 60_000 {
			t.Errorf("nobody waited meanwhile: %+v", c)
		}
		a.leave()
	})
}

// Nobody fills the disk, or voids the other's calls for ever, with what brings nothing on: until the next play there can
// be so much of it. What is not offered is refused; a game that is paused can always go on.
func TestAsidesComeToAnEnd(t *testing.T) {
	t.Parallel()
	const most = 100
	offered := func(g protocol.Game, verb string) bool {
		return slices.ContainsFunc(g.Offers, func(c protocol.Choice) bool { return c.Action.Verb == verb })
	}
	on, off := true, false
	for name, tt := range map[string]struct {
		setUp  func(h *live.Games, id string)
		first  protocol.Action
		second protocol.Action
		verb   string // of first, if it is offered
	}{
		"pause":    {nil, protocol.Action{Verb: "pause"}, protocol.Action{Verb: "resume"}, "pause"},
		"takeover": {nil, protocol.Action{Verb: "takeover", On: &on}, protocol.Action{Verb: "takeover", On: &off}, "takeover"},
		"undo": {
			func(h *live.Games, id string) { do(t, h, ann, id, "Pitch to the batter") },
			protocol.Action{Verb: "undo"},
			protocol.Action{Verb: "defence"},
			"undo",
		},
	} {
		h := newHall(t, newJournal())
		g := begin(t, h, nil)
		if tt.setUp != nil {
			tt.setUp(h, g.ID)
		}
		for n := range most + 1 {
			if is := offered(look(t, h, ann, g.ID), tt.verb); is != (n < most) {
				t.Fatalf("%s: offered for the time %d: %v", name, n+1, is)
			}
			_, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, tt.first), nil)
			if n == most {
				if code(t, err) != protocol.IllegalAction {
					t.Errorf("%s: the last one too many: %v", name, err)
				}
				break
			}
			if err != nil {
				t.Fatalf("%s: time %d: %v", name, n+1, err)
			}
			if _, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, tt.second), nil); err != nil {
				t.Fatalf("%s: time %d, back: %v", name, n+1, err)
			}
		}
		do(t, h, bob, g.ID, "Pause") // the other one's are his own
		do(t, h, ann, g.ID, "Resume")
		playOn(t, h, g.ID)
		if name == "undo" {
			do(t, h, ann, g.ID, "Pitch to the batter")
		}
		if !offered(look(t, h, ann, g.ID), tt.verb) {
			t.Errorf("%s: not offered after a play", name)
		}
	}
}

// playOn lets both decide until there has been a play and both are asked again.
func playOn(t *testing.T, h *live.Games, id string) {
	t.Helper()
	before := look(t, h, ann, id).State.Decision
	for {
		for _, who := range []protocol.Person{ann, bob} {
			if g := look(t, h, who, id); len(g.Legal) > 0 {
				do(t, h, who, id, g.Legal[0].Label)
			}
		}
		if now := look(t, h, ann, id); now.State.Decision > before && len(now.State.Waiting) == 2 {
			return
		}
	}
}

// Men who change places void the other's call, but not for ever; who comes in may always.
func TestChangesOfPlaceComeToAnEnd(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil)
	swap := func() error {
		order := look(t, h, ann, g.ID).State.Teams[game.Home].Order
		var subs []protocol.Sub
		for i, slot := range order {
			switch slot.Position {
			case game.LeftField:
				subs = append(subs, protocol.Sub{Player: slot.Player, Slot: i + 1, Position: game.RightField})
			case game.RightField:
				subs = append(subs, protocol.Sub{Player: slot.Player, Slot: i + 1, Position: game.LeftField})
			default:
			}
		}
		_, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, protocol.Action{Verb: "substitute", Subs: subs, Decision: look(t, h, ann, g.ID).State.Decision}), nil)
		return err
	}
	n := 0
	for n < 100 && swap() == nil {
		n++
	}
	if err := swap(); n != 10 || code(t, err) != protocol.IllegalAction {
		t.Fatalf("left and right field changed places %d times, then %v", n, err)
	}
	for _, c := range look(t, h, ann, g.ID).Offers {
		if c.Action.Verb == "substitute" && c.Action.Subs[0].Position == game.LeftField {
			do(t, h, ann, g.ID, c.Label)
			break
		}
	}
	if err := swap(); code(t, err) != protocol.IllegalAction {
		t.Errorf("after somebody came in: %v", err)
	}
	playOn(t, h, g.ID)
	if err := swap(); err != nil {
		t.Errorf("after a play: %v", err)
	}
}

// In hot seat whatever may be done says for which side, also what concerns both.
func TestInHotSeatEveryOfferSaysItsSide(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	for _, label := range []string{"Pause", "Resume"} {
		for _, c := range look(t, h, ann, g.ID).Offers {
			if c.Side == "" || c.Action.Side != c.Side {
				t.Errorf("%s", text(t, c))
			}
		}
		do(t, h, ann, g.ID, label)
	}
}
