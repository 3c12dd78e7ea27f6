package bot

import (
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// minGain is the smallest gain of utility for which a call is added to those that are expected.
const minGain = .0003

// solve sets the shares of the calls. It begins with a swing at a pitch to the batter, and adds the best call against what
// is expected until none gains; then it is an equilibrium of the whole table.
func (t *callTable) solve() {
	t.offenceMix[0], t.defenceMix[0] = 1, 1
	rows, columns := []int{0}, []int{0}
	for range len(t.offence) + len(t.defence) {
		row, gained := t.bestOffence()
		column, saved := t.bestDefence()
		if gained < minGain && saved < minGain {
			return
		}
		if gained >= minGain && t.offenceMix[row] == 0 {
			rows = append(rows, row)
		}
		if saved >= minGain && t.defenceMix[column] == 0 {
			columns = append(columns, column)
		}
		t.balance(rows, columns)
	}
}

// bestOffence returns the best call against the expected defence and its gain over what is expected.
func (t *callTable) bestOffence() (best int, gain float64) {
	mean, highest := 0.0, 0.0
	for i, share := range t.offenceMix {
		if share == 0 && !t.considersOffence(i) {
			continue
		}
		u := 0.0
		for j, p := range t.defenceMix {
			if p > 0 {
				u += p * t.utility(i, j)
			}
		}
		mean += share * u
		if i == 0 || u > highest {
			best, highest = i, u
		}
	}
	return best, highest - mean
}

// bestDefence returns the best call against the expected offence and its gain over what is expected.
func (t *callTable) bestDefence() (best int, gain float64) {
	mean, least := 0.0, 0.0
	for j, share := range t.defenceMix {
		if share == 0 && !t.considersDefence(j) {
			continue
		}
		u := 0.0
		for i, p := range t.offenceMix {
			if p > 0 {
				u += p * t.utility(i, j)
			}
		}
		mean += share * u
		if j == 0 || u < least {
			best, least = j, u
		}
	}
	return best, mean - least
}

// considersOffence reports whether a call may be the best: never to take a pitch or to steal home.
func (t *callTable) considersOffence(i int) bool {
	return t.offence[i] != chance.Take && t.offence[i] != chance.StealHome
}

// considersDefence reports whether a call may be the best against the expected offence.
func (t *callTable) considersDefence(j int) bool {
	third := t.state.Bases[2].Player != ""
	switch d := &t.defence[j]; {
	case d.Pitch == chance.PitchAround || d.Pitch == chance.IntentionalWalk:
		return t.state.Bases != [3]game.Runner{}
	case d.Pitch == chance.PickoffThrow:
		return t.progress.PickoffThrows == 0 && t.expects(chance.StealSecond, chance.StealThird, chance.DoubleSteal, chance.HitAndRun)
	case d.Pitch == chance.PitchOut:
		return t.expects(chance.StealSecond, chance.StealThird, chance.DoubleSteal, chance.HitAndRun, chance.Squeeze)
	case d.Infield == chance.CornersIn:
		return third || t.expects(chance.BuntForHit, chance.Sacrifice, chance.Squeeze)
	default:
		return true
	}
}

// expects reports whether the side at bat may make one of these calls.
func (t *callTable) expects(calls ...chance.Offence) bool {
	for i, share := range t.offenceMix {
		if share > 0 && slices.Contains(calls, t.offence[i]) {
			return true
		}
	}
	return false
}

// rounds of play in which balance finds the shares; the error falls with their square.
const rounds = 100

// balance sets the shares of an equilibrium among some calls, by regret matching: in each round both sides choose calls in
// proportion to what they regret not to have called, and the later rounds count more.
func (t *callTable) balance(rows, columns []int) {
	var space [4][maxCalls]float64
	offence, defence := space[0][:len(rows)], space[1][:len(columns)]
	sumO, sumD := space[2][:len(rows)], space[3][:len(columns)]
	for round := range rounds {
		x, y := shares(offence), shares(defence)
		var gain, loss [maxCalls]float64
		mean := 0.0
		for a, i := range rows {
			for b, j := range columns {
				u := t.utility(i, j)
				gain[a] += y[b] * u
				loss[b] += x[a] * u
				mean += x[a] * y[b] * u
			}
		}
		for a := range rows {
			offence[a] = max(offence[a]+gain[a]-mean, 0)
			sumO[a] += float64(round) * x[a]
		}
		for b := range columns {
			defence[b] = max(defence[b]+mean-loss[b], 0)
			sumD[b] += float64(round) * y[b]
		}
	}
	x, y := shares(sumO), shares(sumD)
	clear(t.offenceMix)
	clear(t.defenceMix)
	for a, i := range rows {
		t.offenceMix[i] = x[a]
	}
	for b, j := range columns {
		t.defenceMix[j] = y[b]
	}
}

// maxCalls is the largest number of calls that one side has in a turn.
const maxCalls = 12

// shares returns weights that sum to one; equal ones if all are zero.
func shares(weights []float64) (all [maxCalls]float64) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i, w := range weights {
		if sum > 0 {
			all[i] = w / sum
		} else {
			all[i] = 1 / float64(len(weights))
		}
	}
	return all
}
