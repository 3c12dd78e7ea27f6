package chance

import "pressbox/game"

// Likelihoods hold how often each kind of plate appearance happens between a batter and a pitcher, relative to the
// league's in the same base-out state, while both sides call nothing special.
type Likelihoods struct{ factors [classes]float64 }

// Likelihoods returns the likelihoods of the current batter and pitcher.
func (sim *Simulator) Likelihoods(s *game.State, m Progress) Likelihoods {
	var pa plateAppearance
	pa.init(sim, s, &m, Tactics{})
	u := Likelihoods{pa.classWeights()}
	for c, share := range sim.data.classShares[pa.baseOut] {
		if share > 0 {
			u.factors[c] /= share
		} else {
			u.factors[c] = 1
		}
	}
	return u
}

// LeagueLikelihoods returns the likelihoods of average players.
func LeagueLikelihoods() Likelihoods {
	var u Likelihoods
	for c := range u.factors {
		u.factors[c] = 1
	}
	return u
}

// AppendTransitions appends the transitions of a plate appearance in a base-out state to all, without plays between
// pitches, and returns it.
func (u *Likelihoods) AppendTransitions(all []Transition, at int) []Transition {
	d := measuredData()
	ends, from := &d.ends[at], len(all)
	all = append(all, ends.transitions...)
	total := 0.0
	var weights [classes]float64
	for c, share := range d.classShares[at] {
		weights[c] = share * u.factors[c]
		total += weights[c]
	}
	for _, part := range ends.parts {
		all[from+part.transition].P += part.p * weights[part.class]
	}
	for i := range all[from:] {
		all[from+i].P /= total
	}
	return all
}

// turnEnds are the different results of plate appearances in a base-out state, and the classes that they have their
// probability from.
type turnEnds struct {
	transitions []Transition // P is 0
	parts       []endingPart
}

// An endingPart is the probability of a result in a class.
type endingPart struct {
	class      class
	transition int // index
	p          float64
}

// loadEnds fills ends from the rows.
func (d *measurements) loadEnds() {
	for at := range d.ends {
		ends := &d.ends[at]
		for c := range d.rows[at] {
			rows := d.rows[at][c]
			times := 0.0
			for i := range rows {
				times += rows[i].weight
			}
			for i := range rows {
				n := ends.index(rows[i].next, int(rows[i].runs))
				ends.parts = append(ends.parts, endingPart{class(c), n, rows[i].weight / times})
			}
		}
	}
}

// index returns the index of a transition, which it adds if it is new.
func (e *turnEnds) index(to, runs int) int {
	for i, t := range e.transitions {
		if t.To == to && t.Runs == runs {
			return i
		}
	}
	e.transitions = append(e.transitions, Transition{To: to, Runs: runs})
	return len(e.transitions) - 1
}
