package systemd

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/slogtest"

	"github.com/coreos/go-systemd/v22/journal"

	"pressbox/packaging/check"
)

// A recorder records the entries sent to the journal.
type recorder struct {
	refuses bool // every entry
	entries []entry
}

type entry struct {
	message  string
	priority journal.Priority
	fields   map[string]string
}

func (r *recorder) send(message string, priority journal.Priority, fields map[string]string) error {
	if r.refuses {
		return errors.New("no journal")
	}
	r.entries = append(r.entries, entry{message, priority, fields})
	return nil
}

// newRecorder returns a log, its entries, and the records that were refused.
func newRecorder(level slog.Leveler) (*slog.Logger, *recorder, *strings.Builder) {
	r, fallback := &recorder{}, &strings.Builder{}
	j := NewJournal(level, map[string]string{"no sound": "0123456789abcdef0123456789abcdef"}, fallback)
	j.send = r.send
	return slog.New(j), r, fallback
}

func TestJournal_messageAndFields(t *testing.T) {
	t.Parallel()
	log, r, fallback := newRecorder(slog.LevelInfo)
	log.Debug("below the level")
	log.With("game", "g1").WithGroup("http").Warn("no sound",
		"err", errors.New("gone\naway"), slog.Group("peer", "uid", 7))
	if len(r.entries) != 1 || fallback.Len() > 0 {
		t.Fatalf("written: %+v, %q", r.entries, fallback)
	}
	got := r.entries[0]
	if want := `no sound game=g1 http.err="gone\naway" http.peer.uid=7`; got.message != want {
		t.Errorf("the message is %q, want %q", got.message, want)
	}
	want := map[string]string{
		"SYSLOG_IDENTIFIER": "pressbox", "MESSAGE_ID": "0123456789abcdef0123456789abcdef",
		"PRESSBOX_GAME": "g1", "PRESSBOX_HTTP_ERR": "gone\naway", "PRESSBOX_HTTP_PEER_UID": "7",
	}
	if got.priority != journal.PriWarning || !maps.Equal(got.fields, want) {
		t.Errorf("priority %d, fields %v; want %v", got.priority, got.fields, want)
	}
}

func TestJournal_priorities(t *testing.T) {
	t.Parallel()
	level := new(slog.LevelVar)
	level.Set(slog.LevelDebug)
	log, r, _ := newRecorder(level)
	log.Debug("a")
	log.Info("b")
	log.Warn("c")
	log.Error("d")
	level.Set(slog.LevelError)
	log.Warn("below the level")
	var got []journal.Priority
	for _, e := range r.entries {
		got = append(got, e.priority)
	}
	if want := []journal.Priority{7, 6, 4, 3}; !slices.Equal(got, want) {
		t.Errorf("priorities %v, want %v", got, want)
	}
}

func TestJournal_fallback(t *testing.T) {
	t.Parallel()
	log, r, fallback := newRecorder(slog.LevelInfo)
	r.refuses = true
	log.Error("two\nlines", "n", 1)
	if want := "<3>two\\nlines n=1\n"; fallback.String() != want {
		t.Errorf("stderr has %q, want %q", fallback, want)
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"request_id":            "PRESSBOX_REQUEST_ID",
		"größe-1":               "PRESSBOX_GR__E_1",
		"":                      "PRESSBOX_",
		strings.Repeat("a", 99): "PRESSBOX_" + strings.Repeat("A", 55),
	} {
		check.Equal(t, field(key), want, "the field of %q", key)
	}
}

// slogtest checks the rules of package slog.
func TestJournal_slogtest(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	j := NewJournal(slog.LevelInfo, nil, nil)
	j.send = r.send
	err := slogtest.TestHandler(j, func() []map[string]any {
		var all []map[string]any
		for _, e := range r.entries {
			first, _, _ := strings.Cut(e.message, " ")
			record := map[string]any{
				slog.MessageKey: first, slog.LevelKey: fmt.Sprint(e.priority), slog.TimeKey: "set by the journal",
			}
			for name, value := range e.fields {
				if key, ours := strings.CutPrefix(name, "PRESSBOX_"); ours {
					nest(record, strings.Split(key, "_"), value)
				}
			}
			all = append(all, record)
		}
		return all
	})
	// The journal sets the time of every record.
	if err == nil || !strings.HasPrefix(err.Error(), `unexpected key "time"`) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// nest sets the value at a path of keys.
func nest(in map[string]any, path []string, value string) {
	if len(path) == 1 {
		in[strings.ToLower(path[0])] = value // slogtest uses capitals in groups only
		return
	}
	group, ok := in[path[0]].(map[string]any)
	if !ok {
		group = map[string]any{}
		in[path[0]] = group
	}
	nest(group, path[1:], value)
}
