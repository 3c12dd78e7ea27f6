// Package stats computes standings and the season statistics of players from finished games.
//
// Its one law: it adds up and makes no rulings. Each number is a sum over box scores, or a rate of two such sums;
// the official scorer's rulings are in [game.BoxScore].
package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pressbox/game"
	"pressbox/game/teams"
)

// A FinishedGame is a game for [Accumulator.Add].
type FinishedGame struct {
	ID    string        // "" if others may not know it
	Teams [2]teams.Ref  // away, home
	Score [2]int        // as it counts in the standings: [game.State.Result]
	Box   game.BoxScore // of the finished game: [game.Scorebook.BoxScore]
}

// An Accumulator adds up finished games. The zero value is empty. It is not safe for concurrent use.
type Accumulator struct {
	standings map[string]*Standing
	batting   map[playerKey]*Batting
	pitching  map[playerKey]*Pitching
	feats     feats
}

// A playerKey is a player of one team; a player who changes teams has a line with each.
type playerKey struct {
	team   string
	player game.PlayerID
}

// Add adds a game. Streaks require that games are added in the order in which they ended.
func (a *Accumulator) Add(r FinishedGame) {
	if a.standings == nil {
		a.standings, a.batting, a.pitching, a.feats = map[string]*Standing{}, map[playerKey]*Batting{},
			map[playerKey]*Pitching{}, feats{}
	}
	a.feats.add(&r)
	for _, side := range game.Sides() {
		team := r.Teams[side]
		a.standing(team).add(side, r.Score)
		for i, l := range r.Box.Teams[side].Batting {
			if l.Slot > 0 || l.PlateAppearances > 0 { // a pitcher with a designated hitter has an empty line
				a.batter(team, &r.Box.Teams[side].Batting[i]).add(&l)
			}
		}
		for i := range r.Box.Teams[side].Pitching {
			a.addPitcher(team, &r.Box, side, i)
		}
	}
}

func (a *Accumulator) standing(team teams.Ref) *Standing {
	s := a.standings[team.ID]
	if s == nil {
		s = &Standing{}
		a.standings[team.ID] = s
	}
	s.Team = team // with its latest name
	return s
}

func (a *Accumulator) batter(team teams.Ref, l *game.BattingLine) *Batting {
	key := playerKey{team.ID, l.Player}
	b := a.batting[key]
	if b == nil {
		b = &Batting{Player: l.Player}
		a.batting[key] = b
	}
	b.Team, b.Name = team, l.Name
	return b
}

func (a *Accumulator) addPitcher(team teams.Ref, box *game.BoxScore, side game.Side, i int) {
	l := &box.Teams[side].Pitching[i]
	key := playerKey{team.ID, l.Player}
	p := a.pitching[key]
	if p == nil {
		p = &Pitching{Player: l.Player}
		a.pitching[key] = p
	}
	p.Team, p.Name = team, l.Name
	p.add(l)
	for _, d := range [...]struct {
		is bool
		n  *int
	}{
		{i == 0, &p.Started},
		{box.WinningPitcher == l.Player, &p.Wins},
		{box.LosingPitcher == l.Player, &p.Losses},
		{box.SavingPitcher == l.Player, &p.Saves},
		{l.Hold, &p.Holds},
		{l.BlownSave, &p.BlownSaves},
		{l.QualityStart, &p.QualityStarts},
	} {
		if d.is {
			*d.n++
		}
	}
}

// Standings returns the teams, best first: by winning percentage, wins less losses, wins, and runs scored less runs
// allowed.
func (a *Accumulator) Standings() []Standing {
	all := make([]Standing, 0, len(a.standings))
	for _, s := range a.standings {
		row := *s
		row.WinPercentage = rate(float64(s.Wins), s.Wins+s.Losses)
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(
			cmp.Compare(b.winShare(), a.winShare()),
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

// Batting returns the batters of a team, or of all for "", by plate appearances.
func (a *Accumulator) Batting(team string) []Batting {
	all := make([]Batting, 0, len(a.batting))
	for key, b := range a.batting {
		if team == "" || key.team == team {
			all = append(all, b.withRates())
		}
	}
	slices.SortFunc(all, func(a, b Batting) int {
		return cmp.Or(cmp.Compare(b.PlateAppearances, a.PlateAppearances), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Player, b.Player), cmp.Compare(a.Team.ID, b.Team.ID))
	})
	return all
}

// Pitching returns the pitchers of a team, or of all for "", by outs.
func (a *Accumulator) Pitching(team string) []Pitching {
	all := make([]Pitching, 0, len(a.pitching))
	for key, p := range a.pitching {
		if team == "" || key.team == team {
			all = append(all, p.withRates())
		}
	}
	slices.SortFunc(all, func(a, b Pitching) int {
		return cmp.Or(cmp.Compare(b.Outs, a.Outs), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Player, b.Player),
			cmp.Compare(a.Team.ID, b.Team.ID))
	})
	return all
}

// rate returns n/of rounded to three places, nil if of is 0.
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

// innings formats outs as innings and thirds: "12.2".
func innings(outs int) string { return fmt.Sprintf("%d.%d", outs/3, outs%3) }
