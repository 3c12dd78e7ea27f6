package live_test

import (
	"encoding/json"
	"maps"
	"math"
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
		for _, side := range game.Sides() {
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

// Once a game is over, the cards of the next one of the season have its lines; those of another season do not.
func TestPlayer_seasonAfterGame(t *testing.T) {
	t.Parallel()
	r := begun(t, innings(3))
	id := r.get(ann).State.Batter
	first, side, err := r.Player(t.Context(), carl, r.id, id)
	check.Require(t, err == nil && first.Season == nil && first.Today != nil && side.Team.ID == "CPR",
		"during the first game: %+v of %s, %v", first.Card, side.Team.ID, err)
	box := r.playOut()
	last, _, err := r.Player(t.Context(), carl, r.id, id)
	check.That(t, err == nil && last.Season != nil && last.Season.Batting.Hits == last.Today.Batting.Hits &&
		last.Season.Batting.AtBats == last.Today.Batting.AtBats,
		"after the first game, %+v: %+v, %v", box.Result, last.Card, err)
	r.begin()
	next, _, err := r.Player(t.Context(), carl, r.id, id)
	check.That(t, err == nil && text(t, next.Season) == text(t, last.Season) && next.Ratings == last.Ratings,
		"in the second game: %+v, %v", next.Card, err)
	if lines, err := r.SeasonLines(t.Context(), 1, "CPR"); err != nil || len(lines) != 0 {
		t.Errorf("season 1: %v, %v", lines, err)
	}
	_, _, err = r.Player(t.Context(), carl, r.id, "unknown")
	r.wantCode("an unknown player", err, protocol.UnknownPlayer)
}

// What the state adds for the batter and the pitcher takes a small part of a play's message.
func TestCurrent_smallAtBat(t *testing.T) {
	t.Parallel()
	r := begun(t, withBot)
	w := r.watch(carl, 0)
	most := 0
	for range 40 {
		r.decide(ann)
	}
	for _, m := range w.received("event") {
		if e, ok := m.Data.(*protocol.Event); ok && e.State != nil && e.State.AtBat != nil {
			if most = max(most, len(text(t, e.State.AtBat))); len(text(t, e.State.AtBat)) > len(text(t, m))/6 {
				t.Errorf("at %d: %d of %d bytes: %s",
					m.Revision, len(text(t, e.State.AtBat)), len(text(t, m)), text(t, e.State.AtBat))
			}
		}
	}
	check.That(t, most != 0 && most <= 320, "at most %d bytes", most)
}

// Each decision is worth something: the first choice is the measure of the runs, one choice of each side is the
// coach's and has the highest chance to win but for a difference below the model's precision, and those of both
// sides sum to one.
func TestWorth_decisions(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	different, decisions := 0, 0
	for g := r.get(ann); g.Status == protocol.Active && decisions < 60; g = r.decide(ann) {
		chances := map[string]float64{}
		for _, side := range game.Sides() {
			legal := bySide(g.Legal, side)
			if len(legal) == 0 {
				continue
			}
			decisions++
			best, coach := checkWorth(t, legal)
			check.That(t, legal[0].Runs == 0 && coach.WinProbability >= best-.0011,
				"%s in %s", text(t, coach), text(t, legal))
			chances[side.String()] = legal[0].WinProbability
			if legal[0].Group == "defense" {
				different += differentRuns(legal) - len(legal)
			}
		}
		check.That(t, len(chances) != 2 || math.Abs(chances["home"]+chances["away"]-1) <= .05,
			"at %d both sides win with %v", g.Revision, chances)
	}
	if different < -2*decisions { // to a thousandth of a run, some are equal
		t.Errorf("%d calls in the field have the value of another one in %d decisions", -different, decisions)
	}
}

func bySide(all []protocol.Choice, side game.Side) []protocol.Choice {
	var found []protocol.Choice
	for _, c := range all {
		if c.Side == side.String() {
			found = append(found, c)
		}
	}
	return found
}

// checkWorth checks that all choices are valued and one is the coach's, and returns the highest chance to win.
func checkWorth(t *testing.T, all []protocol.Choice) (best float64, coach protocol.Choice) {
	t.Helper()
	picks := 0
	for _, c := range all {
		check.Require(t, c.Worth != nil && math.Abs(c.Runs) <= 4 && c.WinProbability >= 0 && c.WinProbability <= 1,
			"%s", text(t, c))
		best = max(best, c.WinProbability)
		if c.Coach {
			picks, coach = picks+1, c
		}
	}
	check.That(t, picks == 1, "%d picks of the coach in %s", picks, text(t, all))
	return best, coach
}

// differentRuns returns the number of different values.
func differentRuns(all []protocol.Choice) int {
	values := map[float64]bool{}
	for _, c := range all {
		values[c.Runs] = true
	}
	return len(values)
}

// Every single substitution that is offered has a value and odds with the substitute: those of hitters and relief
// pitchers differ from player to player.
func TestWorth_substitutes(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	values := map[string]map[float64]bool{"PH": {}, "PR": {}, "P": {}, "field": {}}
	odds := map[string]map[float64]bool{"PH": {}, "PR": {}, "P": {}, "field": {}}
	picks := 0
	for g := r.get(ann); g.Status == protocol.Active; g = r.decide(ann) {
		for _, c := range g.Offers {
			if len(c.Action.Subs) != 1 {
				continue
			}
			kind := c.Action.Subs[0].Position.String()
			if values[kind] == nil {
				kind = "field"
			}
			check.Require(t, c.Worth != nil && (c.Odds["success"] != 0 || kind == "PR"),
				"at %d: %s", g.Revision, text(t, c))
			values[kind][c.Runs], odds[kind][c.Odds["success"]] = true, true
			if c.Coach {
				picks++
			}
		}
	}
	for kind := range values {
		check.That(t, len(values[kind]) >= 10 && len(odds[kind]) >= 5,
			"%s: %d values and %d odds", kind, len(values[kind]), len(odds[kind]))
	}
	check.That(t, picks != 0, "the coach never changes a player")
}

// Both answers to a question are valued, and the coach's is the better one.
func TestWorth_answers(t *testing.T) {
	t.Parallel()
	found := 0
	r := newRig(t, newJournal())
	for range 12 {
		for g := r.begin(hotSeat, innings(5)); g.Status == protocol.Active; g = r.decide(ann) {
			if g.State.Question == nil {
				continue
			}
			found++
			best, coach := checkWorth(t, g.Legal)
			check.That(t, len(g.Legal) == 2 && coach.WinProbability >= best-.0011 &&
				g.Legal[0].WinProbability != g.Legal[1].WinProbability, "%s", text(t, g.Legal))
		}
		if found > 4 {
			return
		}
	}
	t.Errorf("%d questions in 12 games", found)
}

// The lobby receives the score of a listed game after each of its events, complete, and equal
// to what is read of the game; not after a sealed call.
func TestGames_liveScore(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	var lobby watcher
	_, leave := r.WatchLobby(lobby.send)
	defer leave()
	r.begin(hotSeat, innings(3))
	start := scoreOf(t, &lobby)
	check.That(t, start.Revision != 0 && len(start.Text) != 0 && start.Batter.Name != "" && start.Pitcher.Name != "" &&
		start.Innings == 3 && start.Home.Team.Name != "", "the score at the start is %s", text(t, start))
	r.decide(ann)
	again := scoreOf(t, &lobby)
	check.That(t, again.Revision == start.Revision, "a sealed call has published %s", text(t, again))
	r.decide(ann)
	play := scoreOf(t, &lobby)
	if read, err := r.LiveScore(t.Context(), r.id); err != nil || text(t, read) != text(t, play) {
		t.Errorf("published %s, read %s, %v", text(t, play), text(t, read), err)
	}
	check.That(t, play.Revision != start.Revision && !slices.Equal(play.Text, start.Text) && !play.At.Before(start.At),
		"after a play %s, before it %s", text(t, play), text(t, start))
	r.concede(ann)
	end := scoreOf(t, &lobby)
	check.That(t, end.Result != nil && len(end.Text) > len(play.Text) && end.Text[0] == play.Text[0],
		"the final is %s, want the last play and the outcome", text(t, end))
}

// scoreOf returns the score that the lobby has received last.
func scoreOf(t *testing.T, lobby *watcher) *protocol.LiveScore {
	t.Helper()
	m := lobby.last("score")
	check.Require(t, m != nil, "no score in %s", text(t, lobby.received()))
	return m.Data.(*protocol.LiveScore)
}
