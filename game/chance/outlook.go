package chance

import "pressbox/game"

// MaxRuns is the most runs of one turn.
const MaxRuns = 4

// An Outlook is the distribution of the results of a turn before the dice, for given tactics. Questions are
// answered by the percentages. It includes neither the seed nor the form of the day, and a run that wins the game
// does not end it.
type Outlook struct {
	p [2][BaseOutStates + 1][MaxRuns + 1]float64 // by whether the turn is over, state afterwards and runs
}

// A Result is a possible result of a turn.
type Result struct {
	Transition

	TurnOver bool // false after a play between pitches: the batter is still up
}

// Outlook returns the outlook of a turn; the zero Outlook if the tactics are illegal.
func (sim *Simulator) Outlook(s *game.State, m Progress, c Tactics) Outlook {
	var o Outlook
	if checkPlayable(s) != nil || c.Check(s, m) != nil {
		return o
	}
	var start plateAppearance
	start.init(sim, s, &m, c)
	var space [8]branch
	path := branches{p: 1, steps: space[:0]}
	for more := true; more; more = path.next() {
		pa := start
		pa.dice.path = &path
		pa.outlook(&o)
	}
	return o
}

// Each calls visit with every result that is possible.
func (o *Outlook) Each(visit func(Result)) {
	for over := range o.p {
		for to := range o.p[over] {
			for runs, p := range o.p[over][to] {
				if p > 0 {
					visit(Result{Transition{To: to, Runs: runs, P: p}, over == 1})
				}
			}
		}
	}
}

// outlook adds the results on the current path of the dice.
func (pa *plateAppearance) outlook(o *Outlook) {
	thrown := &pa.result.Next.Pitches
	switch {
	case pa.resolveBetweenPitches():
		pa.addPlay(o)
		return
	case pa.tactics.Defense.Pitch == IntentionalWalk:
		pa.walkIntentionally()
		pa.addPlay(o)
		return
	}
	c := pa.throwFixedPitch(thrown)
	switch {
	case c < classes:
		pa.addClass(o, c, 1)
	case pa.tactics.isBunt():
		pa.resolveBunt()
		pa.addPlay(o)
	default:
		w := pa.classWeights()
		pa.applyCount(&w, thrown.Count())
		all := sum(w[:])
		for c, x := range w {
			pa.addClass(o, class(c), x/all)
		}
	}
}

func (pa *plateAppearance) addPlay(o *Outlook) {
	play := &pa.result.Play
	if play.Kind == game.NoPlay { // the state is the same
		o.p[0][pa.baseOut][0] += pa.dice.path.p
		return
	}
	t := pa.state.Tally(*play)
	outs, to := pa.state.Outs+t.Outs, BaseOutStates
	if outs < 3 {
		to = outs
		for from := game.AtBat; from <= game.Third; from++ {
			at := play.Advances[from].To
			switch {
			case pa.runners[from] == nil, at == game.HomePlate,
				at == game.AtBat && (from == game.AtBat || play.OutIndex(from) >= 0):
				continue
			case at == game.AtBat:
				at = from
			}
			to += 3 << (at - 1)
		}
	}
	o.add(play.Kind.EndsPlateAppearance(), to, t.Runs, pa.dice.path.p)
}

// addClass adds the results of a class with a share of the path.
func (pa *plateAppearance) addClass(o *Outlook, c class, share float64) {
	p := pa.dice.path.p * share
	for zone, inZone := range pa.zoneShares(c) {
		if inZone == 0 {
			continue
		}
		pa.zone, pa.fielder = zone, 0
		if zone != infield {
			pa.fielder = zone + 6
		}
		w := pa.weighRows(c)
		taken := w.sums[success] + w.sums[failure]
		total := w.sums[noRisk] + w.sums[declined] + taken
		succeeds := w.meanRiskChance()
		of := w.sums
		of[success], of[failure] = taken*succeeds, taken*(1-succeeds)
		for i := range w.rows {
			r := &w.rows[i]
			if w.weights[i] > 0 {
				pa.addRow(o, c, r, p*inZone*of[r.outcome]/total*w.weights[i]/w.sums[r.outcome])
			}
		}
	}
}

// addRow adds a row, and after a strikeout the throw at runners who went.
func (pa *plateAppearance) addRow(o *Outlook, c class, r *advanceRow, p float64) {
	going, goes := 0, 0.
	if c == strikeout && r.to[game.AtBat] == 0 {
		going, goes = pa.goOnStrike()
	}
	o.add(true, r.next, int(r.runs), p*(1-goes))
	if goes == 0 {
		return
	}
	p *= goes
	lead := highest(going)
	safe := pa.stealChance(game.Base(lead))                              //nolint:gosec // 1–3
	o.add(true, 3*(pa.bases&^going|going<<1)+pa.state.Outs+1, 0, p*safe) // a lone runner, or both
	to := BaseOutStates
	if pa.state.Outs == 0 {
		to = 3*(pa.bases&^(1<<(lead-1))) + 2
	}
	o.add(true, to, 0, p*(1-safe))
}

func (o *Outlook) add(over bool, to, runs int, p float64) {
	o.p[int(indicator(over))][to][runs] += p
}

// branches enumerates the results of the draws of [Dice], one path after another.
type branches struct {
	steps []branch
	depth int
	p     float64 // probability of the path so far
}

// A branch is the branch taken at one draw, of a number of branches.
type branch struct{ at, of int }

// pick takes the branch of the path, the first one that has a weight on a new path.
func (b *branches) pick(weights []float64) int {
	if b.depth == len(b.steps) {
		b.steps = append(b.steps, branch{0, len(weights)})
	}
	step := &b.steps[b.depth]
	for weights[step.at] == 0 && step.at < len(weights)-1 {
		step.at++
	}
	b.depth++
	b.p *= weights[step.at] / sum(weights)
	return step.at
}

// next moves to the next path, and reports whether there is one.
func (b *branches) next() bool {
	b.steps = b.steps[:b.depth]
	b.depth, b.p = 0, 1
	for n := len(b.steps); n > 0; n-- {
		if step := &b.steps[n-1]; step.at < step.of-1 {
			step.at++
			b.steps = b.steps[:n]
			return true
		}
	}
	return false
}
