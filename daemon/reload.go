package main

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"reflect"
	"syscall"

	"golang.org/x/sys/unix"

	"pressbox/daemon/systemd"
)

// hangUps are the signals that ask for a reload, until stop is called. On a terminal
// there are none: there SIGHUP means that the terminal was closed, and ends the daemon.
func hangUps() (asked <-chan os.Signal, stop func()) {
	if _, err := unix.IoctlGetTermios(int(os.Stdin.Fd()), unix.TCGETS); err == nil {
		return nil, func() {}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// reloads takes over changes each time that is asked for.
func (h *house) reloads(ctx context.Context, asked <-chan os.Signal) error {
	for {
		select {
		case <-asked:
			h.tell(systemd.Reloading())
			h.reload()
			h.tell(systemd.Ready(h.inOneLine()))
		case <-ctx.Done():
			return nil
		}
	}
}

// reload reads the settings again and takes over what can change while the
// daemon runs; of what cannot, it says so. What is wrong leaves everything as it
// was.
func (h *house) reload() {
	next, err := h.settingsNow()
	if err != nil {
		h.log.Error("the settings stay as they were", "err", err)
		return
	}
	lexicon, err := readLexicon(next.LexiconFile)
	if err != nil {
		h.log.Error("the lexicon stays as it was", "err", err)
		return
	}
	// Nothing is wrong with it that the kinds of its keys let through.
	if err := h.announcer.Configure(queueConfig(h.cfg.DefaultRate, next)); err != nil {
		h.log.Error("the settings stay as they were", "err", err)
		return
	}
	h.level.Set(next.LogLevel)
	h.voices.Reload(lexicon)
	h.reloaded.Store(&next)
	for _, name := range changed(h.cfg, next, false) {
		h.log.Warn("a setting takes effect only after a restart", "key", name)
	}
	h.log.Info("reloaded", "lexicon", next.LexiconFile)
}

// settingsNow reads the settings as they are now.
func (h *house) settingsNow() (Config, error) {
	s, err := h.reread()
	if err != nil {
		return Config{}, err
	}
	return s.configure()
}

// changed names the settings that differ, of those that a reload takes over (live) or of
// those that it does not.
func changed(old, next Config, live bool) []string {
	before, after := byKey(old), byKey(next)
	var names []string
	for _, k := range keys() {
		if k.live == live && !reflect.DeepEqual(before[k.name], after[k.name]) {
			names = append(names, k.name)
		}
	}
	return names
}

// byKey returns the values of a Config by the names of their keys.
func byKey(cfg any) map[string]any {
	values := make(map[string]any)
	v := reflect.ValueOf(cfg)
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag.Get("mapstructure")
		if tag == ",squash" {
			maps.Copy(values, byKey(v.Field(i).Interface()))
			continue
		}
		values[tag] = v.Field(i).Interface()
	}
	return values
}
