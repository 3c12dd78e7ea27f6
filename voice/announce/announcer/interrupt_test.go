package announcer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// fade is the time in which the sink of these tests fades out.
const fade = 20 * time.Millisecond

// interrupting runs a test with a sink that fades and clips that take a tenth of a second.
func interrupting(t *testing.T, c announce.Config, test func(h *rig)) {
	t.Helper()
	running(t, c, func(h *rig) {
		h.speaker.delay, h.sink.fade = 100*time.Millisecond, fade
		test(h)
	})
}

// kill ends a running announcer, and replaces it by one with what was saved before, as after a crash.
func (h *rig) kill(stop func()) {
	h.t.Helper()
	saved := newOutbox()
	h.outbox.mu.Lock()
	saved.stored = maps.Clone(h.outbox.stored)
	h.outbox.mu.Unlock()
	h.sink.lose()
	stop() // it saves nothing of this in the copy
	h.sink.restore()
	h.outbox = saved
	h.restart(settings)
}

// An urgent announcement starts as soon as its first clip is made. The interrupted one is queued and goes on
// from its interrupted sentence.
func TestUrgent_interrupts(t *testing.T) {
	const clip = 100 * time.Millisecond
	for _, tt := range []struct {
		message string
		after   time.Duration
		played  string
	}{
		{"a1|a2|a3", 0, "u1 a1 a2 a3"}, // nothing was played
		{"a1|a2|a3", 500 * time.Millisecond, "a1 / u1 a1 a2 a3"},
		{"a1|a2|a3", 1500 * time.Millisecond, "a1 a2 / u1 a2 a3"},
		{"a1|a2|a3", 2500 * time.Millisecond, "a1 a2 a3 / u1 a3"},
		{"a1|a2+a3+a4|a5", 2500 * time.Millisecond, "a1 a2 a3 / u1 a2 a3 a4 a5"},
		{"a1|a2+a3+a4|a5", 1090 * time.Millisecond, "a1 / u1 a2 a3 a4 a5"}, // a1 ends while it fades
		{"a1|long|a3", 10 * time.Second, "a1 long / u1 long a3"},
	} {
		t.Run(fmt.Sprint(tt.message, tt.after), func(t *testing.T) {
			interrupting(t, settings, func(h *rig) {
				a := h.post(tt.message, false)
				b := h.post("b1", false)
				synctest.Wait()
				time.Sleep(tt.after)
				u := h.post("u1", true)
				time.Sleep(clip + time.Millisecond)
				if v := h.expectStatus(a.ID, announce.Queued); *v.Position != 1 {
					h.t.Errorf("the interrupted one is at %d, want 1", *v.Position)
				}
				if v := h.expectStatus(u.ID, announce.Playing); v.Started.Sub(start) > tt.after+clip {
					h.t.Errorf("the urgent one starts after %s, want %s", v.Started.Sub(start), tt.after+clip)
				}
				time.Sleep(time.Minute)
				h.expect(tt.played + " b1")
				for _, id := range []string{a.ID, u.ID, b.ID} {
					h.expectSaved(id, announce.Done)
				}
			})
		})
	}
}

func TestUrgent_doesNotInterruptUrgent(t *testing.T) {
	interrupting(t, settings, func(h *rig) {
		h.post("u1|u2", true)
		time.Sleep(500 * time.Millisecond)
		h.post("u3", true)
		time.Sleep(time.Minute)
		h.expect("u1 u2 u3")
	})
}

// Each of several urgent ones interrupts, and the others wait for all of them.
func TestUrgent_interruptsAgain(t *testing.T) {
	interrupting(t, settings, func(h *rig) {
		h.post("a1|a2|a3", false)
		time.Sleep(1500 * time.Millisecond)
		h.post("u1", true)
		time.Sleep(500 * time.Millisecond)
		h.post("u2", true)
		time.Sleep(4500 * time.Millisecond) // a2 from 3.7 s, a3 from 4.7 s
		h.post("u3", true)
		time.Sleep(time.Minute)
		h.expect("a1 a2 / u1 u2 a2 a3 u3")
	})
}

