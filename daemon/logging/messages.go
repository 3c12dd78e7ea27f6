package logging

import (
	_ "embed"
	"strings"
)

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
