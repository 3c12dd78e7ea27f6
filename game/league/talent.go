package league

import (
	"math"
	"slices"

	"pressbox/game/chance"
)

// spread is the standard deviation of true talent: measured among batters with 300 plate appearances and pitchers with
// 250 batters faced, binomial noise removed, 2015–17 and 2019.
type spread struct{ k, bb, hr, babip, double, triple, hbp float64 }

func hitters() spread {
	return spread{k: .057, bb: .027, hr: .014, babip: .024, double: .006, triple: .003, hbp: .007}
}

func pitchers() spread {
	return spread{k: .055, bb: .018, hr: .008, babip: .017, double: .003, triple: .001, hbp: .004}
}

// rate turns skills into ratings. Where talent spreads, the average of all meetings is not the meeting of two average
// men: the batters are moved until the league's regulars, meeting its pitchers, come to the league's rates.
func (m *maker) rate() {
	aim := m.league
	for range 6 { // each round leaves a small part of the difference
		for _, team := range m.teams {
			for _, p := range team {
				mean := m.league
				if !p.job.pitches() {
					mean = aim
				}
				p.Ratings = p.rate(mean)
			}
		}
		got := m.meetings()
		for i, to := range rates(&aim) {
			*to *= *rates(&m.league)[i] / *rates(&got)[i]
		}
	}
}

func rates(r *chance.Rates) [7]*float64 {
	return [7]*float64{&r.K, &r.BB, &r.HBP, &r.Single, &r.Double, &r.Triple, &r.HR}
}

// meetings returns the average of all meetings of a regular with a pitcher.
func (m *maker) meetings() chance.Rates {
	var sum chance.Rates
	var n float64
	all := slices.Concat(m.teams...)
	for _, b := range all {
		if b.job.pitches() || b.job.bench {
			continue
		}
		for _, p := range all {
			weight := p.workload()
			if weight == 0 {
				continue
			}
			r := chance.Matchup(b.Ratings.Batting, p.Ratings.Pitching)
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

// workload is a pitcher's share of a club's batters: six in ten meet a starter. Of relief pitchers the worse have more of
// them than the best, who wait for a lead (estimate: a fifth more for each standard deviation).
func (p *person) workload() float64 {
	switch p.job.positions {
	case "SP":
		return .6 / 5
	case "RP":
		return .4 / 8 * math.Exp(-.1*(p.skills[contact]+p.skills[eye]+p.skills[power]+p.skills[babip]))
	default:
		return 0
	}
}

// rate turns skills into a rating, spread around the rates l.
func (p *person) rate(l chance.Rates) chance.Rating {
	if p.job.pitches() {
		r := chance.Rating{
			Pitching: p.rates(l, pitchers(), -1),
			Hold:     p.skills[legs],
			Hands:    p.skills[hands],
			Stamina:  6 + int(math.Round(p.skills[strength])),
		}
		if p.job.positions == "SP" {
			r.Stamina = 23 + int(math.Round(2*p.skills[strength]))
		}
		return r
	}
	return chance.Rating{
		Batting: p.rates(l, hitters(), 1),
		Speed:   p.job.speed + .8*p.skills[legs],
		Arm:     p.skills[arm],
		Range:   p.skills[reach],
		Hands:   p.skills[hands],
	}
}

// rates spreads a player around the league. A pitcher's good skills have the other sign, and of a batter's power only
// the strikeouts are bad for him. No rate falls below a quarter of the league's.
func (p *person) rates(l chance.Rates, s spread, sign float64) chance.Rates {
	at := func(mean, sd float64, skill int) float64 { return max(mean+sign*sd*p.skills[skill], mean/4) }
	r := chance.Rates{
		K:      max(l.K+s.k*p.skills[contact], l.K/4),
		BB:     at(l.BB, s.bb, eye),
		HBP:    at(l.HBP, s.hbp, bruises),
		HR:     at(l.HR, s.hr, power),
		Double: at(l.Double, s.double, gap),
		Triple: at(l.Triple, s.triple, triples),
	}
	inPlay := 1 - l.K - l.BB - l.HBP - l.HR
	average := (l.Single + l.Double + l.Triple) / inPlay
	hits := (average + sign*s.babip*p.skills[babip]) * (1 - r.K - r.BB - r.HBP - r.HR)
	r.Single = max(hits-r.Double-r.Triple, l.Single/2)
	return r
}
