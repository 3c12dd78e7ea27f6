package announcer_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/announce/plan"
	"pressbox/voice/voicetest"
)

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

func (s *timingSink) Play(_ context.Context, clips <-chan audio.Clip) (played time.Duration, err error) {
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
