package openai

import (
	"encoding/json"
	"math"
	"net/http"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// Words per minute between which a voice's own pace is natural; what is beyond is done by the time stretch.
const slowest, fastest = 85, 300

// A speechRequest is the body of a request of the OpenAI API. Other members are ignored.
//
//	{"model": "tts-1", "input": "Dinner is ready.", "response_format": "wav"}
//
// Or:
//
//	{"model": "gpt-4o-mini-tts", "input": "Dinner is ready.", "voice": {"id": "alloy"}, "response_format": "flac",
//	 "stream_format": "sse"}
type speechRequest struct {
	Model string `json:"model"`                 // ignored
	Input string `json:"input" required:"true"` // text to speak, like the message of an announcement
	// Name of a voice in GET /voices, or an object with it; default: the default voice. The names of OpenAI's
	// voices and Kokoro's, such as alloy and af_bella, are the default voice.
	Voice        voiceName `json:"voice"`
	Instructions string    `json:"instructions" maxLength:"4096"` // ignored, as by tts-1
	// pcm is mono, 24,000 samples per second, signed 16-bit, little-endian; opus is in Ogg, aac in ADTS. mp3, opus
	// and aac need ffmpeg on the server (422 `encoder_missing`). Default: mp3 where ffmpeg is, otherwise wav.
	Format string `json:"response_format" enum:"wav,pcm,flac,mp3,opus,aac"`
	// sse: events `speech.audio.delta` with the member audio, in base64, then `speech.audio.done`.
	Stream string `json:"stream_format" enum:"audio,sse" default:"audio"`
	// Relative to DEFAULT_RATE: by the voice's pace from 85 to 300 words a minute, beyond by a time stretch that keeps
	// the pitch.
	Speed float64 `json:"speed" minimum:"0.25" maximum:"4" default:"1"`
	// Words per minute, takes precedence over speed; 0: use speed. Not in the OpenAI API.
	Rate int      `json:"rate" minimum:"0" maximum:"400" default:"0"`
	_    struct{} `additionalProperties:"true"`
}

// A voiceName is a voice in a request: its name, or an object with its id.
type voiceName string

// JSONSchemaBytes returns the schema of either.
func (voiceName) JSONSchemaBytes() ([]byte, error) {
	return []byte(`{
		"type": ["string", "object", "null"], "required": ["id"], "properties": {"id": {"type": "string"}}
	}`), nil
}

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
	body := speechRequest{Speed: 1}
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	if body.Format == "" {
		body.Format = h.defaultFormat()
	}
	if body.Rate == 0 {
		rate := float64(h.DefaultRate()) * body.Speed
		body.Rate = int(math.Round(max(slowest, min(fastest, rate))))
		body.Speed = rate / float64(body.Rate)
	} else {
		body.Speed = 1
	}
	if math.Abs(body.Speed-1) < 0.01 { // a rate is a whole number
		body.Speed = 1
	}
	n, err := h.Announcer.CheckSpeech(announce.Request{Content: announce.Content{
		Message: body.Input, Voice: h.installedVoice(string(body.Voice)), Rate: body.Rate,
	}})
	if err != nil {
		return h.speechError(err)
	}
	if err := h.checkFormat(body.Format); err != nil {
		return err
	}
	ctx, slot, err := h.Speeches.Take(r.Context(), h.ClientBlock(r))
	if err != nil {
		return err
	}
	defer slot.Release()
	return h.send(w, r.WithContext(ctx), body, n, slot)
}

// defaultFormat returns the format of a request without one: OpenAI's, where that can be encoded.
func (h *handlers) defaultFormat() string {
	if h.FFmpeg.Check() == nil {
		return "mp3"
	}
	return "wav"
}

// checkFormat returns an error if nothing encodes a format on this host.
func (h *handlers) checkFormat(name string) error {
	if formats[name].start != nil || h.FFmpeg.Check() == nil {
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
