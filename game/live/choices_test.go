package live_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/chance"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// combined returns one defense of several that are legal: for each field one of the values offered, by turn.
func combined(t *testing.T, legal []protocol.Choice, turn int) protocol.Action {
	t.Helper()
	values := map[string][]map[string]any{}
	for _, c := range legal {
		var fields map[string]any
		check.NoError(t, json.Unmarshal([]byte(text(t, c.Action)), &fields))
		maps.DeleteFunc(fields, func(name string, _ any) bool { return name == "a" || name == "d" || name == "side" })
		for name := range fields {
			values[name] = append(values[name], fields)
		}
	}
	all := map[string]any{}
	for _, name := range []string{"pitch", "infield", "outfield", "behind", "lines"} {
		n := len(values[name]) + 1
		if at := turn % n; at > 0 {
			maps.Copy(all, values[name][at-1])
		}
		turn /= n
	}
	var action protocol.Action
	check.NoError(t, json.Unmarshal([]byte(text(t, all)), &action))
	action.Verb, action.Decision, action.Side = legal[0].Action.Verb, legal[0].Action.Decision, legal[0].Action.Side
	return action
}

// Any combination of offered defenses is accepted, and published as it was sent.
func TestDefense_combined(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	w := r.watch(carl, 0)
	sent := map[chance.Defense]int{}
	for turn, g := 0, r.get(ann); g.Status == protocol.Active; turn++ {
		if g.Legal[0].Group != "defense" {
			g = r.decide(ann)
			continue
		}
		defenses := slices.DeleteFunc(g.Legal, func(c protocol.Choice) bool { return c.Group != "defense" })
		a := combined(t, defenses, turn*37)
		err := r.try(ann, a)
		check.Require(t, err == nil, "%s: %v", text(t, a), err)
		sent[a.Defense]++
		g = r.get(ann)
	}
	check.That(t, len(sent) >= 40, "only %d different defenses", len(sent))
	for _, m := range w.received("event") {
		e := m.Data.(*protocol.Event)
		check.That(t, e.Calls == nil || sent[e.Calls.Defense] != 0, "received %+v, which was not sent", e.Calls)
	}
}

// doubles returns the double switches that a side is offered.
func doubles(g *protocol.Game, side game.Side) []protocol.Choice {
	return slices.DeleteFunc(slices.Clone(g.Offers),
		func(c protocol.Choice) bool { return c.Side != side.String() || len(c.Action.Subs) != 2 })
}

// switched returns the team after a double switch: nine fielders, the new pitcher in the fielder's place of the
// order, and in the pitcher's place the new player at the fielder's position.
func switched(t *testing.T, before *game.State, side game.Side, c protocol.Choice) game.TeamState {
	t.Helper()
	team := &before.Teams[side]
	pitcher, fielder := c.Action.Subs[0], c.Action.Subs[1]
	if out := team.Order[pitcher.Slot-1].Position; pitcher.Position != game.Pitcher || fielder.Position != out {
		t.Errorf("%s: the player at %s leaves, %s and %s come in", c.Label, out, pitcher.Position, fielder.Position)
	}
	next, err := before.Substitute(
		game.Substitution{Side: side, Player: pitcher.Player, Slot: pitcher.Slot, Position: pitcher.Position},
		game.Substitution{Side: side, Player: fielder.Player, Slot: fielder.Slot, Position: fielder.Position})
	check.Require(t, err == nil, "%s: %v", c.Label, err)
	after := next.Teams[side]
	seen := map[game.PlayerID]bool{}
	for at := game.Pitcher; at <= game.RightField; at++ {
		seen[after.Fielder(at)] = true
	}
	check.That(t, len(seen) == 9 && !seen[""] && after.Pitcher == pitcher.Player,
		"%s: the field is %+v", c.Label, after)
	return after
}

