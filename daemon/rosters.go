package main

import (
	"fmt"
	"log/slog"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/game/history/imported"
	"pressbox/game/league"
	"pressbox/game/teamdata"
	"pressbox/store"
)

// openRosters returns the imported seasons, beside the source that the settings select.
func openRosters(cfg settings.Config, st *store.Store, log *slog.Logger) (*imported.Seasons, error) {
	source, err := openSource(cfg, st, log)
	if err != nil {
		return nil, err
	}
	return imported.New(st, source), nil
}

// openSource returns the source that the settings select: a team-data API or the built-in
// league.
func openSource(cfg settings.Config, cache teamdata.Cache, log *slog.Logger) (imported.Source, error) {
	if cfg.TeamDataURL == "" {
		if cfg.DefaultSeason > league.LastSeason {
			return nil, exitcode.With(exitcode.Usage,
				fmt.Errorf("DEFAULT_SEASON=%d: without TEAM_DATA_URL, expected a season of the built-in league, "+
					"1 to %d",
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
