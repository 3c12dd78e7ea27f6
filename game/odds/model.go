package odds

import (
	"cmp"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// A solver fills a table, from the last inning to the first.
type solver struct {
	*Model

	options game.Options
	order   []int                                                  // of situations, those that end soonest first
	known   map[float64]*[chance.BaseOutStates][]chance.Transition // by edge
}

// inning fills an inning that another follows.
func (m *solver) inning(i int) {
	next := &m.innings[i+1][game.Top]
	m.half(i, game.Bottom, false, func(lead int) float64 { return 1 - next[index(-lead)][0] })
	bottom := &m.innings[i][game.Bottom]
	m.half(i, game.Top, false, func(lead int) float64 { return 1 - bottom[index(-lead)][0] })
}

// lastInning fills an inning that a lead at its end decides. Both halves begin in the situation begin; tied is the chance
// of the side that bats first when it ends in a tie.
func (m *solver) lastInning(i, begin int, tied float64) {
	m.half(i, game.Bottom, true, func(lead int) float64 {
		if lead < 0 {
			return 0
		}
		return 1 - tied
	})
	bottom := &m.innings[i][game.Bottom]
	m.half(i, game.Top, false, func(lead int) float64 {
		if lead < 0 {
			return 0 // no bottom half is played
		}
		return 1 - bottom[index(-lead)][begin]
	})
}

// half fills a half-inning. A lead of the side at bat ends the game if decisive; after is its chance once it is out.
// Every plate appearance scores, or makes an out, or moves the runners up: so what follows is known first.
func (m *solver) half(i int, half game.Half, decisive bool, after func(lead int) float64) {
	v := &m.innings[i][half]
	for lead := most; lead >= -most; lead-- {
		row := &v[index(lead)]
		switch {
		case decisive && lead > 0:
			row.fill(1)
			continue
		case lead == most:
			row.fill(after(lead))
			continue
		}
		steps := m.steps(i, half, lead)
		for _, at := range m.order {
			row[at] = 0
			for _, step := range steps[at] { // the row of a lead that wins is the same for the side that is out
				to := min(lead+step.Runs, most)
				if step.To == chance.BaseOutStates && (!decisive || to <= 0) {
					row[at] += step.P * after(to)
				} else {
					row[at] += step.P * v[index(to)][step.To%chance.BaseOutStates]
				}
			}
		}
	}
}

func (r *row) fill(p float64) {
	for at := range r {
		r[at] = p
	}
}

// steps returns the steps of the side at bat, which has a lead.
func (m *solver) steps(i int, half game.Half, lead int) *[chance.BaseOutStates][]chance.Transition {
	edge := 1 / homeEdge
	if (half == game.Bottom) != m.options.HomeBatsFirst {
		edge = homeEdge
	}
	ahead := leadEdge
	if 3*(i+1) > 2*m.options.ScheduledInnings() {
		ahead = lateEdge
	}
	switch {
	case lead > 0:
		edge *= ahead
	case lead < 0:
		edge /= ahead
	}
	if m.known == nil {
		m.known = map[float64]*[chance.BaseOutStates][]chance.Transition{}
	}
	if m.known[edge] == nil {
		steps := chance.Transitions(edge)
		m.known[edge] = &steps
	}
	return m.known[edge]
}

// latestFirst orders the situations such that a plate appearance without a run leads only to earlier ones: by outs, then
// by how far the runners are.
func latestFirst() []int {
	all := make([]int, chance.BaseOutStates)
	for at := range all {
		all[at] = at
	}
	far := func(at int) int {
		on := at / 3
		return on&1 + on&2 + 3*(on>>2)
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(b%3, a%3), cmp.Compare(far(b), far(a))) })
	return all
}
