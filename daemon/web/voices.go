package web

import "net/http"

// A VoiceList is the body of GET /voices.
type VoiceList struct {
	Default string  `json:"default"` // whether it is installed or not
	Voices  []Voice `json:"voices"`
}

// A Voice is what clients are told of an installed voice.
type Voice struct {
	Name           string   `json:"name"`
	Language       string   `json:"language"` // such as "en"
	Country        string   `json:"country"`  // such as "US"
	Speaker        string   `json:"speaker"`  // the middle part of its name
	Quality        string   `json:"quality"`
	SampleRate     int      `json:"sample_rate"` // samples per second; 0 when broken
	Speakers       []string `json:"speakers"`    // names of its speakers; empty when there is only one
	SizeBytes      int64    `json:"size_bytes"`
	Default        bool     `json:"default"`
	Loaded         bool     `json:"loaded"`
	WordsPerMinute *float64 `json:"words_per_minute"` // at length scale 1; nil until measured
	License        string   `json:"license,omitempty"`
	Error          string   `json:"error,omitempty"` // why it cannot be used
}

func (s *Server) voiceRoutes() []route {
	return []route{{http.MethodGet, "/voices", everyone, s.voices, operation{
		id: "listVoices", tag: "appliance", summary: "The installed voices",
		description: "A pair of files that is put into MODEL_DIR appears here without a restart; a broken pair appears with its error.",
		answers:     []success{{status: http.StatusOK, description: "The voices.", schema: "Voices"}},
	}}}
}

func (s *Server) voices(w http.ResponseWriter, _ *http.Request) error {
	list := s.cfg.Voices()
	list.Voices = append([]Voice{}, list.Voices...) // [] rather than null
	for i := range list.Voices {
		list.Voices[i].Speakers = append([]string{}, list.Voices[i].Speakers...)
	}
	return reply(w, http.StatusOK, list)
}
