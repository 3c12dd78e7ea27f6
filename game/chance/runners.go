package chance

import (
	"math"

	"pressbox/game"
)

// maxRows is the largest number of rows of one class in one base-out state.
const maxRows = 20

// A rowDraw is the draw of a row: the candidates and their current weights.
type rowDraw struct {
	class    class
	rows     []advanceRow
	weights  [maxRows]float64
	sums     [outcomes]float64
	values   [outcomes]float64 // mean row value
	pickDraw float64           // uniform draw that picks a row within an outcome
}

// resolveRunners draws where the batter and the runners end, and sets the question if there is one.
func (pa *plateAppearance) resolveRunners(c class) {
	w := pa.weighRows(c)
	group := [3]outcome{
		noRisk, success, declined,
	}[pa.dice.pick([]float64{w.sums[noRisk], w.sums[success] + w.sums[failure], w.sums[declined]})]
	if group == noRisk {
		w.pickDraw = pa.dice.Float64()
		pa.result.Play = pa.buildPlay(c, w.pick(noRisk))
		return
	}
	pa.resolveRisk(&w, group == success)
}

// weighRows returns the candidates of a class with their weights.
func (pa *plateAppearance) weighRows(c class) rowDraw {
	w := rowDraw{class: c, rows: pa.sim.data.rows[pa.baseOut][c]}
	risked := measuredRow{class: c, baseOut: pa.baseOut}.riskedRunner()
	edge := 0.0
	if risked != game.AtBat {
		edge = pa.extraBaseEdge(c, risked)
	}
	if c == flyOut && risked == game.Third {
		edge += sacrificeFlyEdge
	}
	factor := expOrOne(edge)
	bySpeed := [outcomes]float64{noRisk: 1, success: factor, failure: 1 / factor, declined: 1 / factor}
	for i := range w.rows {
		r := &w.rows[i]
		weight := r.weight * bySpeed[r.outcome] * pa.zoneWeight(c, r) * pa.tacticWeight(c, r)
		w.weights[i] = weight
		w.sums[r.outcome] += weight
		w.values[r.outcome] += weight * r.value
	}
	for o := range w.values {
		if w.sums[o] > 0 {
			w.values[o] /= w.sums[o]
		}
	}
	return w
}

// pick returns the row that pickDraw selects among those with outcome o.
func (w *rowDraw) pick(o outcome) *advanceRow {
	left := w.pickDraw * w.sums[o]
	var found *advanceRow
	for i := range w.rows {
		if w.rows[i].outcome != o || w.weights[i] == 0 {
			continue
		}
		found = &w.rows[i]
		if left < w.weights[i] {
			break
		}
		left -= w.weights[i]
	}
	return found
}

// extraBaseEdge returns half of the change in the log odds of an extra base, because it is applied both to taking
// and to declining it. A standard deviation among runners is .33 (they take an extra base 40 ± 8 % of the time);
// arms matter about half as much (estimates). On a ground ball the batter's speed beats the relay.
func (pa *plateAppearance) extraBaseEdge(c class, from game.Base) float64 {
	if c == groundOut {
		if from == game.First {
			return -.1 * pa.batter.Speed
		}
		return -.1 * pa.runners[from].Speed
	}
	arm := 0.0
	if pa.fielder >= 7 {
		team := &pa.state.Teams[pa.state.Fielding()]
		arm = pa.sim.player(team.Fielder(game.Position(pa.fielder))).Arm //nolint:gosec // 7–9
	}
	return .17*pa.runners[from].Speed - .08*arm
}

// minSendChance is the smallest chance of success with which a coach sends a runner: the break-even for home with
// one out is about .6 (from the run expectancies).
const minSendChance = .6

// minDifference is the smallest difference of two choices that is worth a question, in runs and in the distance of the
// chance from 0 and 1.
const minDifference = .05

