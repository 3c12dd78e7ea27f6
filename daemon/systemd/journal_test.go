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
)

// A page is a journal that writes down what it is sent.
type page struct {
	torn    bool // takes nothing
	entries []entry
}

type entry struct {
	message  string
	priority journal.Priority
	fields   map[string]string
}

func (p *page) send(message string, priority journal.Priority, fields map[string]string) error {
	if p.torn {
		return errors.New("no journal")
	}
	p.entries = append(p.entries, entry{message, priority, fields})
	return nil
}

// newPage returns a log, the journal behind it, and what the journal did not take.
func newPage(level slog.Leveler) (*slog.Logger, *page, *strings.Builder) {
	p, rest := &page{}, &strings.Builder{}
	j := NewJournal(level, map[string]string{"no sound": "0123456789abcdef0123456789abcdef"}, rest)
	j.send = p.send
	return slog.New(j), p, rest
}

func TestARecordIsReadByPeopleAndByFilters(t *testing.T) {
	t.Parallel()
	log, p, rest := newPage(slog.LevelInfo)
	log.Debug("nobody wants to know")
	log.With("game", "g1").WithGroup("http").Warn("no sound", "err", errors.New("gone\naway"), slog.Group("peer", "uid", 7))
	if len(p.entries) != 1 || rest.Len() > 0 {
		t.Fatalf("written: %+v, %q", p.entries, rest)
	}
	got := p.entries[0]
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

func TestPrioritiesAreSyslogs(t *testing.T) {
	t.Parallel()
	level := new(slog.LevelVar)
	level.Set(slog.LevelDebug)
	log, p, _ := newPage(level)
	log.Debug("a")
	log.Info("b")
	log.Warn("c")
	log.Error("d")
	level.Set(slog.LevelError)
	log.Warn("not any more")
	var got []journal.Priority
	for _, e := range p.entries {
		got = append(got, e.priority)
	}
	if want := []journal.Priority{7, 6, 4, 3}; !slices.Equal(got, want) {
		t.Errorf("priorities %v, want %v", got, want)
	}
}

func TestWhatTheJournalDoesNotTakeGoesToStderrOnOneLine(t *testing.T) {
	t.Parallel()
	log, p, rest := newPage(slog.LevelInfo)
	p.torn = true
	log.Error("two\nlines", "n", 1)
	if want := "<3>two\\nlines n=1\n"; rest.String() != want {
		t.Errorf("stderr has %q, want %q", rest, want)
	}
}

func TestFieldsHaveNamesThatTheJournalTakes(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"request_id":            "PRESSBOX_REQUEST_ID",
		"größe-1":               "PRESSBOX_GR__E_1",
		"":                      "PRESSBOX_",
		strings.Repeat("a", 99): "PRESSBOX_" + strings.Repeat("A", 55),
	} {
		if got := field(key); got != want {
			t.Errorf("the field of %q is %s, want %s", key, got, want)
		}
	}
}

// The handler keeps what package slog asks of every handler.
func TestTheJournalIsAHandler(t *testing.T) {
	t.Parallel()
	p := &page{}
	j := NewJournal(slog.LevelInfo, nil, nil)
	j.send = p.send
	err := slogtest.TestHandler(j, func() []map[string]any {
		var all []map[string]any
		for _, e := range p.entries {
			first, _, _ := strings.Cut(e.message, " ")
			record := map[string]any{slog.MessageKey: first, slog.LevelKey: fmt.Sprint(e.priority), slog.TimeKey: "the journal's own"}
			for name, value := range e.fields {
				if key, ours := strings.CutPrefix(name, "PRESSBOX_"); ours {
					nest(record, strings.Split(key, "_"), value)
				}
			}
			all = append(all, record)
		}
		return all
	})
	// The journal stamps every record itself, also one without a time.
	if err == nil || !strings.HasPrefix(err.Error(), `unexpected key "time"`) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// nest puts value under a path of keys, as slogtest has them.
func nest(in map[string]any, path []string, value string) {
	if len(path) == 1 {
		in[strings.ToLower(path[0])] = value // slogtest has capitals in groups only
		return
	}
	group, ok := in[path[0]].(map[string]any)
	if !ok {
		group = map[string]any{}
		in[path[0]] = group
	}
	nest(group, path[1:], value)
}
