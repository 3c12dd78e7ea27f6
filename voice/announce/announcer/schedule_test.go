package announcer_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/announce/policy"
)

// controls stand in for volume, mute and quiet.
type controls struct {
	mu    sync.Mutex
	state policy.State
	quiet func(at time.Time) policy.Quiet // nil: never
}

func (c *controls) State(at time.Time) policy.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	if c.quiet != nil {
		s.Quiet = c.quiet(at)
	}
	return s
}

func (c *controls) change(f func(*controls)) { c.mu.Lock(); defer c.mu.Unlock(); f(c) }

// between returns quiet of a mode from one time after start to another.
func between(mode policy.Mode, from, until time.Duration) func(time.Time) policy.Quiet {
	return func(at time.Time) policy.Quiet {
		after := at.Sub(start)
		return policy.Quiet{Active: after >= from && after < until, Until: start.Add(until), Mode: mode}
	}
}

// controlled is running with controls.
func controlled(t *testing.T, c *controls, test func(h *rig)) {
	t.Helper()
	if c.state.Volume == 0 {
		c.state.Volume = 100
	}
	bubble(t, settings, func(h *rig) {
		h.parts = func(p *announcer.Parts) { p.Controls = c }
		h.restart(settings)
		defer h.run()()
		test(h)
	})
}

// An announcement is spoken once, at its time, and not before.
func TestScheduled_spokenAtTime(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    announce.Request
	}{
		{"delay", announce.Request{In: time.Hour}},
		{"time", announce.Request{At: start.Add(time.Hour)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			running(t, settings, func(h *rig) {
				tt.r.Message = "later"
				v := h.request(tt.r)
				if v.Status != announce.Scheduled || v.Position != nil || v.SpeaksAt.Sub(start) != time.Hour ||
					v.Expires.Sub(start) != time.Hour+settings.TTL {
					h.t.Errorf("accepted %+v", v)
				}
				h.post("now", false)
				time.Sleep(time.Hour - 1)
				h.expect("now")
				h.expectStatus(v.ID, announce.Scheduled)
				time.Sleep(time.Nanosecond)
				h.expectStatus(v.ID, announce.Playing)
				time.Sleep(24 * time.Hour)
				h.expect("now later")
				h.expectSaved(v.ID, announce.Done)
			})
		})
	}
}

// What was due while the server was stopped is spoken within its time to live.
func TestScheduled_afterRestart(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		late := h.request(announce.Request{Content: said("late"), In: time.Minute, TTL: time.Minute})
		due := h.request(announce.Request{Content: said("due"), At: start.Add(90 * time.Second), TTL: time.Minute})
		next := h.request(announce.Request{Content: said("next"), In: 3 * time.Minute})
		time.Sleep(2 * time.Minute)
		h.restart(settings)
		defer h.run()()
		time.Sleep(30 * time.Second)
		h.expect("due")
		time.Sleep(time.Hour)
		h.expect("due next")
		h.expectStatus(late.ID, announce.Expired)
		h.expectStatus(due.ID, announce.Done)
		h.expectStatus(next.ID, announce.Done)
	})
}

// Without a clock that was set, a time is not known to have come; a delay is.
func TestScheduled_clockUnset(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		var set sync.Map
		isSet := func() bool { _, ok := set.Load("set"); return ok }
		h.parts = func(p *announcer.Parts) { p.ClockSet = isSet }
		h.restart(settings)
		past := h.request(announce.Request{Content: said("past"), At: start.Add(-time.Hour)})
		passing := h.request(announce.Request{Content: said("passing"), At: start.Add(time.Minute)})
		coming := h.request(announce.Request{Content: said("coming"), At: start.Add(time.Hour)})
		for _, v := range []announce.View{past, passing, coming} {
			check.That(h.t, v.Status == announce.Scheduled && v.ClockUnset && v.SpeaksAt.IsZero(),
				"accepted %+v, want it to wait for the clock", v)
		}
		h.restart(settings)
		defer h.run()()
		h.request(announce.Request{Content: said("delay"), In: time.Second})
		h.request(announce.Request{Content: said("another"), At: start.Add(24 * time.Hour)}) // must not hide it
		time.Sleep(2 * time.Minute)
		h.expect("delay")
		set.Store("set", true)
		h.Reconsider()
		h.expectStatus(past.ID, announce.Expired)
		time.Sleep(2 * time.Second)
		h.expect("delay passing")
		if v := h.expectStatus(coming.ID, announce.Scheduled); v.ClockUnset || v.SpeaksAt.Sub(start) != time.Hour {
			h.t.Errorf("with a clock: %+v", v)
		}
		time.Sleep(time.Hour)
		h.expect("delay passing coming")
	})
}

