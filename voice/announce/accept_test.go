package announce_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/voice/announce"
)

func TestARequestIsCheckedInFull(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings)
	for _, tt := range []struct {
		name string
		r    announce.Request
		want string
	}{
		{"good", announce.Request{Message: " hello\n"}, ""},
		{"longest", announce.Request{Message: strings.Repeat("ä", 5000) + "  ", Rate: 400, TTL: 24 * time.Hour}, ""},
		{"least", announce.Request{Message: "1", Rate: 60, TTL: 5 * time.Second, Voice: "bert"}, ""},
		{"empty", announce.Request{Message: " \t\n"}, "message required"},
		{"too long", announce.Request{Message: strings.Repeat("ä", 5001)}, "message too_long"},
		{"nothing to say", announce.Request{Message: "… — !"}, "message not_speakable"},
		{"slow", announce.Request{Message: "a", Rate: 59}, "rate out_of_range"},
		{"fast", announce.Request{Message: "a", Rate: 401}, "rate out_of_range"},
		{"brief", announce.Request{Message: "a", TTL: 5*time.Second - 1}, "ttl out_of_range"},
		{"for ever", announce.Request{Message: "a", TTL: 24*time.Hour + 1}, "ttl out_of_range"},
		{"key", announce.Request{Message: "a", IdempotencyKey: strings.Repeat("k", 256)}, "Idempotency-Key too_long"},
		{"voice", announce.Request{Message: "a", Voice: "zoe"}, "voice unknown_voice"},
		{
			"everything",
			announce.Request{Rate: -1, TTL: -1, Voice: "zoe", IdempotencyKey: strings.Repeat("k", 256)},
			"message required, rate out_of_range, ttl out_of_range, Idempotency-Key too_long, voice unknown_voice",
		},
	} {
		_, err := h.Announce(t.Context(), tt.r)
		var got []string
		if wrong, ok := errors.AsType[*announce.RequestError](err); ok {
			for _, v := range wrong.Violations {
				got = append(got, v.Path+" "+v.Code)
			}
		} else if err != nil {
			t.Errorf("%s: %v, want a RequestError", tt.name, err)
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		_, has := errors.AsType[*announce.UnknownVoiceError](err)
		if want := strings.Contains(tt.want, "voice"); has != want {
			t.Errorf("%s: the error tells the installed voices: %v, want %v", tt.name, has, want)
		}
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		v := h.post("  hello  ", false)
		if v.Message != "hello" || v.Voice != "anna" || v.Rate != 170 || v.Expires.Sub(v.Created) != 10*time.Minute {
			t.Errorf("accepted %+v, want the message trimmed and the defaults", v.Announcement)
		}
	})
}

func TestTheQueueHoldsMaxBehindTheHead(t *testing.T) {
	for _, most := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := settings
				c.Max = most
				h := newHouse(t, c)
				fill := func(n int) {
					t.Helper()
					for i := range n {
						if v := h.post("a", false); *v.Position != most+1-n+i {
							t.Errorf("accepted at %d, want %d", *v.Position, most+1-n+i)
						}
					}
					synctest.Wait()
					if _, err := h.Announce(t.Context(), announce.Request{Message: "b", Urgent: true}); !errors.Is(err, announce.ErrFull) {
						t.Errorf("one more: %v, want ErrFull", err)
					}
					if s := h.Stats(); s.Waiting != most || s.Max != most {
						t.Errorf("%d wait of %d, want %d", s.Waiting, s.Max, most)
					}
				}
				fill(most + 1) // nobody speaks yet
				defer h.run()()
				fill(0)
				time.Sleep(1500 * time.Millisecond)
				fill(1)
			})
		})
	}
}

