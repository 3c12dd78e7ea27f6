package live_test

import (
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// Each decision is worth something: the first choice is the measure of the runs, one choice of each side is the
// coach's and has the highest chance to win but for a difference below the model's precision, and those of both
// sides sum to one.
func TestWorth_decisions(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	different, decisions := 0, 0
	for g := r.get(ann); g.Status == protocol.Active && decisions < 60; g = r.decide(ann) {
		chances := map[string]float64{}
		for _, side := range sides {
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
				g.Legal[0].WinProbability != g.Legal[1].WinProbability,
				"%s", text(t, g.Legal))
		}
		if found > 4 {
			return
		}
	}
	t.Errorf("%d questions in 12 games", found)
}
