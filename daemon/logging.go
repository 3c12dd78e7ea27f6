package main

import (
	"io"
	"log/slog"

	"pressbox/daemon/systemd"
)

// newLog returns the daemon's log: into the journal when that is where stderr
// ends, and as text to stderr otherwise.
func newLog(stderr io.Writer, level slog.Leveler) *slog.Logger {
	if systemd.UnderJournal() {
		return slog.New(systemd.NewJournal(level, messageIDs(), stderr))
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}
