package stats

import "math"

// The ladder's ratings are those of a Bradley–Terry model (Rank Analysis of Incomplete Block Designs, 1952) on Elo's
// scale: a difference of 400 is odds of ten to one in nine innings. What the home side, and each club, add to a manager
// is estimated from the same games, so that who takes the best club gains nothing by that. All are drawn to their means
// by normal priors: who has played little is rated near 1500.
const (
	firstRating   = 1500
	ratingScale   = 400 / math.Ln10
	priorManager  = 120.
	priorClub     = 50.
	home          = 25. // of the home sides of 2010–19, who won 54 of 100
	priorHome     = 15.
	fewRepeats    = 10   // games between the same two that count whole; the k-th counts fewRepeats/k
	closeEnough   = .005 // of a rating, which is shown in whole numbers
	mostFittings  = 200
	regularLength = 9
)

// A term is an unknown of the model with its prior.
type term struct {
	mean, deviation float64
	value           float64
	of              []int     // games that it is in
	sign            []float64 // +1 for the home side, -1 for the visitors, by games
	information     float64   // of the games and the prior
}

// A fit estimates terms from games.
type fit struct {
	terms []*term
	// By games: whether the home side won (.5 a tie), its advantage so far, and how much a difference counts: by the
	// length of the game, and by how often the two have met.
	won, edge, length, weight []float64
}

// newTerm returns the index of a new term.
func (f *fit) newTerm(mean, deviation float64) int {
	f.terms = append(f.terms, &term{mean: mean, deviation: deviation, value: mean})
	return len(f.terms) - 1
}

// add adds a game of terms of the home side and of the visitors.
func (f *fit) add(homeSide, visitors []int, won float64, innings int, weight float64) {
	game, edge := len(f.won), 0.
	for i, side := range [2][]int{homeSide, visitors} {
		sign := 1 - 2*float64(i)
		for _, at := range side {
			t := f.terms[at]
			t.of, t.sign = append(t.of, game), append(t.sign, sign)
			edge += sign * t.value
		}
	}
	f.won, f.edge, f.weight = append(f.won, won), append(f.edge, edge), append(f.weight, weight)
	// the better side's margin grows with the innings, what is chance with their root
	f.length = append(f.length, math.Sqrt(float64(innings)/regularLength)/ratingScale)
}

// solve sets the values to those that are most likely, one after the other until none moves.
func (f *fit) solve() {
	for range mostFittings {
		moved := 0.
		for _, t := range f.terms {
			slope := (t.mean - t.value) / (t.deviation * t.deviation)
			t.information = 1 / (t.deviation * t.deviation)
			for i, game := range t.of {
				k := f.length[game]
				p := 1 / (1 + math.Exp(-k*f.edge[game]))
				slope += f.weight[game] * k * t.sign[i] * (f.won[game] - p)
				t.information += f.weight[game] * k * k * p * (1 - p)
			}
			step := slope / t.information
			t.value += step
			for i, game := range t.of {
				f.edge[game] += t.sign[i] * step
			}
			moved = max(moved, math.Abs(step))
		}
		if moved < closeEnough {
			return
		}
	}
}
