package live_test

import (
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// In hot seat one person manages both sides, and each choice names its side.
func TestHotSeat_choicesNameTheirSide(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	g := r.get(ann)
	check.That(t, g.YourSide == "both" && len(g.State.Waiting) == 2, "%s waits for %v", g.YourSide, g.State.Waiting)
	for _, c := range g.Legal {
		check.That(t, c.Side != "" && c.Action.Side == c.Side && (c.Group == "offense") == (c.Side == "away"),
			"%s", text(t, c))
	}
	for _, label := range []string{"Pause", "Resume"} {
		for _, c := range r.get(ann).Offers {
			check.That(t, c.Side != "" && c.Action.Side == c.Side, "%s", text(t, c))
		}
		r.do(ann, label)
	}
	r.do(ann, "Pitch to the batter")
	if now := r.get(ann); len(now.State.Waiting) != 1 || now.Legal[0].Group != "offense" {
		t.Errorf("after the defense: %s", text(t, now.Legal))
	}
	c := r.choice(ann, "Take the call back")
	check.That(t, c.Side == "home", "%s", text(t, c))
	r.do(ann, "Concede for "+g.Home.Team.Name)
	if end := r.get(ann); end.Result.Winner != "away" || end.Result.How != "conceded" {
		t.Errorf("conceded for the home team: %s", text(t, end.Result))
	}
}

// A client that always sends the first legal action plays every combination of options to the end.
func TestSubmit_firstLegalPlaysToEnd(t *testing.T) {
	t.Parallel()
	for n := range 48 {
		if testing.Short() && n%5 != 0 {
			continue // a fifth of the combinations will do
		}
		o := protocol.Defaults()
		o.DH, o.Innings, o.Side = n%2 == 0, []int{3, 5, 7, 9}[n/2%4], []string{"home", "away"}[n*7/3%2]
		o.ExtraInnings = []game.ExtraInnings{game.AutomaticRunner, game.Standard}[n/8%2]
		o.Opponent = []protocol.Opponent{protocol.Open, protocol.Bot, protocol.HotSeat}[n/16]
		t.Run(fmt.Sprintf("%d innings, %s, %s", o.Innings, o.Opponent, o.ExtraInnings), func(t *testing.T) {
			t.Parallel()
			r := begun(t, func(given *protocol.Options) { *given = o })
			dice := r.get(ann).Dice
			end := r.playFirst()
			if end.Result == nil || end.Result.How != "final" || end.Result.Winner == "" || end.Inning < o.Innings {
				t.Errorf("ended %+v in inning %d", end.Result, end.Inning)
			}
			check.That(t, len(end.Dice.Seed) == 64 && dice.Seed == "" && end.Dice.Commitment == dice.Commitment,
				"dice %+v, then %+v", dice, end.Dice)
		})
	}
}

// A client does what it was last sent as legal, as a simple program would.
type client struct {
	*watcher
	who protocol.Person
	rev uint64 // of the last message
}

// legal returns the legal decisions as last received, and whether the game is over.
func (c *client) legal() (legal []protocol.Choice, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.all {
		switch d := m.Data.(type) {
		case *protocol.Snapshot:
			legal, over, c.rev = d.Legal, d.State.Status == protocol.Finished, m.Revision
		case *protocol.Event:
			c.rev = m.Revision
			if d.State != nil {
				legal, over = d.Legal, d.State.Status == protocol.Finished
			}
		}
	}
	c.all = c.all[:0]
	return legal, over
}

// playFirst plays to the end by the first legal decision that clients were sent.
func (r *rig) playFirst() protocol.Game {
	r.Helper()
	clients := []*client{{watcher: r.watch(ann, 0), who: ann}, {watcher: r.watch(bob, 0), who: bob}}
	for _, c := range clients {
		defer c.leave()
	}
	for n := 0; ; n++ {
		moved := false
		for _, c := range clients {
			legal, over := c.legal()
			if over {
				return r.get(ann)
			}
			if len(legal) == 0 {
				continue
			}
			command := protocol.Command{ID: fmt.Sprint(n), Revision: c.rev, Action: legal[0].Action}
			err := r.send(c.who, command)
			check.Require(r, err == nil, "%s does %+v at %d: %v", c.who.Name, legal[0].Action, c.rev, err)
			moved = true
		}
		check.Require(r, moved, "no client has a legal decision at %d", clients[0].rev)
	}
}
