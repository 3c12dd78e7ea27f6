package library

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/voice"
)

// An Info describes an installed voice.
type Info struct {
	Name       string
	Language   string // such as "en"
	Country    string // such as "US"; may be empty
	Speaker    string // the middle part of the name
	Quality    string // such as "medium"
	SampleRate int    // samples per second; 0 for a faulty voice
	Speakers   []string
	SizeBytes  int64 // of the model
	Default    bool
	Loaded     bool
	// WordsPerMinute is its natural speed; nil until calibrated.
	WordsPerMinute *float64
	License        string // from its card; may be empty
	Error          string // why it is unusable; "" if it is usable
	Label          string // its name for people, such as "Pressbox (English, US)"
}

// Default returns the name of the default voice, installed or not.
func (l *Library) Default() string { return l.present(l.currentDefaults().Voice) }

// Voices returns the installed voices, including faulty ones, by name.
func (l *Library) Voices() []Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	infos := make([]Info, 0, len(l.voices))
	for _, name := range slices.Sorted(maps.Keys(l.voices)) {
		infos = append(infos, l.info(l.voices[name]))
	}
	return infos
}

// voiceName is <language>_<REGION>-<speaker>-<quality>.
var voiceName = regexp.MustCompile(`^([a-z]{2,3})_([A-Z]{2})-(.+)-([^-]+)$`)

// info describes a voice.
func (v *inventory) info(e *installedVoice) Info {
	standard, _, _ := v.find(v.defaults.Voice) // nil on error
	i := Info{
		Name:      e.name,
		Speakers:  []string{},
		SizeBytes: e.size,
		Default:   e == standard,
		Loaded:    e.model != nil,
		License:   e.license,
	}
	if e.err != nil {
		i.Error = e.err.Error()
	}
	if c := e.config; c != nil {
		i.Language, i.Country = c.Language.Family, c.Language.Region
		i.Quality, i.Speaker = c.Quality, c.Dataset
		i.SampleRate, i.Speakers = c.SampleRate, speakers(c)
		if c := e.calibrations[c.DefaultSpeaker]; c != nil && c.known {
			wpm := c.value.WordsPerMinute()
			i.WordsPerMinute = &wpm
		}
	}
	if part := voiceName.FindStringSubmatch(e.name); part != nil {
		i.Language, i.Country = cmp.Or(i.Language, part[1]), cmp.Or(i.Country, part[2])
		i.Speaker, i.Quality = part[3], cmp.Or(i.Quality, part[4])
	}
	i.Label = i.Name
	if i.Speaker != "" {
		language := i.Language
		if e.config != nil {
			language = cmp.Or(e.config.Language.NameEnglish, language)
		}
		i.Label = label(i.Speaker, i.Quality, language, i.Country)
	}
	return i
}

// label returns a voice's name for people: its speaker, its quality unless that is the usual one, and its
// language and country as far as they are known.
func label(speaker, quality, language, country string) string {
	name := strings.ReplaceAll(speaker, "_", " ")
	first, size := utf8.DecodeRuneInString(name)
	name = string(unicode.ToUpper(first)) + name[size:]
	if quality != "" && quality != "medium" {
		name += ", " + strings.ReplaceAll(quality, "_", " ")
	}
	if language == "" {
		return name
	}
	if country != "" {
		language += ", " + country
	}
	return name + " (" + language + ")"
}

// speakers returns the names of a voice's speakers after the #, by number, none if there is only one.
func speakers(c *voice.Config) []string {
	if c.Speakers == 1 {
		return []string{}
	}
	names := make([]string, c.Speakers)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	for _, name := range slices.Sorted(maps.Keys(c.SpeakerIDs)) {
		names[c.SpeakerIDs[name]] = name
	}
	return names
}
