package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"pressbox/daemon/settings"
	"pressbox/daemon/systemd"
)

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
	return nil
}
