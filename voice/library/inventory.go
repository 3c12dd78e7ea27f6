package library

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pressbox/voice"
	"pressbox/voice/announce"
)

// An inventory is the voices that were found, and which of them are loaded. It has no lock.
type inventory struct {
	defaults   Defaults
	cacheBytes int64 // limit for loaded models, without the one that speaks by default
	log        *slog.Logger
	voices     map[string]*installedVoice // by name
	loaded     []*installedVoice          // with a model; the most recently used is last
}

// renamed are the bundled voices of earlier versions, and those that have taken their places.
var renamed = map[string]string{ //nolint:gochecknoglobals // a table
	"en_US-pressbox-medium": "en_US-heart-medium", "en_US-pressbox2-medium": "en_US-heart_lower-medium",
}

// current returns the present name of a voice.
func (v *inventory) current(name string) string {
	if v.voices[name] == nil {
		return cmp.Or(renamed[name], name)
	}
	return name
}

// find returns the voice and the speaker with a name.
func (v *inventory) find(name string) (*installedVoice, int64, error) {
	name = v.current(name)
	unknown := &announce.UnknownVoiceError{Name: name, Installed: v.usable()}
	e, speaker, hasSpeaker := v.voices[name], "", false
	if at := strings.LastIndexByte(name, '#'); e == nil && at >= 0 {
		e, speaker, hasSpeaker = v.voices[name[:at]], name[at+1:], true
	}
	switch {
	case e == nil:
		return nil, 0, unknown
	case e.err != nil:
		unknown.Broken = e.err
		return nil, 0, unknown
	case !hasSpeaker:
		return e, e.config.DefaultSpeaker, nil
	}
	id, ok := speakerOf(e.config, speaker)
	if !ok {
		unknown.Speakers = speakers(e.config)
		return nil, 0, unknown
	}
	return e, id, nil
}

// speakerOf returns the speaker with a name or number.
func speakerOf(config *voice.Config, name string) (int64, bool) {
	if id, ok := config.SpeakerIDs[name]; ok {
		return id, true
	}
	id, err := strconv.ParseInt(name, 10, 64)
	return id, err == nil && id >= 0 && id < int64(config.Speakers)
}

// usable returns the names of the voices without an error, in order.
func (v *inventory) usable() []string {
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(v.voices)) {
		if v.voices[name].err == nil {
			names = append(names, name)
		}
	}
	return names
}

// substitutes returns the names of the usable voices in the order in which they speak for a voice that
// cannot: the voice itself without its speaker, those of its language, the default voice first, then the
// others.
func (v *inventory) substitutes(name string) []string {
	base, standard := baseName(name), baseName(v.current(v.defaults.Voice))
	language := v.languageOf(base)
	rank := func(other string) int {
		switch same := language != "" && v.languageOf(other) == language; {
		case other == base:
			return 0
		case same && other == standard:
			return 1
		case same:
			return 2
		case other == standard:
			return 3
		}
		return 4
	}
	names := v.usable() // in order, so that equal ranks are
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(rank(x), rank(y)) })
	return names
}

// baseName returns the name of a voice without its speaker.
func baseName(name string) string {
	if at := strings.LastIndexByte(name, '#'); at >= 0 {
		return name[:at]
	}
	return name
}

// languageOf returns the language of a voice, such as "en", by its config or else by its name; it need not be
// installed. "" means unknown.
func (v *inventory) languageOf(name string) string {
	if e := v.voices[name]; e != nil && e.config != nil && e.config.Language.Family != "" {
		return e.config.Language.Family
	}
	if part := voiceName.FindStringSubmatch(name); part != nil {
		return part[1]
	}
	return ""
}

// preferred returns the name of the voice that speaks by default: the default voice or its substitute.
func (v *inventory) preferred() (string, error) {
	name := v.current(v.defaults.Voice)
	_, _, err := v.find(name)
	if err == nil {
		return name, nil
	}
	if all := v.substitutes(v.defaults.Voice); len(all) > 0 {
		return all[0], nil
	}
	return "", fmt.Errorf("%w: default voice: %w", voice.ErrUnavailable, err)
}

// preferredVoice returns the voice that speaks by default, nil if none is usable.
func (v *inventory) preferredVoice() *installedVoice {
	name, err := v.preferred()
	if err != nil {
		return nil
	}
	e, _, _ := v.find(name) // it is usable
	return e
}

// drop marks a voice as removed; its last user closes the model.
func (v *inventory) drop(e *installedVoice) {
	e.stale = true
	if e.users == 0 && e.model != nil {
		v.unload(e)
	}
}

// unload closes e's model, which has no users.
func (v *inventory) unload(e *installedVoice) {
	if err := e.model.Close(); err != nil {
		v.log.Error("closing a model failed", "voice", e.name, "err", err)
	}
	e.model = nil
	v.loaded = v.without(e)
}

// without returns the loaded voices except e.
func (v *inventory) without(e *installedVoice) []*installedVoice {
	return slices.DeleteFunc(v.loaded, func(o *installedVoice) bool { return o == e })
}

// trim unloads the least recently used models until the rest fit the cache; the voice that speaks by default
// and models with users stay.
func (v *inventory) trim() {
	pinned := v.preferredVoice()
	total := int64(0)
	for _, e := range v.loaded {
		if e != pinned {
			total += e.size
		}
	}
	for _, e := range slices.Clone(v.loaded) {
		if total > v.cacheBytes && e != pinned && e.users == 0 {
			total -= e.size
			v.unload(e)
		}
	}
}
