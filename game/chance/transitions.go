package chance

// BaseOutStates is the number of base-out states, 3·mask + outs, where the mask has bit 0 for a runner on first, 1 on
// second and 2 on third. As the end of a [Transition] it means that the side is out.
const BaseOutStates = baseOutStates

// A Transition is a possible result of a plate appearance in a base-out state.
type Transition struct {
	To   int // state afterwards, or BaseOutStates
	Runs int
	P    float64 // probability
}

// ExpectedRuns returns the runs of the transition and those expected in the rest of the half-inning, by run expectancy.
func (t Transition) ExpectedRuns() float64 {
	runs := float64(t.Runs)
	if t.To < BaseOutStates {
		runs += measuredData().runExpectancy[t.To]
	}
	return runs
}

// Transitions returns the transitions of each base-out state for average players, without intentional walks and
// sacrifices. edge is the factor on singles, walks and home runs relative to 2015–17 and 2019; runs change by
// about 1.15 times as much.
func Transitions(edge float64) [BaseOutStates][]Transition {
	u := LeagueLikelihoods()
	for _, c := range [...]class{single, walk, homeRun} {
		u.factors[c] = edge
	}
	var all [BaseOutStates][]Transition
	for at := range all {
		all[at] = u.AppendTransitions(nil, at)
	}
	return all
}
