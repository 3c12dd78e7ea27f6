// Package catalogue fetches voices from a catalogue in the layout of Piper's: a
// voices.json, and beside it the files that it names.
//
// One law: a voice is installed whole and as the catalogue describes it, or not at
// all. What was fetched of one that was cut off is kept under a name that means
// nothing to the library, and fetching goes on from there.
package catalogue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxIndex = 16 << 20 // bytes of a voices.json; Piper's has 300 KB
	maxFile  = 1 << 30  // bytes of one file of a voice; Piper's largest has 140 MB
)

// What is wrong, besides what the network says.
var (
	ErrUnknown   = errors.New("the catalogue has no such voice")
	ErrMalformed = errors.New("what was fetched is no catalogue of voices")
	ErrChecksum  = errors.New("the file is not the one that the catalogue describes")
)

// A Catalogue is what there is to be installed.
type Catalogue struct {
	base   *url.URL // of voices.json
	voices map[string]Voice
}

// A Voice is an entry of a catalogue.
type Voice struct {
	Name     string // such as "en_US-lessac-medium"
	Language string // its name in English
	Quality  string
	Speakers int
	files    []file // its configuration, its card, and last its model
}

// A file of a voice.
type file struct {
	path string // below the catalogue
	name string // in the folder of voices
	size int64
	md5  string // in hexadecimal
}

// Size is how many bytes the voice has.
func (v Voice) Size() (total int64) {
	for _, f := range v.files {
		total += f.size
	}
	return total
}

// An entry is what voices.json says of a voice, as far as it matters here.
type entry struct {
	Language struct {
		English string `json:"name_english"`
		Country string `json:"country_english"`
	} `json:"language"`
	Quality  string `json:"quality"`
	Speakers int    `json:"num_speakers"`
	Files    map[string]struct {
		Size int64  `json:"size_bytes"`
		MD5  string `json:"md5_digest"`
	} `json:"files"`
	Aliases []string `json:"aliases"`
}

// Fetch reads the catalogue at an address.
func Fetch(ctx context.Context, client *http.Client, address string) (*Catalogue, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("fetch the catalogue: %w", err)
	}
	resp, err := get(ctx, client, base.String(), 0)
	if err != nil {
		return nil, fmt.Errorf("fetch the catalogue: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxIndex+1))
	if err != nil {
		return nil, fmt.Errorf("fetch the catalogue: %w", err)
	}
	if len(text) > maxIndex {
		return nil, fmt.Errorf("fetch the catalogue: %w: it has more than %d bytes", ErrMalformed, maxIndex)
	}
	voices, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("fetch the catalogue: %w", err)
	}
	return &Catalogue{base, voices}, nil
}

var digest = regexp.MustCompile(`^[0-9a-f]{32}$`)

// isName says whether a name can be that of a file: letters and digits of any
// script, and, behind the first, what names of voices have besides.
func isName(name string) bool {
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || !strings.ContainsRune("_+.-", r)) {
			return false
		}
	}
	return name != "" && utf8.ValidString(name)
}

// parse reads a voices.json. Names under which an older one knew a voice are
// entries of their own.
func parse(text []byte) (map[string]Voice, error) {
	var entries map[string]entry
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	voices := make(map[string]Voice)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		v, err := e.voice(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrMalformed, name, err)
		}
		voices[name] = v
		for _, alias := range e.Aliases {
			if _, known := entries[alias]; !known {
				voices[alias] = v
			}
		}
	}
	return voices, nil
}

// voice checks an entry: what it names may lie nowhere but in the folder of voices.
func (e entry) voice(name string) (Voice, error) {
	if !isName(name) {
		return Voice{}, errors.New("a strange name")
	}
	v := Voice{Name: name, Language: e.Language.English, Quality: e.Quality, Speakers: e.Speakers}
	if e.Language.Country != "" {
		v.Language += ", " + e.Language.Country
	}
	ranks := map[string]int{name + ".onnx.json": 1, name + ".MODEL_CARD": 2, name + ".onnx": 3} // the model last
	for _, from := range slices.Sorted(maps.Keys(e.Files)) {
		about := e.Files[from]
		to := path.Base(from)
		if to == "MODEL_CARD" {
			to = name + ".MODEL_CARD"
		}
		if ranks[to] == 0 {
			continue // nothing that a voice needs
		}
		if !path.IsAbs("/"+from) || strings.Contains(from, "..") || about.Size < 0 || about.Size > maxFile || !digest.MatchString(about.MD5) {
			return Voice{}, fmt.Errorf("its file %q has a strange name, size or checksum", from)
		}
		v.files = append(v.files, file{from, to, about.Size, about.MD5})
	}
	slices.SortFunc(v.files, func(a, b file) int { return cmp.Compare(ranks[a.name], ranks[b.name]) })
	if len(v.files) < 2 || v.files[0].name != name+".onnx.json" || v.files[len(v.files)-1].name != name+".onnx" {
		return Voice{}, errors.New("it has no model, or no configuration")
	}
	return v, nil
}

// Voices returns what there is, by name; those known by an older name once.
func (c *Catalogue) Voices() []Voice {
	var all []Voice
	for _, name := range slices.Sorted(maps.Keys(c.voices)) {
		if v := c.voices[name]; v.Name == name {
			all = append(all, v)
		}
	}
	return all
}

// Find returns the voice of a name, or [ErrUnknown].
func (c *Catalogue) Find(name string) (Voice, error) {
	v, ok := c.voices[name]
	if !ok {
		return Voice{}, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return v, nil
}

// at is the address of a file.
func (c *Catalogue) at(f file) string {
	parts := strings.Split(f.path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part) // such as "tugão"
	}
	u := *c.base
	u.RawPath = strings.TrimSuffix(path.Dir(c.base.EscapedPath()), "/") + "/" + strings.Join(parts, "/")
	u.Path = strings.TrimSuffix(path.Dir(c.base.Path), "/") + "/" + f.path
	return u.String()
}
