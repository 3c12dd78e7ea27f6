package main

import (
	"context"
	"fmt"
	"log/slog"

	"pressbox/daemon/web"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/teamdata"
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

// rosterSource provides the teams: to the page, and to the games that copy them.
type rosterSource interface {
	web.Teams
	live.Rosters
	Run(ctx context.Context) error
}

// openRosters returns the configured source of teams: the team-data API or the built-in league.
func openRosters(cfg Config, kept *store.Store, log *slog.Logger) (rosterSource, error) {
	if cfg.TeamDataURL == "" {
		if cfg.DefaultSeason > league.LastSeason {
			return nil, &exitError{exitUsage, fmt.Errorf("DEFAULT_SEASON=%d: without TEAM_DATA_URL, expected a season of the built-in league, 1 to %d",
				cfg.DefaultSeason, league.LastSeason)}
		}
		return league.New(cfg.DefaultSeason), nil
	}
	client, err := teamdata.New(teamdata.Config{
		URL: cfg.TeamDataURL, Token: cfg.TeamDataToken, DefaultSeason: cfg.DefaultSeason, Cache: kept, Log: log,
	})
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("TEAM_DATA_URL: %w", err)}
	}
	return client, nil
}
