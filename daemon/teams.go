package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"pressbox/daemon/web"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/teamdata"
	"pressbox/game/teams"
	"pressbox/store"
)

func gameKeys() []key {
	return []key{
		{
			name: "TEAM_DATA_URL", kind: webURL(false),
			doc:  "team-data API in the shape of SBA v3, such as https://league.example/api",
			more: "What it says is kept, and served when it is down. Without it, the built-in league plays.",
		},
		{
			name: "TEAM_DATA_TOKEN", kind: text("token", "the bearer token of the team-data API"), secret: true,
			doc: "bearer token that the team-data API asks for",
		},
		{
			name: "DEFAULT_SEASON", kind: number(1, 9999), value: "3",
			doc: "season of teams and games that name none", more: fmt.Sprintf("The built-in league has seasons 1 to %d.", league.LastSeason),
		},
	}
}

// clubs are where the players come from: what is shown of them, what a game
// copies of them, and what has to run for it.
type clubs interface {
	web.Teams
	live.Rosters
	Run(ctx context.Context) error
}

// buildClubs makes the source that is configured.
func buildClubs(cfg Config, kept *store.Store, log *slog.Logger) (clubs, error) {
	if cfg.TeamDataURL == "" {
		if cfg.DefaultSeason > league.LastSeason {
			return nil, &exitError{exitUsage, fmt.Errorf("DEFAULT_SEASON=%d: without TEAM_DATA_URL, expected a season of the built-in league, 1 to %d",
				cfg.DefaultSeason, league.LastSeason)}
		}
		return newBuiltIn(cfg.DefaultSeason), nil
	}
	client, err := teamdata.New(teamdata.Config{
		URL: cfg.TeamDataURL, Token: cfg.TeamDataToken, DefaultSeason: cfg.DefaultSeason, Cache: kept, Log: log,
	})
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("TEAM_DATA_URL: %w", err)}
	}
	return external{client}, nil
}

// builtIn is the built-in league as the web and the games ask it.
type builtIn struct {
	season  int // that 0 means
	seasons [league.LastSeason]func() ([]league.Club, error)
}

func newBuiltIn(season int) *builtIn {
	b := &builtIn{season: season}
	for i := range b.seasons {
		b.seasons[i] = sync.OnceValues(func() ([]league.Club, error) { return league.Season(i + 1) })
	}
	return b
}

// Run returns when ctx ends: nothing has to run.
func (b *builtIn) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// clubs are those of a season, and which that is.
func (b *builtIn) clubs(season int) ([]league.Club, int, error) {
	if season == 0 {
		season = b.season
	}
	if season < 1 || season > len(b.seasons) {
		return nil, season, fmt.Errorf("season %d of the built-in league: %w", season, teams.ErrUnknown)
	}
	all, err := b.seasons[season-1]()
	return all, season, err
}

// club is one of a season's.
func (b *builtIn) club(season int, id string) (*league.Club, error) {
	all, season, err := b.clubs(season)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("team %.40q in season %d of the built-in league: %w", id, season, teams.ErrUnknown)
}

// leagueSource is what the built-in league is called as a source.
const leagueSource = "league"

// Teams returns the clubs of a season.
func (b *builtIn) Teams(_ context.Context, season int) (teams.List, error) {
	all, season, err := b.clubs(season)
	if err != nil {
		return teams.List{}, err
	}
	list := teams.List{Season: season, Source: leagueSource}
	for i := range all {
		list.Teams = append(list.Teams, builtInTeam(&all[i]))
	}
	return list, nil
}

func builtInTeam(c *league.Club) teams.Team {
	return teams.Team{
		ID: c.ID, Season: c.Season, Abbrev: c.Abbrev, Name: c.Name, Short: c.Nickname, City: c.City,
		Color: c.Color, Text: c.Text, Park: teams.Park{Name: c.Park.Name},
	}
}

// Roster returns a club with its players.
func (b *builtIn) Roster(_ context.Context, season int, id string) (teams.Roster, error) {
	c, err := b.club(season, id)
	if err != nil {
		return teams.Roster{}, err
	}
	roster := teams.Roster{Team: builtInTeam(c), Season: c.Season, Source: leagueSource}
	for _, p := range c.Players {
		roster.Players = append(roster.Players, teams.Player{Player: p.Player, Age: p.Age})
	}
	return roster, nil
}

// Club returns what a game copies of a club.
func (b *builtIn) Club(_ context.Context, season int, id string) (live.Club, error) {
	c, err := b.club(season, id)
	if err != nil {
		return live.Club{}, noClub(err)
	}
	return live.Club{
		Club: c.Game(), Season: c.Season, Color: c.Color, TextColor: c.Text,
		Ratings: league.Ratings(*c), Park: c.Park.Factors,
	}, nil
}

// external is the team-data API, of which the games copy clubs.
type external struct{ *teamdata.Client }

// Club returns what a game copies of a club.
func (e external) Club(ctx context.Context, season int, id string) (live.Club, error) {
	r, err := e.Roster(ctx, season, id)
	if err != nil {
		return live.Club{}, noClub(err)
	}
	return live.Club{Club: r.Game(), Season: r.Season, Color: r.Team.Color, TextColor: r.Team.Text}, nil
}

// noClub says to the games that there is no club, or none that can play.
func noClub(err error) error {
	if errors.Is(err, teams.ErrUnknown) || errors.Is(err, teams.ErrTooFewPlayers) {
		return fmt.Errorf("%w: %w", live.ErrUnknownTeam, err)
	}
	return err
}
