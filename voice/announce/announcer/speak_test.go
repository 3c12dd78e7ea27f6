package announcer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

func TestWatch_statusesInOrder(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.speaker.delay = 100 * time.Millisecond
		events, stop := h.Watch()
		defer stop()
		v := h.post("one|two", false)
		if v.Status != announce.Queued || *v.Position != 0 {
			h.t.Errorf("the answer is %s at %d, want queued at 0", v.Status, *v.Position)
		}
		time.Sleep(time.Minute)
		var got []string
		for range 4 {
			e := <-events
			place := "-"
			if e.View.Position != nil {
				place = fmt.Sprint(*e.View.Position)
			}
			got = append(got, fmt.Sprint(e.View.Status, place))
		}
		want := "queued0 synthesizing0 playing0 done-"
		check.That(h.t, strings.Join(got, " ") == want, "events %v, want %s", got, want)
		v = h.expectStatus(v.ID, announce.Done)
		started, ended := v.Started.Sub(start), v.Ended.Sub(start)
		check.That(h.t, started == 100*time.Millisecond && ended == 2100*time.Millisecond,
			"spoken from %s to %s, want 100ms to 2.1s", started, ended)
	})
}

func TestPrefetch_readyBeforeCurrentEnds(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.speaker.delay = 400 * time.Millisecond
		h.post("a1|a2|a3", false)
		h.post("b1|b2|b3|b4|b5|b6", false)
		c := h.post("c1", false)
		time.Sleep(2100 * time.Millisecond) // a1 from 0.4 s to 1.4 s, a2 to 2.4 s
		h.expectSynthesized("a1 a2 a3 b1 b2")
		time.Sleep(1200 * time.Millisecond)
		h.expectSynthesized("a1 a2 a3 b1 b2")
		if v, _ := h.Find(c.ID); v.Status != announce.Queued {
			h.t.Errorf("the third is %s, want queued", v.Status)
		}
		time.Sleep(110 * time.Millisecond)
		h.expect("a1 a2 a3 b1") // no gap: 0.4 + 3 s
	})
}

func TestPrefetch_afterRestart(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		h.post("a1", false)
		h.post("b1", false)
		h.restart(settings)
		defer h.run()()
		h.expectSynthesized("a1 b1")
	})
}

func TestPrefetch_followsChangedOrder(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.speaker.delay = 100 * time.Millisecond
		h.post("a1", true)
		h.post("b1|b2", false)
		time.Sleep(500 * time.Millisecond)
		h.post("u1", true)
		time.Sleep(200 * time.Millisecond)
		h.expectSynthesized("a1 b1 b2 u1")
		time.Sleep(10 * time.Second)
		h.expect("a1 u1 b1 b2")
	})
}

func TestSinkLost_speaksAgain(t *testing.T) {
	running(t, settings, func(h *rig) {
		a := h.post("a1|a2", false)
		b := h.post("b1", false)
		time.Sleep(1500 * time.Millisecond)
		h.sink.lose()
		h.expect("a1 a2 /")
		if v := h.expectStatus(a.ID, announce.Queued); *v.Position != 0 || !v.Started.IsZero() {
			h.t.Errorf("the interrupted one is at position %d, started %s, want 0 and never", *v.Position, v.Started)
		}
		if err := h.Stats().SinkError; !errors.Is(err, audio.ErrSinkLost) {
			h.t.Errorf("Stats().SinkError is %v, want ErrSinkLost", err)
		}
		before := h.sink.attempts()
		time.Sleep(time.Minute)
		synctest.Wait()
		if attempts := h.sink.attempts() - before; attempts < 30 || attempts > 35 {
			h.t.Errorf("%d attempts in a minute without a sink, want one every 2 s", attempts)
		}
		h.sink.restore()
		time.Sleep(10 * time.Second)
		h.expect("a1 a2 / a2 b1") // from the sentence that was heard half a second before
		h.expectStatus(a.ID, announce.Done)
		h.expectStatus(b.ID, announce.Done)
		check.NoError(h.t, h.Stats().SinkError)
	})
}

