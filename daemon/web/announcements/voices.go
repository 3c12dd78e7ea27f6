package announcements

import (
	"net/http"

	"pressbox/daemon/web"
)

// A VoiceList is the body of GET /voices.
type VoiceList struct {
	Default string  `json:"default"` // may not be installed
	Voices  []Voice `json:"voices"`
}

// A Voice is the JSON of an installed voice.
type Voice struct {
	Name           string   `json:"name"`
	Language       string   `json:"language"` // such as "en"
	Country        string   `json:"country"`  // such as "US"
	Speaker        string   `json:"speaker"`  // middle part of its name
	Quality        string   `json:"quality"`
	SampleRate     int      `json:"sample_rate"` // samples per second; 0 if it cannot be loaded
	Speakers       []string `json:"speakers"`    // names; empty if there is only one
	SizeBytes      int64    `json:"size_bytes"`
	Default        bool     `json:"default"`
	Loaded         bool     `json:"loaded"`
	WordsPerMinute *float64 `json:"words_per_minute"` // at length scale 1; nil until measured
	License        string   `json:"license,omitempty"`
	Error          string   `json:"error,omitempty"` // why it cannot be loaded
	Label          string   `json:"label"`           // its name for people
}

func (h *handlers) voiceRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/voices", web.Public, h.voices, web.Operation{
		ID: "listVoices", Tag: "server", Summary: "List the installed voices",
		Description: "A pair of files added to MODEL_DIR is listed without a restart; one that cannot be loaded is " +
			"listed with its error.",
		Responses: []web.Response{{Status: http.StatusOK, Description: "The voices.", Schema: "Voices"}},
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
