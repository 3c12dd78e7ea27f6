package recovery

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// A ledger records what a process begins to change and what it has acknowledged, in the trace of the file system.
type ledger struct {
	mu   sync.Mutex
	file *os.File
}

// begin records that what key names is about to become value.
func (l *ledger) begin(key, value string) { l.write("begin", key, value) }

// ack records, unless err is not nil, that it has become that.
func (l *ledger) ack(key string, err error) error {
	if err == nil {
		l.write("ack", key, "")
	}
	return err
}

// set records what has become of something already. It returns nil.
func (l *ledger) set(key, value string) error {
	l.begin(key, value)
	return l.ack(key, nil)
}

func (l *ledger) write(what, key, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := fmt.Fprintf(l.file, "%s\t%s\t%s\n", what, key, value); err != nil {
		panic(err)
	}
}

// A history is what may have become of something: the values that were begun, oldest first,
// of which those before acked are out of date.
type history struct {
	values []string
	acked  int
}

// histories returns the history of each key in a ledger.
func histories(lines []string) map[string]*history {
	all := map[string]*history{}
	for _, line := range lines {
		what, rest, _ := strings.Cut(line, "\t")
		key, value, _ := strings.Cut(rest, "\t")
		h := all[key]
		if h == nil {
			h = &history{values: []string{""}}
			all[key] = h
		}
		if what == "ack" {
			h.acked = len(h.values) - 1
		} else {
			h.values = append(h.values, value)
		}
	}
	return all
}

// allows reports whether value is the last acknowledged one or a later one.
func (h *history) allows(value string) bool { return slices.Contains(h.values[h.acked:], value) }

func (h *history) String() string {
	return fmt.Sprintf("%.60q acknowledged, %d begun later", h.values[h.acked], len(h.values)-1-h.acked)
}