// Without the DH, every double switch that brings the pitcher's place up later is offered while the pitcher may be
// changed, and never otherwise; each is legal.
func TestDoubleSwitch_offers(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat, withoutDH)
	most := 0
	for g := r.get(ann); g.Status == protocol.Active; g = r.decide(ann) {
		for _, side := range sides {
			offered := doubles(&g, side)
			most = max(most, len(offered))
			team := &g.State.Teams[side]
			if len(offered) > 0 && (side == g.State.Batting || team.BattersFaced < 3 && team.Pitcher != "") {
				t.Fatalf("at bat, or with %d batters faced: %s", team.BattersFaced, offered[0].Label)
			}
			for _, c := range offered {
				after := switched(t, g.State.State, side, c)
				pitcher, fielder := c.Action.Subs[0].Slot, c.Action.Subs[1].Slot
				due := func(place int) int { return (place + 8 - after.NextBatter) % 9 }
				check.That(t, due(fielder) < due(pitcher),
					"%s: with place %d next, it brings the pitcher up sooner", c.Label, after.NextBatter+1)
			}
		}
	}
	if most < 5 { // it depends on who is still on the bench
		t.Errorf("at most %d double switches were offered at a time", most)
	}
}

// A double switch is done as it was offered, or with another pitcher that is offered, and is published as one.
func TestDoubleSwitch_accepted(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]bool{"as offered": false, "another pitcher": true} {
		r := begun(t, hotSeat, withoutDH)
		g := r.get(ann)
		for len(doubles(&g, game.Home)) == 0 {
			g = r.decide(ann)
		}
		c := doubles(&g, game.Home)[0]
		if another {
			i := slices.IndexFunc(g.Offers, func(o protocol.Choice) bool {
				sub := o.Action.Subs
				return len(sub) == 1 && sub[0].Position == game.Pitcher && sub[0].Player != c.Action.Subs[0].Player
			})
			c.Action.Subs[0].Player = g.Offers[i].Action.Subs[0].Player
		}
		want := switched(t, g.State.State, game.Home, c)
		w := r.watch(carl, g.Revision)
		check.NoError(r, r.try(ann, c.Action))
		got := r.get(ann).State.Teams[game.Home]
		check.Equal(t, text(t, got), text(t, want), "%s: %s: the team", name, c.Label)
		check.Contains(t, text(t, w.event()), "ouble switch", "%s: received", name)
		out := g.State.Teams[game.Home].Order[c.Action.Subs[0].Slot-1].Player
		check.That(t, slices.Contains(got.Removed, out), "%s: %s: %s is not out of the game", name, c.Label, out)
	}
}

// A player who batted for the pitcher may stay by a double switch: at a fielder's position, with the new pitcher
// in that fielder's place.
func TestDoubleSwitch_pinchHitterStays(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat, withoutDH)
	var hitter game.PlayerID
	g := r.get(ann)
	for ; hitter == ""; g = r.decide(ann) {
		team := &g.State.Teams[game.Away]
		if g.State.Batting == game.Away && team.Order[team.NextBatter].Position == game.Pitcher {
			hitter = pinchHit(r, &g)
		}
	}
	for g.State.Batting == game.Away && g.Status == protocol.Active {
		g = r.decide(ann)
	}
	check.That(t, len(g.Legal) <= 30 &&
		!slices.ContainsFunc(g.Legal[1:], func(c protocol.Choice) bool { return len(c.Action.Subs) > 1 }),
		"the field can be filled in one of %d ways: %s", len(g.Legal), text(t, g.Legal))
	stays := slices.DeleteFunc(doubles(&g, game.Away),
		func(c protocol.Choice) bool { return c.Action.Subs[1].Player != hitter })
	check.Require(t, len(stays) != 0, "the pinch hitter cannot stay: %s", text(t, g.Offers))
	want := switched(t, g.State.State, game.Away, stays[0])
	r.do(ann, stays[0].Label)
	if got := r.get(ann).State.Teams[game.Away]; text(t, got) != text(t, want) || slices.Contains(got.Removed, hitter) {
		t.Errorf("%s: the team is %s, want %s", stays[0].Label, text(t, got), text(t, want))
	}
}

// pinchHit brings in a pinch hitter for the visitors who can also play in the field.
func pinchHit(r *rig, g *protocol.Game) game.PlayerID {
	r.Helper()
	for _, c := range g.Offers {
		if len(c.Action.Subs) != 1 || c.Action.Subs[0].Position != game.PinchHitter {
			continue
		}
		id := c.Action.Subs[0].Player
		i := slices.IndexFunc(g.Rosters.Away.Players, func(p card.Player) bool { return p.ID == id })
		if p := &g.Rosters.Away.Players[i]; slices.ContainsFunc(p.Positions,
			func(r game.Role) bool { return r != "DH" && r != "C" }) {
			r.do(ann, c.Label)
			return id
		}
	}
	r.Fatalf("there is no pinch hitter: %s", text(r, g.Offers))
	return ""
}
