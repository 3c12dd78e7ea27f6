package openai

import (
	"net/http"
	"regexp"
	"slices"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
)

// modelNames are the models of speech that OpenAI's documents name; clients offer or
// check them. All of them are the installed voices.
var modelNames = []string{"gpt-4o-mini-tts", "tts-1", "tts-1-hd"} //nolint:gochecknoglobals // a constant

// voiceNames are the names of OpenAI's voices. Clients offer them, or send the first as
// their default.
var voiceNames = []string{ //nolint:gochecknoglobals // a constant
	"alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse",
}

// kokoroVoice matches the names of Kokoro's voices: language, sex, and a given name.
var kokoroVoice = regexp.MustCompile(`^[abefhijpz][fm]_[a-z]+$`)

// A Model is a model in OpenAI's API.
type Model struct {
	ID      string `json:"id"`
	Object  string `json:"object" const:"model"`
	Created int64  `json:"created"` // always 0
	OwnedBy string `json:"owned_by" const:"pressbox"`
}

func newModel(name string) Model { return Model{ID: name, Object: "model", OwnedBy: "pressbox"} }

// A modelsReply lists the models.
type modelsReply struct {
	Object string  `json:"object" const:"list"`
	Data   []Model `json:"data"`
}

func (h *handlers) models(w http.ResponseWriter, _ *http.Request) error {
	list := modelsReply{Object: "list"}
	for _, name := range modelNames {
		list.Data = append(list.Data, newModel(name))
	}
	return web.WriteJSON(w, http.StatusOK, list)
}

func (h *handlers) model(w http.ResponseWriter, r *http.Request) error {
	name := web.Param(r, "id")
	if !slices.Contains(modelNames, name) {
		return web.ErrNotFound
	}
	return web.WriteJSON(w, http.StatusOK, newModel(name))
}

// A Voice is a voice in the lists that clients of OpenAI's API read.
type Voice struct {
	ID   string `json:"id"`   // voice of a request
	Name string `json:"name"` // name for people
}

func (h *handlers) voices(w http.ResponseWriter, _ *http.Request) error {
	all := []Voice{} // [] instead of null
	for _, v := range h.Voices().Voices {
		if v.Error == "" {
			all = append(all, Voice{ID: v.Name, Name: v.Label})
		}
	}
	return web.WriteJSON(w, http.StatusOK, voicesReply{"list", all, all})
}

// A voicesReply lists the voices.
type voicesReply struct {
	Object string  `json:"object" const:"list"`
	Data   []Voice `json:"data"`
	Voices []Voice `json:"voices"` // the same as data
}

// installedVoice returns the name of a voice: "", the default voice, for one of OpenAI's
// or Kokoro's voices, unless a voice of that name is installed.
func (h *handlers) installedVoice(name string) string {
	installed := func(v announcements.Voice) bool { return v.Name == name }
	foreign := slices.Contains(voiceNames, name) || kokoroVoice.MatchString(name)
	if foreign && !slices.ContainsFunc(h.Voices().Voices, installed) {
		return ""
	}
	return name
}
