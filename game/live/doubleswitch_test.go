package live_test

import (
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// doubles returns the double switches that a side is offered.
func doubles(g *protocol.Game, side game.Side) []protocol.Choice {
	return slices.DeleteFunc(slices.Clone(g.Offers), func(c protocol.Choice) bool { return c.Side != side.String() || len(c.Action.Subs) != 2 })
}

// swapped returns the team after a double switch, which must be one: nine fielders, the new pitcher in the fielder's place
// of the order, and in the pitcher's the one who takes over the position.
func swapped(t *testing.T, before *game.State, side game.Side, c protocol.Choice) game.TeamState {
	t.Helper()
	team := &before.Teams[side]
	pitcher, fielder := c.Action.Subs[0], c.Action.Subs[1]
	if out := team.Order[pitcher.Slot-1].Position; pitcher.Position != game.Pitcher || fielder.Position != out {
		t.Errorf("%s: he who plays %s makes way, %s and %s come in", c.Label, out, pitcher.Position, fielder.Position)
	}
	next, err := before.Substitute(
		game.Substitution{Side: side, Player: pitcher.Player, Slot: pitcher.Slot, Position: pitcher.Position},
		game.Substitution{Side: side, Player: fielder.Player, Slot: fielder.Slot, Position: fielder.Position})
	if err != nil {
		t.Fatalf("%s: %v", c.Label, err)
	}
	after := next.Teams[side]
	seen := map[game.PlayerID]bool{}
	for at := game.Pitcher; at <= game.RightField; at++ {
		seen[after.Fielder(at)] = true
	}
	if len(seen) != 9 || seen[""] || after.Pitcher != pitcher.Player {
		t.Errorf("%s: the field is %+v", c.Label, after)
	}
	return after
}

// A manager whose pitchers bat is offered every double switch that brings the pitcher's place up later, while a pitcher may
// be changed and never otherwise; what is offered can be done, and is told as one.
func TestDoubleSwitch(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent, o.DH = protocol.HotSeat, false })
	most := 0
	for turn := 0; g.Status == protocol.Active; turn++ {
		for _, side := range sides {
			offered := doubles(&g, side)
			most = max(most, len(offered))
			most = max(most, len(offered))
			team := &g.State.Teams[side]
			if len(offered) > 0 && (side == g.State.Batting || team.BattersFaced < 3 && team.Pitcher != "") {
				t.Fatalf("at bat, or with %d batters faced: %s", team.BattersFaced, offered[0].Label)
			}
			for _, c := range offered {
				after := swapped(t, g.State.State, side, c)
				pitcher, fielder := c.Action.Subs[0].Slot, c.Action.Subs[1].Slot
				if due := func(place int) int { return (place + 8 - after.NextBatter) % 9 }; due(fielder) >= due(pitcher) {
					t.Errorf("%s: batting next in place %d, it brings the pitcher up sooner", c.Label, after.NextBatter+1)
				}
			}
		}
		g = decideFirst(t, h, g.ID)
	}
	if most < 10 {
		t.Errorf("at most %d double switches were offered at a time", most)
	}
}

// decideFirst makes the first of the legal decisions in hot seat.
func decideFirst(t *testing.T, h *live.Games, id string) protocol.Game {
	t.Helper()
	c := look(t, h, ann, id).Legal[0]
	if _, _, err := h.Submit(t.Context(), ann, id, command(t, h, ann, id, c.Action), nil); err != nil {
		t.Fatalf("%s: %v", c.Label, err)
	}
	return look(t, h, ann, id)
}

// What is offered is done as it was offered, or with another pitcher who is, and said to be a double switch.
func TestDoubleSwitchIsTaken(t *testing.T) {
	t.Parallel()
	t.Run("as it is", func(t *testing.T) { checkDoubleSwitch(t, func(*protocol.Game, *protocol.Choice) {}) })
	t.Run("another pitcher", func(t *testing.T) {
		checkDoubleSwitch(t, func(g *protocol.Game, c *protocol.Choice) {
			for _, other := range g.Offers {
				if sub := other.Action.Subs; len(sub) == 1 && sub[0].Position == game.Pitcher && sub[0].Player != c.Action.Subs[0].Player {
					c.Action.Subs[0].Player = sub[0].Player
					return
				}
			}
			t.Error("there is no other pitcher")
		})
	})
}

