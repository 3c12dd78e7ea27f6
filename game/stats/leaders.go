package stats

import (
	"cmp"
	"slices"

	"pressbox/game"
	"pressbox/game/teams"
)

// Leaders are the best players of a season in each category, and the most that was done in one game.
type Leaders struct {
	Batting  []Category `json:"batting"`
	Pitching []Category `json:"pitching"`
	Records  []Feat     `json:"records"`
}

// A Category is a statistic with its leaders, best first; those who are equal to the last are listed too.
type Category struct {
	Statistic string   `json:"statistic" enum:"avg,ops,hr,rbi,r,h,sb,era,whip,w,so,sv,hld,qs"`
	Leaders   []Leader `json:"leaders"` // best first: five, or up to ten with those equal to the fifth
}

// A Leader is a player with the value of a statistic.
type Leader struct {
	Player game.PlayerID `json:"player_id"`
	Name   string        `json:"name"`
	Team   teams.Ref     `json:"team"`
	Value  float64       `json:"value"`
}

// Qualification for rates (9.22): plate appearances and outs per game of the team.
const (
	qualifyingAppearances = 3.1
	qualifyingOuts        = 3
)

const (
	leaders     = 5
	maxOfEquals = 10 // of a category, with those equal to the last
)

// Leaders returns the leaders of each category.
func (a *Accumulator) Leaders() Leaders {
	l := Leaders{Records: a.feats.list()}
	batter := func(name string, value func(*Batting) *float64, qualified bool) {
		var found []Leader
		for key, b := range a.batting {
			line := b.withRates()
			v := value(&line)
			if v == nil ||
				qualified && float64(b.PlateAppearances) < qualifyingAppearances*float64(a.standings[key.team].Games) {
				continue
			}
			found = append(found, Leader{b.Player, b.Name, b.Team, *v})
		}
		l.Batting = append(l.Batting, category(name, found, 1))
	}
	count := func(n func(*Batting) int) func(*Batting) *float64 {
		return func(b *Batting) *float64 { return positive(n(b)) }
	}
	batter("avg", func(b *Batting) *float64 { return b.Average }, true)
	batter("ops", func(b *Batting) *float64 { return b.OPS }, true)
	batter("hr", count(func(b *Batting) int { return b.HomeRuns }), false)
	batter("rbi", count(func(b *Batting) int { return b.RunsBattedIn }), false)
	batter("r", count(func(b *Batting) int { return b.Runs }), false)
	batter("h", count(func(b *Batting) int { return b.Hits }), false)
	batter("sb", count(func(b *Batting) int { return b.StolenBases }), false)
	pitcher := func(name string, value func(*Pitching) *float64, qualified bool, sign float64) {
		var found []Leader
		for key, p := range a.pitching {
			line := p.withRates()
			v := value(&line)
			if v == nil || qualified && p.Outs < qualifyingOuts*a.standings[key.team].Games {
				continue
			}
			found = append(found, Leader{p.Player, p.Name, p.Team, *v})
		}
		l.Pitching = append(l.Pitching, category(name, found, sign))
	}
	number := func(n func(*Pitching) int) func(*Pitching) *float64 {
		return func(p *Pitching) *float64 { return positive(n(p)) }
	}
	pitcher("era", func(p *Pitching) *float64 { return p.ERA }, true, -1)
	pitcher("whip", func(p *Pitching) *float64 { return p.WHIP }, true, -1)
	pitcher("w", number(func(p *Pitching) int { return p.Wins }), false, 1)
	pitcher("so", number(func(p *Pitching) int { return p.Strikeouts }), false, 1)
	pitcher("sv", number(func(p *Pitching) int { return p.Saves }), false, 1)
	pitcher("hld", number(func(p *Pitching) int { return p.Holds }), false, 1)
	pitcher("qs", number(func(p *Pitching) int { return p.QualityStarts }), false, 1)
	return l
}

// positive returns n as a value of a category; nil for none, which leads nothing.
func positive(n int) *float64 {
	if n == 0 {
		return nil
	}
	v := float64(n)
	return &v
}

// category returns the first of the players; sign is −1 if less is better.
func category(name string, all []Leader, sign float64) Category {
	slices.SortFunc(all, func(a, b Leader) int {
		return cmp.Or(cmp.Compare(sign*b.Value, sign*a.Value), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Player, b.Player), cmp.Compare(a.Team.ID, b.Team.ID))
	})
	n := min(leaders, len(all))
	for n > 0 && n < min(len(all), maxOfEquals) && all[n].Value == all[n-1].Value {
		n++
	}
	return Category{name, append([]Leader{}, all[:n]...)}
}
