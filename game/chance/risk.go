package chance

import "pressbox/game"

// A Risk holds the results that the choices of a question can have, before the dice: of the bold choice if it
// succeeds and if it fails, and of the safe choice. The probabilities of each sum to 1.
type Risk struct{ Success, Failure, Safe []Transition }

// Risk returns the risk of the question that a turn in s ended in, the zero Risk if it ended in none. It does not
// depend on whether the bold choice would succeed.
func (sim *Simulator) Risk(s *game.State, m Progress, c Tactics, r *Resolution) Risk {
	if r.Question == NoQuestion {
		return Risk{}
	}
	var pa plateAppearance
	pa.init(sim, s, &m, c)
	pa.zone, pa.fielder = r.zone, r.fielder
	w := pa.weighRows(r.class)
	risk := Risk{Success: w.transitions(success), Failure: w.transitions(failure), Safe: w.transitions(declined)}
	if r.Question == ThrowHome { // the bold choice is the throw, which succeeds if the runner is out
		risk.Success, risk.Failure, risk.Safe = risk.Failure, risk.Success, []Transition{w.cutOffRow().transition(1)}
	}
	return risk
}

// transitions returns the results of the rows with outcome o.
func (w *rowDraw) transitions(o outcome) []Transition {
	all := make([]Transition, 0, len(w.rows))
	for i := range w.rows {
		if r := &w.rows[i]; r.outcome == o && w.weights[i] > 0 {
			all = append(all, r.transition(w.weights[i]/w.sums[o]))
		}
	}
	return all
}

// transition returns the result of a row that has the probability p.
func (r *advanceRow) transition(p float64) Transition {
	return Transition{To: r.next, Runs: int(r.runs), P: p}
}