func TestScheduled_limit(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		var last announce.View
		for i := range announce.MaxScheduled {
			r := announce.Request{Content: said("a"), In: time.Hour}
			if i%2 == 0 {
				r = announce.Request{Content: said("a"), At: start.Add(time.Minute)}
			}
			last = h.request(r)
		}
		repeat := announce.Repeat{Times: 2, Every: time.Minute}
		h.expectError(announce.Request{Content: said("b"), In: time.Hour}, announce.ErrScheduleFull)
		h.expectError(announce.Request{Content: said("b"), Repeat: repeat}, announce.ErrScheduleFull)
		h.post("now", false) // is not scheduled
		if s := h.Stats(); s.Scheduled != announce.MaxScheduled || s.Waiting != 0 {
			h.t.Errorf("stats: %+v", s)
		}
		check.Must(h.Cancel(h.t.Context(), last.ID))(h.t)
		h.request(announce.Request{Content: said("b"), Repeat: repeat})
		h.expectError(announce.Request{Content: said("c"), In: time.Hour}, announce.ErrScheduleFull)

		// Those that are due still count, however long the queue is.
		defer h.run()()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := h.Stats(); s.Waiting < 90 {
			h.t.Errorf("%d wait", s.Waiting)
		}
		h.expectError(announce.Request{Content: said("c"), In: time.Hour}, announce.ErrScheduleFull)
		time.Sleep(time.Second) // one has been spoken
		synctest.Wait()
		h.request(announce.Request{Content: said("c"), In: time.Hour})
		h.expectError(announce.Request{Content: said("c"), In: time.Hour}, announce.ErrScheduleFull)
	})
}

// Places beyond the limit are for urgent announcements.
func TestAnnounce_urgentPlaces(t *testing.T) {
	c := settings
	c.Max = 3
	running(t, c, func(h *rig) {
		h.post("long", true) // an urgent one is not interrupted
		synctest.Wait()
		for range c.Max {
			h.post("a", false)
		}
		h.expectError(announce.Request{Content: said("b")}, announce.ErrFull)
		for range announce.UrgentPlaces {
			h.post("u", true)
		}
		h.expectError(announce.Request{Content: announce.Content{Message: "u", Urgent: true}}, announce.ErrFull)
		h.expectError(announce.Request{Content: said("b")}, announce.ErrFull)
		s := h.Stats()
		check.That(h.t, s.Waiting == c.Max+announce.UrgentPlaces, "%d wait", s.Waiting)
	})
}

func TestPriority_order(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.post("head", true)
		synctest.Wait()
		for _, r := range []announce.Request{
			{Content: announce.Content{Message: "low", Priority: 2}},
			{Content: announce.Content{Message: "listed", Priority: 1}},
			{Content: said("usual")},
			{Content: announce.Content{Message: "high", Priority: 4}},
			{Content: announce.Content{Message: "urgent", Priority: 5}},
		} {
			h.request(r)
		}
		time.Sleep(time.Minute)
		h.expect("head urgent usual high low")
		for _, v := range h.List().Recent {
			check.That(h.t, (v.Status == announce.Silenced) == (v.Message == "listed") && v.Urgent == (v.Priority == 5),
				"%s ended as %+v", v.Message, v)
		}
	})
}

