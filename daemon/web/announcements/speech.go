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
	maxSpeeches = 2      // concurrent requests; each uses a processor
	pcmRate     = 24_000 // samples per second of OpenAI's "pcm"
	// speechTimeout is the time for a client to read a clip, plus twice its
	// duration: some clients play speech as it arrives.
	speechTimeout = 20 * time.Second

	minRate, maxRate = 60, 400 // words per minute
)

func (h *handlers) speechRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodPost, "/v1/audio/speech", web.NotifyAccess, h.speech, web.Operation{
		ID: "createSpeech", Tag: "speech", Summary: "Synthesize speech as a file",
		Description: "Compatible with clients of the OpenAI API. The server streams each sentence when it is synthesized.",
		Request:     "SpeechRequest",
		Responses: []web.Response{
			{Status: http.StatusOK, Description: "The speech.", Media: []string{"audio/wav", "audio/pcm"}},
		},
		Problems: []int{http.StatusServiceUnavailable},
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
	n, err := h.Announcer.Check(announce.Request{Message: body.Input, Voice: body.Voice, Rate: body.Rate})
	if err != nil {
		return speechError(err)
	}
	select {
	case h.speeches <- struct{}{}:
		defer func() { <-h.speeches }()
	default:
		return web.ErrBusy
	}
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
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "audio/"+format) // a problem replaces it
	for clip, err := range h.Speaker.Speak(ctx, n.Voice, n.Message, n.Rate) {
		var data []byte
		if err == nil {
			data, err = e.add(clip)
		}
		if err != nil && !e.begun {
			return fmt.Errorf("synthesize speech: %w", err)
		}
		if err != nil && ctx.Err() == nil {
			web.LogError(r, err)
		}
		if err != nil || sendSpeech(w, out, data, clip.Duration()) != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if !e.begun {
		return errors.New("synthesize speech: no audio")
	}
	if sendSpeech(w, out, e.end(), 0) != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// sendSpeech writes data, which plays for the given duration.
func sendSpeech(w io.Writer, out *http.ResponseController, data []byte, duration time.Duration) error {
	_ = out.SetWriteDeadline(time.Now().Add(speechTimeout + 2*duration)) // httptest.ResponseRecorder has none
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("send speech: %w", err)
	}
	return out.Flush()
}

// An encoder encodes clips as a WAV stream, or as PCM at [pcmRate].
type encoder struct {
	format string // wav or pcm
	begun  bool
	rate   *audio.Resampler // nil for wav
}

// add returns the bytes of the next clip.
func (e *encoder) add(c audio.Clip) (data []byte, err error) {
	if !e.begun && e.format == "pcm" {
		e.rate, err = audio.NewResampler(c.Rate, pcmRate)
	}
	if !e.begun && e.format == "wav" {
		data = audio.WAVHeader(c.Rate)
	}
	if err != nil {
		return nil, err
	}
	e.begun = true
	if e.rate != nil {
		return audio.AppendS16LE(nil, e.rate.Append(nil, c.Samples)), nil
	}
	return audio.AppendS16LE(data, c.Samples), nil
}

// end returns the remaining bytes after the last clip.
func (e *encoder) end() []byte {
	if e.rate == nil {
		return nil
	}
	return audio.AppendS16LE(nil, e.rate.Flush(nil))
}