// checkDoubleSwitch does the first double switch that the home side is offered, changed.
func checkDoubleSwitch(t *testing.T, change func(*protocol.Game, *protocol.Choice)) {
	t.Helper()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent, o.DH = protocol.HotSeat, false })
	for len(doubles(&g, game.Home)) == 0 {
		g = decideFirst(t, h, g.ID)
	}
	c := doubles(&g, game.Home)[0]
	change(&g, &c)
	want := swapped(t, g.State.State, game.Home, c)
	w := watch(t, h, carl, g.ID, g.Revision)
	if _, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, c.Action), nil); err != nil {
		t.Fatalf("%s: %v", c.Label, err)
	}
	if got := look(t, h, ann, g.ID).State.Teams[game.Home]; text(t, got) != text(t, want) {
		t.Errorf("%s: the team is %s, want %s", c.Label, text(t, got), text(t, want))
	}
	if said := text(t, w.last("event")); !strings.Contains(said, "ouble switch") {
		t.Errorf("told %s", said)
	}
	team := &g.State.Teams[game.Home]
	if out := team.Order[c.Action.Subs[0].Slot-1].Player; !slices.Contains(look(t, h, ann, g.ID).State.Teams[game.Home].Removed, out) {
		t.Errorf("%s: %s is not out of the game", c.Label, out)
	}
}

// Who has batted for the pitcher may stay in the game: he takes a fielder's position, the new pitcher that fielder's place.
func TestPinchHitterStaysByDoubleSwitch(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent, o.DH = protocol.HotSeat, false })
	var hitter game.PlayerID
	for hitter == "" {
		team := &g.State.Teams[game.Away]
		if g.State.Batting == game.Away && team.Order[team.NextBatter].Position == game.Pitcher {
			hitter = pinchHit(t, h, &g)
		}
		g = decideFirst(t, h, g.ID)
	}
	for g.State.Batting == game.Away && g.Status == protocol.Active {
		g = decideFirst(t, h, g.ID)
	}
	if len(g.Legal) > 30 || slices.ContainsFunc(g.Legal[1:], func(c protocol.Choice) bool { return len(c.Action.Subs) > 1 }) {
		t.Errorf("the field is to be filled in one of %d ways: %s", len(g.Legal), text(t, g.Legal))
	}
	stays := slices.DeleteFunc(doubles(&g, game.Away), func(c protocol.Choice) bool { return c.Action.Subs[1].Player != hitter })
	if len(stays) == 0 {
		t.Fatalf("he who batted for the pitcher cannot stay: %s", text(t, g.Offers))
	}
	want := swapped(t, g.State.State, game.Away, stays[0])
	do(t, h, ann, g.ID, stays[0].Label)
	if got := look(t, h, ann, g.ID).State.Teams[game.Away]; text(t, got) != text(t, want) || slices.Contains(got.Removed, hitter) {
		t.Errorf("%s: the team is %s, want %s", stays[0].Label, text(t, got), text(t, want))
	}
}

// pinchHit lets somebody bat for the visitors who can play in the field, too, and returns who that is.
func pinchHit(t *testing.T, h *live.Games, g *protocol.Game) game.PlayerID {
	t.Helper()
	for _, c := range g.Offers {
		if len(c.Action.Subs) != 1 || c.Action.Subs[0].Position != game.PinchHitter {
			continue
		}
		id := c.Action.Subs[0].Player
		i := slices.IndexFunc(g.Rosters.Away.Players, func(p game.Player) bool { return p.ID == id })
		if p := &g.Rosters.Away.Players[i]; slices.ContainsFunc(p.Positions, func(r game.Role) bool { return r != "DH" && r != "C" }) {
			do(t, h, ann, g.ID, c.Label)
			return id
		}
	}
	t.Fatalf("nobody can bat for the pitcher: %s", text(t, g.Offers))
	return ""
}
