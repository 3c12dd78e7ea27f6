package live_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
)

// A log counts what was logged.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// newLoggedHall returns a hall with its log.
func newLoggedHall(t *testing.T, j live.Journal, a live.Announcer) (*live.Games, *logged) {
	t.Helper()
	l := &logged{}
	h, err := live.New(t.Context(), live.Config{Journal: j, Rosters: builtIn(), Announcer: a, Log: slog.New(slog.NewTextHandler(l, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return h, l
}

// Where there is a clock the bot takes over for who is gone also when that could not be at once: the game was paused, the
// other one was not there, or the journal kept nothing.
func TestTheBotTakesOverAsSoonAsItCan(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hinder, free func(*live.Games, *journal, *watcher, string)
	}{
		"a pause": {
			func(h *live.Games, _ *journal, _ *watcher, id string) { do(t, h, ann, id, "Pause") },
			func(h *live.Games, _ *journal, _ *watcher, id string) { do(t, h, ann, id, "Resume") },
		},
		"nobody to play against": {
			func(_ *live.Games, _ *journal, a *watcher, _ string) { a.leave() },
			func(h *live.Games, _ *journal, a *watcher, id string) { a.join(t, h, ann, id, 0) },
		},
		"a full disk": {
			func(_ *live.Games, j *journal, _ *watcher, _ string) { j.setFull(errors.New("full")) },
			func(_ *live.Games, j *journal, _ *watcher, _ string) { j.setFull(nil); time.Sleep(5 * time.Second) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := newJournal()
				h, log := newLoggedHall(t, j, nil)
				defer run(t, h)()
				g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 600 })
				a, b, c := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0), watch(t, h, carl, g.ID, 0)
				defer c.leave()
				tt.hinder(h, j, a, g.ID)
				b.leave()
				pass(92 * time.Second)
				managed := func() bool { return look(t, h, ann, g.ID).State.BotManages.Away }
				if managed() {
					t.Fatal("the bot manages already")
				}
				tt.free(h, j, a, g.ID)
				pass(0)
				if !managed() {
					t.Errorf("the bot does not manage; Ann was told %v", a.kinds())
				}
				if n := log.count("automatic game update failed"); name == "a full disk" && n != 7 || name != "a full disk" && n != 0 {
					t.Errorf("logged %d times that it failed: %q", n, log.lines)
				}
				a.leave()
			})
		})
	}
}

// What is due as the hall closes is nobody's fault, and is not in the log.
func TestTheEndIsNoError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &closing{journal: newJournal()}
		h, log := newLoggedHall(t, j, nil)
		ctx, cancel := context.WithCancel(t.Context())
		j.cancel = cancel
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 30 })
		if _, err := h.Create(t.Context(), ann, request(nil)); err != nil {
			t.Fatal(err)
		}
		a := watch(t, h, ann, g.ID, 0)
		j.armed.Store(true)
		pass(30 * time.Second)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(log.lines) != 0 || !j.asked.Load() {
			t.Errorf("logged %q, asked the journal %v", log.lines, j.asked.Load())
		}
		a.leave()
	})
}

// closing is a journal that is asked to keep something just as everything ends.
type closing struct {
	*journal
	cancel       context.CancelFunc
	armed, asked atomic.Bool
}

func (c *closing) Append(ctx context.Context, change live.Change) (bool, error) {
	if c.armed.Load() {
		c.asked.Store(true)
		c.cancel()
	}
	return c.journal.Append(ctx, change)
}
