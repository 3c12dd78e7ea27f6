package announce_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/voice/announce"
)

func TestARemarkIsSaidWhenNothingPostedWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		h.Comment("g1", "one1|one2")
		time.Sleep(3 * time.Second)
		h.expect("one1 one2")
		h.post("a1|a2", false)
		synctest.Wait()
		h.Comment("g1", "two")
		h.post("b1", false)
		h.post("u1", true)
		time.Sleep(10 * time.Second)
		h.expect("one1 one2 a1 a2 u1 b1 two")
	})
}

func TestOnlyTheLastRemarkAboutAThingIsMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
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

func TestARemarkThatIsTenSecondsLateIsNotMade(t *testing.T) {
	t.Parallel()
	for wait, want := range map[string]string{
		"a1|a2|a3|a4|a5|a6|a7|a8|a9":        "a1 a2 a3 a4 a5 a6 a7 a8 a9 fresh",
		"a1|a2|a3|a4|a5|a6|a7|a8|a9|a10":    "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10",
		"a1|a2|a3|a4|a5|a6|a7|a8|a9|a10|11": "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 11",
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, settings)
			defer h.run()()
			h.post(wait, false)
			synctest.Wait()
			h.Comment("g", "fresh")
			time.Sleep(time.Minute)
			h.expect(want)
		})
	}
}

// Its age counts until it is heard: a voice that is slow makes it late too.
func TestARemarkThatTakesTooLongToMakeIsNotMade(t *testing.T) {
	t.Parallel()
	for pace, want := range map[time.Duration]string{9 * time.Second: "slow after", 11 * time.Second: "after"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, settings)
			h.speaker.pace = pace
			defer h.run()()
			h.Comment("g", "slow")
			time.Sleep(15 * time.Second)
			h.post("after", false)
			time.Sleep(time.Minute)
			h.expect(want)
		})
	}
}

// The one that is posted during a remark is heard after the clause, and no
// later: its sound is made meanwhile.
func TestARemarkGivesWayToWhatIsPosted(t *testing.T) {
	t.Parallel()
	for _, urgent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, settings)
			h.speaker.pace = 100 * time.Millisecond
			defer h.run()()
			h.Comment("g", "r1|r2|r3|r4")
			time.Sleep(500 * time.Millisecond) // r1 from 0.1 s to 1.1 s
			v := h.post("a1", urgent)
			time.Sleep(time.Minute)
			h.expect("r1 a1")
			v = h.expectStatus(v.ID, announce.Done)
			if started := v.Started.Sub(dawn); started > 1100*time.Millisecond {
				t.Errorf("it was heard after %s, want no gap after the clause: 1.1 s", started)
			}
		})
	}
}

func TestARemarkIsNoAnnouncement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := settings
		c.Max = 1
		h := newHouse(t, c)
		defer h.run()()
		events, stop := h.Watch()
		defer stop()
		h.Comment("g", "r1|r2|r3")
		h.Comment("g2", "s1")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if queue, recent := h.Queue(); len(queue)+len(recent) > 0 {
			t.Errorf("it is listed: %v %v", queue, recent)
		}
		if s := h.Stats(); s.Waiting > 0 || s.Current != "" {
			t.Errorf("it counts: %+v", s)
		}
		if n, err := h.CancelWaiting(context.Background()); n != 0 || err != nil {
			t.Errorf("cancelled %d, %v", n, err)
		}
		time.Sleep(5 * time.Second)
		h.expect("r1 r2 r3 s1") // cancelling is about announcements
		if len(events) > 0 || h.outbox.writes() > 0 || len(h.outbox.notices) > 0 {
			t.Errorf("%d events, %d writes, %d kept", len(events), h.outbox.writes(), len(h.outbox.notices))
		}
		h.Comment("g", "x1|x2|x3")
		time.Sleep(100 * time.Millisecond)
		h.post("a", false) // a head and one more, as without remarks
		h.post("b", false)
		if _, err := h.Announce(context.Background(), announce.Request{Message: "c"}); !errors.Is(err, announce.ErrFull) {
			t.Errorf("the one beyond the limit: %v, want ErrFull", err)
		}
	})
}

func TestARemarkIsAsLoudAsAnAnnouncement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := settings
		c.Volume = 50
		h := newHouse(t, c)
		defer h.run()()
		h.Comment("g", "plain")
		time.Sleep(2 * time.Second)
		h.expect("plain")
		for i, s := range h.speaker.clip("reference").Samples {
			if got, want := h.sink.levels["plain"][i], s*0.5; got != want {
				t.Errorf("sample %d is %v, want %v", i, got, want)
			}
		}
	})
}

// A remark that finds no sink, no voice or nothing to speak is gone, and what
// is posted is not.
func TestARemarkThatCannotBeMadeIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		h.sink.lose()
		h.Comment("g", "lost")
		time.Sleep(time.Second)
		h.post("a1", false)
		time.Sleep(time.Second)
		h.sink.find()
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

func TestARemarkIsCutAtTheClauseWhenTheDaemonStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		stop := h.run()
		h.Comment("g", "r1|r2|r3|r4|r5|r6")
		time.Sleep(500 * time.Millisecond)
		began := time.Now()
		stop()
		h.expect("r1")
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("stopping took %s", took)
		}
		h.restart(settings)
		h.speaker.made = nil
		defer h.run()()
		time.Sleep(10 * time.Second)
		h.expect("r1")
	})
}