func TestSinkLost_synthesizesOnce(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		h.sink.lose()
		defer h.run()()
		h.post("a1|a2|a3|a4|a5", false)
		time.Sleep(time.Minute)
		synctest.Wait()
		made := h.speaker.list()
		check.That(h.t, len(made) <= 3, "synthesized %v without a sink, want the beginning once", made)
		h.sink.restore()
		time.Sleep(10 * time.Second)
		h.expect("a1 a2 a3 a4 a5")
	})
}

func TestSpeaker_errorFailsAnnouncement(t *testing.T) {
	running(t, settings, func(h *rig) {
		a := h.post("a1|unspeakable|a3", false)
		b := h.post("unspeakable", false)
		c := h.post("c1", false)
		time.Sleep(10 * time.Second)
		h.expect("a1 c1")
		for _, id := range []string{a.ID, b.ID} {
			v := h.expectStatus(id, announce.Failed)
			check.That(h.t, v.Error == "no phonemes", "failed with %q, want %q", v.Error, "no phonemes")
		}
		h.expectStatus(c.ID, announce.Done)
	})
}

func TestDone_savedBeforeNextStarts(t *testing.T) {
	running(t, settings, func(h *rig) {
		a := h.post("a1", false)
		h.post("b1", false)
		synctest.Wait()
		h.outbox.set(nil, 3*time.Second)
		time.Sleep(3900 * time.Millisecond) // a1 ends after 1 s, the disk is slow until 4 s
		h.expect("a1")
		h.expectStatus(a.ID, announce.Playing)
		time.Sleep(200 * time.Millisecond)
		h.expect("a1 b1")
		h.expectStatus(a.ID, announce.Done)
	})
}

func TestDone_fullDiskKeepsSpeaking(t *testing.T) {
	running(t, settings, func(h *rig) {
		a, b := h.post("a1", false), h.post("b1", false)
		c := h.post("c1", false)
		synctest.Wait()
		h.outbox.set(errors.New("disk full"), 0)
		time.Sleep(2500 * time.Millisecond)
		h.expect("a1 b1 c1")
		n := h.Stats().Unsaved
		check.That(h.t, n == 2, "%d ends are unsaved, want 2", n)
		h.outbox.set(nil, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		for _, id := range []string{a.ID, b.ID, c.ID} {
			h.expectSaved(id, announce.Done)
		}
	})
}

// On a clean stop the sentence that is being spoken is finished, with all of its clips; the announcement goes
// on from the next one.
func TestStop_finishesSentence(t *testing.T) {
	for _, tt := range []struct {
		name    string
		message string
		after   time.Duration
		played  string
		took    time.Duration
		status  announce.Status
		later   string
	}{
		{
			"between the first and the last sentence", "a1|a2|a3", 300 * time.Millisecond, "a1",
			700 * time.Millisecond, announce.Queued, "a2 a3 b1",
		},
		{
			"between the clauses of a sentence", "a1+a2|a3", 300 * time.Millisecond, "a1 a2", 1700 * time.Millisecond,
			announce.Queued, "a3 b1",
		},
		{"in the last words", "a1|a2", 1300 * time.Millisecond, "a1 a2", 700 * time.Millisecond, announce.Done, "b1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, settings, func(h *rig) {
				stop := h.run()
				a := h.post(tt.message, false)
				b := h.post("b1", false)
				time.Sleep(tt.after)
				begin := time.Now()
				stop()
				check.Equal(h.t, time.Since(begin), tt.took, "stopping took")
				h.expect(tt.played)
				h.expectStatus(a.ID, tt.status)
				h.expectStatus(b.ID, announce.Queued)
				h.restart(settings)
				defer h.run()()
				time.Sleep(time.Minute)
				h.expect(tt.played + " " + tt.later)
			})
		})
	}
}