// While another one fades out because it was cancelled, an urgent one is made; it starts when the end is saved.
func TestUrgent_duringCancel(t *testing.T) {
	interrupting(t, settings, func(h *rig) {
		a := h.post("long|long", false)
		time.Sleep(time.Second)
		cancelled := make(chan error)
		go func() {
			_, err := h.Cancel(context.Background(), a.ID)
			cancelled <- err
		}()
		synctest.Wait()
		u := h.post("u1", true)
		h.outbox.set(nil, 200*time.Millisecond)
		check.NoError(h.t, <-cancelled)
		time.Sleep(time.Minute)
		h.expect("long / u1")
		h.expectStatus(a.ID, announce.Cancelled)
		if v := h.expectStatus(u.ID, announce.Done); v.Started.Sub(start) != 1220*time.Millisecond {
			h.t.Errorf("it starts after %s, want 1.22 s", v.Started.Sub(start))
		}
	})
}

// The interrupted one is spoken once, also after a crash at any moment.
func TestUrgent_interruptionSaved(t *testing.T) {
	for after, want := range map[time.Duration]string{
		1600 * time.Millisecond: "a1 a2 / u1 / u1 a2 a3 b1", // the urgent one plays
		3000 * time.Millisecond: "a1 a2 / u1 a2 / a2 a3 b1", // the interrupted one goes on
	} {
		t.Run(after.String(), func(t *testing.T) {
			bubble(t, settings, func(h *rig) {
				stop := h.run()
				h.speaker.delay, h.sink.fade = 10*time.Millisecond, fade
				h.post("a1|a2|a3", false)
				h.post("b1", false)
				time.Sleep(1500 * time.Millisecond)
				h.post("u1", true)
				time.Sleep(after - 1500*time.Millisecond)
				h.kill(stop)
				defer h.run()()
				time.Sleep(time.Minute)
				h.expect(want)
			})
		})
	}
}

// If the interruption cannot be saved, it takes place nevertheless.
func TestUrgent_interruptsOnFullDisk(t *testing.T) {
	interrupting(t, settings, func(h *rig) {
		h.post("a1|a2|a3", false)
		h.post("b1", false)
		time.Sleep(1500 * time.Millisecond)
		h.post("u1", true)
		h.outbox.set(errors.New("disk full"), 0)
		time.Sleep(time.Minute)
		h.expect("a1 a2 / u1 a2 a3 b1")
	})
}

func TestInterrupted_cancelled(t *testing.T) {
	interrupting(t, settings, func(h *rig) {
		a := h.post("a1|a2", false)
		time.Sleep(500 * time.Millisecond)
		h.post("u1", true)
		time.Sleep(500 * time.Millisecond)
		if n, err := h.CancelWaiting(h.t.Context()); n != 1 || err != nil {
			h.t.Errorf("cancelled %d, %v, want 1", n, err)
		}
		time.Sleep(time.Minute)
		h.expect("a1 / u1")
		h.expectSaved(a.ID, announce.Cancelled)
	})
}

// Cancelled while its interruption is being saved, it is not spoken again.
func TestInterrupted_cancelledMeanwhile(t *testing.T) {
	interrupting(t, settings, func(h *rig) {
		a := h.post("a1|a2|a3", false)
		time.Sleep(1500 * time.Millisecond)
		h.post("u1", true)
		h.outbox.set(nil, time.Second)
		time.Sleep(500 * time.Millisecond)
		if v, err := h.Cancel(h.t.Context(), a.ID); v.Status != announce.Cancelled || err != nil {
			h.t.Errorf("it is %s, %v", v.Status, err)
		}
		time.Sleep(time.Minute)
		h.expect("a1 a2 / u1")
		h.expectSaved(a.ID, announce.Cancelled)
	})
}

