package odds

import (
	"cmp"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// A solver computes a model, from the last inning to the first.
type solver struct {
	*Model

	options     game.Options
	order       []int                                                  // of base-out states, see endingFirst
	transitions map[float64]*[chance.BaseOutStates][]chance.Transition // by edge
}

// solveInning solves an inning that another one follows.
func (sv *solver) solveInning(i int) {
	next := &sv.innings[i+1][game.Top]
	sv.solveHalf(i, game.Bottom, false, func(lead int) float64 { return 1 - next[index(-lead)][0] })
	bottom := &sv.innings[i][game.Bottom]
	sv.solveHalf(i, game.Top, false, func(lead int) float64 { return 1 - bottom[index(-lead)][0] })
}

// solveLastInning solves an inning that ends the game unless it is tied. Both halves begin in base-out state
// begin; tied is the chance of the side that bats first after a tie.
func (sv *solver) solveLastInning(i, begin int, tied float64) {
	sv.solveHalf(i, game.Bottom, true, func(lead int) float64 {
		if lead < 0 {
			return 0
		}
		return 1 - tied
	})
	bottom := &sv.innings[i][game.Bottom]
	sv.solveHalf(i, game.Top, false, func(lead int) float64 {
		if lead < 0 {
			return 0 // no bottom half is played
		}
		return 1 - bottom[index(-lead)][begin]
	})
}

// solveHalf solves a half-inning. If decisive, a lead of the side at bat ends the game; after returns its chance
// when the side is out. Each plate appearance scores, makes an out or advances the runners, so the following
// states are solved first.
func (sv *solver) solveHalf(i int, half game.Half, decisive bool, after func(lead int) float64) {
	v := &sv.innings[i][half]
	for lead := maxLead; lead >= -maxLead; lead-- {
		row := &v[index(lead)]
		switch {
		case decisive && lead > 0:
			row.fill(1)
			continue
		case lead == maxLead:
			row.fill(after(lead))
			continue
		}
		transitions := sv.edgeTransitions(i, half, lead)
		for _, at := range sv.order {
			row[at] = 0
			for _, next := range transitions[at] { // a winning lead has the same chance when the side is out
				to := min(lead+next.Runs, maxLead)
				if next.To == chance.BaseOutStates && (!decisive || to <= 0) {
					row[at] += next.P * after(to)
				} else {
					row[at] += next.P * v[index(to)][next.To%chance.BaseOutStates]
				}
			}
		}
	}
}

func (r *byState) fill(p float64) {
	for at := range r {
		r[at] = p
	}
}

// edgeTransitions returns the transitions of the side at bat with a lead.
func (sv *solver) edgeTransitions(i int, half game.Half, lead int) *[chance.BaseOutStates][]chance.Transition {
	edge := 1 / homeEdge
	if (half == game.Bottom) != sv.options.HomeBatsFirst {
		edge = homeEdge
	}
	ahead := leadEdge
	if 3*(i+1) > 2*sv.options.ScheduledInnings() {
		ahead = lateEdge
	}
	switch {
	case lead > 0:
		edge *= ahead
	case lead < 0:
		edge /= ahead
	}
	if sv.transitions == nil {
		sv.transitions = map[float64]*[chance.BaseOutStates][]chance.Transition{}
	}
	if sv.transitions[edge] == nil {
		transitions := chance.Transitions(edge)
		sv.transitions[edge] = &transitions
	}
	return sv.transitions[edge]
}

// endingFirst returns the base-out states in an order in which a plate appearance without a run leads only to
// earlier ones: by outs, then by advance of the runners.
func endingFirst() []int {
	all := make([]int, chance.BaseOutStates)
	for at := range all {
		all[at] = at
	}
	advance := func(at int) int {
		on := at / 3
		return on&1 + on&2 + 3*(on>>2)
	}
	slices.SortFunc(all,
		func(a, b int) int { return cmp.Or(cmp.Compare(b%3, a%3), cmp.Compare(advance(b), advance(a))) })
	return all
}