// An urgent announcement that arrives meanwhile does not cut the last sentence.
func TestStop_urgentWaits(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		stop := h.run()
		h.post("a1+a2|a3", false)
		time.Sleep(500 * time.Millisecond)
		go func() {
			time.Sleep(500 * time.Millisecond)
			h.post("u1", true)
		}()
		stop()
		h.expect("a1 a2")
		h.restart(settings)
		defer h.run()()
		time.Sleep(time.Minute)
		h.expect("a1 a2 u1 a3")
	})
}

// While its first clip is made, an announcement is not waited for.
func TestStop_beforeFirstSample(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		h.speaker.delay = 3 * time.Second
		stop := h.run()
		a := h.post("a1", false)
		time.Sleep(time.Second)
		stop()
		took := time.Since(start)
		check.That(h.t, took == time.Second, "stopped after %s, want a second", took)
		h.expect("")
		h.expectStatus(a.ID, announce.Queued)
	})
}

func TestStop_waitsFiveSecondsAtMost(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		stop := h.run()
		a := h.post("long", false)
		time.Sleep(time.Second)
		stop()
		took := time.Since(start)
		check.That(h.t, took == 6*time.Second, "stopped after %s, want a second and five more", took)
		h.expect("long /")
		h.expectStatus(a.ID, announce.Queued)
		h.restart(settings)
		defer h.run()()
		h.expect("long / long")
	})
}

func TestRestart_speaksUnfinished(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		stop := h.run()
		a := h.post("a1", true)
		synctest.Wait()
		b := h.post("b1|b2", false)
		c := h.post("c1", true)
		time.Sleep(2500 * time.Millisecond)
		h.expectStatus(b.ID, announce.Playing)
		stop()
		h.expect("a1 c1 b1")
		h.restart(settings)
		l := h.List()
		queue, recent := l.Queue, l.Recent
		check.That(h.t, len(queue) == 1 && queue[0].ID == b.ID && queue[0].Status == announce.Queued,
			"the queue is %v, want the interrupted one, queued", queue)
		check.That(h.t, len(recent) == 2, "%d ended ones are listed, want 2", len(recent))
		defer h.run()()
		d := h.post("d1", false)
		check.That(h.t, d.Seq > c.Seq, "the number after the restart is %d, want above %d", d.Seq, c.Seq)
		time.Sleep(10 * time.Second)
		h.expect("a1 c1 b1 b2 d1") // b2 was not begun before
		h.expectStatus(a.ID, announce.Done)
	})
}

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
	got := strings.Join(h.ducker.events, ", ")
	check.That(h.t, got == want, "after %s the other streams were: %s; want %s", time.Since(start), got, want)
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
			v := h.expectStatus(id, announce.Done)
			check.That(h.t, v.Started.Sub(start) == want, "it starts after %s, want %s", v.Started.Sub(start), want)
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
		h.expect("chime a1 b1 c1 chime d1 / chime u1 chime d1 d2 r1")
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

// The place of a long announcement is saved about every ten seconds of its speech, that of a short one never; after a
// crash it goes on there.
func TestPlace_saved(t *testing.T) {
	sentences := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("a%d", i))
		}
		return strings.Join(all, "|")
	}
	for n, want := range map[int]int{1: 0, 9: 0, 20: 2, 30: 3, 60: 6} {
		t.Run(fmt.Sprintf("%d s", n), func(t *testing.T) {
			running(t, settings, func(h *rig) {
				h.post(sentences(n), false)
				time.Sleep(10 * time.Minute)
				check.Equal(h.t, h.outbox.writes()-1, want, "places saved before the end")
			})
		})
	}
	for after, want := range map[int]int{9: 0, 12: 9, 20: 18, 29: 27} {
		t.Run(fmt.Sprintf("after %d s", after), func(t *testing.T) {
			running(t, settings, func(h *rig) {
				id := h.post(sentences(40), false).ID
				time.Sleep(time.Duration(after)*time.Second + 100*time.Millisecond)
				place := h.outbox.find(id).Sentence
				check.That(h.t, place >= want && place <= after, "the place is %d, want %d to %d", place, want, after)
			})
		})
	}
}
