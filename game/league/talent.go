package league

import (
	"math"
	"slices"

	"pressbox/game/chance"
)

// spread holds standard deviations of true talent, measured among batters with 300 plate appearances and pitchers with
// 250 batters faced, binomial noise removed (2015–17, 2019).
type spread struct{ k, bb, hr, babip, double, triple, hbp float64 }

func hitterSpread() spread {
	return spread{k: .057, bb: .027, hr: .014, babip: .024, double: .006, triple: .003, hbp: .007}
}

func pitcherSpread() spread {
	return spread{k: .055, bb: .018, hr: .008, babip: .017, double: .003, triple: .001, hbp: .004}
}

// rate sets all ratings from the skills. The average over all matchups differs from the matchup of two average
// players, so the hitters' mean is shifted until the regulars, against the league's pitchers, reach the league's
// rates.
func (g *generator) rate() {
	hitterMean := g.leagueRates
	for range 6 { // converges: each round leaves a small part of the difference
		for _, team := range g.teams {
			for _, p := range team {
				mean := g.leagueRates
				if !p.role.isPitcher() {
					mean = hitterMean
				}
				p.Rating = p.rating(mean)
			}
		}
		got := g.averageMatchup()
		for i, to := range rates(&hitterMean) {
			*to *= *rates(&g.leagueRates)[i] / *rates(&got)[i]
		}
	}
}

func rates(r *chance.Rates) [7]*float64 {
	return [7]*float64{&r.K, &r.BB, &r.HBP, &r.Single, &r.Double, &r.Triple, &r.HR}
}

// averageMatchup returns the average over all matchups of a regular with a pitcher, weighted by the pitcher's workload.
func (g *generator) averageMatchup() chance.Rates {
	var sum chance.Rates
	var n float64
	all := slices.Concat(g.teams...)
	for _, b := range all {
		if b.role.isPitcher() || b.role.bench {
			continue
		}
		for _, p := range all {
			weight := p.workload()
			if weight == 0 {
				continue
			}
			r := chance.Matchup(b.Rating.Batting, p.Rating.Pitching)
			n += weight
			for i, x := range rates(&r) {
				*rates(&sum)[i] += weight * *x
			}
		}
	}
	for _, x := range rates(&sum) {
		*x /= n
	}
	return sum
}

// workload returns a pitcher's share of the batters that the club faces. Starters face 60 %. A relief pitcher one
// standard deviation worse faces about a fifth more, because the best ones are saved for leads (estimate).
func (p *career) workload() float64 {
	switch p.role.positions {
	case "SP":
		return .6 / 5
	case "RP":
		return .4 / 8 * math.Exp(-.1*(p.skills[contact]+p.skills[eye]+p.skills[power]+p.skills[babip]))
	default:
		return 0
	}
}

// rating turns skills into a rating around the mean rates.
func (p *career) rating(mean chance.Rates) chance.Rating {
	if p.role.isPitcher() {
		r := chance.Rating{
			Pitching: p.rates(mean, pitcherSpread(), -1),
			Hold:     p.skills[speed],
			Hands:    p.skills[hands],
			Stamina:  chance.RelieverStamina + int(math.Round(p.skills[stamina])),
		}
		if p.role.positions == "SP" {
			r.Stamina = chance.StarterStamina + int(math.Round(2*p.skills[stamina]))
		}
		return r
	}
	return chance.Rating{
		Batting: p.rates(mean, hitterSpread(), 1),
		Speed:   p.role.speed + .8*p.skills[speed],
		Arm:     p.skills[arm],
		Range:   p.skills[fielding],
		Hands:   p.skills[hands],
	}
}

// rates spreads a player's rates around the mean. sign is −1 for pitchers, whose skills lower the batters' rates;
// strikeouts rise with both. No rate falls below a quarter of the mean.
func (p *career) rates(mean chance.Rates, sd spread, sign float64) chance.Rates {
	at := func(mean, sd float64, skill int) float64 { return max(mean+sign*sd*p.skills[skill], mean/4) }
	r := chance.Rates{
		K:      max(mean.K+sd.k*p.skills[contact], mean.K/4),
		BB:     at(mean.BB, sd.bb, eye),
		HBP:    at(mean.HBP, sd.hbp, hitByPitch),
		HR:     at(mean.HR, sd.hr, power),
		Double: at(mean.Double, sd.double, gap),
		Triple: at(mean.Triple, sd.triple, triples),
	}
	inPlay := 1 - mean.K - mean.BB - mean.HBP - mean.HR
	average := (mean.Single + mean.Double + mean.Triple) / inPlay
	hits := (average + sign*sd.babip*p.skills[babip]) * (1 - r.K - r.BB - r.HBP - r.HR)
	r.Single = max(hits-r.Double-r.Triple, mean.Single/2)
	return r
}
