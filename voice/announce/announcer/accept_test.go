package announcer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/announce/plan"
	"pressbox/voice/voicetest"
)

func TestAnnounce_rejectsWhenQueueFull(t *testing.T) {
	for _, most := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			c := settings
			c.Max = most
			bubble(t, c, func(h *rig) {
				fill := func(n int) {
					h.t.Helper()
					for i := range n {
						if v := h.post("a", false); *v.Position != most+1-n+i {
							h.t.Errorf("accepted at %d, want %d", *v.Position, most+1-n+i)
						}
					}
					synctest.Wait()
					h.expectError(announce.Request{Content: said("b")}, announce.ErrFull)
					if s := h.Stats(); s.Waiting != most || s.Max != most {
						h.t.Errorf("%d are waiting of %d, want %d", s.Waiting, s.Max, most)
					}
				}
				fill(most + 1) // nothing is spoken yet
				defer h.run()()
				fill(0)
				time.Sleep(1500 * time.Millisecond)
				fill(1)
			})
		})
	}
}

func TestAnnounce_reservesPlaceWhileSaving(t *testing.T) {
	c := settings
	c.Max = 1
	bubble(t, c, func(h *rig) {
		h.outbox.set(errors.New("disk full"), time.Second)
		failed := make(chan error)
		for range 2 {
			go func() {
				_, err := h.Announce(context.Background(), announce.Request{Content: said("a")})
				failed <- err
			}()
		}
		synctest.Wait()
		h.outbox.set(nil, 0)
		h.expectError(announce.Request{Content: said("b")}, announce.ErrFull)
		for range 2 {
			check.ErrorIs(h.t, <-failed, announce.ErrUnavailable, "after a failed save")
		}
		l := h.List()
		check.That(h.t, len(l.Queue)+len(l.Recent) <= 0, "unsaved announcements are listed: %+v", l)
		for want := range 2 {
			if v := h.post("c", false); *v.Position != want {
				h.t.Errorf("position %d, want %d: the reserved places were not released", *v.Position, want)
			}
		}
	})
}

func TestAnnounce_positionsCountReservedPlaces(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		h.outbox.set(nil, time.Second)
		got := make(map[string]int)
		answers := make(chan announce.View)
		for _, r := range []announce.Request{
			{Content: said("a")},
			{Content: announce.Content{Message: "b", Urgent: true}},
			{Content: said("c")},
			{Content: announce.Content{Message: "d", Urgent: true}},
		} {
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
			check.Equal(h.t, got[message], want, "%s was answered position", message)
		}
		queue := h.List().Queue
		for i, want := range []string{"b", "d", "a", "c"} {
			if queue[i].Message != want || *queue[i].Position != i {
				h.t.Errorf("%s at %d, want %s at %d", queue[i].Message, *queue[i].Position, want, i)
			}
		}
	})
}

func TestAnnounce_repeatedKeySpokenOnce(t *testing.T) {
	c := settings
	c.Max = 1
	running(t, c, func(h *rig) {
		h.post("head", false)
		r := announce.Request{Content: said("once"), IdempotencyKey: "k1"}
		first := check.Must(h.Announce(h.t.Context(), r))(h.t)
		h.expectError(announce.Request{Content: said("more")}, announce.ErrFull)
		// while the queue is full, after it was spoken
		for _, status := range []announce.Status{announce.Queued, announce.Done} {
			again, err := h.Announce(h.t.Context(), r)
			now := h.expectStatus(first.ID, status)
			if err != nil || again.Announcement != now.Announcement || (again.Position == nil) != status.Ended() {
				h.t.Errorf("repeated: %+v, %v, want it as it is: %+v", again, err, now)
			}
			time.Sleep(time.Minute)
		}
		for _, other := range []announce.Request{
			{Content: said("twice")},
			{Content: announce.Content{Message: "once", Urgent: true}},
			{Content: announce.Content{Message: "once", Rate: 100}},
			{Content: said("")},
		} {
			other.IdempotencyKey = "k1"
			h.expectError(other, announce.ErrKeyReused)
		}
		h.expect("head once")
	})
}

