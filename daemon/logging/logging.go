// Package logging makes the server's log and holds the catalog of its messages.
//
// One law: every warning and every error that the program logs has an entry in
// [Messages], and an entry's id never changes.
package logging

import (
	_ "embed"
	"io"
	"log/slog"
	"strings"

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

// catalog is what the package installs for the journal (https://systemd.io/CATALOG).
//
//go:embed pressbox.catalog
var catalog string

// A Message is one kind of log record with its entry in the journal's catalog, which
// "journalctl -x" prints.
type Message struct {
	ID      string // 128 bits in hexadecimal; never changed once released
	Text    string // as logged
	Explain string // meaning and remedy; @FIELD@ is replaced by the record's field
}

// Messages returns the catalog.
func Messages() []Message {
	var all []Message
	_, entries, _ := strings.Cut(catalog, "\n-- ")
	for entry := range strings.SplitSeq(entries, "\n-- ") {
		head, explain, _ := strings.Cut(entry, "\n\n")
		id, fields, _ := strings.Cut(head, "\n")
		subject, _, _ := strings.Cut(strings.TrimPrefix(fields, "Subject: "), "\n")
		all = append(all, Message{id, subject, strings.Join(strings.Fields(explain), " ")})
	}
	return all
}