// An interrupted one does not expire behind the urgent one, but it does while the host is off.
func TestInterrupted_expiry(t *testing.T) {
	for restarted, want := range map[bool]string{false: "a1 a2 / long a2 a3", true: "a1 a2 / long /"} {
		t.Run(fmt.Sprint(restarted), func(t *testing.T) {
			bubble(t, settings, func(h *rig) {
				stop := h.run()
				h.sink.fade = fade
				a := h.request(announce.Request{Content: said("a1|a2|a3"), TTL: 5 * time.Second})
				time.Sleep(1500 * time.Millisecond)
				h.post("long", true)
				time.Sleep(time.Second)
				if restarted {
					stop()
					time.Sleep(10 * time.Second)
					for id, n := range h.outbox.stored {
						if n.Urgent {
							delete(h.outbox.stored, id)
						}
					}
					h.restart(settings)
					stop = h.run()
				}
				defer stop()
				time.Sleep(time.Minute)
				h.expect(want)
				h.expectStatus(a.ID, map[bool]announce.Status{false: announce.Done, true: announce.Expired}[restarted])
			})
		})
	}
}

// An interrupted one takes no place in the queue.
func TestInterrupted_takesNoPlace(t *testing.T) {
	c := settings
	c.Max = 2
	interrupting(t, c, func(h *rig) {
		h.post("a1|a2", false)
		time.Sleep(500 * time.Millisecond)
		h.post("u1", true)
		time.Sleep(500 * time.Millisecond)
		h.post("b1", false)
		h.post("b2", false)
		h.expectError(announce.Request{Content: said("b3")}, announce.ErrFull)
		time.Sleep(time.Minute)
		h.expect("a1 / u1 a1 a2 b1 b2")
	})
}

// If the sound server is lost, the announcement is spoken again from where it began, an interrupted one from
// its interrupted sentence.
func TestInterrupted_sinkLost(t *testing.T) {
	interrupting(t, settings, func(h *rig) {
		h.post("a1|a2|a3|a4", false)
		time.Sleep(1500 * time.Millisecond)
		h.post("u1", true)
		time.Sleep(2500 * time.Millisecond) // u1 to 2.6 s, a2 to 3.7 s
		h.sink.lose()
		time.Sleep(time.Second)
		h.sink.restore()
		time.Sleep(time.Minute)
		h.expect("a1 a2 / u1 a2 a3 / a2 a3 a4")
	})
}

// Another voice that speaks is named.
func TestSpeaker_otherVoice(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.speaker.instead = "bert"
		a := h.post("a1", false)
		time.Sleep(500 * time.Millisecond)
		if v := h.expectStatus(a.ID, announce.Playing); v.Voice != "bert" {
			h.t.Errorf("it is spoken by %s, want bert", v.Voice)
		}
		time.Sleep(time.Second)
		if v := h.outbox.saved(a.ID); v.Voice != "bert" {
			h.t.Errorf("%s is saved, want bert", v.Voice)
		}
	})
}

// A voice that fails is replaced in the middle of a message, and that is logged once.
func TestSpeaker_otherVoiceLater(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.speaker.instead, h.speaker.from = "bert", 1
		events, stop := h.Watch()
		defer stop()
		a := h.post("a1|a2|a3", false)
		for _, want := range []string{"anna", "bert", "bert"} {
			time.Sleep(500 * time.Millisecond)
			if v := h.expectStatus(a.ID, announce.Playing); v.Voice != want {
				h.t.Errorf("it is spoken by %s, want %s", v.Voice, want)
			}
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(time.Second)
		var voices []string
		for range len(events) {
			voices = append(voices, (<-events).View.Voice)
		}
		if got := strings.Join(slices.Compact(voices), " "); got != "anna bert" {
			h.t.Errorf("the events name %s, want anna, then bert", got)
		}
		if n := strings.Count(h.log.String(), "another voice speaks"); n != 1 {
			h.t.Errorf("logged %d times:\n%s", n, h.log.String())
		}
	})
}
