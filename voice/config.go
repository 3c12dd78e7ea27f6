package voice

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A PhonemeType is the kind of a voice's phonemes.
type PhonemeType string

// The supported phoneme types.
const (
	Espeak PhonemeType = "espeak" // espeak-ng's IPA
	Text   PhonemeType = "text"   // characters of the text
)

// Phonemes that frame every sequence of ids.
const (
	pad = "_"
	bos = "^"
	eos = "$"
)

// A Config is a validated .onnx.json of a voice. The keys are Piper's; hop_length, phoneme_map,
// phoneme_silence, piper_version and unknown ones are ignored.
type Config struct {
	SampleRate int    // audio.sample_rate, 8000–48000 a second
	Quality    string // audio.quality; informative
	Language   Language
	Dataset    string // name of the speaker; informative

	Espeak         string // espeak.voice, such as "en-us"; "" only for Text
	PhonemeType    PhonemeType
	Symbols        int                // num_symbols; every id is below it
	PhonemeIDs     map[string][]int64 // phoneme_id_map
	Speakers       int                // num_speakers, at least 1
	SpeakerIDs     map[string]int64   // speaker_id_map; may be empty
	DefaultSpeaker int64

	NoiseScale  float32 // inference.noise_scale, 0.667 when absent
	LengthScale float32 // inference.length_scale, 1 when absent
	NoiseW      float32 // inference.noise_w, 0.8 when absent

	clusters [][]string // vowel_clusters, longest first
}

// A Language describes the language of a voice; every field may be empty.
type Language struct {
	Code        string `json:"code"` // such as "en_US"
	Family      string `json:"family"`
	Region      string `json:"region"`
	NameNative  string `json:"name_native"`
	NameEnglish string `json:"name_english"`
	Country     string `json:"country_english"`
}

// configFile is the file format; nil pointers mean absent.
type configFile struct {
	Audio struct {
		SampleRate *int   `json:"sample_rate"`
		Quality    string `json:"quality"`
	} `json:"audio"`
	Espeak struct {
		Voice *string `json:"voice"`
	} `json:"espeak"`
	PhonemeType    *PhonemeType       `json:"phoneme_type"`
	NumSymbols     *int               `json:"num_symbols"`
	NumSpeakers    *int               `json:"num_speakers"`
	PhonemeIDMap   map[string][]int64 `json:"phoneme_id_map"`
	SpeakerIDMap   map[string]int64   `json:"speaker_id_map"`
	DefaultSpeaker int64              `json:"default_speaker_id"`
	Inference      struct {
		NoiseScale  *float32 `json:"noise_scale"`
		LengthScale *float32 `json:"length_scale"`
		NoiseW      *float32 `json:"noise_w"`
	} `json:"inference"`
	VowelClusters [][]string `json:"vowel_clusters"`
	Language      Language   `json:"language"`
	Dataset       string     `json:"dataset"`
}

// ParseConfig parses a voice's .onnx.json. The error lists everything that is wrong with it.
func ParseConfig(data []byte) (*Config, error) {
	f, err := decodeConfig(data)
	if err != nil {
		return nil, err
	}
	if missing := f.missing(); len(missing) > 0 {
		return nil, fmt.Errorf("the voice's config lacks %s", strings.Join(missing, ", "))
	}
	c := &Config{
		SampleRate:     *f.Audio.SampleRate,
		Quality:        f.Audio.Quality,
		Language:       f.Language,
		Dataset:        f.Dataset,
		Espeak:         or(f.Espeak.Voice, ""),
		PhonemeType:    or(f.PhonemeType, Espeak),
		Symbols:        *f.NumSymbols,
		PhonemeIDs:     f.PhonemeIDMap,
		Speakers:       *f.NumSpeakers,
		SpeakerIDs:     f.SpeakerIDMap,
		DefaultSpeaker: f.DefaultSpeaker,
		NoiseScale:     or(f.Inference.NoiseScale, 0.667),
		LengthScale:    or(f.Inference.LengthScale, 1),
		NoiseW:         or(f.Inference.NoiseW, 0.8),
		clusters:       sortedClusters(f.VowelClusters),
	}
	var wrong faults
	c.checkTypes(&wrong)
	c.checkIDs(&wrong)
	c.checkSpeakers(&wrong)
	c.checkScales(&wrong)
	for _, cluster := range c.clusters {
		merged := strings.Join(cluster, "")
		wrong.when(len(c.PhonemeIDs[merged]) == 0, "vowel_clusters has %q, which has no id in phoneme_id_map", merged)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("the voice's config is invalid: %s", strings.Join(wrong, "; "))
	}
	return c, nil
}

