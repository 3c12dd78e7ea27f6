package announcer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/voice/announce"
)

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
				if starts := v.Started.Sub(start); starts != tt.starts {
					h.t.Errorf("it starts after %s, want %s", starts, tt.starts)
				}
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
		if l := h.List(); len(l.Queue)+len(l.Recent) > 0 {
			h.t.Errorf("the comment is listed: %+v", l)
		}
		if s := h.Stats(); s.Waiting > 0 || s.Current != "" {
			h.t.Errorf("the comment counts: %+v", s)
		}
		if n, err := h.CancelWaiting(context.Background()); n != 0 || err != nil {
			h.t.Errorf("cancelled %d, %v", n, err)
		}
		time.Sleep(5 * time.Second)
		h.expect("r1 r2 r3 s1") // CancelWaiting does not cancel comments
		if len(events) > 0 || h.outbox.writes() > 0 || len(h.outbox.stored) > 0 {
			h.t.Errorf("%d events, %d writes, %d stored", len(events), h.outbox.writes(), len(h.outbox.stored))
		}
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
		if took := time.Since(began); took > 2*time.Second {
			h.t.Errorf("stopping took %s", took)
		}
		h.restart(settings)
		h.speaker.made = nil
		defer h.run()()
		time.Sleep(10 * time.Second)
		h.expect("r1")
	})
}