// An announcement of volume 100 is played as the speaker made it.
func TestVolume_own(t *testing.T) {
	controlled(t, &controls{state: policy.State{Volume: 60, UrgentMinVolume: 40}}, func(h *rig) {
		for _, r := range []announce.Request{
			{Content: said("usual")},
			{Content: announce.Content{Message: "own", Volume: 20}},
			{Content: announce.Content{Message: "floor", Volume: 20, Urgent: true}},
		} {
			h.request(r)
			time.Sleep(2 * time.Second)
		}
		h.Comment("g", "comment")
		time.Sleep(2 * time.Second)
		h.expectGain("comment", 0.6)
		h.expectGain("usual", 0.6)
		h.expectGain("own", 0.2)
		h.expectGain("floor", 0.4*1.5)
	})
}

// The volume acts on what is being spoken: in general, by soft quiet, or as its own. Urgent ones stay as they are.
func TestVolume_whileSpoken(t *testing.T) {
	for i, tt := range []struct {
		content announce.Content
		state   policy.State // that follows
		want    float32
	}{
		{announce.Content{Message: "long"}, policy.State{Volume: 30}, 0.3},
		{announce.Content{Message: "long"}, policy.State{Volume: 100}, 1},
		{announce.Content{Message: "long", Volume: 20}, policy.State{Volume: 90}, 0.2},
		{announce.Content{Message: "long"}, policy.State{
			Volume: 60, QuietVolume: 25, Quiet: policy.Quiet{Active: true, Mode: policy.Soft},
		}, 0.25},
		{announce.Content{Message: "long", Urgent: true}, policy.State{Volume: 30, UrgentMinVolume: 40}, 0.5 * 1.5},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			c := &controls{state: policy.State{Volume: 50}}
			controlled(t, c, func(h *rig) {
				a := h.request(announce.Request{Content: tt.content})
				time.Sleep(5 * time.Second)
				c.change(func(c *controls) { c.state = tt.state })
				h.Reconsider()
				synctest.Wait()
				check.Equal(h.t, h.sink.gain(), tt.want, "gain of %+v in %+v", tt.content, tt.state)
				time.Sleep(time.Minute)
				h.expect("long")
				h.expectStatus(a.ID, announce.Done)
			})
		})
	}
}

func TestQuiet_modes(t *testing.T) {
	for _, tt := range []struct {
		mode   policy.Mode
		ttl    time.Duration
		answer announce.Status
		speaks time.Duration // after start; 0: it does not wait
		played string
		end    announce.Status
	}{
		{policy.Silence, 10 * time.Hour, announce.Queued, 0, "urgent", announce.Silenced},
		{policy.Hold, 8*time.Hour + 1, announce.Scheduled, 8 * time.Hour, "urgent usual", announce.Done},
		{policy.Hold, 8 * time.Hour, announce.Queued, 0, "urgent", announce.Silenced},
		{policy.Soft, 10 * time.Hour, announce.Queued, 0, "usual urgent", announce.Done},
	} {
		t.Run(fmt.Sprint(tt.mode, tt.ttl), func(t *testing.T) {
			c := &controls{state: policy.State{Volume: 100, QuietVolume: 25}, quiet: between(tt.mode, 0, 8*time.Hour)}
			controlled(t, c, func(h *rig) {
				usual := h.request(announce.Request{Content: said("usual"), TTL: tt.ttl})
				time.Sleep(2 * time.Second)
				urgent := h.post("urgent", true)
				speaks := time.Duration(0)
				if !usual.SpeaksAt.IsZero() {
					speaks = usual.SpeaksAt.Sub(start)
				}
				check.That(h.t, usual.Status == tt.answer && usual.Quiet && speaks == tt.speaks && !urgent.Quiet,
					"answered %+v; urgent %+v", usual, urgent)
				time.Sleep(24 * time.Hour)
				h.expect(tt.played)
				reason := h.expectStatus(usual.ID, tt.end).Reason
				check.Equal(h.t, reason == policy.DoNotDisturb, tt.end == announce.Silenced, "reason %q", reason)
				check.Equal(h.t, usual.Reason == policy.DoNotDisturb, tt.mode != policy.Soft, "reason %q", usual.Reason)
				h.expectSaved(usual.ID, tt.end)
				if tt.mode == policy.Soft {
					h.expectGain("usual", 0.25)
				}
			})
		})
	}
}