// A request that is repeated while the first one is being accepted gets the whole announcement.
func TestAnnounce_concurrentKey(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.post("head", false)
		r := announce.Request{Content: said("once"), IdempotencyKey: "k1"}
		var again announce.View
		h.outbox.appended = func() { again = check.Must(h.Announce(h.t.Context(), r))(h.t) }
		first := check.Must(h.Announce(h.t.Context(), r))(h.t)
		if again.Announcement != first.Announcement || again.Position == nil || *again.Position != *first.Position {
			h.t.Errorf("repeated: %+v, want %+v", again, first)
		}
		time.Sleep(time.Minute)
		h.expect("head once")
	})
}

func TestExpire_waitingAnnouncements(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.post(strings.Repeat("a|", 19)+"a", false)
		var ids []string
		for _, ttl := range []int{30, 7, 5, 6} {
			ttl := time.Duration(ttl) * time.Second
			v := h.request(announce.Request{Content: said(fmt.Sprint("ttl", ttl.Seconds())), TTL: ttl})
			ids = append(ids, v.ID)
			synctest.Wait()
		}
		time.Sleep(5*time.Second - 1)
		h.expectStatus(ids[2], announce.Queued)
		time.Sleep(time.Nanosecond)
		v := h.expectStatus(ids[2], announce.Expired)
		at := v.Ended.Sub(start)
		check.That(h.t, at == 5*time.Second, "expired at %s, want 5s", at)
		h.expectStatus(ids[3], announce.Queued)
		time.Sleep(15 * time.Second)
		h.expectStatus(ids[1], announce.Expired)
		h.expectStatus(ids[3], announce.Expired)
		h.expectStatus(ids[0], announce.Playing)
		h.expectSaved(ids[1], announce.Expired)
	})
}

func TestExpire_currentUntilFirstSample(t *testing.T) {
	for _, tt := range []struct {
		name  string
		delay time.Duration // of the synthesis
		lost  time.Duration // when the sink is lost for good
	}{
		{"slow synthesis", 48 * time.Hour, 0},
		{"sink lost before", 0, time.Second},
		{"sink lost while playing", 0, 5700 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			running(t, settings, func(h *rig) {
				h.speaker.delay = tt.delay
				v := h.request(announce.Request{Content: said("long"), TTL: 6 * time.Second})
				synctest.Wait() // one that expires while another is spoken must not hide it
				h.request(announce.Request{Content: said("a"), TTL: 5 * time.Second})
				if tt.lost > 0 {
					time.AfterFunc(tt.lost, h.sink.lose)
				}
				time.Sleep(6 * time.Second)
				h.expectStatus(v.ID, announce.Expired)
			})
		})
	}
}

