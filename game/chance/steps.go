package chance

// BaseOutStates is how many combinations of bases and outs there are: 3·mask + outs, where the mask counts 1 for a runner on
// first, 2 on second and 4 on third. As the end of a [Transition] it means that the side is out.
const BaseOutStates = situations

// A Transition is what a plate appearance can make of a situation.
type Transition struct {
	To   int // situation afterwards, or Situations
	Runs int
	P    float64 // its chance
}

// Transitions returns what a plate appearance between average players makes of each situation, intentional walks and sacrifices
// aside. Singles, walks and home runs are edge times as frequent as in 2015–17 and 2019; 1 is baseball as it was. Runs
// grow by about 1.15 times the share that the edge is above 1.
func Transitions(edge float64) [BaseOutStates][]Transition {
	var all [BaseOutStates][]Transition
	for at := range all {
		all[at] = static().steps(at, edge)
	}
	return all
}

func (d *data) steps(at int, edge float64) []Transition {
	var sum [BaseOutStates + 1][5]float64 // by end and runs
	var total float64
	for c, weight := range d.share[at] {
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
	var steps []Transition
	for to := range sum {
		for runs, p := range sum[to] {
			if p > 0 {
				steps = append(steps, Transition{To: to, Runs: runs, P: p / total})
			}
		}
	}
	return steps
}
