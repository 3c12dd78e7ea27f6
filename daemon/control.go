package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/audio/pulse"
	"pressbox/daemon/downloads"
	"pressbox/daemon/settings"
	"pressbox/daemon/signin"
	"pressbox/daemon/systemd"
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

// urgentSink returns what plays urgent announcements.
func (a *app) urgentSink() pulse.Urgent {
	return pulse.Urgent{Sink: a.sink, Unmute: func() (least int, on bool) {
		cfg := a.settings.Current()
		return cfg.UrgentMinVolume, cfg.UrgentUnmute
	}}
}

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

// watchHangups returns the SIGHUP signals until stop is called. On a terminal SIGHUP means
// that the terminal was closed, and ends the process.
func watchHangups() (hangups <-chan os.Signal, stop func()) {
	if _, err := unix.IoctlGetTermios(int(os.Stdin.Fd()), unix.TCGETS); err == nil {
		return nil, func() {}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// reloadOn reloads the settings on each signal until ctx ends.
func (a *app) reloadOn(ctx context.Context, hangups <-chan os.Signal) error {
	for {
		select {
		case <-hangups:
			a.monitor.Notify(systemd.Reloading())
			a.reload()
			a.monitor.Notify(systemd.Ready(a.monitor.StatusLine()))
		case <-ctx.Done():
			return nil
		}
	}
}

// reload reads the settings, the lexicon and the templates of webhooks again and applies what can change at
// run time. If a setting is invalid, nothing changes.
func (a *app) reload() {
	next, err := a.settings.Reload()
	if err != nil {
		a.Log.Error("reload failed: invalid settings", "err", err)
		return
	}
	for _, name := range settings.Changed(a.Config, next, false) {
		a.Log.Warn("setting change requires a restart", "key", name)
	}
	a.Log.Info("reloaded", "lexicon", next.LexiconFile)
}

// apply applies what can change at run time.
func (a *app) apply(next settings.Config) error {
	if err := a.announcer.Configure(queueConfig(next)); err != nil {
		return err
	}
	a.controls.Configure(controlConfig(next))
	a.Level.Set(next.LogLevel)
	a.voices.Reload(a.readLexicon(next), voiceDefaults(next))
	a.readHooks(next)
	a.configureEvents(next)
	return nil
}
