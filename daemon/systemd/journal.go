package systemd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
)

// UnderJournal says whether what this process writes to stderr ends in the journal.
func UnderJournal() bool {
	is, err := journal.StderrIsJournalStream()
	return is && err == nil
}

// A Journal is a [slog.Handler] that writes records into the journal, with the
// attributes both in the message, for people, and as fields of their own, for
// filters: "game" becomes PRESSBOX_GAME. Groups are parts of the name.
type Journal struct {
	level slog.Leveler
	ids   map[string]string // message → its id in the catalogue
	last  io.Writer         // for records that the journal does not take
	send  func(message string, priority journal.Priority, fields map[string]string) error

	attrs []slog.Attr // their keys carry their groups
	group string      // "" or what ends with a dot
}

// NewJournal returns a handler of records of at least level. Messages that ids
// names get their MESSAGE_ID; records that the journal does not take go to last.
func NewJournal(level slog.Leveler, ids map[string]string, last io.Writer) *Journal {
	return &Journal{level: level, ids: ids, last: last, send: journal.Send}
}

// Enabled says whether records of a level are written.
func (j *Journal) Enabled(_ context.Context, level slog.Level) bool {
	return level >= j.level.Level()
}

// WithAttrs returns a handler that adds attrs to each record.
func (j *Journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	k := *j
	k.attrs = slices.Clip(k.attrs)
	for _, a := range attrs {
		k.attrs = flatten(k.attrs, j.group, a)
	}
	return &k
}

// WithGroup returns a handler whose further attributes belong to a group.
func (j *Journal) WithGroup(name string) slog.Handler {
	if name == "" {
		return j
	}
	k := *j
	k.group += name + "."
	return &k
}

// Handle writes one record.
func (j *Journal) Handle(ctx context.Context, r slog.Record) error {
	attrs := slices.Clone(j.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = flatten(attrs, j.group, a)
		return true
	})
	fields := map[string]string{"SYSLOG_IDENTIFIER": "pressbox"}
	if id, known := j.ids[r.Message]; known {
		fields["MESSAGE_ID"] = id
	}
	for _, a := range attrs {
		fields[field(a.Key)] = a.Value.String()
	}
	message, err := inWords(ctx, r, attrs)
	if err != nil {
		return err
	}
	level := priority(r.Level)
	if j.send(message, level, fields) == nil {
		return nil
	}
	// The stream behind stderr takes priorities in this form (sd-daemon(3)).
	_, err = fmt.Fprintf(j.last, "<%d>%s\n", level, strings.ReplaceAll(message, "\n", "\\n"))
	return err
}

// inWords writes a record as people read it: the message, then name=value.
func inWords(ctx context.Context, r slog.Record, attrs []slog.Attr) (string, error) {
	var text bytes.Buffer
	facts := slog.NewTextHandler(&text, &slog.HandlerOptions{
		Level: r.Level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.LevelKey || a.Key == slog.MessageKey {
				return slog.Attr{}
			}
			return a
		},
	})
	bare := slog.NewRecord(time.Time{}, r.Level, "", 0)
	bare.AddAttrs(attrs...)
	if err := facts.Handle(ctx, bare); err != nil {
		return "", fmt.Errorf("write a record for the journal: %w", err)
	}
	return strings.TrimSpace(r.Message + " " + strings.TrimSpace(text.String())), nil
}

// flatten appends a, or what is in it when it is a group.
func flatten(attrs []slog.Attr, group string, a slog.Attr) []slog.Attr {
	value := a.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		if a.Key == "" && value.Equal(slog.Value{}) {
			return attrs
		}
		return append(attrs, slog.Attr{Key: group + a.Key, Value: value})
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, inner := range value.Group() {
		attrs = flatten(attrs, group, inner)
	}
	return attrs
}

// maxField is how long the journal lets a field's name be.
const maxField = 64

// field is the name of an attribute's field: capital letters, digits and
// underscores (systemd.journal-fields(7)).
func field(key string) string {
	name := "PRESSBOX_" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		default:
			return '_'
		}
	}, key)
	return name[:min(len(name), maxField)]
}

// priority is a level in the words of syslog(3).
func priority(level slog.Level) journal.Priority {
	switch {
	case level < slog.LevelInfo:
		return journal.PriDebug
	case level < slog.LevelWarn:
		return journal.PriInfo
	case level < slog.LevelError:
		return journal.PriWarning
	default:
		return journal.PriErr
	}
}
