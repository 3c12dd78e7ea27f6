package announcer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

var thrice = announce.Repeat{Times: 3, Every: time.Minute}

func TestRepeat_untilTimes(t *testing.T) {
	running(t, settings, func(h *rig) {
		v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
		if v.Status != announce.Queued {
			h.t.Errorf("accepted as %s", v.Status)
		}
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
				if err != nil || got.Status != tt.answer || !got.Acknowledged {
					h.t.Errorf("acknowledged: %+v, %v", got, err)
				}
				time.Sleep(time.Hour)
				h.expect(tt.played)
				h.expectStatus(v.ID, tt.end)
				h.expectSaved(v.ID, tt.end)
				if _, err := h.Acknowledge(context.Background(), v.ID); !errors.Is(err, announce.ErrEnded) {
					h.t.Errorf("acknowledged again: %v", err)
				}
			})
		})
	}
}

func TestAcknowledge_rejected(t *testing.T) {
	running(t, settings, func(h *rig) {
		v := h.post("once", false)
		for id, want := range map[string]error{"unknown": announce.ErrNotFound, v.ID: announce.ErrNotRepeated} {
			if _, err := h.Acknowledge(context.Background(), id); !errors.Is(err, want) {
				h.t.Errorf("acknowledge %s: %v, want %v", id, err, want)
			}
		}
	})
}

// An acknowledgement that cannot be saved is reported; it holds until a crash.
func TestAcknowledge_notSaved(t *testing.T) {
	running(t, settings, func(h *rig) {
		v := h.request(announce.Request{Content: said("alarm"), Repeat: thrice})
		time.Sleep(500 * time.Millisecond)
		h.outbox.set(errors.New("disk full"), 0)
		if _, err := h.Acknowledge(context.Background(), v.ID); !errors.Is(err, announce.ErrUnavailable) {
			h.t.Errorf("acknowledge: %v", err)
		}
		time.Sleep(time.Hour)
		h.expect("alarm")
	})
}

// Canceling ends the repetitions, also when all waiting ones are cancelled.
func TestCancel_repeating(t *testing.T) {
	for name, cancel := range map[string]func(*rig, string) error{
		"one": func(h *rig, id string) error { _, err := h.Cancel(context.Background(), id); return err },
		"all": func(h *rig, _ string) error { _, err := h.CancelWaiting(context.Background()); return err },
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
		if got, err := h.Cancel(context.Background(), v.ID); err != nil || got.Status != announce.Cancelled {
			h.t.Errorf("cancelled: %+v, %v", got, err)
		}
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
		if same := check.Must(h.Again(h.t.Context(), first.ID, by))(h.t); same.ID != again.ID {
			h.t.Errorf("the same key gave %s and %s", again.ID, same.ID)
		}
		if _, err := h.Again(h.t.Context(), "unknown", by); !errors.Is(err, announce.ErrNotFound) {
			h.t.Errorf("again: %v", err)
		}
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
		if _, err := h.Again(h.t.Context(), after.ID, announce.Request{}); !errors.Is(err, announce.ErrNoText) {
			h.t.Errorf("again: %v", err)
		}
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
		if a.Title != title || a.Message != message {
			h.t.Errorf("texts %q, %q, want %q, %q", a.Title, a.Message, title, message)
		}
	}
}

// The limit of the duration applies to the title and the message together.
func TestAnnounce_duration(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		h.parts = func(p *announcer.Parts) {
			p.Estimate = func(voice, text string, rate int) time.Duration {
				if voice != "bert" || rate != 100 {
					h.t.Errorf("estimated with %s at %d", voice, rate)
				}
				return time.Duration(len(text)) * time.Minute
			}
		}
		h.restart(settings)
		for message, want := range map[string]string{"eleven": "", "seventy": "message too_long"} { // after "Hi. "
			content := announce.Content{Title: " Hi ", Message: message, Voice: "bert", Rate: 100}
			_, err := h.Check(announce.Request{Content: content})
			if got := violations(err); got != want {
				h.t.Errorf("%q: %q, want %q", message, got, want)
			}
		}
	})
}