func TestAPlaceIsPromisedWhileTheDiskIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := settings
		c.Max = 1
		h := newHouse(t, c)
		h.outbox.set(errors.New("disk full"), time.Second)
		failed := make(chan error)
		for range 2 {
			go func() {
				_, err := h.Announce(context.Background(), announce.Request{Message: "a"})
				failed <- err
			}()
		}
		synctest.Wait()
		h.outbox.set(nil, 0)
		if _, err := h.Announce(t.Context(), announce.Request{Message: "b"}); !errors.Is(err, announce.ErrFull) {
			t.Errorf("a third while two are being kept: %v, want ErrFull", err)
		}
		for range 2 {
			if err := <-failed; !errors.Is(err, announce.ErrUnavailable) {
				t.Errorf("what the disk did not take: %v, want ErrClosed", err)
			}
		}
		if queue, recent := h.Queue(); len(queue)+len(recent) > 0 {
			t.Errorf("what was not kept is told: %v %v", queue, recent)
		}
		for want := range 2 {
			if v := h.post("c", false); *v.Position != want {
				t.Errorf("at %d, want %d: the promised places were not given back", *v.Position, want)
			}
		}
	})
}

func TestPositionsCountWhatIsStillBeingKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		h.outbox.set(nil, time.Second)
		got := make(map[string]int)
		answers := make(chan announce.View)
		for _, r := range []announce.Request{{Message: "a"}, {Message: "b", Urgent: true}, {Message: "c"}, {Message: "d", Urgent: true}} {
			go func() {
				v, _ := h.Announce(context.Background(), r)
				answers <- v
			}()
			synctest.Wait()
		}
		for range 4 {
			v := <-answers
			got[v.Message] = *v.Position
		}
		for message, want := range map[string]int{"a": 0, "b": 0, "c": 2, "d": 1} {
			if got[message] != want {
				t.Errorf("%s was answered position %d, want %d", message, got[message], want)
			}
		}
		queue, _ := h.Queue()
		for i, want := range []string{"b", "d", "a", "c"} {
			if queue[i].Message != want || *queue[i].Position != i {
				t.Errorf("%s at %d, want %s at %d", queue[i].Message, *queue[i].Position, want, i)
			}
		}
	})
}

func TestARepeatedRequestIsAnsweredAndSpokenOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := settings
		c.Max = 1
		h := newHouse(t, c)
		defer h.run()()
		h.post("head", false)
		r := announce.Request{Message: "once", IdempotencyKey: "k1"}
		first, err := h.Announce(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Announce(t.Context(), announce.Request{Message: "more"}); !errors.Is(err, announce.ErrFull) {
			t.Fatalf("the queue is not full: %v", err)
		}
		for _, when := range []string{"while the queue is full", "after it was spoken"} {
			again, err := h.Announce(t.Context(), r)
			if err != nil || again.Announcement != first.Announcement || *again.Position != *first.Position {
				t.Errorf("%s: %+v, %v, want the first answer %+v", when, again, err, first)
			}
			time.Sleep(time.Minute)
		}
		for _, other := range []announce.Request{{Message: "twice"}, {Message: "once", Urgent: true}, {Message: "once", Rate: 100}, {Message: ""}} {
			other.IdempotencyKey = "k1"
			if _, err := h.Announce(t.Context(), other); !errors.Is(err, announce.ErrKeyReused) {
				t.Errorf("%+v: %v, want ErrKeyReused", other, err)
			}
		}
		h.expect("head once")
	})
}

func TestWhatIsNotSpokenInTimeExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		h.post(strings.Repeat("a|", 19)+"a", false)
		var ids []string
		for _, ttl := range []int{30, 7, 5, 6} {
			v, err := h.Announce(t.Context(), announce.Request{Message: fmt.Sprint("ttl", ttl), TTL: time.Duration(ttl) * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, v.ID)
			synctest.Wait()
		}
		time.Sleep(5*time.Second - 1)
		h.expectStatus(ids[2], announce.Queued)
		time.Sleep(time.Nanosecond)
		v := h.expectStatus(ids[2], announce.Expired)
		if at := v.Ended.Sub(dawn); at != 5*time.Second {
			t.Errorf("expired at %s, want 5s", at)
		}
		h.expectStatus(ids[3], announce.Queued)
		time.Sleep(15 * time.Second)
		h.expectStatus(ids[1], announce.Expired)
		h.expectStatus(ids[3], announce.Expired)
		h.expectStatus(ids[0], announce.Playing)
		if got := h.outbox.status(ids[1]); got != announce.Expired {
			t.Errorf("the disk has %s, want expired", got)
		}
	})
}

