package announcements

import (
	"net/http"

	"pressbox/daemon/web"
)

// A VoiceList holds the installed voices.
type VoiceList struct {
	Default string  `json:"default"` // voice of announcements without one
	Voices  []Voice `json:"voices"`
}

// A Voice is an installed voice.
type Voice struct {
	Name       string `json:"name"`
	Language   string `json:"language"` // such as "en"
	Country    string `json:"country"`  // such as "US"
	Speaker    string `json:"speaker"`  // middle part of its name
	Quality    string `json:"quality"`
	SampleRate int    `json:"sample_rate" minimum:"0"` // samples per second
	// Speakers of a multi-speaker voice, which are selected as NAME#SPEAKER; otherwise empty.
	Speakers  []string `json:"speakers"`
	SizeBytes int64    `json:"size_bytes" minimum:"0"`
	Default   bool     `json:"default"`
	Loaded    bool     `json:"loaded"` // true while the model is in memory
	// Measured rate without rate control; null before the measurement.
	WordsPerMinute *float64 `json:"words_per_minute"`
	License        string   `json:"license,omitempty"`
	Error          string   `json:"error,omitempty"` // reason why the voice cannot be loaded
	Label          string   `json:"label"`           // name for people, such as "Pressbox (English, US)"
}

func (h *handlers) voiceRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/voices", web.Public, h.voices, web.Operation{
		ID: "listVoices", Tag: "server", Summary: "List the installed voices",
		Description: "A pair of files added to MODEL_DIR is listed without a restart; one that cannot be loaded is " +
			"listed with its error.",
		Responses: []web.Response{{Status: http.StatusOK, Description: "The voices.", Body: VoiceList{}}},
	})}
}

func (h *handlers) voices(w http.ResponseWriter, _ *http.Request) error {
	list := h.Voices()
	list.Voices = append([]Voice{}, list.Voices...) // [] instead of null
	for i := range list.Voices {
		list.Voices[i].Speakers = append([]string{}, list.Voices[i].Speakers...)
	}
	return web.WriteJSON(w, http.StatusOK, list)
}
