package chance

import "pressbox/game"

// Odds is what people are shown beside a decision.
type Odds struct {
	Goal   string  `json:"what"`    // what would be a success: "safe at second"
	Chance float64 `json:"success"` // its chance
}

// Odds returns what a person is shown with the decisions: for a steal that the runner is safe, for a bunt that it does
// what it is for, otherwise that the batter reaches base. The zero Odds if the decisions are not legal.
func (t *Simulator) Odds(s *game.State, m Progress, c Tactics) Odds {
	if ready(s) != nil || c.Check(s, m) != nil {
		return Odds{}
	}
	var d duel
	d.begin(t, s, &m, c)
	switch c.Offence {
	case StealSecond:
		return Odds{"safe at second", d.stealOdds(game.First)}
	case StealThird:
		return Odds{"safe at third", d.stealOdds(game.Second)}
	case StealHome:
		return Odds{"safe at home", d.stealOdds(game.Third)}
	case DoubleSteal:
		if d.held&onThird != 0 {
			return Odds{"both safe", d.stealOdds(game.First) * .5}
		}
		return Odds{"safe at third", d.stealOdds(game.Second)}
	case Sacrifice:
		return Odds{"moves the runners", d.buntOdds(buntSacrifice, buntHit, buntChoice, buntError)}
	case Squeeze:
		return Odds{"the runner scores", (1 - missedSqueeze) * d.buntOdds(buntSacrifice, buntHit, buntChoice, buntError)}
	case BuntForHit:
		return Odds{"reaches first", d.buntOdds(buntHit, buntError)}
	default:
		r := d.rates(m.Pitches.Count())
		return Odds{"reaches base", 1 - r.K - r.Out()}
	}
}

func (d *duel) buntOdds(good ...buntResult) float64 {
	w := d.bunts()
	var sum, of float64
	for _, n := range w {
		sum += n
	}
	for _, b := range good {
		of += w[b]
	}
	return of / sum
}

// ExpectedRates returns how the batter's turn is likely to end against the pitcher, as both sides have decided.
func (t *Simulator) ExpectedRates(s *game.State, m Progress, c Tactics) Rates {
	var d duel
	d.begin(t, s, &m, c)
	return d.rates(m.Pitches.Count())
}

func (d *duel) rates(at game.Count) Rates {
	w := d.weights()
	d.count(&w, at)
	var sum float64
	for _, n := range w {
		sum += n
	}
	return Rates{
		K: w[strikeout] / sum, BB: w[walk] / sum, HBP: (w[hitByPitch] + w[interference]) / sum, Single: w[single] / sum,
		Double: w[double] / sum, Triple: w[triple] / sum, HR: w[homeRun] / sum,
	}
}

// RunExpectancy returns how many runs the side at bat may expect in the rest of its half-inning: by bases and outs, as in innings
// 1 to 8 of 2015–17 and 2019.
func RunExpectancy(s *game.State) float64 { return static().runs[3*occupied(s)+s.Outs] }
