// Package systemd connects the server to systemd: sockets, notifications, the watchdog and
// the journal.
//
// One law: without systemd every call succeeds and does nothing, so that the server runs the
// same from a shell.
package systemd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/coreos/go-systemd/v22/journal"
)

// Listeners returns the sockets that systemd passed to this process, by FileDescriptorName=.
// The second call returns none: a socket has one owner. A descriptor that does not listen is
// an error.
func Listeners() (map[string][]net.Listener, error) {
	named := make(map[string][]net.Listener)
	for _, file := range activation.Files(true) {
		l, err := net.FileListener(file)
		if err != nil {
			return nil, fmt.Errorf("use the socket %s from systemd: %w", file.Name(), err)
		}
		if err := file.Close(); err != nil { // l has a duplicate
			return nil, fmt.Errorf("use the socket %s from systemd: %w", file.Name(), err)
		}
		named[file.Name()] = append(named[file.Name()], l)
	}
	return named, nil
}

// Ready notifies systemd that the server accepts requests, and of its status line.
func Ready(status string) error {
	return notify(daemon.SdNotifyReady + "\nSTATUS=" + oneLine(status))
}

// Starting extends the timeout of the start by limit from now on.
func Starting(limit time.Duration) error {
	return notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", limit.Microseconds()))
}

// Status sets the status line of "systemctl status".
func Status(status string) error {
	return notify("STATUS=" + oneLine(status))
}

// Reloading notifies systemd of the start of a reload, with the time that Type=notify-reload
// requires (systemd.service(5)); [Ready] notifies it of the end.
func Reloading() error {
	return notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// Watchdog returns the time without [Alive] after which systemd ends this process; 0 means
// never.
func Watchdog() (time.Duration, error) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("read WATCHDOG_USEC: %w", err)
	}
	return limit, nil
}

// Alive notifies the watchdog.
func Alive() error {
	return notify(daemon.SdNotifyWatchdog)
}

// Stopping notifies systemd that the server is stopping.
func Stopping() error {
	return notify(daemon.SdNotifyStopping)
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}

// oneLine removes line breaks, which would begin further assignments.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// UnderJournal reports whether stderr is connected to the journal.
func UnderJournal() bool {
	connected, err := journal.StderrIsJournalStream()
	return connected && err == nil
}

// A Journal is a [slog.Handler] that writes records to the journal. The attributes are part
// of the message and fields of their own: "game" becomes PRESSBOX_GAME. Groups are prefixes
// of the name.
type Journal struct {
	level    slog.Leveler
	ids      map[string]string // message → MESSAGE_ID
	fallback io.Writer         // for records that the journal refuses
	send     func(message string, priority journal.Priority, fields map[string]string) error

	attrs []slog.Attr // the keys include the groups
	group string      // "", or the groups with a final dot
}

// NewJournal returns a handler of records of at least level. ids maps messages to their
// MESSAGE_ID. Records that the journal refuses are written to fallback.
func NewJournal(level slog.Leveler, ids map[string]string, fallback io.Writer) *Journal {
	return &Journal{level: level, ids: ids, fallback: fallback, send: journal.Send}
}

// Enabled reports whether records of a level are written.
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

// WithGroup returns a handler that adds later attributes to a group.
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
	message, err := text(ctx, r, attrs)
	if err != nil {
		return err
	}
	level := priority(r.Level)
	if j.send(message, level, fields) == nil {
		return nil
	}
	// sd-daemon(3) defines the prefix of the priority.
	_, err = fmt.Fprintf(j.fallback, "<%d>%s\n", level, strings.ReplaceAll(message, "\n", "\\n"))
	return err
}

// text returns a record as a line: the message, then name=value.
func text(ctx context.Context, r slog.Record, attrs []slog.Attr) (string, error) {
	var pairs bytes.Buffer
	handler := slog.NewTextHandler(&pairs, &slog.HandlerOptions{
		Level: r.Level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.LevelKey || a.Key == slog.MessageKey {
				return slog.Attr{}
			}
			return a
		},
	})
	record := slog.NewRecord(time.Time{}, r.Level, "", 0)
	record.AddAttrs(attrs...)
	if err := handler.Handle(ctx, record); err != nil {
		return "", fmt.Errorf("format a log record: %w", err)
	}
	return strings.TrimSpace(r.Message + " " + strings.TrimSpace(pairs.String())), nil
}

// flatten appends a, or the attributes of a if it is a group.
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

// maxField is the maximum length of a field's name.
const maxField = 64

// field returns the name of an attribute's field: upper-case letters, digits and
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

// priority returns the syslog(3) priority of a level.
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
