package bot

import (
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// minGain is the smallest gain of utility for which a call is added to those that are expected.
const minGain = .0003

// solve sets the shares of the calls. It begins with a swing at a pitch to the batter, and adds the best call
// against what is expected until none gains; then it is an equilibrium of the whole table.
func (t *callTable) solve() {
	t.offenseMix[0], t.defenseMix[0] = 1, 1
	rows, columns := []int{0}, []int{0}
	for range len(t.offense) + len(t.defense) {
		row, gained := t.bestOffense()
		column, saved := t.bestDefense()
		if gained < minGain && saved < minGain {
			return
		}
		if gained >= minGain && t.offenseMix[row] == 0 {
			rows = append(rows, row)
		}
		if saved >= minGain && t.defenseMix[column] == 0 {
			columns = append(columns, column)
		}
		t.balance(rows, columns)
	}
}

// bestOffense returns the best call against the expected defense and its gain over what is expected.
func (t *callTable) bestOffense() (best int, gain float64) {
	return bestCall(t.offenseMix, t.defenseMix, t.considersOffense, t.utility)
}

// bestDefense returns the best call against the expected offense and its gain over what is expected.
func (t *callTable) bestDefense() (best int, gain float64) {
	return bestCall(t.defenseMix, t.offenseMix, t.considersDefense, func(j, i int) float64 { return -t.utility(i, j) })
}

// bestCall returns the best of a side's calls, of which own is the mix, against the other's, and its gain over the mix.
func bestCall(own, other []float64, considers func(int) bool, utility func(call, against int) float64) (int, float64) {
	best, mean, highest := 0, 0.0, 0.0
	for i, share := range own {
		if share == 0 && !considers(i) {
			continue
		}
		u := 0.0
		for j, p := range other {
			if p > 0 {
				u += p * utility(i, j)
			}
		}
		mean += share * u
		if i == 0 || u > highest {
			best, highest = i, u
		}
	}
	return best, highest - mean
}

// considersOffense reports whether a call may be the best: never to take a pitch or to steal home, nor what managers
// hardly ever do, whatever it is worth (the rows of game/realismtest).
func (t *callTable) considersOffense(i int) bool {
	s, lead := &t.state, t.state.Lead()
	third, last := s.Bases[2].Player != "", s.Inning >= s.Options.ScheduledInnings()
	switch t.offense[i] {
	case chance.Take, chance.StealHome:
		return false
	case chance.Sacrifice, chance.BuntForHit, chance.Squeeze:
		full := third && s.Bases[0].Player != "" && s.Bases[1].Player != ""
		losing := lead <= -3 && s.Options.ScheduledInnings()-s.Inning < 3
		return !full && !losing && (s.Outs < 2 || !third && !t.pitcherBats(0))
	case chance.StealSecond, chance.StealThird, chance.DoubleSteal, chance.HitAndRun:
		return lead > -7 && lead < 7 && (!last || s.Outs < 2 || lead != -1)
	default:
		return true
	}
}

// earlyInnings is the number of innings before the last one in which lines are not guarded: one to three of nine.
const earlyInnings = 6

// considersDefense reports whether a call may be the best against the expected offense.
func (t *callTable) considersDefense(j int) bool {
	s := &t.state
	first, second, third := s.Bases[0].Player != "", s.Bases[1].Player != "", s.Bases[2].Player != ""
	switch d := &t.defense[j]; {
	case d.GuardLines && s.Options.ScheduledInnings()-s.Inning >= earlyInnings:
		return false
	case d.Pitch == chance.IntentionalWalk && first: // moves a runner to second, or even the winning run
		return third && !second && s.Outs > 0 && s.Lead() != -1
	case d.Pitch == chance.PitchAround || d.Pitch == chance.IntentionalWalk:
		return t.state.Bases != [3]game.Runner{}
	case d.Pitch == chance.PickoffThrow:
		return t.progress.PickoffThrows == 0 &&
			t.expects(chance.StealSecond, chance.StealThird, chance.DoubleSteal, chance.HitAndRun)
	case d.Pitch == chance.PitchOut:
		return t.expects(chance.StealSecond, chance.StealThird, chance.DoubleSteal, chance.HitAndRun, chance.Squeeze)
	case d.Infield == chance.CornersIn:
		return third || t.expects(chance.BuntForHit, chance.Sacrifice, chance.Squeeze)
	default:
		return true
	}
}

// expects reports whether the side at bat may make one of these calls.
func (t *callTable) expects(calls ...chance.Offense) bool {
	for i, share := range t.offenseMix {
		if share > 0 && slices.Contains(calls, t.offense[i]) {
			return true
		}
	}
	return false
}

// rounds of play in which balance finds the shares; the error falls with their square.
const rounds = 100

// balance sets the shares of an equilibrium among some calls, by regret matching: in each round both sides choose
// calls in proportion to what they regret not to have called, and the later rounds count more.
func (t *callTable) balance(rows, columns []int) {
	var space [4][maxCalls]float64
	offense, defense := space[0][:len(rows)], space[1][:len(columns)]
	sumO, sumD := space[2][:len(rows)], space[3][:len(columns)]
	for round := range rounds {
		x, y := shares(offense), shares(defense)
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
			offense[a] = max(offense[a]+gain[a]-mean, 0)
			sumO[a] += float64(round) * x[a]
		}
		for b := range columns {
			defense[b] = max(defense[b]+mean-loss[b], 0)
			sumD[b] += float64(round) * y[b]
		}
	}
	x, y := shares(sumO), shares(sumD)
	clear(t.offenseMix)
	clear(t.defenseMix)
	for a, i := range rows {
		t.offenseMix[i] = x[a]
	}
	for b, j := range columns {
		t.defenseMix[j] = y[b]
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
