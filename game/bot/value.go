package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// situationIndex is bases and outs: 3·mask + outs, the bit of first is 1. From over on the half-inning has ended.
type situationIndex int

const (
	situations                = 24
	over       situationIndex = situations
)

func situation(s *game.State) situationIndex {
	mask := 0
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			mask |= 1 << i
		}
	}
	return situationIndex(3*mask + s.Outs)
}

func (at situationIndex) outs() int { return int(at) % 3 }

// on reports whether a base, 1–3, is held.
func (at situationIndex) on(base int) bool { return int(at)/3&(1<<(base-1)) != 0 }

// out returns the situation with one more out.
func (at situationIndex) out() situationIndex {
	if at.outs() == 2 {
		return over
	}
	return at + 1
}

func (at situationIndex) add(base int) situationIndex    { return at + situationIndex(3<<(base-1)) }
func (at situationIndex) remove(base int) situationIndex { return at - situationIndex(3<<(base-1)) }

// move brings the runner on a base some bases further, and returns the run if he scores.
func (at situationIndex) move(base, by int) (situationIndex, int) {
	at = at.remove(base)
	if base+by > 3 {
		return at, 1
	}
	return at.add(base + by), 0
}

// leadRunner returns the base of the runner in front, 0 if there is none.
func leadRunner(at situationIndex) int {
	for base := 3; base > 0; base-- {
		if at.on(base) {
			return base
		}
	}
	return 0
}

// scale is what situations are worth to the side at bat.
type scale struct {
	worth [situations]float64
	one   bool                // only the first run counts
	rest  [situations]float64 // what the branches below leave out, so that the league's batter is worth what was measured
}

// after is the worth of a situation after some runs in this turn.
func (v *scale) after(runs int, at situationIndex) float64 {
	left := 0.0
	if at < over {
		left = v.worth[at]
	}
	if !v.one {
		return float64(runs) + left
	}
	if runs > 0 {
		return 1
	}
	return left
}

// scales are the two ways to weigh.
type scales struct{ runs, one scale }

// chanceOfRun is the chance that at least one run scores in the rest of the half-inning: innings 1–8 of 2015–17 and 2019.
func chanceOfRun() [situations]float64 {
	return [situations]float64{
		.281, .167, .074, .422, .270, .129, .617, .406, .216, .622, .419, .224,
		.839, .659, .267, .855, .640, .273, .844, .674, .258, .855, .669, .322,
	}
}

func newScales() scales {
	v := scales{one: scale{worth: chanceOfRun(), one: true}}
	for at := range v.runs.worth {
		s := game.State{Outs: at % 3}
		for i := range s.Bases {
			if at/3&(1<<i) != 0 {
				s.Bases[i].Player = "somebody"
			}
		}
		v.runs.worth[at] = chance.RunExpectancy(&s)
	}
	for _, one := range [...]*scale{&v.runs, &v.one} {
		for at := range one.rest {
			one.rest[at] = one.worth[at] - one.turn(situationIndex(at), chance.LeagueRates())
		}
	}
	return v
}

// of returns the scale for a state: by one run when that wins the game, else by runs.
func (v *scales) of(s *game.State) *scale {
	if s.Half == game.Bottom && s.Inning >= s.Options.ScheduledInnings() && s.Lead() == 0 {
		return &v.one
	}
	return &v.runs
}

// turn returns what a situation is worth when the batter's turn ends with these rates. Against the worth of the
// situation it says how much better or worse than the league he is now.
func (v *scale) turn(at situationIndex, r chance.Rates) float64 {
	return v.rest[at] +
		r.K*v.after(0, at.out()) +
		(r.BB+r.HBP)*v.walk(at) +
		r.Single*v.single(at) +
		r.Double*v.double(at) +
		r.Triple*v.after(runners(at), situationIndex(at.outs()).add(3)) +
		r.HR*v.after(runners(at)+1, situationIndex(at.outs())) +
		r.Out()*v.ballInPlay(at)
}

func runners(at situationIndex) int {
	n := 0
	for base := 1; base <= 3; base++ {
		if at.on(base) {
			n++
		}
	}
	return n
}

// walk pushes the runners who are forced.
func (v *scale) walk(at situationIndex) float64 {
	for base := 1; base <= 3; base++ {
		if !at.on(base) {
			return v.after(0, at.add(base))
		}
	}
	return v.after(1, at)
}

// single: the runner from third scores, from second by outs, from first every fourth takes third if it is free.
func (v *scale) single(at situationIndex) float64 {
	home := [3]float64{.44, .53, .79}[at.outs()]
	runs, next := 0, situationIndex(at.outs()).add(1)
	if at.on(3) {
		runs++
	}
	switch {
	case at.on(2) && at.on(1):
		return home*(.28*v.after(runs+1, next.add(3))+.72*v.after(runs+1, next.add(2))) + (1-home)*v.after(runs, next.add(2).add(3))
	case at.on(2):
		return home*v.after(runs+1, next) + (1-home)*v.after(runs, next.add(3))
	case at.on(1):
		return .28*v.after(runs, next.add(3)) + .72*v.after(runs, next.add(2))
	default:
		return v.after(runs, next)
	}
}

// double: everybody scores, from first by outs.
func (v *scale) double(at situationIndex) float64 {
	runs, next := runners(at), situationIndex(at.outs()).add(2)
	if !at.on(1) {
		return v.after(runs, next)
	}
	home := [3]float64{.32, .38, .53}[at.outs()]
	return home*v.after(runs, next) + (1-home)*v.after(runs-1, next.add(3))
}

// ballInPlay is an out: with less than two out two of nine with a man on first are double plays, and of the rest a man on
// third scores every second time.
func (v *scale) ballInPlay(at situationIndex) float64 {
	if at.outs() == 2 {
		return 0
	}
	stay := v.after(0, at.out())
	if at.on(3) {
		stay = .5*stay + .5*v.after(1, at.remove(3).out())
	}
	if !at.on(1) {
		return stay
	}
	return .22*v.after(0, at.remove(1).out().orOver()) + .78*stay
}

// orOver returns the situation with one more out, if it is not over already.
func (at situationIndex) orOver() situationIndex {
	if at == over {
		return over
	}
	return at.out()
}

// breakEven returns the chance of success at which a gamble is worth what it risks.
func breakEven(now, won, lost float64) float64 { return (now - lost) / (won - lost) }
