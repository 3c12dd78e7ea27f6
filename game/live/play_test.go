package live_test

import (
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// A client plays as a simple program would: it always does the first thing that it was told is legal.
type client struct {
	*watcher
	who protocol.Person
	rev uint64 // of the last message
}

// legal returns what the client was last told it may do, and whether the game is over.
func (c *client) legal() (first []protocol.Choice, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.all {
		switch d := m.Data.(type) {
		case *protocol.Snapshot:
			first, over, c.rev = d.Legal, d.State.Status == protocol.Finished, m.Revision
		case *protocol.Event:
			c.rev = m.Revision
			if d.State != nil {
				first, over = d.Legal, d.State.Status == protocol.Finished
			}
		}
	}
	c.all = c.all[:0]
	return first, over
}

// playOut lets everybody always do the first legal thing until the game is over, and returns it.
func playOut(tb testing.TB, h *live.Games, id string) protocol.Game {
	tb.Helper()
	clients := []*client{{watcher: watch(tb, h, ann, id, 0), who: ann}, {watcher: watch(tb, h, bob, id, 0), who: bob}}
	for _, c := range clients {
		defer c.leave()
	}
	for n := 0; ; n++ {
		moved := false
		for _, c := range clients {
			legal, over := c.legal()
			if over {
				return look(tb, h, ann, id)
			}
			if len(legal) == 0 {
				continue
			}
			cmd := protocol.Command{ID: fmt.Sprint(n), Revision: c.rev, Action: legal[0].Action}
			if _, _, err := h.Submit(tb.Context(), c.who, id, cmd, nil); err != nil {
				tb.Fatalf("%s does %+v at %d: %v", c.who.Name, cmd.Action, c.rev, err)
			}
			moved = true
		}
		if !moved {
			tb.Fatalf("nobody may do anything at %d", clients[0].rev)
		}
	}
}

// TestTheFirstOfLegalPlaysToTheEnd plays a game in every combination of options by always doing the first legal thing.
func TestTheFirstOfLegalPlaysToTheEnd(t *testing.T) {
	t.Parallel()
	n := 0
	for _, dh := range []bool{true, false} {
		for _, innings := range []int{3, 5, 7, 9} {
			for _, extra := range []game.ExtraInnings{game.AutomaticRunner, game.Standard} {
				for _, opponent := range []protocol.Opponent{protocol.Open, protocol.Bot, protocol.HotSeat} {
					side := []string{"home", "away"}[n*7/3%2]
					n++
					t.Run(fmt.Sprintf("dh %v %d %s %s %s", dh, innings, extra, opponent, side), func(t *testing.T) {
						t.Parallel()
						h := newHall(t, newJournal())
						g := begin(t, h, func(o *protocol.Options) {
							o.DH, o.Innings, o.ExtraInnings, o.Opponent, o.Side = dh, innings, extra, opponent, side
						})
						end := playOut(t, h, g.ID)
						if end.Result == nil || end.Result.How != "final" || end.Result.Winner == "" || end.Inning < innings {
							t.Errorf("ended %+v in inning %d", end.Result, end.Inning)
						}
						if len(end.Dice.Seed) != 64 || g.Dice.Seed != "" || end.Dice.Commitment != g.Dice.Commitment {
							t.Errorf("dice %+v, then %+v", g.Dice, end.Dice)
						}
					})
				}
			}
		}
	}
}