func TestTheHeadExpiresUntilItIsHeard(t *testing.T) {
	for _, tt := range []struct {
		name string
		pace time.Duration // of the synthesis
		lost time.Duration // when the sink goes away for good
	}{
		{"synthesis takes for ever", 48 * time.Hour, 0},
		{"the sink is lost before", 0, time.Second},
		{"the sink is lost while it is spoken", 0, 5700 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, settings)
				h.speaker.pace = tt.pace
				defer h.run()()
				v, err := h.Announce(t.Context(), announce.Request{Message: "long", TTL: 6 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // one that expires while the head is spoken must not hide the head
				if _, err := h.Announce(t.Context(), announce.Request{Message: "a", TTL: 5 * time.Second}); err != nil {
					t.Fatal(err)
				}
				if tt.lost > 0 {
					time.AfterFunc(tt.lost, h.sink.lose)
				}
				time.Sleep(6 * time.Second)
				h.expectStatus(v.ID, announce.Expired)
			})
		})
	}
}

func TestWhatExpiredWhileNobodyRanIsNotSpoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		late := h.post("late", false)
		time.Sleep(settings.TTL - time.Second)
		h.post("fresh", false)
		time.Sleep(time.Second)
		h.restart(settings)
		defer h.run()()
		h.expectStatus(late.ID, announce.Expired)
		time.Sleep(time.Minute)
		h.expect("fresh")
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		head, second, third := h.post("a1|a2", false), h.post("b1", false), h.post("c1", false)
		time.Sleep(300 * time.Millisecond)
		for _, id := range []string{second.ID, head.ID} {
			v, err := h.Cancel(t.Context(), id)
			if err != nil || v.Status != announce.Cancelled || v.Position != nil {
				t.Errorf("cancel: %+v, %v, want it cancelled", v, err)
			}
			if got := h.outbox.status(id); got != announce.Cancelled {
				t.Errorf("the disk has %s when cancelled is told", got)
			}
			if _, err := h.Cancel(t.Context(), id); !errors.Is(err, announce.ErrEnded) {
				t.Errorf("cancel again: %v, want ErrEnded", err)
			}
		}
		if took := time.Since(dawn); took != 300*time.Millisecond {
			t.Errorf("it was silent after %s, want at once", took)
		}
		h.expect("a1 / c1")
		time.Sleep(time.Second)
		h.expectStatus(third.ID, announce.Done)
		if _, err := h.Cancel(t.Context(), third.ID); !errors.Is(err, announce.ErrEnded) {
			t.Errorf("cancel a spoken one: %v, want ErrEnded", err)
		}
		if _, err := h.Cancel(t.Context(), "nobody"); !errors.Is(err, announce.ErrNotFound) {
			t.Errorf("cancel nobody: %v, want ErrNotFound", err)
		}
	})
}

func TestWhatIsBeingCancelledIsNotBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		h.post("a1", false)
		b := h.post("b1", false)
		h.post("c1", false)
		time.Sleep(500 * time.Millisecond)
		h.outbox.set(nil, 5*time.Second)
		cancelled := make(chan error, 1)
		go func() {
			_, err := h.Cancel(context.Background(), b.ID)
			cancelled <- err
		}()
		synctest.Wait()
		h.outbox.set(nil, 0)
		h.expectStatus(b.ID, announce.Queued) // nothing is told that was not kept
		if _, err := h.Cancel(t.Context(), b.ID); !errors.Is(err, announce.ErrEnded) {
			t.Errorf("cancel again meanwhile: %v, want ErrEnded", err)
		}
		time.Sleep(3 * time.Second)
		h.expect("a1 c1")
		if err := <-cancelled; err != nil {
			t.Errorf("cancel: %v", err)
		}
		h.expectStatus(b.ID, announce.Cancelled)
	})
}

