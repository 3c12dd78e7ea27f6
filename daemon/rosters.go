package main

import (
	"context"
	"fmt"
	"log/slog"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/daemon/web/play"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/teamdata"
)

// A rosterSource provides teams to the pages, and rosters to the games.
type rosterSource interface {
	play.Teams
	live.Rosters
	Run(ctx context.Context) error
}

// openRosters returns the source that the settings select: a team-data API or the built-in
// league.
func openRosters(cfg settings.Config, cache teamdata.Cache, log *slog.Logger) (rosterSource, error) {
	if cfg.TeamDataURL == "" {
		if cfg.DefaultSeason > league.LastSeason {
			return nil, exitcode.With(exitcode.Usage, fmt.Errorf("DEFAULT_SEASON=%d: without TEAM_DATA_URL, expected a season of the built-in league, 1 to %d",
				cfg.DefaultSeason, league.LastSeason))
		}
		return league.New(cfg.DefaultSeason), nil
	}
	client, err := teamdata.New(teamdata.Config{
		URL: cfg.TeamDataURL, Token: cfg.TeamDataToken, DefaultSeason: cfg.DefaultSeason, Cache: cache, Log: log,
	})
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("TEAM_DATA_URL: %w", err))
	}
	return client, nil
}
