// Package logging makes the server's log and holds the catalog of its messages.
//
// One law: every warning and every error that the program logs has an entry in
// [Messages], and an entry's id never changes.
package logging

import (
	"io"
	"log/slog"

	"pressbox/daemon/systemd"
)

// New returns a log of records of at least level: to the journal if stderr is connected to
// it, otherwise as text to stderr.
func New(stderr io.Writer, level slog.Leveler) *slog.Logger {
	if systemd.UnderJournal() {
		ids := make(map[string]string)
		for _, m := range Messages() {
			ids[m.Text] = m.ID
		}
		return slog.New(systemd.NewJournal(level, ids, stderr))
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}
