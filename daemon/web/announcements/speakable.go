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
		Request:   "SpeakableRequest",
		Responses: []web.Response{{Status: http.StatusOK, Description: "What would be spoken.", Schema: "Speakable"}},
		Problems:  []int{http.StatusServiceUnavailable},
		Limited:   true,
	})}
}

// A Preview is the body of the response to POST /speakable.
type Preview struct {
	Text     string  `json:"text"` // speakable text
	Words    int     `json:"words"`
	Seconds  float64 `json:"seconds"`  // estimated duration at the default rate
	Phonemes string  `json:"phonemes"` // of the text
}

func (h *handlers) speakable(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Message string `json:"message"`
		Voice   string `json:"voice"`
	}
	if err := h.Decode(w, r, "SpeakableRequest", &body); err != nil {
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
