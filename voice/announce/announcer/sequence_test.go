package announcer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/voice/announce"
)

// A ducker stands in for the other streams.
type ducker struct {
	lowering, restoring time.Duration // how long these take
	fault               error
	mu                  sync.Mutex
	events              []string
}

func (d *ducker) Duck(ctx context.Context, gain float64) (restore func(), err error) {
	d.add(fmt.Sprintf("lower %.2f", gain))
	select {
	case <-time.After(d.lowering):
	case <-ctx.Done():
		d.add("gave up")
		return nil, ctx.Err()
	}
	if d.fault != nil {
		return nil, d.fault
	}
	return func() {
		time.Sleep(d.restoring)
		d.add("restored")
	}, nil
}

// add records an event with the time at which it happens, in seconds.
func (d *ducker) add(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, fmt.Sprintf("%s at %g", what, time.Since(start).Seconds()))
}

// expectDucked fails the test unless this happened to the other streams.
func (h *rig) expectDucked(want string) {
	h.t.Helper()
	h.ducker.mu.Lock()
	defer h.ducker.mu.Unlock()
	if got := strings.Join(h.ducker.events, ", "); got != want {
		h.t.Errorf("after %s the other streams were: %s; want %s", time.Since(start), got, want)
	}
}

func ducking(t *testing.T, test func(h *rig)) {
	t.Helper()
	c := settings
	c.Duck = -20
	running(t, c, test)
}

func TestDuck_whileSomethingIsSpoken(t *testing.T) {
	for name, tt := range map[string]struct {
		script func(h *rig)
		want   string
	}{
		"one": {func(h *rig) { h.post("a1|a2", false) }, "lower 0.10 at 0.1, restored at 2.1"},
		"one after the other": {func(h *rig) {
			h.post("a1", false)
			h.post("b1", false)
		}, "lower 0.10 at 0.1, restored at 2.1"},
		"one later": {func(h *rig) {
			h.post("a1", false)
			time.Sleep(3 * time.Second)
			h.post("b1", false)
		}, "lower 0.10 at 0.1, restored at 1.1, lower 0.10 at 3.1, restored at 4.1"},
		"a comment": {func(h *rig) { h.Comment("g", "r1") }, "lower 0.10 at 0.1, restored at 1.1"},
		"a cancelled one": {func(h *rig) {
			v := h.post("a1", false)
			time.Sleep(500 * time.Millisecond)
			_, _ = h.Cancel(context.Background(), v.ID) // the test sees what follows
		}, "lower 0.10 at 0.1, restored at 0.5"},
		"an interrupted one": {func(h *rig) {
			h.post("a1", false)
			time.Sleep(500 * time.Millisecond)
			h.post("u1", true)
		}, "lower 0.10 at 0.1, restored at 2.6"},
		"a failed one": {func(h *rig) { h.post("a1|unspeakable", false) }, "lower 0.10 at 0.1, restored at 1.1"},
		"nothing":      {func(h *rig) { h.post("unspeakable", false) }, ""},
		"the loss of the sink": {func(h *rig) {
			h.post("a1", false)
			time.Sleep(500 * time.Millisecond)
			h.sink.lose()
			time.Sleep(100 * time.Millisecond)
			h.sink.restore()
		}, "lower 0.10 at 0.1, restored at 0.5, lower 0.10 at 0.8, restored at 1.8"},
		"slowly lowered": {func(h *rig) {
			h.ducker.lowering = 400 * time.Millisecond
			h.post("a1", false)
		}, "lower 0.10 at 0.1, restored at 1.1"},
		"cancelled while it is lowered": {func(h *rig) {
			h.ducker.lowering = time.Hour
			v := h.post("a1", false)
			time.Sleep(500 * time.Millisecond)
			_, _ = h.Cancel(context.Background(), v.ID)
		}, "lower 0.10 at 0.1, gave up at 0.5"},
		"lowered after it is restored": {func(h *rig) {
			h.ducker.restoring = 3 * time.Second
			h.post("a1", false)
			time.Sleep(2 * time.Second)
			h.post("b1|b2|b3", false)
		}, "lower 0.10 at 0.1, restored at 4.1, lower 0.10 at 4.1, restored at 8.1"},
		"a fault": {func(h *rig) {
			h.ducker.fault = errors.New("no such stream")
			h.post("a1", false)
			time.Sleep(2 * time.Second)
			h.post("b1", false)
		}, "lower 0.10 at 0.1, lower 0.10 at 2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			ducking(t, func(h *rig) {
				h.speaker.delay = 100 * time.Millisecond
				tt.script(h)
				time.Sleep(time.Minute)
				h.expectDucked(tt.want)
			})
		})
	}
}

// Lowering delays neither an announcement nor an urgent one that interrupts it.
func TestDuck_doesNotDelay(t *testing.T) {
	ducking(t, func(h *rig) {
		h.ducker.lowering, h.ducker.restoring = time.Hour, time.Second
		a := h.post("a1|a2", false)
		time.Sleep(500 * time.Millisecond)
		u := h.post("u1", true)
		time.Sleep(time.Minute)
		h.expect("a1 / u1 a1 a2")
		for id, want := range map[string]time.Duration{a.ID: 0, u.ID: 500 * time.Millisecond} {
			if v := h.expectStatus(id, announce.Done); v.Started.Sub(start) != want {
				h.t.Errorf("it starts after %s, want %s", v.Started.Sub(start), want)
			}
		}
		h.expectDucked("lower 0.10 at 0, gave up at 3.5")
	})
}

// Run ends after the other streams were restored.
func TestDuck_restoredAtEnd(t *testing.T) {
	c := settings
	c.Duck = -20
	bubble(t, c, func(h *rig) {
		h.ducker.restoring = time.Second
		stop := h.run()
		h.post("a1|a2", false)
		time.Sleep(500 * time.Millisecond)
		stop()
		h.expectDucked("lower 0.10 at 0, restored at 2")
	})
}

func TestDuck_off(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.post("a1", false)
		time.Sleep(time.Minute)
		h.expectDucked("")
	})
}

// The default chime precedes an announcement unless another one ended less than five seconds before; commentary
// and what goes on after an interruption have none.
func TestChime_beforeSpeech(t *testing.T) {
	c := settings
	c.Chime, c.ChimeUrgent = "ding", "alert"
	running(t, c, func(h *rig) {
		h.post("a1", false) // with the chime, to 1.5 s
		h.post("b1", false)
		time.Sleep(7400 * time.Millisecond)
		h.post("c1", false) // 4.9 s after b1
		time.Sleep(7 * time.Second)
		h.post("d1|d2", false)
		time.Sleep(time.Second)
		h.post("u1", true)
		time.Sleep(time.Minute)
		h.Comment("g", "r1")
		time.Sleep(10 * time.Second)
		h.expect("chime a1 b1 c1 chime d1 / chime u1 d1 d2 r1")
	})
}

// With a chime, the first sample comes as early as without.
func TestChime_doesNotDelay(t *testing.T) {
	for _, chime := range []string{"none", "ding"} {
		c := settings
		c.Chime = chime
		t.Run(chime, func(t *testing.T) {
			running(t, c, func(h *rig) {
				h.speaker.delay = 100 * time.Millisecond
				v := h.post("a1", false)
				time.Sleep(time.Minute)
				if v := h.expectStatus(v.ID, announce.Done); v.Started.Sub(start) != 100*time.Millisecond {
					h.t.Errorf("it starts after %s, want 0.1 s", v.Started.Sub(start))
				}
			})
		})
	}
}
