package chance

import "pressbox/game"

// Odds is the chance of success shown with a tactic.
type Odds struct {
	Goal   string  `json:"what"` // the success: "safe at second"
	Chance float64 `json:"success"`
}

// Odds returns the chance shown with the tactics: of a steal that the runner is safe, of a bunt that it succeeds,
// otherwise that the batter reaches base. It returns the zero Odds if the tactics are illegal.
func (sim *Simulator) Odds(s *game.State, m Progress, c Tactics) Odds {
	if checkPlayable(s) != nil || c.Check(s, m) != nil {
		return Odds{}
	}
	var pa plateAppearance
	pa.init(sim, s, &m, c)
	good := []buntResult{buntSacrifice, buntHit, buntFieldersChoice, buntError}
	switch c.Offense {
	case StealSecond:
		return Odds{"safe at second", pa.stealChance(game.First)}
	case StealHome:
		return Odds{"safe at home", pa.stealChance(game.Third)}
	case DoubleSteal:
		if pa.bases&onThird != 0 {
			return Odds{"both safe", pa.stealChance(game.First) * .5}
		}
		fallthrough
	case StealThird:
		return Odds{"safe at third", pa.stealChance(game.Second)}
	case Sacrifice:
		return Odds{"moves the runners", pa.buntChance(good...)}
	case Squeeze:
		return Odds{"the runner scores", (1 - squeezeMissChance) * pa.buntChance(good...)}
	case BuntForHit:
		return Odds{"reaches first", pa.buntChance(buntHit, buntError)}
	default:
		r := pa.expectedRates(m.Pitches.Count())
		return Odds{"reaches base", 1 - r.K - r.Out()}
	}
}

func (pa *plateAppearance) buntChance(good ...buntResult) float64 {
	w, of := pa.buntWeights(), 0.
	for _, b := range good {
		of += w[b]
	}
	return of / sum(w[:])
}

// ExpectedRates returns the rates of the current plate appearance, given the tactics of both sides.
func (sim *Simulator) ExpectedRates(s *game.State, m Progress, c Tactics) Rates {
	var pa plateAppearance
	pa.init(sim, s, &m, c)
	return pa.expectedRates(m.Pitches.Count())
}

func (pa *plateAppearance) expectedRates(at game.Count) Rates {
	w := pa.classWeights()
	pa.applyCount(&w, at)
	all := sum(w[:])
	w[hitByPitch] += w[interference]
	return ratesOf(&w, all)
}

// RunExpectancies returns the expected runs of the side at bat in the rest of the half-inning, by base-out state, as in
// innings 1 to 8 of 2015–17 and 2019.
func RunExpectancies() [BaseOutStates]float64 { return measuredData().runExpectancy }
