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
	maxSpeeches = 2      // made at the same time; each takes a processor
	pcmRate     = 24_000 // samples per second of OpenAI's "pcm"
	// speechPatience is how long a client may take to read a piece of speech,
	// besides twice the time that it sounds: some play it as it comes.
	speechPatience = 20 * time.Second

	slowest, fastest = 60, 400 // words per minute that can be asked for
)

func (h *handlers) speechRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodPost, "/v1/audio/speech", web.NotifyAccess, h.speech, web.Operation{
		ID: "createSpeech", Tag: "speech", Summary: "Speech as a file",
		Description: "For clients of the OpenAI API. The answer is sent sentence by sentence, as it is made.",
		Request:     "SpeechRequest",
		Responses: []web.Response{
			{Status: http.StatusOK, Description: "Speech.", Media: []string{"audio/wav", "audio/pcm"}},
		},
		Problems: []int{http.StatusServiceUnavailable},
	})}
}

// A speechRequest is the body of POST /v1/audio/speech. Its other members
// are ignored.
type speechRequest struct {
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"` // wav or pcm
	Speed  float64 `json:"speed"`           // 1 is the default rate
	Rate   int     `json:"rate"`            // ours: words per minute; 0 means by Speed
}

func (h *handlers) speech(w http.ResponseWriter, r *http.Request) error {
	body := speechRequest{Format: "wav", Speed: 1}
	if err := h.Decode(w, r, "SpeechRequest", &body); err != nil {
		return err
	}
	if body.Rate == 0 { // as near to the speed as a rate can be
		rate := int(math.Round(float64(h.DefaultRate) * body.Speed))
		body.Rate = max(slowest, min(fastest, rate))
	}
	n, err := h.Announcer.Check(announce.Request{Message: body.Input, Voice: body.Voice, Rate: body.Rate})
	if err != nil {
		return inSpeech(err)
	}
	select {
	case h.speeches <- struct{}{}:
		defer func() { <-h.speeches }()
	default:
		return web.ErrBusy
	}
	return h.stream(w, r, body.Format, n)
}

// inSpeech makes what is wrong with an announcement something that is wrong
// with the body of a speech: its message is called input.
func inSpeech(err error) error {
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

// stream sends the speech of a notice as it is made. An error before the first
// sound is returned; after it, it hangs up on the client, which would otherwise
// take half a speech for a whole one.
func (h *handlers) stream(w http.ResponseWriter, r *http.Request, format string, n announce.Announcement) error {
	ctx := r.Context()
	e := &encoder{format: format}
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "audio/"+format) // unless it becomes a problem
	for clip, err := range h.Speaker.Speak(ctx, n.Voice, n.Message, n.Rate) {
		var piece []byte
		if err == nil {
			piece, err = e.add(clip)
		}
		if err != nil && !e.begun {
			return fmt.Errorf("make speech: %w", err)
		}
		if err != nil && ctx.Err() == nil {
			web.LogError(r, err)
		}
		if err != nil || sendSpeech(w, out, piece, clip.Duration()) != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if !e.begun {
		return errors.New("make speech: there was no sound")
	}
	if sendSpeech(w, out, e.end(), 0) != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// sendSpeech writes a piece of speech that sounds for so long.
func sendSpeech(w io.Writer, out *http.ResponseController, piece []byte, sounds time.Duration) error {
	_ = out.SetWriteDeadline(time.Now().Add(speechPatience + 2*sounds)) // only a test's recorder has none
	if _, err := w.Write(piece); err != nil {
		return fmt.Errorf("send speech: %w", err)
	}
	return out.Flush()
}

// An encoder makes bytes of clips: a WAV stream, or PCM at [pcmRate].
type encoder struct {
	format string // wav or pcm
	begun  bool
	rate   *audio.Resampler // of pcm
}

// add returns the bytes of the next clip.
func (e *encoder) add(c audio.Clip) (piece []byte, err error) {
	if !e.begun && e.format == "pcm" {
		e.rate, err = audio.NewResampler(c.Rate, pcmRate)
	}
	if !e.begun && e.format == "wav" {
		piece = audio.WAVHeader(c.Rate)
	}
	if err != nil {
		return nil, err
	}
	e.begun = true
	if e.rate != nil {
		return audio.AppendS16LE(nil, e.rate.Append(nil, c.Samples)), nil
	}
	return audio.AppendS16LE(piece, c.Samples), nil
}

// end returns the bytes that are still owed after the last clip.
func (e *encoder) end() []byte {
	if e.rate == nil {
		return nil
	}
	return audio.AppendS16LE(nil, e.rate.Flush(nil))
}
