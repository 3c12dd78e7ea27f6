package wyoming

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressbox/audio"
	"pressbox/daemon/limits"
	"pressbox/daemon/wyoming/frame"
	"pressbox/voice"
	"pressbox/voice/announce"
)

// chunkSamples is the number of samples in an audio-chunk; the last one of a clip has less.
const chunkSamples = 2048

// A stream is the speech of one request: of a text, or of the sentences of a text that the client has not
// completed. All of it has the format of the first clip.
type stream struct {
	*client
	began  time.Time
	voice  string // "" means the default voice
	joiner audio.Joiner
	time   *limits.ReadTime
	text   string // not spoken yet: less than a sentence
	length int    // characters so far
	begun  bool   // something has been spoken
	open   bool   // audio-start has been sent, and audio-stop has not
	full   bool   // the text is too long: no more of it is spoken
}

// add speaks the sentences that text completes.
func (s *stream) add(ctx context.Context, text string) error {
	if text == "" || s.full {
		return nil // without looking at what is there
	}
	s.text = s.shorten(s.text + text)
	sentences, rest := complete(s.text)
	s.text = rest
	return s.say(ctx, sentences)
}

// shorten returns a text, or the part of it up to which the stream may be spoken.
func (s *stream) shorten(text string) string {
	most := announce.MaxMessage - s.length
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	s.full = true
	s.Log.Warn("wyoming text too long, its beginning is spoken",
		"client", s.addr.String(), "characters", announce.MaxMessage)
	return string([]rune(text)[:most])
}

// flush speaks the rest of the text.
func (s *stream) flush(ctx context.Context) error {
	if err := s.say(ctx, s.text); err != nil || s.begun {
		return err
	}
	return s.close()
}

// say speaks a part of the text between audio-start and audio-stop, unless nothing in it can be spoken.
func (s *stream) say(ctx context.Context, text string) error {
	err := s.speak(ctx, text)
	if err != nil || !s.open {
		return err
	}
	return s.close()
}

// speak speaks a text after audio-start. It sends nothing if nothing in it can be spoken.
func (s *stream) speak(ctx context.Context, text string) error {
	s.length += utf8.RuneCountInString(text)
	n, err := s.check(text)
	if err != nil || n.Message == "" {
		return err
	}
	s.voice = n.Voice
	ctx, slot, err := s.slot(ctx)
	if err != nil {
		return err
	}
	defer slot.Release()
	for clip, err := range s.Speaker.Speak(ctx, announce.Utterance{Voice: n.Voice, Message: n.Message, Rate: n.Rate}) {
		if errors.Is(err, voice.ErrNoSpeech) {
			return nil
		}
		if err != nil {
			return err
		}
		samples, err := s.joiner.Append(s.pause(), clip.Clip)
		if err == nil {
			err = slot.Read(ctx, func() error { return s.sendSamples(samples) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check returns the announcement of a text; its message is empty if nothing in it can be spoken.
func (s *stream) check(text string) (announce.Announcement, error) {
	n, err := s.Check(announce.Request{Content: announce.Content{Message: text, Voice: s.voice}})
	request, ok := errors.AsType[*announce.RequestError](err)
	if !ok {
		return n, err
	}
	violations := slices.DeleteFunc(request.Violations, func(v announce.Violation) bool {
		return v.Code == announce.CodeRequired || v.Code == announce.CodeNotSpeakable
	})
	if len(violations) > 0 {
		return n, &announce.RequestError{Violations: violations}
	}
	return announce.Announcement{}, nil
}

// slot waits for a speech slot.
func (s *stream) slot(ctx context.Context) (context.Context, *limits.Slot, error) {
	var client netip.Prefix // no client is counted
	if s.limited() {
		client = s.Blocks.Of(s.addr).Host
	}
	return s.Speeches.Wait(ctx, client, slotTimeout)
}

// pause returns the samples of the pause before a part of the text that is not the first, and nothing within a
// part.
func (s *stream) pause() []float32 {
	if s.open || !s.begun {
		return nil
	}
	const usual = 100 * time.Millisecond // silence that a voice leaves at its ends
	return make([]float32, int((voice.Pause-usual).Seconds()*float64(s.joiner.Rate)))
}

// An audioFormat is the data of audio-start and audio-chunk.
type audioFormat struct {
	Rate      int  `json:"rate"`
	Width     int  `json:"width"` // bytes of a sample
	Channels  int  `json:"channels"`
	Timestamp *int `json:"timestamp"`
}

func (s *stream) format() audioFormat { return audioFormat{Rate: s.joiner.Rate, Width: 2, Channels: 1} }

// sendSamples sends samples in chunks, the first ones after audio-start.
func (s *stream) sendSamples(samples []float32) (err error) {
	var message []byte
	if !s.open {
		if message, err = frame.Append(nil, "audio-start", s.format(), nil); err != nil {
			return err
		}
		s.open, s.begun = true, true
	}
	for chunk := range slices.Chunk(samples, chunkSamples) {
		if message, err = frame.Append(message, "audio-chunk", s.format(), audio.AppendS16LE(nil, chunk)); err != nil {
			return err
		}
	}
	duration := audio.Clip{Rate: s.joiner.Rate, Samples: samples}.Duration()
	s.time.Extend(duration)
	return s.time.Write(func(deadline time.Time) error { return s.write(message, deadline) })
}

// close sends audio-stop, after audio-start if nothing was spoken.
func (s *stream) close() error {
	if !s.begun {
		s.joiner.Rate = s.sampleRate()
	}
	if err := s.sendSamples(s.joiner.Flush(nil)); err != nil {
		return err
	}
	s.open = false
	return s.send("audio-stop", map[string]any{"timestamp": nil})
}

// sampleRate returns the rate of the stream's voice.
func (s *stream) sampleRate() int {
	const usual = 22050
	name, _, _ := strings.Cut(s.voice, "#") // without the speaker
	for _, v := range s.Voices() {
		if name == "" || name == v.Name {
			return v.SampleRate
		}
	}
	return usual
}