// missing returns the required keys that the file lacks.
func (f *configFile) missing() []string {
	var keys []string
	need := func(key string, absent bool) {
		if absent {
			keys = append(keys, key)
		}
	}
	need("audio.sample_rate", f.Audio.SampleRate == nil)
	need("espeak.voice", f.Espeak.Voice == nil && or(f.PhonemeType, Espeak) == Espeak)
	need("num_symbols", f.NumSymbols == nil)
	need("num_speakers", f.NumSpeakers == nil)
	need("phoneme_id_map", f.PhonemeIDMap == nil)
	return keys
}

// Locale returns the language for the rules of text conversion, such as "en-us".
func (c *Config) Locale() string {
	if c.Espeak != "" {
		return c.Espeak
	}
	return strings.ToLower(strings.ReplaceAll(c.Language.Code, "_", "-"))
}

// Limits of samples per second, symbols, speakers, and the ids of a phoneme.
const (
	minSampleRate, maxSampleRate = 8000, 48000
	maxSymbols                   = 1 << 16
	maxSpeakers                  = 1 << 16
	maxIDs                       = 8
)

// espeakName matches names of espeak's voices. The name becomes a command line argument, so it must not look
// like an option or leave espeak's directory.
var espeakName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(/[A-Za-z0-9][A-Za-z0-9_-]*)*(\+[A-Za-z0-9_-]+)?$`)

// faults are what is wrong with a config.
type faults []string

func (f *faults) when(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

func (c *Config) checkTypes(f *faults) {
	f.when(c.SampleRate < minSampleRate || c.SampleRate > maxSampleRate,
		"audio.sample_rate is %d, want %d to %d", c.SampleRate, minSampleRate, maxSampleRate)
	f.when(c.PhonemeType != Espeak && c.PhonemeType != Text,
		"phoneme_type is %q, expected %q or %q", c.PhonemeType, Espeak, Text)
	f.when(c.PhonemeType == Espeak && !espeakName.MatchString(c.Espeak),
		"espeak.voice is %q, expected one of espeak's languages, such as en-us", c.Espeak)
}

func (c *Config) checkIDs(f *faults) {
	if c.Symbols < 1 || c.Symbols > maxSymbols {
		f.when(true, "num_symbols is %d, want 1 to %d", c.Symbols, maxSymbols)
		return
	}
	for _, p := range []string{pad, bos, eos} {
		f.when(len(c.PhonemeIDs[p]) == 0, "phoneme_id_map has no %q", p)
	}
	for _, p := range slices.Sorted(maps.Keys(c.PhonemeIDs)) {
		if n := len(c.PhonemeIDs[p]); n > maxIDs {
			f.when(true, "phoneme_id_map gives %q %d ids, want at most %d", p, n, maxIDs)
			return
		}
		for _, id := range c.PhonemeIDs[p] {
			if id < 0 || id >= int64(c.Symbols) {
				f.when(true, "phoneme_id_map gives %q the id %d, but num_symbols is %d", p, id, c.Symbols)
				return // one is enough: a wrong num_symbols causes a hundred
			}
		}
	}
}

func (c *Config) checkSpeakers(f *faults) {
	if c.Speakers < 1 || c.Speakers > maxSpeakers {
		f.when(true, "num_speakers is %d, want 1 to %d", c.Speakers, maxSpeakers)
		return
	}
	invalid := func(id int64) bool { return id < 0 || id >= int64(c.Speakers) }
	f.when(invalid(c.DefaultSpeaker), "default_speaker_id is %d, but num_speakers is %d", c.DefaultSpeaker, c.Speakers)
	for _, name := range slices.Sorted(maps.Keys(c.SpeakerIDs)) {
		id := c.SpeakerIDs[name]
		f.when(invalid(id), "speaker_id_map gives %q the id %d, but num_speakers is %d", name, id, c.Speakers)
	}
}

func (c *Config) checkScales(f *faults) {
	for _, scale := range []struct {
		name  string
		value float32
		least float32
	}{
		{"length_scale", c.LengthScale, 0.1}, // far from 1 it is a wrong unit and would produce hours of sound
		{"noise_scale", c.NoiseScale, 0},
		{"noise_w", c.NoiseW, 0},
	} {
		f.when(scale.value < scale.least || scale.value > 10,
			"inference.%s is %g, want %g to 10", scale.name, scale.value, scale.least)
	}
}

// sortedClusters returns the clusters of phonemes in NFD, longest first.
func sortedClusters(clusters [][]string) [][]string {
	var out [][]string
	for _, cluster := range clusters {
		phonemes := codepoints(norm.NFD.String(strings.Join(cluster, "")))
		if len(phonemes) > 1 {
			out = append(out, phonemes)
		}
	}
	slices.SortStableFunc(out, func(a, b []string) int { return len(b) - len(a) })
	return out
}

// or returns *p, or otherwise if p is nil.
func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