// Quiet is decided when it is an announcement's turn.
func TestQuiet_beginsAndEnds(t *testing.T) {
	c := &controls{quiet: between(policy.Hold, time.Hour, 2*time.Hour)}
	controlled(t, c, func(h *rig) {
		atNight := h.request(announce.Request{Content: said("night"), In: 90 * time.Minute, TTL: time.Hour})
		check.That(h.t, atNight.SpeaksAt.Sub(start) == 2*time.Hour && atNight.Quiet,
			"answered %+v, want the end of quiet", atNight)
		time.Sleep(time.Hour - 500*time.Millisecond)
		h.post("a1|a2", false)
		waiting := h.request(announce.Request{Content: said("waiting"), TTL: 2 * time.Hour})
		check.That(h.t, !waiting.Quiet && waiting.Status == announce.Queued, "before: %+v", waiting)
		time.Sleep(10 * time.Second)
		h.expect("a1 a2")
		if v := h.expectStatus(waiting.ID, announce.Scheduled); !v.Quiet || v.SpeaksAt.Sub(start) != 2*time.Hour {
			h.t.Errorf("held: %+v", v)
		}
		c.change(func(c *controls) { c.quiet = nil }) // a client ends it
		h.Reconsider()
		time.Sleep(5 * time.Second)
		h.expect("a1 a2 waiting")
		if v := h.expectStatus(atNight.ID, announce.Scheduled); v.Quiet || v.SpeaksAt.Sub(start) != 90*time.Minute {
			h.t.Errorf("without quiet: %+v", v)
		}
		c.change(func(c *controls) { c.quiet = between(policy.Silence, 0, 3*time.Hour) })
		h.Reconsider()
		if v := h.expectStatus(atNight.ID, announce.Scheduled); !v.Quiet {
			h.t.Errorf("with quiet again: %+v", v)
		}
		time.Sleep(time.Hour)
		h.expectStatus(atNight.ID, announce.Silenced)
	})
}

// Quiet that ends while an announcement is being saved does not hold it.
func TestQuiet_endsWhileSaving(t *testing.T) {
	c := &controls{quiet: between(policy.Hold, 0, time.Hour)}
	controlled(t, c, func(h *rig) {
		h.outbox.set(nil, time.Second)
		time.AfterFunc(500*time.Millisecond, func() {
			c.change(func(c *controls) { c.quiet = nil })
			h.Reconsider()
		})
		h.request(announce.Request{Content: said("saved"), TTL: 2 * time.Hour})
		time.Sleep(5 * time.Second)
		h.expect("saved")
	})
}

// What mutes acts on what is spoken: it ends, or waits for the end of quiet; an urgent one goes on.
func TestMute_whileSpoken(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*controls)
		played string // with a change after 1.5 s that is undone after an hour
		status announce.Status
	}{
		"muted":  {func(c *controls) { c.state.Muted = true }, "a1 a2 / u1 u2", announce.Silenced},
		"volume": {func(c *controls) { c.state.Volume = 0 }, "a1 a2 / u1 u2", announce.Silenced},
		"silence": {
			func(c *controls) { c.quiet = between(policy.Silence, 0, time.Hour) }, "a1 a2 / u1 u2", announce.Silenced,
		},
		"hold": {
			func(c *controls) { c.quiet = between(policy.Hold, 0, time.Hour) }, "a1 a2 / u1 u2 a2 a3", announce.Done,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &controls{state: policy.State{Volume: 100, UrgentMinVolume: 50}}
			controlled(t, c, func(h *rig) {
				v := h.request(announce.Request{Content: said("a1|a2|a3"), TTL: 2 * time.Hour})
				time.Sleep(1500 * time.Millisecond)
				c.change(tt.change)
				h.Reconsider()
				synctest.Wait()
				h.expect("a1 a2 /")
				if tt.status == announce.Done {
					waits := h.expectStatus(v.ID, announce.Scheduled)
					check.Equal(h.t, waits.SpeaksAt.Sub(start), time.Hour, "it waits until")
				}
				h.post("u1|u2", true)
				time.Sleep(500 * time.Millisecond)
				h.Reconsider() // and nothing has changed
				time.Sleep(2 * time.Hour)
				h.expect(tt.played)
				h.expectStatus(v.ID, tt.status)
				h.expectSaved(v.ID, tt.status)
			})
		})
	}
}

