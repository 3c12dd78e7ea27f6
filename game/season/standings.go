package season

import (
	"cmp"
	"slices"
)

// A Standing is an entrant's row in the standings of the round robin, or of a series.
type Standing struct {
	Entrant     int `json:"entrant"` // seat
	Games       int `json:"g"`
	Wins        int `json:"w"`
	Losses      int `json:"l"`
	Ties        int `json:"t"`
	RunsScored  int `json:"rs"`
	RunsAllowed int `json:"ra"`
	// Games behind the first.
	GamesBehind float64 `json:"gb"`
	// What placed it below the one before, with the same percentage.
	TieBreak string `json:"tie_break,omitempty" enum:"head to head,run difference,runs scored,draw"`
}

// share returns the winning percentage, a tie as half a win; .5 before the first game.
func (s *Standing) share() float64 {
	if s.Games == 0 {
		return .5
	}
	return (float64(s.Wins) + float64(s.Ties)/2) / float64(s.Games)
}

// Standings returns the rows of the round robin (of a series: of all its games), the first first. Entrants with
// the same winning percentage are placed by the games among themselves, then by run difference, by runs scored,
// and at last as they entered.
func (c *Competition) Standings() []Standing {
	rows := make([]Standing, c.Entrants)
	for i := range rows {
		rows[i].Entrant = i
	}
	c.each(func(g *Game) {
		rows[g.Away].add(g, g.Result.Away, g.Result.Home)
		rows[g.Home].add(g, g.Result.Home, g.Result.Away)
	})
	slices.SortStableFunc(rows, func(a, b Standing) int { return cmp.Compare(b.share(), a.share()) })
	for start := 0; start < len(rows); {
		end := start + 1
		for end < len(rows) && rows[end].share() == rows[start].share() {
			end++
		}
		c.breakTies(rows[start:end])
		start = end
	}
	for i := range rows {
		rows[i].GamesBehind = float64((rows[0].Wins-rows[i].Wins)-(rows[0].Losses-rows[i].Losses)) / 2
	}
	return rows
}

// each calls do with the games that count in the standings and have ended.
func (c *Competition) each(do func(*Game)) {
	for i := range c.Games {
		if g := &c.Games[i]; g.Result != nil && !g.Playoff {
			do(g)
		}
	}
}

func (s *Standing) add(g *Game, scored, allowed int) {
	s.Games++
	s.RunsScored += scored
	s.RunsAllowed += allowed
	switch g.Winner() {
	case s.Entrant:
		s.Wins++
	case -1:
		s.Ties++
	default:
		s.Losses++
	}
}

// breakTies sorts rows with the same winning percentage.
func (c *Competition) breakTies(rows []Standing) {
	if len(rows) < 2 || rows[0].Games == 0 {
		return
	}
	among := c.among(rows)
	criteria := []struct {
		name  string
		value func(*Standing) float64
	}{
		{"head to head", func(s *Standing) float64 { return among[s.Entrant] }},
		{"run difference", func(s *Standing) float64 { return float64(s.RunsScored - s.RunsAllowed) }},
		{"runs scored", func(s *Standing) float64 { return float64(s.RunsScored) }},
		{"draw", func(s *Standing) float64 { return -float64(s.Entrant) }},
	}
	slices.SortFunc(rows, func(a, b Standing) int {
		for _, by := range criteria {
			if d := cmp.Compare(by.value(&b), by.value(&a)); d != 0 {
				return d
			}
		}
		return 0
	})
	for i := 1; i < len(rows); i++ {
		for _, by := range criteria {
			if by.value(&rows[i]) != by.value(&rows[i-1]) {
				rows[i].TieBreak = by.name
				break
			}
		}
	}
}

// among returns the winning percentage of each entrant in the games among those of the rows.
func (c *Competition) among(rows []Standing) map[int]float64 {
	part := map[int]*Standing{}
	for _, r := range rows {
		part[r.Entrant] = &Standing{Entrant: r.Entrant}
	}
	c.each(func(g *Game) {
		if away, home := part[g.Away], part[g.Home]; away != nil && home != nil {
			away.add(g, 0, 0)
			home.add(g, 0, 0)
		}
	})
	shares := map[int]float64{}
	for entrant, s := range part {
		shares[entrant] = s.share()
	}
	return shares
}
