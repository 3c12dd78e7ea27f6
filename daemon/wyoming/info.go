package wyoming

import (
	"cmp"
	"strings"
)

// The data of info, in the form that the protocol's clients need: of the services, tts is the only one that is
// served.
type (
	infoData struct {
		ASR    []any     `json:"asr"`
		Handle []any     `json:"handle"`
		Intent []any     `json:"intent"`
		Wake   []any     `json:"wake"`
		Mic    []any     `json:"mic"`
		Snd    []any     `json:"snd"`
		TTS    []program `json:"tts"`
	}
	program struct {
		Name        string      `json:"name"` // clients identify the server by it: it must not change
		Attribution attribution `json:"attribution"`
		Installed   bool        `json:"installed"`
		Description string      `json:"description"`
		Version     string      `json:"version"`
		Streaming   bool        `json:"supports_synthesize_streaming"`
		Voices      []infoVoice `json:"voices"`
	}
	infoVoice struct {
		Name        string      `json:"name"`
		Attribution attribution `json:"attribution"`
		Installed   bool        `json:"installed"`
		Description string      `json:"description"`
		Version     *string     `json:"version"`
		Languages   []string    `json:"languages"`
		Speakers    []speaker   `json:"speakers"`
	}
	attribution struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	speaker struct {
		Name string `json:"name"`
	}
)

func (s *Server) info() infoData {
	voices := []infoVoice{}
	for _, v := range s.Voices() {
		voices = append(voices, v.info())
	}
	return infoData{
		ASR: []any{}, Handle: []any{}, Intent: []any{}, Wake: []any{}, Mic: []any{}, Snd: []any{},
		TTS: []program{{
			Name: "Pressbox " + s.Room, Attribution: attribution{Name: "Pressbox"}, Installed: true,
			Description: "Pressbox " + s.Room, Version: s.Version, Streaming: true, Voices: voices,
		}},
	}
}

func (v Voice) info() infoVoice {
	var speakers []speaker
	for _, name := range v.Speakers {
		speakers = append(speakers, speaker{name})
	}
	return infoVoice{
		Name: v.Name, Attribution: attribution{Name: cmp.Or(v.License, "unknown")}, Installed: true,
		Description: v.Label, Languages: v.languages(), Speakers: speakers,
	}
}

// languages returns the spellings of the voice's language: clients compare them letter by letter.
func (v Voice) languages() []string {
	all := []string{v.Language}
	if tag := strings.ReplaceAll(v.Language, "_", "-"); tag != v.Language {
		all = append(all, tag)
	}
	return all
}