// A comment on a game is stopped, too.
func TestMute_stopsComment(t *testing.T) {
	c := &controls{state: policy.State{Volume: 100}}
	controlled(t, c, func(h *rig) {
		h.Comment("g1", "one|two|three")
		time.Sleep(1500 * time.Millisecond)
		c.change(func(c *controls) { c.state.Muted = true })
		h.Reconsider()
		time.Sleep(time.Minute)
		h.expect("one two /")
	})
}

// A comment on a game is not spoken later.
func TestMute_dropsComments(t *testing.T) {
	c := &controls{state: policy.State{Volume: 100, Muted: true}}
	controlled(t, c, func(h *rig) {
		v := h.post("muted", false)
		h.Comment("g1", "comment")
		h.post("urgent", true)
		time.Sleep(time.Minute)
		h.expectStatus(v.ID, announce.Silenced)
		c.change(func(c *controls) { c.state.Muted = false })
		h.Reconsider()
		time.Sleep(time.Minute)
		h.expect("urgent")
	})
}

// violations returns path and code of every violation of an error.
func violations(err error) (all string) {
	if wrong, ok := errors.AsType[*announce.RequestError](err); ok {
		for _, v := range wrong.Violations {
			all += ", " + v.Path + " " + v.Code
		}
		return all[2:]
	}
	return ""
}

func TestDelete_leavesScheduled(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.post("head", false)
		synctest.Wait()
		later := h.request(announce.Request{Content: said("later"), In: time.Minute})
		waiting := h.post("waiting", false)
		n, err := h.CancelWaiting(context.Background(), nil)
		check.That(h.t, n == 1 && err == nil, "cancelled %d, %v, want 1", n, err)
		h.expectStatus(waiting.ID, announce.Cancelled)
		h.expectStatus(later.ID, announce.Scheduled)
		v := check.Must(h.Cancel(h.t.Context(), later.ID))(h.t)
		check.That(h.t, v.Status == announce.Cancelled && len(h.List().Scheduled) == 0,
			"cancelled: %+v; %+v", v, h.List().Scheduled)
		time.Sleep(time.Hour)
		h.expect("head")
	})
}

var thrice = announce.Repeat{Times: 3, Every: time.Minute}

func TestRepeat_untilTimes(t *testing.T) {
	running(t, settings, func(h *rig) {
		v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
		check.That(h.t, v.Status == announce.Queued, "accepted as %s", v.Status)
		time.Sleep(time.Second)
		for spoken, at := range []time.Duration{61 * time.Second, 122 * time.Second} {
			v := h.expectStatus(v.ID, announce.Scheduled)
			if v.Spoken != spoken+1 || v.SpeaksAt.Sub(start) != at || v.Expires.Sub(start) != at+settings.TTL ||
				!v.Started.IsZero() {
				h.t.Errorf("after repetition %d: %+v", spoken+1, v)
			}
			h.expectSaved(v.ID, announce.Scheduled)
			time.Sleep(61 * time.Second)
		}
		if v := h.expectStatus(v.ID, announce.Done); v.Spoken != 3 {
			h.t.Errorf("spoken %d times", v.Spoken)
		}
		time.Sleep(time.Hour)
		h.expect("alarm alarm alarm")
	})
}

