package openai

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"pressbox/audio"
	"pressbox/audio/flac"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

const pcmRate = 24_000 // samples per second of OpenAI's "pcm"

// A format is a value of response_format.
type format struct {
	media string
	rate  int // samples per second; 0 means that of the first clip
	// start begins a stream to w; nil means that ffmpeg does.
	start func(w io.Writer, rate int) (io.WriteCloser, error)
}

var formats = map[string]format{ //nolint:gochecknoglobals // a constant
	"wav": {media: "audio/wav", start: startWAV},
	"pcm": {media: "audio/pcm", rate: pcmRate, start: startPCM},
	"flac": {media: "audio/flac", start: func(w io.Writer,
		rate int,
	) (io.WriteCloser, error) {
		return flac.NewWriter(w, rate)
	}},
	"mp3":  {media: "audio/mpeg"},
	"opus": {media: "audio/ogg"},
	"aac":  {media: "audio/aac"},
}

// plain writes PCM as it is, the first behind a header.
type plain struct {
	io.Writer
	header []byte
}

func startWAV(w io.Writer, rate int) (io.WriteCloser, error) {
	return &plain{w, audio.WAVHeader(rate)}, nil
}

func startPCM(w io.Writer, _ int) (io.WriteCloser, error) { return &plain{w, nil}, nil }

func (p *plain) Write(pcm []byte) (int, error) {
	data := append(p.header, pcm...)
	p.header = nil
	if _, err := p.Writer.Write(data); err != nil {
		return 0, err
	}
	return len(pcm), nil
}

func (p *plain) Close() error { return nil }

// send sends the speech of an announcement as it is synthesized. It returns an error
// before the first byte; after that it closes the connection, so that the client sees
// that the speech is incomplete.
func (h *handlers) send(
	w http.ResponseWriter, r *http.Request, body speechRequest, n announce.Announcement, slot *limits.Slot,
) error {
	ctx := r.Context()
	out := &response{
		w: w, control: http.NewResponseController(w), time: limits.NewReadTime(), events: body.Stream == "sse",
	}
	w.Header().Set("Content-Type", formats[body.Format].media) // a problem replaces it
	if out.events {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Accel-Buffering", "no") // nginx would delay events
	}
	err := h.encode(ctx, out, body, n, slot)
	switch {
	case err == nil:
		return nil
	case !out.begun:
		return fmt.Errorf("synthesize speech: %w", err)
	case ctx.Err() == nil && out.err == nil:
		web.LogError(r, err)
	}
	panic(http.ErrAbortHandler)
}

// encode writes the speech of an announcement to out. Everything that it has started
// has ended when it returns.
func (h *handlers) encode(
	ctx context.Context, out *response, body speechRequest, n announce.Announcement, slot *limits.Slot,
) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name := body.Format
	start := func(rate int) (io.WriteCloser, error) {
		if start := formats[name].start; start != nil {
			return start(out, rate)
		}
		return h.FFmpeg.Start(ctx, out, name, rate)
	}
	e := &encoder{joiner: audio.Joiner{Rate: formats[name].rate}, start: start, speed: body.Speed}
	for clip, err := range h.Speaker.Speak(ctx, announce.Utterance{Voice: n.Voice, Message: n.Message, Rate: n.Rate}) {
		if err == nil {
			out.time.Extend(time.Duration(float64(clip.Duration()) / body.Speed))
			err = slot.Read(ctx, func() error { return e.add(clip.Clip) })
		}
		if err != nil {
			cancel()                           // kills ffmpeg
			return errors.Join(err, e.close()) // which may have the reason of err
		}
	}
	if err := slot.Read(ctx, e.end); err != nil {
		return err
	}
	if !out.begun {
		return errors.New("no audio")
	}
	return out.end()
}

// An encoder encodes clips as a stream of one rate.
type encoder struct {
	joiner  audio.Joiner
	start   func(rate int) (io.WriteCloser, error)
	speed   float64          // by which the speech is faster than the voice's
	stretch *audio.Stretcher // nil before the first clip, and where speed is 1
	out     io.WriteCloser   // nil before the first clip
}

// add encodes the next clip.
func (e *encoder) add(c audio.Clip) error {
	samples, err := e.joiner.Append(nil, c)
	if err != nil {
		return err
	}
	if e.out == nil {
		out, err := e.start(e.joiner.Rate)
		if err != nil {
			return err
		}
		if e.out = out; e.speed != 1 {
			e.stretch = audio.NewStretcher(e.joiner.Rate, e.speed)
		}
	}
	return e.write(samples)
}

func (e *encoder) write(samples []float32) error {
	if e.stretch != nil {
		samples = e.stretch.Append(nil, samples)
	}
	_, err := e.out.Write(audio.AppendS16LE(nil, samples))
	return err
}

// end encodes what is left after the last clip.
func (e *encoder) end() (err error) {
	if e.out != nil {
		err = e.write(e.joiner.Flush(nil))
	}
	if stretch := e.stretch; stretch != nil && err == nil {
		e.stretch = nil
		err = e.write(stretch.Flush(nil))
	}
	return errors.Join(err, e.close())
}

// close ends the stream, if it has begun.
func (e *encoder) close() error {
	if e.out == nil {
		return nil
	}
	return e.out.Close()
}

// A response sends speech within the time that its client has to read it. The time of
// the synthesis does not count.
type response struct {
	w       http.ResponseWriter
	control *http.ResponseController
	events  bool  // server-sent events
	begun   bool  // something was sent
	err     error // of sending
	time    *limits.ReadTime
}

// Write sends a part of the speech.
func (s *response) Write(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	text := data
	if s.events {
		text = base64.StdEncoding.AppendEncode([]byte(`data: {"type":"speech.audio.delta","audio":"`), data)
		text = append(text, "\"}\n\n"...)
	}
	if err := s.send(text); err != nil {
		return 0, err
	}
	return len(data), nil
}

// end ends the speech. Tokens are not counted.
func (s *response) end() error {
	if !s.events {
		return nil
	}
	return s.send([]byte(`data: {"type":"speech.audio.done",` +
		`"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}}` + "\n\n"))
}

func (s *response) send(text []byte) error {
	s.begun = true
	s.err = s.time.Write(func(deadline time.Time) error {
		_ = s.control.SetWriteDeadline(deadline) // httptest.ResponseRecorder has none
		if _, err := s.w.Write(text); err != nil {
			return err
		}
		return s.control.Flush()
	})
	if s.err != nil {
		return fmt.Errorf("send speech: %w", s.err)
	}
	return nil
}
