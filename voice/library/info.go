package library

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"pressbox/voice"
)

// An Info is what can be told of an installed voice.
type Info struct {
	Name       string
	Language   string // such as "en"
	Country    string // such as "US"; may be empty
	Speaker    string // who speaks: the middle part of the name
	Quality    string // such as "medium"
	SampleRate int    // samples per second; 0 when the voice is broken
	Speakers   []string
	SizeBytes  int64 // of the model
	Default    bool
	Loaded     bool
	// WordsPerMinute is how fast it speaks by itself; nil until measured.
	WordsPerMinute *float64
	License        string // from its card; may be empty
	Error          string // why it cannot be used; "" when it can
}

// Default returns the name of the default voice, installed or not.
func (l *Library) Default() string { return l.cfg.Default }

// Voices returns the installed voices, the broken ones too, by name.
func (l *Library) Voices() []Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	infos := make([]Info, 0, len(l.entries))
	for _, name := range slices.Sorted(maps.Keys(l.entries)) {
		infos = append(infos, l.info(l.entries[name]))
	}
	return infos
}

// voiceName is <language>_<REGION>-<speaker>-<quality>.
var voiceName = regexp.MustCompile(`^([a-z]{2,3})_([A-Z]{2})-(.+)-([^-]+)$`)

// info returns what is known of e; l.mu must be held.
func (l *Library) info(e *entry) Info {
	i := Info{
		Name:      e.name,
		Speakers:  []string{},
		SizeBytes: e.size,
		Default:   e == l.defaultEntry(),
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
	return i
}

// defaultEntry returns the default voice's entry, nil when it is unusable;
// l.mu must be held.
func (l *Library) defaultEntry() *entry {
	e, _, _ := l.findLocked(l.cfg.Default) // nil says it all
	return e
}

// speakers returns how the speakers of a voice are named after the #, in the
// order of their numbers, none when there is only one.
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