// A repetition that follows an interrupted one begins with the first sentence.
func TestRepeat_afterInterruption(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.request(announce.Request{Content: said("a1|a2"), Repeat: announce.Repeat{Times: 2, Every: time.Minute}})
		time.Sleep(1500 * time.Millisecond)
		h.post("u", true)
		time.Sleep(time.Hour)
		h.expect("a1 a2 / u a2 a1 a2")
	})
}

// The repetitions that were spoken are not spoken again after a restart.
func TestRepeat_afterRestart(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
		stop := h.run()
		time.Sleep(30 * time.Second)
		stop()
		h.restart(settings)
		defer h.run()()
		if v := h.expectStatus(v.ID, announce.Scheduled); v.Spoken != 1 || v.SpeaksAt.Sub(start) != 61*time.Second {
			h.t.Errorf("after the restart: %+v", v)
		}
		time.Sleep(time.Hour)
		h.expect("alarm alarm alarm")
		h.expectStatus(v.ID, announce.Done)
	})
}

func TestAcknowledge(t *testing.T) {
	for _, tt := range []struct {
		name   string
		after  time.Duration
		answer announce.Status
		end    announce.Status
		played string
	}{
		{"before", 0, announce.Cancelled, announce.Cancelled, "head"},
		{"while it is spoken", 1500 * time.Millisecond, announce.Playing, announce.Done, "head alarm"},
		{"between", 10 * time.Second, announce.Done, announce.Done, "head alarm"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			running(t, settings, func(h *rig) {
				h.post("head", false)
				v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
				time.Sleep(tt.after)
				synctest.Wait()
				got, err := h.Acknowledge(context.Background(), v.ID)
				check.That(h.t, err == nil && got.Status == tt.answer && got.Acknowledged,
					"acknowledged: %+v, %v", got, err)
				time.Sleep(time.Hour)
				h.expect(tt.played)
				h.expectStatus(v.ID, tt.end)
				h.expectSaved(v.ID, tt.end)
				check.ErrorIs(h.t, check.Err(h.Acknowledge(context.Background(), v.ID)), announce.ErrEnded,
					"acknowledged again")
			})
		})
	}
}

func TestAcknowledge_rejected(t *testing.T) {
	running(t, settings, func(h *rig) {
		v := h.post("once", false)
		for id, want := range map[string]error{"unknown": announce.ErrNotFound, v.ID: announce.ErrNotRepeated} {
			check.ErrorIs(h.t, check.Err(h.Acknowledge(context.Background(), id)), want, "acknowledge %s", id)
		}
	})
}

// An acknowledgement that cannot be saved is reported; it holds until a crash.
func TestAcknowledge_notSaved(t *testing.T) {
	running(t, settings, func(h *rig) {
		v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
		time.Sleep(500 * time.Millisecond)
		h.outbox.set(errors.New("disk full"), 0)
		check.ErrorIs(h.t, check.Err(h.Acknowledge(context.Background(), v.ID)), announce.ErrUnavailable, "acknowledge")
		time.Sleep(time.Hour)
		h.expect("alarm")
	})
}

// Canceling ends the repetitions, also when all waiting ones are cancelled.
func TestCancel_repeating(t *testing.T) {
	for name, cancel := range map[string]func(*rig, string) error{
		"one": func(h *rig, id string) error { _, err := h.Cancel(context.Background(), id); return err },
		"all": func(h *rig, _ string) error { _, err := h.CancelWaiting(context.Background(), nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			running(t, settings, func(h *rig) {
				v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
				time.Sleep(10 * time.Second)
				check.NoError(h.t, cancel(h, v.ID))
				h.expectStatus(v.ID, announce.Cancelled)
				time.Sleep(time.Hour)
				h.expect("alarm")
			})
		})
	}
}

// A cancellation while the next repetition is being saved counts.
func TestCancel_whileRepetitionSaved(t *testing.T) {
	running(t, settings, func(h *rig) {
		v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
		synctest.Wait()
		h.outbox.set(nil, 5*time.Second)
		time.Sleep(3 * time.Second)
		got, err := h.Cancel(context.Background(), v.ID)
		check.That(h.t, err == nil && got.Status == announce.Cancelled, "cancelled: %+v, %v", got, err)
		time.Sleep(time.Hour)
		h.expect("alarm")
		h.expectSaved(v.ID, announce.Cancelled)
	})
}

