package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"pressbox/audio/pulse"
	"pressbox/store"
)

// examine is doctor's look from inside: at the settings, store, voices and sound server
// that this daemon has, in its own surroundings and with its own rights.
func (h *house) examine(ctx context.Context) []finding {
	found := h.examineSettings()
	found = append(found, h.examineStore()...) //nolint:contextcheck // what the store tries is short
	found = append(found, diskFindings(h.cfg.StateDir)...)
	found = append(found, voiceFindings(h.voices)...)
	found = append(found, phonemeFindings(ctx, h.phonemizer)...)
	found = append(found, runtimeFindings(h.cfg.ONNXRuntimeLib)...)
	return append(found, h.examineSound(ctx)...)
}

// examineSettings says whether the daemon would start again, and what it has not taken
// over yet.
func (h *house) examineSettings() []finding {
	next, err := h.settingsNow()
	if err != nil {
		return one("settings", broken, "correct it; \"pressbox config\" shows whether it is right", "the daemon would not start again: %s", oneLine(err))
	}
	var found []finding
	if names := changed(h.cfg, next, false); len(names) > 0 {
		found = one("settings", doubtful, "restart the daemon: systemctl restart pressbox", "changed since it started, which it takes over only then: %s", strings.Join(names, ", "))
	}
	if names := changed(*h.reloaded.Load(), next, true); len(names) > 0 {
		found = append(found, one("settings", doubtful, "systemctl reload pressbox", "changed since they were read: %s", strings.Join(names, ", "))...)
	}
	if found == nil {
		return one("settings", well, "", "are those that the daemon goes by")
	}
	return found
}

func (h *house) examineStore() []finding {
	path := filepath.Join(h.cfg.StateDir, storeName)
	stats, err := h.store.Stats()
	err = cmp.Or(h.store.Health(), err)
	found := one("store", well, "", "%s is in use, %.1f of %.0f MiB", path, mib(stats.Size-stats.Free), mib(stats.Max))
	switch {
	case errors.Is(err, store.ErrFull):
		found = one("store", broken, "set STORE_MAX_SIZE to more", "%s", oneLine(err))
	case errors.Is(err, store.ErrCorrupt):
		found = one("store", broken, "systemctl restart pressbox: it sets the file aside and restores the newest good backup", "%s", oneLine(err))
	case err != nil:
		found = one("store", broken, "make room on the disk, or replace it; journalctl -k says whether it is broken", "%s", oneLine(err))
	case stats.NearlyFull():
		found = one("store", doubtful, "set STORE_MAX_SIZE to more", "%s is nearly full, %.1f of %.0f MiB", path, mib(stats.Size-stats.Free), mib(stats.Max))
	}
	return append(found, backupFindings(h.cfg.StateDir, true)...)
}

// examineSound looks where the daemon looks, over a connection of its own.
func (h *house) examineSound(ctx context.Context) []finding {
	report, err := pulse.Inspect(ctx, soundConfig(h.cfg, h.log))
	if err != nil {
		return one("sound", broken, "correct PULSE_SERVER", "%s", oneLine(err))
	}
	cfg := h.cfg
	cfg.Volume = h.reloaded.Load().Volume
	found := soundFindings(report, cfg)
	if lost := h.sink.Health(); lost != nil && worstOf(found) != broken {
		found = append(found, one("sound", doubtful, "", "there is a sound server, and the daemon has not connected to it yet: %s", oneLine(lost))...)
	}
	return found
}
