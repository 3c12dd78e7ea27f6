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
		n, err := h.CancelWaiting(h.t.Context(), nil)
		check.That(h.t, n == 1 && err == nil, "cancelled %d, %v, want 1", n, err)
		h.expectStatus(a.ID, announce.Cancelled)
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
		v, err := h.Cancel(h.t.Context(), a.ID)
		check.That(h.t, v.Status == announce.Cancelled && err == nil, "it is %s, %v", v.Status, err)
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

// If the sound server is lost, the announcement goes on with the sentence that was heard half a second before.
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
			v := h.expectStatus(a.ID, announce.Playing)
			check.That(h.t, v.Voice == want, "it is spoken by %s, want %s", v.Voice, want)
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(time.Second)
		var voices []string
		for range len(events) {
			voices = append(voices, (<-events).View.Voice)
		}
		got := strings.Join(slices.Compact(voices), " ")
		check.That(h.t, got == "anna bert", "the events name %s, want anna, then bert", got)
		n := strings.Count(h.log.String(), "another voice speaks")
		check.That(h.t, n == 1, "logged %d times:\n%s", n, h.log.String())
	})
}

func TestComment_spokenWhenQueueEmpty(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.Comment("g1", "one1|one2")
		time.Sleep(3 * time.Second)
		h.expect("one1 one2")
		h.post("a1|a2", false)
		synctest.Wait()
		h.Comment("g1", "two")
		h.post("b1", false)
		h.post("u1", true)
		time.Sleep(10 * time.Second)
		h.expect("one1 one2 a1 / u1 a1 a2 b1 two")
	})
}

func TestComment_lastPerTopicOnly(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.post("a1|a2", false)
		synctest.Wait()
		for i := range 5 {
			h.Comment("g1", fmt.Sprint("first", i))
			h.Comment("g2", fmt.Sprint("second", i))
		}
		time.Sleep(10 * time.Second)
		h.expect("a1 a2 first4 second4")
	})
}

func TestComment_droppedAfterTenSeconds(t *testing.T) {
	for wait, want := range map[string]string{
		"a1|a2|a3|a4|a5|a6|a7|a8|a9":        "a1 a2 a3 a4 a5 a6 a7 a8 a9 fresh",
		"a1|a2|a3|a4|a5|a6|a7|a8|a9|a10":    "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10",
		"a1|a2|a3|a4|a5|a6|a7|a8|a9|a10|11": "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 11",
	} {
		t.Run(wait, func(t *testing.T) {
			running(t, settings, func(h *rig) {
				h.post(wait, false)
				synctest.Wait()
				h.Comment("g", "fresh")
				time.Sleep(time.Minute)
				h.expect(want)
			})
		})
	}
}

// A comment's age counts until it is heard, so slow synthesis makes it late too.
func TestComment_droppedIfSynthesisIsSlow(t *testing.T) {
	for delay, want := range map[time.Duration]string{9 * time.Second: "slow after", 11 * time.Second: "after"} {
		t.Run(delay.String(), func(t *testing.T) {
			running(t, settings, func(h *rig) {
				h.speaker.delay = delay
				h.Comment("g", "slow")
				time.Sleep(15 * time.Second)
				h.post("after", false)
				time.Sleep(time.Minute)
				h.expect(want)
			})
		})
	}
}

// An announcement that is posted during a comment starts right after the clause, and an urgent one as soon as
// it is synthesized.
func TestComment_yieldsToAnnouncement(t *testing.T) {
	for _, tt := range []struct {
		urgent bool
		played string
		starts time.Duration
	}{
		{false, "r1 a1", 1100 * time.Millisecond},
		{true, "r1 / a1", 600 * time.Millisecond},
	} {
		t.Run(fmt.Sprint(tt.urgent), func(t *testing.T) {
			running(t, settings, func(h *rig) {
				h.speaker.delay = 100 * time.Millisecond
				h.sink.fade = 20 * time.Millisecond
				h.Comment("g", "r1|r2|r3|r4")
				time.Sleep(500 * time.Millisecond) // r1 from 0.1 s to 1.1 s
				v := h.post("a1", tt.urgent)
				time.Sleep(time.Minute)
				h.expect(tt.played)
				v = h.expectStatus(v.ID, announce.Done)
				check.Equal(h.t, v.Started.Sub(start), tt.starts, "it starts after")
			})
		})
	}
}

func TestComment_isNoAnnouncement(t *testing.T) {
	c := settings
	c.Max = 1
	running(t, c, func(h *rig) {
		events, stop := h.Watch()
		defer stop()
		h.Comment("g", "r1|r2|r3")
		h.Comment("g2", "s1")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		l := h.List()
		check.That(h.t, len(l.Queue)+len(l.Recent) <= 0, "the comment is listed: %+v", l)
		s := h.Stats()
		check.That(h.t, s.Waiting <= 0 && s.Current == "", "the comment counts: %+v", s)
		n, err := h.CancelWaiting(context.Background(), nil)
		check.That(h.t, n == 0 && err == nil, "cancelled %d, %v", n, err)
		time.Sleep(5 * time.Second)
		h.expect("r1 r2 r3 s1") // CancelWaiting does not cancel comments
		check.That(h.t, len(events) == 0 && h.outbox.writes() == 0 && len(h.outbox.stored) == 0,
			"%d events, %d writes, %d stored", len(events), h.outbox.writes(), len(h.outbox.stored))
		h.Comment("g", "x1|x2|x3")
		time.Sleep(100 * time.Millisecond)
		h.post("a", false) // the current one and one more, as without comments
		h.post("b", false)
		h.expectError(announce.Request{Content: said("c")}, announce.ErrFull)
	})
}

// A comment without a sink or without speech is dropped; announcements are not.
func TestComment_failureDropsIt(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.sink.lose()
		h.Comment("g", "lost")
		time.Sleep(time.Second)
		h.post("a1", false)
		time.Sleep(time.Second)
		h.sink.restore()
		time.Sleep(20 * time.Second)
		h.expect("a1")
		h.Comment("g", "…")
		h.Comment("g", "unspeakable")
		time.Sleep(time.Second)
		h.post("a2", false)
		time.Sleep(5 * time.Second)
		h.expect("a1 a2")
	})
}

func TestComment_stopsAfterClauseOnShutdown(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		stop := h.run()
		h.Comment("g", "r1|r2|r3|r4|r5|r6")
		time.Sleep(500 * time.Millisecond)
		began := time.Now()
		stop()
		h.expect("r1")
		took := time.Since(began)
		check.That(h.t, took <= 2*time.Second, "stopping took %s", took)
		h.restart(settings)
		h.speaker.made = nil
		defer h.run()()
		time.Sleep(10 * time.Second)
		h.expect("r1")
	})
}