func TestAgain(t *testing.T) {
	running(t, settings, func(h *rig) {
		first := h.request(announce.Request{
			Content: announce.Content{
				Title: "news", Message: "a", Voice: "bert", Rate: 200, Priority: 4, Volume: 50, Chime: "ding",
			},
			TTL: time.Hour, In: time.Second, Repeat: thrice,
			Sender: announce.Sender{Kind: announce.FromPage, Name: "Ann"},
		})
		by := announce.Request{Sender: announce.Sender{Kind: announce.FromCLI, Name: "root"}, IdempotencyKey: "k"}
		again := check.Must(h.Again(h.t.Context(), first.ID, by))(h.t)
		want := first.Announcement
		want.ID, want.Seq, want.Created, want.Expires = again.ID, again.Seq, again.Created, again.Expires
		want.At, want.SpeaksAt, want.Repeat, want.Status = time.Time{}, time.Time{}, announce.Repeat{}, announce.Queued
		want.Sender = by.Sender
		if again.Announcement != want || again.ID == first.ID || again.Expires.Sub(again.Created) != time.Hour {
			h.t.Errorf("again: %+v, want %+v", again.Announcement, want)
		}
		same := check.Must(h.Again(h.t.Context(), first.ID, by))(h.t)
		check.That(h.t, same.ID == again.ID, "the same key gave %s and %s", again.ID, same.ID)
		check.ErrorIs(h.t, check.Err(h.Again(h.t.Context(), "unknown", by)), announce.ErrNotFound, "again")
	})
}

// Without a history, the text of an announcement is deleted at its end, and those of earlier ones when that is
// configured.
func TestHistory_off(t *testing.T) {
	running(t, settings, func(h *rig) {
		before := h.request(announce.Request{Content: announce.Content{Title: "t", Message: "before"}})
		time.Sleep(time.Minute)
		c := settings
		c.History = false
		h.expectTexts(before.ID, "t", "before")
		check.NoError(h.t, h.Configure(c))
		synctest.Wait()
		h.expectTexts(before.ID, "", "")
		after := h.request(announce.Request{Content: announce.Content{Title: "t", Message: "after"}})
		h.expectTexts(after.ID, "t", "after")
		time.Sleep(time.Minute)
		h.expectTexts(after.ID, "", "")
		check.ErrorIs(h.t, check.Err(h.Again(h.t.Context(), after.ID, announce.Request{})), announce.ErrNoText, "again")
	})
}

// expectTexts fails the test unless an announcement has these texts in memory and in the outbox.
func (h *rig) expectTexts(id, title, message string) {
	h.t.Helper()
	synctest.Wait()
	v := check.Must(h.Find(id))(h.t)
	h.outbox.mu.Lock()
	defer h.outbox.mu.Unlock()
	for _, a := range []announce.Announcement{v.Announcement, h.outbox.stored[id]} {
		check.That(h.t, a.Title == title && a.Message == message,
			"texts %q, %q, want %q, %q", a.Title, a.Message, title, message)
	}
}

// The limit of the duration applies to the title and the message together.
func TestAnnounce_duration(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		h.parts = func(p *announcer.Parts) {
			p.Estimate = func(voice, text string, rate int) time.Duration {
				check.That(h.t, voice == "bert" && rate == 100, "estimated with %s at %d", voice, rate)
				return time.Duration(len(text)) * time.Minute
			}
		}
		h.restart(settings)
		for message, want := range map[string]string{"eleven": "", "seventy": "message too_long"} { // after "Hi. "
			content := announce.Content{Title: " Hi ", Message: message, Voice: "bert", Rate: 100}
			_, err := h.Check(announce.Request{Content: content})
			check.Equal(h.t, violations(err), want, "%q", message)
		}
	})
}
