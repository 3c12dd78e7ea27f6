// Package league is the built-in league: eight clubs of 26 players each in three seasons, used when no team-data
// API is configured.
//
// Its one law: it is generated, not stored. A season is the same on every host and in every version, to the last
// rate, because all of it is drawn from one fixed seed with game/chance's dice. Players keep their ids as they
// age, change clubs and retire.
//
// All clubs and players are fictional. Surnames are composed of invented syllables; talent spreads as measured
// among the players of 2015–17 and 2019.
package league

import (
	"context"
	"fmt"
	"sync"

	"pressbox/game/teams"
)

// LastSeason is the latest season; the first is 1.
const LastSeason = 3

// A League answers for teams and rosters from the built-in league. A season is generated when it is first requested.
type League struct {
	defaultSeason int
	seasons       [LastSeason]func() ([]teams.Roster, error)
}

// New returns the league, whose methods take season 0 as defaultSeason, 1 to [LastSeason].
func New(defaultSeason int) *League {
	l := &League{defaultSeason: defaultSeason}
	for i := range l.seasons {
		l.seasons[i] = sync.OnceValues(func() ([]teams.Roster, error) { return Season(i + 1) })
	}
	return l
}

// Run returns when ctx ends; the league has nothing to run.
func (l *League) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Teams returns the teams of a season by city. The error wraps [teams.ErrUnknown].
func (l *League) Teams(_ context.Context, season int) (teams.List, error) {
	rosters, season, err := l.season(season)
	if err != nil {
		return teams.List{}, err
	}
	list := teams.List{Season: season, Source: teams.BuiltIn}
	for _, r := range rosters {
		list.Teams = append(list.Teams, r.Team)
	}
	return list, nil
}

// Roster returns one team of a season with its players. The error wraps [teams.ErrUnknown].
func (l *League) Roster(_ context.Context, season int, team string) (teams.Roster, error) {
	rosters, season, err := l.season(season)
	if err != nil {
		return teams.Roster{}, err
	}
	for _, r := range rosters {
		if r.Team.ID == team {
			return r, nil
		}
	}
	return teams.Roster{},
		fmt.Errorf("team %.40q in season %d of the built-in league: %w", team, season, teams.ErrUnknown)
}

func (l *League) season(n int) ([]teams.Roster, int, error) {
	if n == 0 {
		n = l.defaultSeason
	}
	if n < 1 || n > LastSeason {
		return nil, n,
			fmt.Errorf("season %d of the built-in league, expected 1 to %d: %w", n, LastSeason, teams.ErrUnknown)
	}
	rosters, err := l.seasons[n-1]()
	return rosters, n, err
}

// Season returns the rosters of season n by city, newly generated.
func Season(n int) ([]teams.Roster, error) {
	if n < 1 || n > LastSeason {
		return nil,
			fmt.Errorf("season %d of the built-in league, expected 1 to %d: %w", n, LastSeason, teams.ErrUnknown)
	}
	g := newGenerator()
	for range n - 1 {
		g.nextSeason()
	}
	return g.rosters(n), nil
}
