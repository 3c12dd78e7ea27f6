package openai

import (
	"encoding/json"
	"math"
	"net/http"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

const minRate, maxRate = 60, 400 // words per minute

// A speechRequest is the body of POST /v1/audio/speech. Other members are ignored; so is
// instructions, as no installed voice follows any.
type speechRequest struct {
	Input  string    `json:"input"`
	Voice  voiceName `json:"voice"`
	Format string    `json:"response_format"` // a key of formats
	Stream string    `json:"stream_format"`   // audio or sse
	Speed  float64   `json:"speed"`           // 1 is the default rate
	Rate   int       `json:"rate"`            // words per minute, not in OpenAI's API; 0 means by Speed
}

// A voiceName is a voice in a request: its name, or an object with its id.
type voiceName string

// UnmarshalJSON implements [json.Unmarshaler]. The schema admits nothing else.
func (v *voiceName) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return json.Unmarshal(text, (*string)(v))
	}
	var object struct {
		ID string `json:"id"`
	}
	err := json.Unmarshal(text, &object)
	*v = voiceName(object.ID)
	return err
}

func (h *handlers) speech(w http.ResponseWriter, r *http.Request) error {
	body := speechRequest{Format: "wav", Speed: 1}
	if err := h.Decode(w, r, "SpeechRequest", &body); err != nil {
		return err
	}
	if body.Rate == 0 {
		rate := int(math.Round(float64(h.DefaultRate()) * body.Speed))
		body.Rate = max(minRate, min(maxRate, rate))
	}
	n, err := h.Announcer.CheckSpeech(announce.Request{Content: announce.Content{Message: body.Input, Voice: h.installedVoice(string(body.Voice)), Rate: body.Rate}})
	if err != nil {
		return h.speechError(err)
	}
	if err := h.checkFormat(body.Format); err != nil {
		return err
	}
	release, err := h.Speeches.Take(h.ClientBlock(r))
	if err != nil {
		return err
	}
	defer release()
	return h.send(w, r, body, n)
}

// checkFormat returns an error if nothing encodes a format on this host.
func (h *handlers) checkFormat(name string) error {
	if formats[name].start != nil {
		return nil
	}
	if h.FFmpeg.Check() == nil {
		return nil
	}
	return &web.BodyError{Violations: []web.Violation{{
		Path: "/response_format", Code: "encoder_missing",
		Detail: name + " needs the program ffmpeg on the server: install the package ffmpeg, or request wav, " +
			"flac or pcm",
	}}}
}

// speechError returns the error of an announcement as that of a speech request,
// whose input is the message.
func (h *handlers) speechError(err error) error {
	all := h.Problem(err).Errors
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
