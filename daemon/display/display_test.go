package display

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// A page is given up only after it has answered, and not before its time.
func TestWatchdog_stopped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers string // each minute: yes or no
		want    int    // the minute in which it has stopped; -1: never
	}{
		{"answers", "yyyyyyyy", -1},
		{"never did", "nnnnnnnnnnnn", -1},
		{"stops", "nyynnnn", 4},
		{"recovers", "ynynynyn", -1},
	} {
		w, got := watchdog{patience: 2 * time.Minute}, -1
		for minute, answer := range tt.answers {
			if w.stopped(time.Unix(int64(60*minute), 0), answer == 'y') && got < 0 {
				got = minute
			}
		}
		check.Equal(t, got, tt.want, "%s: stopped in minute", tt.name)
	}
}

// A message of the browser may have 1 MiB, with its end.
func TestDevtools_maxMessage(t *testing.T) {
	t.Parallel()
	for size, ok := range map[int]bool{maxMessage: true, maxMessage + 1: false} {
		from, browser, err := os.Pipe()
		check.NoError(t, err)
		d := &devtools{from: from, messages: make(chan message)}
		go d.read()
		go func() {
			defer browser.Close()
			_, _ = browser.WriteString(`{"id": 1, "x": "` + strings.Repeat("x", size-19) + `"}` + "\x00")
		}()
		m, read := <-d.messages
		check.That(t, read == ok && (m.ID == 1) == ok, "a message of %d bytes: %+v, %v", size, m, read)
		from.Close()
	}
}

// newDisplay returns a display with the tests' browser.
func newDisplay(t *testing.T, page string) *Display {
	t.Helper()
	d := New(page, t.TempDir())
	d.log = io.Discard // no file: the end of a program is then that of all its children
	d.browser = []string{check.Part(t, "chromium-headless-shell"), "--no-sandbox", "--disable-gpu"}
	d.poll, d.patience = 500*time.Millisecond, 3*time.Second
	return d
}

// A page that blocks the browser's renderer after it has answered is given up.
func TestDisplay_hung(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			asked <- struct{}{}
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<script>setTimeout(() => { fetch("/hang").then(() => { for (;;); }) }, 2000)</script>`)
	}))
	t.Cleanup(server.Close)
	d := newDisplay(t, server.URL)
	check.ErrorIs(t, d.Run(t.Context()), ErrPage, "a page that hangs")
	check.Equal(t, len(asked), 1, "times that the page hung")
}

// A page that cannot be loaded is no page that has stopped, and one that is loaded answers. The
// profile is empty at each start.
func TestDisplay_loads(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<p>The field is empty.</p>`)
	}))
	t.Cleanup(server.Close)
	for page, want := range map[string]bool{server.URL: true, "http://127.0.0.1:1/kiosk": false} {
		d := newDisplay(t, page)
		check.NoError(t, d.clear())
		ctx, cancel := context.WithCancel(t.Context())
		cmd := d.command(ctx)
		tools, err := start(cmd)
		check.NoError(t, err)
		for tools.answers(ctx, time.Minute) != want {
			check.Require(t, ctx.Err() == nil, "%s never answers", page)
		}
		cancel()
		_ = cmd.Wait() // killed
		tools.close()
		check.NoError(t, d.clear())
		found, _ := filepath.Glob(d.Profile + "/*")
		check.That(t, len(found) == 0, "the profile has %q", found)
	}
}
