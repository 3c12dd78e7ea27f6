package announcements

import (
	"fmt"
	"net/http"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

func (h *handlers) speakableRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodPost, "/speakable", web.NotifyAccess, h.speakable, web.Operation{
		ID: "previewSpeakable", Tag: "speech", Summary: "Show how a message would be spoken",
		Description: "Returns the message with numbers, units and symbols in words, as the voice reads it, and its " +
			"phonemes. Nothing is spoken or saved.",
		Request:   speakableRequest{},
		Responses: []web.Response{{Status: http.StatusOK, Description: "What would be spoken.", Body: Preview{}}},
		Problems:  []int{http.StatusServiceUnavailable},
		Limited:   true,
		Reads:     true,
	})}
}

// A Preview is the body of the response to POST /speakable.
type Preview struct {
	Text    string  `json:"text"` // the message in words, as the voice reads it
	Words   int     `json:"words" minimum:"1"`
	Seconds float64 `json:"seconds" minimum:"0"` // estimated duration at DEFAULT_RATE
	// Phonemes of the text, in the International Phonetic Alphabet or the voice's own.
	Phonemes string `json:"phonemes"`
}

// A speakableRequest asks how a message would be spoken.
//
//	{"message": "Washer done in 1h 5m."}
type speakableRequest struct {
	Message string `json:"message" required:"true"` // text, like the message of an announcement
	// Name of a voice in GET /voices; default: the default voice. Its language selects the rules.
	Voice string `json:"voice"`
}

func (h *handlers) speakable(w http.ResponseWriter, r *http.Request) error {
	var body speakableRequest
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	a, err := h.Announcer.Check(announce.Request{Content: announce.Content{Message: body.Message, Voice: body.Voice}})
	if err != nil {
		return err
	}
	preview, err := h.Preview(r.Context(), a.Voice, a.Message)
	if err != nil {
		return fmt.Errorf("preview a message: %w", err)
	}
	return web.WriteJSON(w, http.StatusOK, preview)
}