func TestCancelWaitingLeavesTheHead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		h.post("a1", false)
		synctest.Wait()
		for range 5 {
			h.post("b", true)
		}
		synctest.Wait()
		before := h.outbox.writes()
		if n, err := h.CancelWaiting(t.Context()); n != 5 || err != nil {
			t.Errorf("cancelled %d, %v, want 5", n, err)
		}
		if n := h.outbox.writes() - before; n != 1 {
			t.Errorf("%d writes, want 1", n)
		}
		if n, err := h.CancelWaiting(t.Context()); n != 0 || err != nil {
			t.Errorf("cancelled %d again, %v, want 0", n, err)
		}
		time.Sleep(time.Minute)
		h.expect("a1")
	})
}

func TestACancelThatIsNotKeptIsSilentAndSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		head, second := h.post("a1|a2", false), h.post("b1", false)
		synctest.Wait()
		h.outbox.set(errors.New("disk full"), 0)
		for _, id := range []string{second.ID, head.ID} {
			if _, err := h.Cancel(t.Context(), id); !errors.Is(err, announce.ErrUnavailable) {
				t.Errorf("cancel: %v, want ErrClosed", err)
			}
		}
		time.Sleep(time.Minute)
		h.expect("a1 /")
	})
}

func TestTheEndedAreRememberedForADayOrTwoHundred(t *testing.T) {
	for _, tt := range []struct {
		age   time.Duration
		count int
		want  bool
	}{
		{0, 1, false},
		{announce.EndedRetention, 200, false},
		{announce.EndedRetention, 201, true},
		{announce.EndedRetention - 1, 201, false},
		{announce.EndedRetention - 1, 5000, false},
		{0, 5001, true},
	} {
		if got := announce.Evictable(tt.age, tt.count); got != tt.want {
			t.Errorf("Forgettable(%s, %d) = %v, want %v", tt.age, tt.count, got, tt.want)
		}
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		defer h.run()()
		var first string
		for i := range 6 {
			for j := range 50 {
				v := h.post("a", false)
				if i+j == 0 {
					first = v.ID
				}
			}
			time.Sleep(time.Minute)
		}
		h.expectStatus(first, announce.Done)
		time.Sleep(announce.EndedRetention)
		h.post("b", false)
		time.Sleep(time.Minute)
		if _, recent := h.Queue(); len(recent) != 200 {
			t.Errorf("%d are remembered after a day, want 200", len(recent))
		}
		if _, err := h.Find(first); !errors.Is(err, announce.ErrNotFound) {
			t.Errorf("the first: %v, want ErrNotFound", err)
		}
	})
}

func TestNonsenseIsNotConfigured(t *testing.T) {
	t.Parallel()
	for _, break_ := range []func(*announce.Config){
		func(c *announce.Config) { c.Max = -1 },
		func(c *announce.Config) { c.TTL = 0 },
		func(c *announce.Config) { c.Rate = 0 },
		func(c *announce.Config) { c.Volume = 101 },
	} {
		c := settings
		break_(&c)
		if _, err := announce.New(c, newOutbox(), nil, nil, nil); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestWhatIsConfiguredLaterHoldsFromThenOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings)
		for _, message := range []string{"a", "b", "c"} {
			h.post(message, false)
		}
		c := settings
		c.Max, c.Volume, c.TTL = 1, 50, time.Hour
		if err := h.Configure(c); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Announce(t.Context(), announce.Request{Message: "d"}); !errors.Is(err, announce.ErrFull) {
			t.Errorf("beyond the smaller queue: %v, want ErrFull", err)
		}
		if err := h.Configure(announce.Config{}); err == nil || h.Stats().Max != 1 {
			t.Errorf("nonsense: %v, and then at most %d wait; want an error and 1", err, h.Stats().Max)
		}
		stop := h.run()
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		h.expect("a b c")
		for i, s := range h.speaker.clip("reference").Samples {
			if got, want := h.sink.levels["c"][i], s*0.5; got != want {
				t.Fatalf("sample %d is %v, want %v", i, got, want)
			}
		}
		if v := h.post("e", false); v.Expires.Sub(v.Created) != time.Hour {
			t.Errorf("it lives %s, want an hour", v.Expires.Sub(v.Created))
		}
	})
}
