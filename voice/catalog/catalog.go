// Package catalog installs voices from a catalog in Piper's layout: a voices.json and, next to it, the files
// that it lists.
//
// One law: a voice is installed complete and as the catalog describes it, or not at all. A partial download
// is stored under a name that the voice library ignores, and is resumed from there.
package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxIndex = 16 << 20 // bytes of a voices.json; Piper's has 300 KB
	maxFile  = 1 << 30  // bytes of a file of a voice; Piper's largest has 140 MB

	maxHeader = 64 << 10 // bytes of a response's header
)

// Errors of a catalog, in addition to network errors.
var (
	ErrUnknown   = errors.New("unknown voice")
	ErrMalformed = errors.New("not a catalog of voices")
	ErrDiskSpace = errors.New("not enough disk space")
	ErrChecksum  = errors.New("the file does not match the catalog")
	// ErrInsecure is the error of an address, or of a redirect, that anyone on the way can answer.
	ErrInsecure = errors.New("not https")
)

// A Catalog lists the voices that can be installed.
type Catalog struct {
	base   *url.URL // of voices.json
	client *http.Client
	voices map[string]Voice
}

// A Voice is an entry of a catalog.
type Voice struct {
	Name     string // such as "en_US-lessac-medium"
	Language string // its name in English
	Quality  string
	Speakers int
	files    []file // config, card, and last the model
}

// A file is one file of a voice.
type file struct {
	path string // relative to the catalog
	name string // in the voice directory
	size int64
	sum  checksum
}

// A checksum is the digest of a file, in hexadecimal.
type checksum struct {
	algorithm string // "SHA-256" or "MD5"
	digest    string
}

// Size returns the size of the voice in bytes.
func (v Voice) Size() (total int64) {
	for _, f := range v.files {
		total += f.size
	}
	return total
}

// Checksum returns the weakest algorithm by which the catalog describes the voice's files: "SHA-256" or
// "MD5".
func (v Voice) Checksum() string {
	if slices.ContainsFunc(v.files, func(f file) bool { return f.sum.algorithm != sha256Name }) {
		return md5Name
	}
	return sha256Name
}

// An indexEntry is an entry of voices.json, without fields that are not used.
type indexEntry struct {
	Language struct {
		English string `json:"name_english"`
		Country string `json:"country_english"`
	} `json:"language"`
	Quality  string `json:"quality"`
	Speakers int    `json:"num_speakers"`
	Files    map[string]struct {
		Size   int64  `json:"size_bytes"`
		SHA256 string `json:"sha256_digest"` // "" means none; Piper's catalog has none
		MD5    string `json:"md5_digest"`
	} `json:"files"`
	Aliases []string `json:"aliases"`
}

// Fetch downloads the catalog at an address. It and the files of its voices are fetched over https; with
// insecure, also over http. A redirect from https to http is an error in any case.
func Fetch(ctx context.Context, client *http.Client, address string, insecure bool) (*Catalog, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("fetch the catalog: %w", err)
	}
	if base.Scheme != "https" && !insecure {
		return nil, fmt.Errorf("fetch the catalog: %s: %w", address, ErrInsecure)
	}
	own := *client
	own.CheckRedirect = checkRedirect
	client = &own
	resp, err := get(ctx, client, base.String(), 0)
	if err != nil {
		return nil, fmt.Errorf("fetch the catalog: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxIndex+1))
	if err != nil {
		return nil, fmt.Errorf("fetch the catalog: %w", err)
	}
	if len(text) > maxIndex {
		return nil, fmt.Errorf("fetch the catalog: %w: larger than %d bytes", ErrMalformed, maxIndex)
	}
	voices, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("fetch the catalog: %w", err)
	}
	return &Catalog{base, client, voices}, nil
}

// NewClient returns a client for [Fetch], whose server may be slow to respond.
func NewClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		ForceAttemptHTTP2:   true,

		MaxResponseHeaderBytes: maxHeader,
	}}
}

// checkRedirect follows at most ten redirects, and none from https to another scheme.
func checkRedirect(next *http.Request, via []*http.Request) error {
	const most = 10
	if len(via) >= most {
		return fmt.Errorf("more than %d redirects", most)
	}
	if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return fmt.Errorf("redirected to %s: %w", next.URL.Redacted(), ErrInsecure)
	}
	return nil
}

const (
	sha256Name = "SHA-256"
	md5Name    = "MD5"
)

var (
	sha256Digest = regexp.MustCompile(`^[0-9a-f]{64}$`)
	md5Digest    = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// parseChecksum returns the stronger of a file's checksums; ok is false if a digest is invalid, or there is
// none.
func parseChecksum(sha256, md5 string) (sum checksum, ok bool) {
	if sha256 != "" {
		return checksum{sha256Name, sha256}, sha256Digest.MatchString(sha256)
	}
	return checksum{md5Name, md5}, md5Digest.MatchString(md5)
}

// validName reports whether a name may be used for a file: letters and digits of any script and, except
// first, the punctuation in names of voices.
func validName(name string) bool {
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || !strings.ContainsRune("_+.-", r)) {
			return false
		}
	}
	return name != "" && utf8.ValidString(name)
}

// parse parses a voices.json. An alias, an older name of a voice, gets its own entry.
func parse(text []byte) (map[string]Voice, error) {
	var entries map[string]indexEntry
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

// voice validates an entry: its files must be in the voice directory.
func (e indexEntry) voice(name string) (Voice, error) {
	if !validName(name) {
		return Voice{}, errors.New("invalid name")
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
			continue // not needed
		}
		sum, ok := parseChecksum(about.SHA256, about.MD5)
		if !ok || !path.IsAbs("/"+from) || strings.Contains(from, "..") || about.Size < 0 || about.Size > maxFile {
			return Voice{}, fmt.Errorf("file %q has an invalid name, size or checksum", from)
		}
		v.files = append(v.files, file{from, to, about.Size, sum})
	}
	slices.SortFunc(v.files, func(a, b file) int { return cmp.Compare(ranks[a.name], ranks[b.name]) })
	if len(v.files) < 2 || v.files[0].name != name+".onnx.json" || v.files[len(v.files)-1].name != name+".onnx" {
		return Voice{}, errors.New("the model or its config is missing")
	}
	return v, nil
}

// Voices returns the voices by name, without aliases.
func (c *Catalog) Voices() []Voice {
	var all []Voice
	for _, name := range slices.Sorted(maps.Keys(c.voices)) {
		if v := c.voices[name]; v.Name == name {
			all = append(all, v)
		}
	}
	return all
}

// Find returns the voice with a name, or [ErrUnknown].
func (c *Catalog) Find(name string) (Voice, error) {
	v, ok := c.voices[name]
	if !ok {
		return Voice{}, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return v, nil
}

func (c *Catalog) fileURL(f file) string {
	parts := strings.Split(f.path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part) // such as "tugão"
	}
	u := *c.base
	u.RawPath = strings.TrimSuffix(path.Dir(c.base.EscapedPath()), "/") + "/" + strings.Join(parts, "/")
	u.Path = strings.TrimSuffix(path.Dir(c.base.Path), "/") + "/" + f.path
	return u.String()
}
