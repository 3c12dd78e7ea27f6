package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// baseOutState is 3·mask + outs, bit 0 of the mask for first base. Values from inningOver on mean that the side is out.
type baseOutState int

const (
	baseOutStates              = 24
	inningOver    baseOutState = baseOutStates
)

func stateOf(s *game.State) baseOutState {
	mask := 0
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			mask |= 1 << i
		}
	}
	return baseOutState(3*mask + s.Outs)
}

func (at baseOutState) outs() int { return int(at) % 3 }

// isOccupied reports whether base 1–3 is occupied.
func (at baseOutState) isOccupied(base int) bool { return int(at)/3&(1<<(base-1)) != 0 }

// addOut returns the state with one more out.
func (at baseOutState) addOut() baseOutState {
	if at.outs() == 2 {
		return inningOver
	}
	return at + 1
}

func (at baseOutState) addRunner(base int) baseOutState    { return at + baseOutState(3<<(base-1)) }
func (at baseOutState) removeRunner(base int) baseOutState { return at - baseOutState(3<<(base-1)) }

// advance moves the runner on a base forward and returns the run if the runner scores.
func (at baseOutState) advance(base, by int) (baseOutState, int) {
	at = at.removeRunner(base)
	if base+by > 3 {
		return at, 1
	}
	return at.addRunner(base + by), 0
}

// leadRunner returns the base of the lead runner, 0 if there is none.
func leadRunner(at baseOutState) int {
	for base := 3; base > 0; base-- {
		if at.isOccupied(base) {
			return base
		}
	}
	return 0
}

// A valuation holds the value of each base-out state to the side at bat.
type valuation struct {
	value        [baseOutStates]float64
	firstRunOnly bool                   // the value is the chance of at least one run
	residual     [baseOutStates]float64 // measured value minus that of the model below, for the league's batter
}

// after returns the value of a state after runs in this plate appearance.
func (v *valuation) after(runs int, at baseOutState) float64 {
	rest := 0.0
	if at < inningOver {
		rest = v.value[at]
	}
	if !v.firstRunOnly {
		return float64(runs) + rest
	}
	if runs > 0 {
		return 1
	}
	return rest
}

// valuations are by runs and by the chance of one run.
type valuations struct{ runs, one valuation }

// chanceOfRun returns the chance of at least one run in the rest of the half-inning: innings 1–8 of 2015–17 and 2019.
func chanceOfRun() [baseOutStates]float64 {
	return [baseOutStates]float64{
		.281, .167, .074, .422, .270, .129, .617, .406, .216, .622, .419, .224,
		.839, .659, .267, .855, .640, .273, .844, .674, .258, .855, .669, .322,
	}
}

func newValuations() valuations {
	v := valuations{one: valuation{value: chanceOfRun(), firstRunOnly: true}}
	for at := range v.runs.value {
		s := game.State{Outs: at % 3}
		for i := range s.Bases {
			if at/3&(1<<i) != 0 {
				s.Bases[i].Player = "runner"
			}
		}
		v.runs.value[at] = chance.RunExpectancy(&s)
	}
	for _, one := range [...]*valuation{&v.runs, &v.one} {
		for at := range one.residual {
			one.residual[at] = one.value[at] - one.plateAppearance(baseOutState(at), chance.LeagueRates())
		}
	}
	return v
}

// forState returns the valuation for a state: by one run if that wins the game, otherwise by runs.
func (v *valuations) forState(s *game.State) *valuation {
	if s.Half == game.Bottom && s.Inning >= s.Options.ScheduledInnings() && s.Lead() == 0 {
		return &v.one
	}
	return &v.runs
}

// plateAppearance returns the value of a state if the batter has these rates.
func (v *valuation) plateAppearance(at baseOutState, r chance.Rates) float64 {
	return v.residual[at] +
		r.K*v.after(0, at.addOut()) +
		(r.BB+r.HBP)*v.walk(at) +
		r.Single*v.single(at) +
		r.Double*v.double(at) +
		r.Triple*v.after(runnersOn(at), baseOutState(at.outs()).addRunner(3)) +
		r.HR*v.after(runnersOn(at)+1, baseOutState(at.outs())) +
		r.Out()*v.ballInPlay(at)
}

func runnersOn(at baseOutState) int {
	n := 0
	for base := 1; base <= 3; base++ {
		if at.isOccupied(base) {
			n++
		}
	}
	return n
}

// walk returns the value after a walk.
func (v *valuation) walk(at baseOutState) float64 {
	for base := 1; base <= 3; base++ {
		if !at.isOccupied(base) {
			return v.after(0, at.addRunner(base))
		}
	}
	return v.after(1, at)
}

// single returns the value after a single: the runner on third scores, the runner on second by outs, and a quarter of the
// runners on first take third if it is open.
func (v *valuation) single(at baseOutState) float64 {
	scores := [3]float64{.44, .53, .79}[at.outs()]
	runs, next := 0, baseOutState(at.outs()).addRunner(1)
	if at.isOccupied(3) {
		runs++
	}
	switch {
	case at.isOccupied(2) && at.isOccupied(1):
		return scores*(.28*v.after(runs+1, next.addRunner(3))+.72*v.after(runs+1, next.addRunner(2))) + (1-scores)*v.after(runs, next.addRunner(2).addRunner(3))
	case at.isOccupied(2):
		return scores*v.after(runs+1, next) + (1-scores)*v.after(runs, next.addRunner(3))
	case at.isOccupied(1):
		return .28*v.after(runs, next.addRunner(3)) + .72*v.after(runs, next.addRunner(2))
	default:
		return v.after(runs, next)
	}
}

// double returns the value after a double: all score, the runner on first by outs.
func (v *valuation) double(at baseOutState) float64 {
	runs, next := runnersOn(at), baseOutState(at.outs()).addRunner(2)
	if !at.isOccupied(1) {
		return v.after(runs, next)
	}
	scores := [3]float64{.32, .38, .53}[at.outs()]
	return scores*v.after(runs, next) + (1-scores)*v.after(runs-1, next.addRunner(3))
}

// ballInPlay returns the value after an out: with less than two out and a runner on first, two of nine are double plays; of
// the rest half score a runner on third.
func (v *valuation) ballInPlay(at baseOutState) float64 {
	if at.outs() == 2 {
		return 0
	}
	singleOut := v.after(0, at.addOut())
	if at.isOccupied(3) {
		singleOut = .5*singleOut + .5*v.after(1, at.removeRunner(3).addOut())
	}
	if !at.isOccupied(1) {
		return singleOut
	}
	return .22*v.after(0, at.removeRunner(1).addOut().addSecondOut()) + .78*singleOut
}

// addSecondOut returns the state with one more out, inningOver if it is over already.
func (at baseOutState) addSecondOut() baseOutState {
	if at == inningOver {
		return inningOver
	}
	return at.addOut()
}

// breakEven returns the chance of success at which a risk is worth taking.
func breakEven(now, success, failure float64) float64 { return (now - failure) / (success - failure) }
