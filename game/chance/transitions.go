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

// Transitions returns the transitions of each base-out state for average players, without intentional walks and sacrifices.
// edge is the factor on singles, walks and home runs relative to 2015–17 and 2019; runs change by about 1.15 times as much.
func Transitions(edge float64) [BaseOutStates][]Transition {
	var all [BaseOutStates][]Transition
	for at := range all {
		all[at] = measuredData().transitions(at, edge)
	}
	return all
}

func (d *measurements) transitions(at int, edge float64) []Transition {
	var sum [BaseOutStates + 1][5]float64 // by state afterwards and runs
	var total float64
	for c, weight := range d.classShares[at] {
		if c := class(c); c == single || c == walk || c == homeRun {
			weight *= edge
		}
		total += weight
		rows := d.rows[at][c]
		var times float64
		for i := range rows {
			times += rows[i].weight
		}
		for i := range rows {
			sum[rows[i].next][rows[i].runs] += weight * rows[i].weight / times
		}
	}
	var all []Transition
	for to := range sum {
		for runs, p := range sum[to] {
			if p > 0 {
				all = append(all, Transition{To: to, Runs: runs, P: p / total})
			}
		}
	}
	return all
}