// resolveRisk resolves a row with a risk. taken reports whether the percentages take it. The chance of success is drawn
// such that the risks taken succeed as often as measured on average, and those declined have a smaller chance.
func (pa *plateAppearance) resolveRisk(w *rowDraw, taken bool) {
	chance := pa.drawRiskChance(w, taken)
	end := failure
	if pa.dice.chance(chance) {
		end = success
	}
	w.pickDraw = pa.dice.Float64()
	bold, safe := w.pick(end), w.pick(declined)
	if taken {
		pa.result.Play = pa.buildPlay(w.class, bold)
	} else {
		pa.result.Play = pa.buildPlay(w.class, safe)
	}
	q, decider := pa.questionAbout(w.class, chance)
	expected := chance*w.values[success] + (1-chance)*w.values[failure]
	if q == ThrowHome {
		safe = w.cutOffRow()
		if safe == nil || !taken || math.Abs(expected-safe.value) <= minDifference {
			return
		}
	} else if bold == nil || safe == nil || math.Abs(expected-w.values[declined]) <= minDifference {
		return
	}
	if chance <= minDifference || chance >= 1-minDifference || w.sums[success] == 0 || w.sums[failure] == 0 {
		return
	}
	if q == ThrowHome { // the bold choice is the throw
		chance = 1 - chance
	}
	pa.result.class, pa.result.zone, pa.result.fielder = w.class, pa.zone, pa.fielder
	pa.result.Question, pa.result.Decider, pa.result.SuccessChance, pa.result.Bold = q, decider, chance, taken
	if taken {
		pa.result.Alternative = pa.buildPlay(w.class, safe)
	} else {
		pa.result.Alternative = pa.buildPlay(w.class, bold)
	}
}

// drawRiskChance draws the chance that the risk succeeds. The chances of risks taken lie between a limit and 1,
// most near 1, with the measured average; if that average is low they spread evenly about it. The chances of risks
// declined are uniform below the limit.
func (pa *plateAppearance) drawRiskChance(w *rowDraw, taken bool) float64 {
	limit, power := w.riskLimits()
	v := pa.dice.Float64()
	switch {
	case w.sums[success] == 0:
		return 0
	case w.sums[failure] == 0:
		return 1
	case taken:
		return 1 - (1-limit)*math.Pow(v, power)
	default:
		return min(.1, limit) + (limit-min(.1, limit))*v
	}
}

// riskLimits returns the least chance of a risk taken, and the power of the uniform draw that spreads the chances
// above it.
func (w *rowDraw) riskLimits() (limit, power float64) {
	safe := 1.0
	if sum := w.sums[success] + w.sums[failure]; sum > 0 {
		safe = w.sums[success] / sum
	}
	if safe < (1+minSendChance)/2 {
		return max(0, 2*safe-1), 1
	}
	return minSendChance, (1-minSendChance)/(1-safe+1e-9) - 1
}

// meanRiskChance returns the mean of drawRiskChance for risks taken.
func (w *rowDraw) meanRiskChance() float64 {
	switch limit, power := w.riskLimits(); {
	case w.sums[success] == 0:
		return 0
	case w.sums[failure] == 0:
		return 1
	default:
		return 1 - (1-limit)/(power+1)
	}
}

// questionAbout returns the question and the side that answers it: the offense decides whether to send a runner in
// doubt, the defense whether to throw at a runner who is likely safe.
func (pa *plateAppearance) questionAbout(c class, chance float64) (Question, game.Side) {
	switch {
	case c == groundOut && pa.bases&onFirst != 0:
		return TurnTwo, pa.state.Fielding()
	case c == groundOut:
		return ThrowPlate, pa.state.Fielding()
	case chance < .85:
		return SendRunner, pa.state.Batting()
	default:
		return ThrowHome, pa.state.Fielding()
	}
}

// cutOffRow returns the row in which the defense cuts the ball off: the lead runner is safe, the batter takes no
// extra base and no other runner is out. It returns nil if there is none.
func (w *rowDraw) cutOffRow() *advanceRow {
	var best *advanceRow
	for i := range w.rows {
		r := &w.rows[i]
		out := r.outCount > 1 || r.outCount == 1 && w.class.isHit()
		if r.outcome == success && w.weights[i] > 0 && r.traits&batterTakesExtraBase == 0 && !out &&
			(best == nil || r.value < best.value) {
			best = r
		}
	}
	return best
}
