// Package stats adds finished games up: standings, and what every player has done at bat and on the mound.
//
// Its one law: it adds, it does not judge. Every number is a sum over box scores, or a rate of two such sums; whatever
// the official scorer ruled stands in [game.BoxScore] already.
package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pressbox/game"
	"pressbox/game/teams"
)

// A FinishedGame is one finished game.
type FinishedGame struct {
	Teams [2]teams.Ref  // away, home
	Score [2]int        // as the game goes into the standings: [game.State.Result]
	Box   game.BoxScore // of the finished game: [game.Scorebook.BoxScore]
}

// A Accumulator is the games of a season, or of whatever was added. The zero value is empty. It is not safe for use by several
// goroutines.
type Accumulator struct {
	standings map[string]*Standing
	batting   map[member]*Batting
	pitching  map[member]*Pitching
}

// A member is a player with one club; one who moved has a line with each.
type member struct {
	team   string
	player game.PlayerID
}

// Add adds a game. Games are added in the order in which they ended, which streaks depend on.
func (t *Accumulator) Add(r FinishedGame) {
	if t.standings == nil {
		t.standings, t.batting, t.pitching = map[string]*Standing{}, map[member]*Batting{}, map[member]*Pitching{}
	}
	for side := game.Away; side <= game.Home; side++ {
		team := r.Teams[side]
		t.standing(team).add(side, r.Score)
		for i, l := range r.Box.Teams[side].Batting {
			if l.Slot > 0 || l.PlateAppearances > 0 { // a pitcher for whom somebody bats has an empty line
				t.batter(team, &r.Box.Teams[side].Batting[i]).add(&l)
			}
		}
		for i := range r.Box.Teams[side].Pitching {
			t.addPitcher(team, &r.Box, side, i)
		}
	}
}

func (t *Accumulator) standing(team teams.Ref) *Standing {
	s := t.standings[team.ID]
	if s == nil {
		s = &Standing{}
		t.standings[team.ID] = s
	}
	s.Team = team // as it is called now
	return s
}

func (t *Accumulator) batter(team teams.Ref, l *game.BattingLine) *Batting {
	key := member{team.ID, l.Player}
	b := t.batting[key]
	if b == nil {
		b = &Batting{Player: l.Player}
		t.batting[key] = b
	}
	b.Team, b.Name = team, l.Name
	return b
}

func (t *Accumulator) addPitcher(team teams.Ref, box *game.BoxScore, side game.Side, i int) {
	l := &box.Teams[side].Pitching[i]
	key := member{team.ID, l.Player}
	p := t.pitching[key]
	if p == nil {
		p = &Pitching{Player: l.Player}
		t.pitching[key] = p
	}
	p.Team, p.Name = team, l.Name
	p.add(l)
	for _, d := range [...]struct {
		is bool
		n  *int
	}{{i == 0, &p.Started}, {box.WinningPitcher == l.Player, &p.Wins}, {box.LosingPitcher == l.Player, &p.Losses}, {box.SavingPitcher == l.Player, &p.Saves}} {
		if d.is {
			*d.n++
		}
	}
}

// Standings returns the clubs, best first: by percentage, then by games won less games lost, games won, and runs scored less
// runs allowed.
func (t *Accumulator) Standings() []Standing {
	all := make([]Standing, 0, len(t.standings))
	for _, s := range t.standings {
		row := *s
		row.WinPercentage = rate(float64(s.Wins), s.Wins+s.Losses)
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(
			cmp.Compare(b.share(), a.share()),
			cmp.Compare(b.Wins-b.Losses, a.Wins-a.Losses),
			cmp.Compare(b.Wins, a.Wins),
			cmp.Compare(b.RunsScored-b.RunsAllowed, a.RunsScored-a.RunsAllowed),
			cmp.Compare(a.Team.ID, b.Team.ID),
		)
	})
	for i := range all {
		all[i].GamesBehind = float64(all[0].Wins-all[0].Losses-all[i].Wins+all[i].Losses) / 2
	}
	return all
}

// Batting returns the batters of a club, or with "" of all, who had most turns first.
func (t *Accumulator) Batting(team string) []Batting {
	all := make([]Batting, 0, len(t.batting))
	for key, b := range t.batting {
		if team == "" || key.team == team {
			all = append(all, b.rated())
		}
	}
	slices.SortFunc(all, func(a, b Batting) int {
		return cmp.Or(cmp.Compare(b.PlateAppearances, a.PlateAppearances), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Player, b.Player), cmp.Compare(a.Team.ID, b.Team.ID))
	})
	return all
}

// Pitching returns the pitchers of a club, or with "" of all, who pitched most first.
func (t *Accumulator) Pitching(team string) []Pitching {
	all := make([]Pitching, 0, len(t.pitching))
	for key, p := range t.pitching {
		if team == "" || key.team == team {
			all = append(all, p.rated())
		}
	}
	slices.SortFunc(all, func(a, b Pitching) int {
		return cmp.Or(cmp.Compare(b.Outs, a.Outs), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Player, b.Player), cmp.Compare(a.Team.ID, b.Team.ID))
	})
	return all
}

// rate returns n/of to three places, nil when there is nothing to divide by.
func rate(n float64, of int) *float64 {
	if of == 0 {
		return nil
	}
	return round(n / float64(of))
}

func round(x float64) *float64 {
	x = math.Round(1000*x) / 1000
	return &x
}

// innings writes outs as innings and thirds: "12.2".
func innings(outs int) string { return fmt.Sprintf("%d.%d", outs/3, outs%3) }