func TestExpire_whileStopped(t *testing.T) {
	bubble(t, settings, func(h *rig) {
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

func TestCancel_silencesAtOnce(t *testing.T) {
	running(t, settings, func(h *rig) {
		head, second, third := h.post("a1|a2", false), h.post("b1", false), h.post("c1", false)
		time.Sleep(300 * time.Millisecond)
		for _, id := range []string{second.ID, head.ID} {
			v, err := h.Cancel(h.t.Context(), id)
			check.That(h.t, err == nil && v.Status == announce.Cancelled && v.Position == nil,
				"cancel: %+v, %v, want it cancelled", v, err)
			h.expectSaved(id, announce.Cancelled)
			h.expectCancelError(id, announce.ErrEnded)
		}
		took := time.Since(start)
		check.That(h.t, took == 300*time.Millisecond, "silent after %s, want at once", took)
		h.expect("a1 / c1")
		time.Sleep(time.Second)
		h.expectStatus(third.ID, announce.Done)
		h.expectCancelError(third.ID, announce.ErrEnded)
		h.expectCancelError("unknown", announce.ErrNotFound)
	})
}

func TestCancel_pendingIsNotStarted(t *testing.T) {
	running(t, settings, func(h *rig) {
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
		h.expectStatus(b.ID, announce.Queued) // nothing is published before it is saved
		h.expectCancelError(b.ID, announce.ErrEnded)
		time.Sleep(3 * time.Second)
		h.expect("a1 c1")
		check.NoError(h.t, <-cancelled)
		h.expectStatus(b.ID, announce.Cancelled)
	})
}

func TestCancelWaiting_leavesCurrent(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.post("a1", true)
		synctest.Wait()
		for range 5 {
			h.post("b", true)
		}
		synctest.Wait()
		before := h.outbox.writes()
		if n, err := h.CancelWaiting(h.t.Context(), nil); n != 5 || err != nil {
			h.t.Errorf("cancelled %d, %v, want 5", n, err)
		}
		if n := h.outbox.writes() - before; n != 1 {
			h.t.Errorf("%d writes, want 1", n)
		}
		if n, err := h.CancelWaiting(h.t.Context(), nil); n != 0 || err != nil {
			h.t.Errorf("cancelled %d again, %v, want 0", n, err)
		}
		time.Sleep(time.Minute)
		h.expect("a1")
	})
}

func TestCancel_reportsFailedSave(t *testing.T) {
	running(t, settings, func(h *rig) {
		head, second := h.post("a1|a2", false), h.post("b1", false)
		synctest.Wait()
		h.outbox.set(errors.New("disk full"), 0)
		for _, id := range []string{second.ID, head.ID} {
			h.expectCancelError(id, announce.ErrUnavailable)
		}
		time.Sleep(time.Minute)
		h.expect("a1 /")
	})
}

func TestQueue_forgetsOldEnded(t *testing.T) {
	for _, tt := range []struct {
		age   time.Duration
		count int
		bytes int64
		want  bool
	}{
		{0, 1, 0, false},
		{announce.EndedRetention, 200, 0, false},
		{announce.EndedRetention, 201, 0, true},
		{announce.EndedRetention - 1, 201, 0, false},
		{announce.EndedRetention - 1, 9000, announce.EndedMaxBytes, false},
		{0, 9000, announce.EndedMaxBytes + 1, true},
		{0, 100, announce.EndedMaxBytes + 1, true},
	} {
		check.Equal(t, announce.Evictable(tt.age, tt.count, tt.bytes), tt.want,
			"Evictable(%s, %d, %d)", tt.age, tt.count, tt.bytes)
	}
	running(t, settings, func(h *rig) {
		var first string
		for i := range 6 {
			for j := range 50 {
				r := announce.Request{Content: said("a")}
				if i+j == 0 {
					r.IdempotencyKey = "first"
				}
				if v := h.request(r); i+j == 0 {
					first = v.ID
				}
			}
			time.Sleep(time.Minute)
		}
		h.expectStatus(first, announce.Done)
		time.Sleep(announce.EndedRetention)
		h.post("b", false)
		time.Sleep(time.Minute)
		recent := h.List().Recent
		check.That(h.t, len(recent) == 200, "%d are listed after a day, want 200", len(recent))
		check.ErrorIs(h.t, check.Err(h.Find(first)), announce.ErrNotFound, "the first")
		again, err := h.Announce(h.t.Context(), announce.Request{Content: said("a"), IdempotencyKey: "first"})
		want := announce.Announcement{ID: first, Status: announce.Done}
		check.That(h.t, err == nil && again.Announcement == want && again.Position == nil,
			"its key again: %+v, %v, want %+v", again, err, want)
	})
}

func TestNew_rejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*announce.Config){
		func(c *announce.Config) { c.Max = -1 },
		func(c *announce.Config) { c.TTL = 0 },
		func(c *announce.Config) { c.Rate = 0 },
		func(c *announce.Config) { c.Volume = 101 },
	} {
		c := settings
		change(&c)
		if _, err := announcer.New(c, announcer.Parts{Outbox: newOutbox()}); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestConfigure_appliesToLaterRequests(t *testing.T) {
	bubble(t, settings, func(h *rig) {
		for _, message := range []string{"a", "b", "c"} {
			h.post(message, false)
		}
		c := settings
		c.Max, c.Volume, c.TTL = 1, 50, time.Hour
		check.NoError(h.t, h.Configure(c))
		h.expectError(announce.Request{Content: said("d")}, announce.ErrFull)
		if err := h.Configure(announce.Config{}); err == nil || h.Stats().Max != 1 {
			h.t.Errorf("invalid settings: %v, and then Max is %d; want an error and 1", err, h.Stats().Max)
		}
		stop := h.run()
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		h.expect("a b c")
		h.expectGain("c", 0.5)
		if v := h.post("e", false); v.Expires.Sub(v.Created) != time.Hour {
			h.t.Errorf("time to live %s, want an hour", v.Expires.Sub(v.Created))
		}
	})
}

// A slowModel makes speech in factor times its length, with syllables of varying length.
type slowModel struct {
	voice.Model
	factor float64
	rate   int
}

func (m slowModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	n := 0
	for _, id := range in.IDs {
		n += int((500 + 8*float64(id)) * float64(in.LengthScale))
	}
	select {
	case <-time.After(time.Duration(m.factor * float64(n) / float64(m.rate) * float64(time.Second))):
		return make([]float32, n), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type spelling struct{}

func (spelling) Phonemes(_ context.Context, _, clause string) (string, error) {
	return strings.ToLower(clause), nil
}

// A voiceSpeaker speaks with a voice, and remembers the sentences of its clips.
type voiceSpeaker struct {
	voice     voice.Voice
	mu        sync.Mutex
	made      []time.Time // when each clip was
	sentences map[*float32]int
}

func (s *voiceSpeaker) Voice(string) (string, error) { return "anna", nil }

func (s *voiceSpeaker) Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		for c, err := range s.voice.Speak(ctx, u.Message, u.Rate, u.From) {
			clip := announce.Clip{Clip: c.Clip, Sentence: c.Sentence, Voice: "anna"}
			for _, next := range c.Rest {
				clip.Rest = append(clip.Rest, plan.Segment{Sentence: next.Sentence, Length: next.Duration})
			}
			if err == nil {
				s.mu.Lock()
				s.made = append(s.made, time.Now())
				s.sentences[&c.Samples[0]] = c.Sentence
				s.mu.Unlock()
			}
			if !yield(clip, err) {
				return
			}
		}
	}
}

// A timingSink plays clips in their time and records the silence before each.
type timingSink struct {
	speaker *voiceSpeaker
	mu      sync.Mutex
	first   time.Time // when the first clip began
	inside  []time.Duration
	between time.Duration // the longest gap between two sentences
}

func (s *timingSink) Play(
	_ context.Context, clips <-chan audio.Clip, _ *audio.Fader,
) (played time.Duration, err error) {
	end, last := time.Time{}, -1
	for clip := range clips {
		s.speaker.mu.Lock()
		sentence := s.speaker.sentences[&clip.Samples[0]]
		s.speaker.mu.Unlock()
		s.mu.Lock()
		switch gap := time.Since(end); {
		case end.IsZero():
			s.first = time.Now()
		case sentence != last:
			s.between = max(s.between, gap)
		case gap > 0:
			s.inside = append(s.inside, gap)
		}
		s.mu.Unlock()
		time.Sleep(clip.Duration())
		played += clip.Duration()
		end, last = time.Now(), sentence
	}
	return played, nil
}

const (
	oneSentence = "The washing machine has finished, the dryer is empty again and waits for you, there is fresh " +
		"coffee in the kitchen, and the plumber comes at ten."
	notice = "The pool is closed today. " + oneSentence + " Please leave the garage door open. The bus to the " +
		"city leaves from the corner in about twenty minutes, so there is time to wash the dishes."
)

// While speech is made more slowly than it is played, no gap is inside a sentence, and where it is made quickly
// the first sound is not later.
func TestSpeak_slowProcessor(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{0.1, 0.5, 1, 2, 3} {
		for name, message := range map[string]string{
			"sentence": oneSentence, "notice": notice, "long": strings.Repeat(notice+" ", 6),
		} {
			t.Run(fmt.Sprint(name, factor), func(t *testing.T) {
				config := voicetest.Config(t, voicetest.Bundled)
				speaker := &voiceSpeaker{sentences: make(map[*float32]int)}
				speaker.voice = voice.Voice{
					Config: config, Phonemizer: spelling{}, Model: slowModel{factor: factor, rate: config.SampleRate},
				}
				sink := &timingSink{speaker: speaker}
				slow := settings
				slow.TTL = time.Hour
				bubble(t, slow, func(h *rig) {
					h.parts = func(p *announcer.Parts) { p.Speaker, p.Sink = speaker, sink }
					h.restart(slow)
					defer h.run()()
					for range 2 { // the second one with the speed of the first
						speaker.made, sink.inside, sink.between = nil, nil, 0
						a := h.post(message, false)
						time.Sleep(time.Hour)
						h.expectStatus(a.ID, announce.Done)
						check.That(h.t, len(sink.inside) == 0, "gaps inside sentences: %v", sink.inside)
						wait := sink.first.Sub(speaker.made[0])
						check.That(h.t, factor > 0.5 || wait <= 0, "the first sound is %v later than possible", wait)
						check.That(h.t, factor > 1 || sink.between <= 0, "a gap of %v between sentences", sink.between)
					}
				})
			})
		}
	}
}
