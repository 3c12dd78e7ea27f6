package announcements

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"pressbox/audio"
	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

const (
	pcmRate = 24_000 // samples per second of OpenAI's "pcm"
	// A client has speechTimeout to read, and speechSlowness times the duration of the
	// speech: some clients play speech as it arrives.
	speechTimeout  = 5 * time.Second
	speechSlowness = 1.2

	minRate, maxRate = 60, 400 // words per minute
)

func (h *handlers) speechRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodPost, "/v1/audio/speech", web.NotifyAccess, h.speech, web.Operation{
		ID: "createSpeech", Tag: "speech", Summary: "Synthesize speech as a file",
		Description: "Compatible with clients of the OpenAI API. The server sends each part when it is synthesized, the first clause first.",
		Request:     "SpeechRequest",
		Responses: []web.Response{
			{Status: http.StatusOK, Description: "The speech.", Media: []string{"audio/wav", "audio/pcm"}},
		},
		Problems: []int{http.StatusServiceUnavailable},
		Limited:  true,
	})}
}

// A speechRequest is the body of POST /v1/audio/speech. Other members are
// ignored.
type speechRequest struct {
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"` // wav or pcm
	Speed  float64 `json:"speed"`           // 1 is the default rate
	Rate   int     `json:"rate"`            // words per minute, not in OpenAI's API; 0 means by Speed
}

func (h *handlers) speech(w http.ResponseWriter, r *http.Request) error {
	body := speechRequest{Format: "wav", Speed: 1}
	if err := h.Decode(w, r, "SpeechRequest", &body); err != nil {
		return err
	}
	if body.Rate == 0 {
		rate := int(math.Round(float64(h.DefaultRate) * body.Speed))
		body.Rate = max(minRate, min(maxRate, rate))
	}
	n, err := h.Announcer.CheckSpeech(announce.Request{Message: body.Input, Voice: body.Voice, Rate: body.Rate})
	if err != nil {
		return speechError(err)
	}
	release, err := h.Speeches.Take(h.ClientBlock(r))
	if err != nil {
		return err
	}
	defer release()
	return h.stream(w, r, body.Format, n)
}

// speechError returns the error of an announcement as that of a speech request,
// whose input is the message.
func speechError(err error) error {
	all := web.ViolationsOf(err)
	if all == nil {
		return err
	}
	for i := range all {
		if all[i].Path == "/message" {
			all[i].Path = "/input"
		}
	}
	return &web.BodyError{Violations: all}
}

// stream sends the speech of an announcement as it is synthesized. It returns an
// error before the first clip; after that it closes the connection, so that the
// client sees that the speech is incomplete.
func (h *handlers) stream(w http.ResponseWriter, r *http.Request, format string, n announce.Announcement) error {
	ctx := r.Context()
	e := &encoder{format: format}
	out := &speechWriter{w: w, control: http.NewResponseController(w), budget: speechTimeout}
	w.Header().Set("Content-Type", "audio/"+format) // a problem replaces it
	for clip, err := range h.Speaker.Speak(ctx, announce.Utterance{Voice: n.Voice, Message: n.Message, Rate: n.Rate}) {
		var data []byte
		if err == nil {
			data, err = e.add(clip.Clip)
		}
		if err != nil && !e.begun {
			return fmt.Errorf("synthesize speech: %w", err)
		}
		if err != nil && ctx.Err() == nil {
			web.LogError(r, err)
		}
		if err != nil || out.send(data, clip.Duration()) != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if !e.begun {
		return errors.New("synthesize speech: no audio")
	}
	if out.send(e.end(), 0) != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// A speechWriter sends speech within the time that its client has to read it. The
// time of the synthesis does not count.
type speechWriter struct {
	w       io.Writer
	control *http.ResponseController
	budget  time.Duration // left for writing
}

// send writes data, which plays for the given duration.
func (s *speechWriter) send(data []byte, duration time.Duration) error {
	began := time.Now()
	s.budget += time.Duration(speechSlowness * float64(duration))
	_ = s.control.SetWriteDeadline(began.Add(s.budget)) // httptest.ResponseRecorder has none
	if _, err := s.w.Write(data); err != nil {
		return fmt.Errorf("send speech: %w", err)
	}
	err := s.control.Flush()
	s.budget -= time.Since(began)
	return err
}

// An encoder encodes clips as a WAV stream, or as PCM at [pcmRate]. The rate of a WAV
// stream is that of the first clip.
type encoder struct {
	format string // wav or pcm
	begun  bool
	joiner audio.Joiner
}

// add returns the bytes of the next clip.
func (e *encoder) add(c audio.Clip) (data []byte, err error) {
	switch {
	case e.begun:
	case e.format == "pcm":
		e.joiner.Rate = pcmRate
	default:
		data = audio.WAVHeader(c.Rate)
	}
	samples, err := e.joiner.Append(nil, c)
	if err != nil {
		return nil, err
	}
	e.begun = true
	return audio.AppendS16LE(data, samples), nil
}

// end returns the remaining bytes after the last clip.
func (e *encoder) end() []byte { return audio.AppendS16LE(nil, e.joiner.Flush(nil)) }
