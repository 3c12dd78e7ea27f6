package chance

import (
	"math"

	"pressbox/game"
)

// most rows that one class has in one situation.
const mostRows = 20

// A draw is a row being drawn: the candidates and what each weighs now.
type draw struct {
	class   class
	rows    []row
	weights [mostRows]float64
	sums    [fates]float64
	values  [fates]float64 // weighted
	last    float64        // the number that picks a row within its fate
}

// settle draws where everybody ends, and asks the one question there may be.
func (d *duel) settle(c class) {
	w := draw{class: c, rows: d.t.data.rows[d.at][c]}
	risked := measuredRow{class: c, from: d.at}.risked()
	legs := 0.0
	if risked != game.AtBat {
		legs = d.legs(c, risked)
	}
	faster := exp(legs)
	tilt := [fates]float64{plain: 1, won: faster, lost: 1 / faster, declined: 1 / faster}
	for i := range w.rows {
		r := &w.rows[i]
		weight := r.weight * tilt[r.fate] * d.byField(c, r) * d.lean(c, r)
		w.weights[i] = weight
		w.sums[r.fate] += weight
		w.values[r.fate] += weight * r.value
	}
	for f := range w.values {
		if w.sums[f] > 0 {
			w.values[f] /= w.sums[f]
		}
	}
	group := [3]fate{plain, won, declined}[d.dice.pick([]float64{w.sums[plain], w.sums[won] + w.sums[lost], w.sums[declined]})]
	if group == plain {
		w.last = d.dice.Float64()
		d.turn.Play = d.tell(c, w.row(plain))
		return
	}
	d.gamble(&w, group == won)
}

// row returns the row of a fate that the last number picks.
func (w *draw) row(f fate) *row {
	left := w.last * w.sums[f]
	var found *row
	for i := range w.rows {
		if w.rows[i].fate != f || w.weights[i] == 0 {
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

// legs is how the runner's speed and the fielder's arm tilt the odds of an extra base, on the log scale and half of it,
// since it moves taking and not taking. Runners take an extra base 40 ± 8 % of the time, .33 on the log scale; arms
// matter about half as much (estimates). On a grounder it is the batter's speed that beats the relay.
func (d *duel) legs(c class, from game.Base) float64 {
	if c == grounder {
		if from == game.First {
			return -.1 * d.batter.Speed
		}
		return -.1 * d.runner[from].Speed
	}
	arm := 0.0
	if d.place >= 7 {
		team := &d.s.Teams[d.s.Fielding()]
		arm = d.t.figure(team.Fielder(game.Position(d.place))).Arm //nolint:gosec // 7–9
	}
	return .17*d.runner[from].Speed - .08*arm
}

// boldest is what a runner's chance must be for a coach to send him: break-even for home with one out is about .6
// (from the run expectancies).
const boldest = .6

// differ is by how much two choices must differ for a question: in runs, and in the chance that the bold one succeeds
// from 0 and 1.
const differ = .05

// gamble decides a risk. The row that was drawn says whether the percentages took it; the odds of this very ball are
// drawn so that those taken succeed as often as they did on average, and those declined would have been worse.
func (d *duel) gamble(w *draw, taken bool) {
	odds := d.gambleOdds(w, taken)
	end := lost
	if d.dice.chance(odds) {
		end = won
	}
	w.last = d.dice.Float64()
	bold, safe := w.row(end), w.row(declined)
	if taken {
		d.turn.Play = d.tell(w.class, bold)
	} else {
		d.turn.Play = d.tell(w.class, safe)
	}
	q, asker := d.question(w.class, odds)
	expected := odds*w.values[won] + (1-odds)*w.values[lost]
	if q == ThrowHome {
		safe = w.cut()
		if safe == nil || !taken || math.Abs(expected-safe.value) <= differ {
			return
		}
	} else if bold == nil || safe == nil || math.Abs(expected-w.values[declined]) <= differ {
		return
	}
	if odds <= differ || odds >= 1-differ || w.sums[won] == 0 || w.sums[lost] == 0 {
		return
	}
	if q == ThrowHome { // the bold one is the fielder who throws
		odds = 1 - odds
	}
	d.turn.Question, d.turn.Decider, d.turn.SuccessChance, d.turn.Bold = q, asker, odds, taken
	if taken {
		d.turn.Alternative = d.tell(w.class, safe)
	} else {
		d.turn.Alternative = d.tell(w.class, bold)
	}
}

// gambleOdds draws how likely the gamble succeeds with this ball. Balls that are tried lie between the boldest coach's
// limit and certainty, most near certainty, with the measured average; where that average is low they spread evenly
// about it. Balls that are not tried lie evenly below.
func (d *duel) gambleOdds(w *draw, taken bool) float64 {
	safe := 1.0
	if sum := w.sums[won] + w.sums[lost]; sum > 0 {
		safe = w.sums[won] / sum
	}
	limit, power := boldest, (1-boldest)/(1-safe+1e-9)-1
	if safe < (1+boldest)/2 {
		limit, power = max(0, 2*safe-1), 1
	}
	v := d.dice.Float64()
	switch {
	case w.sums[won] == 0:
		return 0
	case w.sums[lost] == 0:
		return 1
	case taken:
		return 1 - (1-limit)*math.Pow(v, power)
	default:
		return min(.1, limit) + (limit-min(.1, limit))*v
	}
}

// question says what is asked of whom: the side at bat whether to send a runner who is in doubt, the defence whether to
// throw at one who is likely safe.
func (d *duel) question(c class, odds float64) (Question, game.Side) {
	switch {
	case c == grounder && d.held&onFirst != 0:
		return TurnTwo, d.s.Fielding()
	case c == grounder:
		return ThrowPlate, d.s.Fielding()
	case odds < .85:
		return SendRunner, d.s.Batting()
	default:
		return ThrowHome, d.s.Fielding()
	}
}

// cut returns the row in which the ball is cut off: the runner is safe and nobody else takes a base or is out for trying;
// nil if there is none.
func (w *draw) cut() *row {
	var best *row
	for i := range w.rows {
		r := &w.rows[i]
		out := r.made > 1 || r.made == 1 && w.class.hit()
		if r.fate == won && w.weights[i] > 0 && r.marks&stretched == 0 && !out && (best == nil || r.value < best.value) {
			best = r
		}
	}
	return best
}
