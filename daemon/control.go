package main

import (
	"context"
	"time"

	"pressbox/daemon/downloads"
	"pressbox/daemon/settings"
	"pressbox/daemon/signin"
	"pressbox/game/leagues"
	"pressbox/game/protocol"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control"
)

// controlConfig returns the settings that apply unless something else was set.
func controlConfig(cfg settings.Config) control.Config {
	return control.Config{
		Volume: cfg.Volume, QuietHours: cfg.QuietHours, QuietMode: policy.Mode(cfg.QuietMode),
		QuietVolume: cfg.QuietVolume, UrgentMinVolume: cfg.UrgentMinVolume,
	}
}

// newSchedules returns the schedules of the store.
func (a *app) newSchedules() (*control.Schedules, error) {
	return control.NewSchedules(control.ScheduleParts{
		Repository: a.store, Announcer: a.announcer,
		Hub: a.controls.Hub(), Now: time.Now, ClockSet: clockSet, Log: a.Log,
	})
}

// clockSet reports whether the wall clock has been set since the host was started.
func clockSet() bool { return signin.ClockSet(releaseDate()) }

// clockChanged applies a change of the wall clock.
func (a *app) clockChanged() {
	a.controls.ClockChanged()
	a.schedules.ClockChanged()
	a.announcer.Reconsider()
	a.leagues.Wake()
}

// runControls applies what is set to the announcements until ctx ends.
func (a *app) runControls(ctx context.Context) error {
	return a.controls.Run(ctx, a.announcer.Reconsider)
}

// pending returns the number of active games and leagues, of schedules that are due at some
// time, and of voices that are being installed: the server does not exit while there is one.
func (a *app) pending() int {
	n := a.games.CountByStatus()[protocol.Active] + a.leagues.CountByStatus()[leagues.Active]
	if a.downloads.Last().State == downloads.Downloading {
		n++
	}
	for _, s := range a.schedules.List() {
		if s.Enabled {
			n++
		}
	}
	return n
}
