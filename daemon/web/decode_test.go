package web_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/packaging/check"
	"pressbox/voice/control"
)

func TestDecodeJSON_rules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"t":"a","d":{"n":1}}`:        true,
		" {\"t\":\"a\"}\n":             true,
		`{}`:                           true,
		``:                             false,
		`null`:                         false,
		`[]`:                           false,
		`{"t":"a"`:                     false,
		`{"t":"a"} {}`:                 false, // trailing data
		`{"t":"a","t":"a"}`:            false, // duplicate names
		`{"d":{"n":1,"n":1}}`:          false,
		`{"d":{"more":{"n":1,"n":2}}}`: false,
		`{"t":"a","u":1}`:              false, // unknown names
		`{"T":"a"}`:                    false,
		"{\"t\":\"\xff\"}":             false, // invalid UTF-8
		`{"t":"\ud800"}`:               false,
		`{"t":1}`:                      false,
		`{"t":"a",}`:                   false,
		`{'t':'a'}`:                    false,
		`{"t":"a","\u0074":"b"}`:       false,
		"\ufeff{}":                     false,
		`{"d":{"n":017}}`:              false,
	} {
		var v struct {
			Type string         `json:"t"`
			Data map[string]any `json:"d"`
		}
		if err := web.DecodeJSON([]byte(text), &v); (err == nil) != want {
			t.Errorf("DecodeJSON(%q): %v, want success: %v", text, err, want)
		}
	}
}

// Only responses above 1,024 bytes are compressed, and only for clients that accept it.
func TestWriteLargeJSON(t *testing.T) {
	t.Parallel()
	const small, large = 1024 - len("\"\"\n"), 1025 - len("\"\"\n")
	for _, tt := range []struct {
		accepts string
		size    int
		gzipped bool
	}{
		{"gzip", large, true},
		{"br, GZIP;q=0.5", large, true},
		{"gzip", small, false},
		{"", large, false},
		{"gzip;q=0", large, false},
		{"gzip;q=0.0, br", large, false},
		{"identity", large, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if tt.accepts != "" {
			r.Header.Set("Accept-Encoding", tt.accepts)
		}
		text := strings.Repeat("x", tt.size)
		for range 2 { // the second one uses the compressor of the first
			w := httptest.NewRecorder()
			check.NoError(t, web.WriteLargeJSON(w, r, text))
			got, body := w.Header().Get("Content-Encoding") == "gzip", io.Reader(w.Body)
			if got {
				body = check.Must(gzip.NewReader(w.Body))(t)
			}
			if plain := check.Must(io.ReadAll(body))(t); string(plain) != `"`+text+"\"\n" {
				t.Errorf("%q, %d bytes: the body is %.20q", tt.accepts, tt.size, plain)
			}
			if vary := w.Header().Get("Vary"); got != tt.gzipped || vary != "Accept-Encoding" ||
				w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%q, %d bytes: compressed %v, Vary %q, want %v", tt.accepts, tt.size, got, vary, tt.gzipped)
			}
		}
	}
	w := httptest.NewRecorder()
	if err := web.WriteLargeJSON(w, httptest.NewRequest(http.MethodGet, "/", nil), make(chan int)); err == nil ||
		w.Header().Get("Vary") != "" {
		t.Errorf("what is not JSON: %v, %v", err, w.Header())
	}
}

// A client that has the value already receives no body, however it is encoded.
func TestWriteLargeJSON_conditional(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 2000)
	ask := func(text, accepts, has string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepts)
		if has != "" {
			r.Header.Set("If-None-Match", has)
		}
		w := httptest.NewRecorder()
		check.NoError(t, web.WriteLargeJSON(w, r, text))
		return w
	}
	first := ask(text, "gzip", "")
	tag := first.Header().Get("ETag")
	if first.Code != 200 || !strings.HasPrefix(tag, `W/"`) ||
		first.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("status %d, %v", first.Code, first.Header())
	}
	for _, tt := range []struct {
		text, has string
		want      int
	}{
		{text, tag, 304},
		{text, `"a", ` + tag, 304},
		{text, "*", 304},
		{text + "y", tag, 200},
		{text, `W/"a"`, 200},
		{text, "", 200},
	} {
		for _, accepts := range []string{"gzip", "identity"} {
			if w := ask(tt.text, accepts, tt.has); w.Code != tt.want || (w.Body.Len() == 0) != (tt.want == 304) {
				t.Errorf("If-None-Match %s, %s: status %d with %d bytes, want %d",
					tt.has, accepts, w.Code, w.Body.Len(), tt.want)
			}
		}
	}
}

// Every body is accepted or refused with a code; an accepted one is a JSON object
// for encoding/json, with the same values.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"name": "n", "cron": "0 8 * * *", "message": "x", "rate": 170, "voice": "v", "urgent": true, "ttl": 60}`,
		`{"message": "x", "title": "t", "priority": 5, "volume": 100, "chime": "ding", "repeat": {"times": 2, ` +
			`"every": 10}}`,
		`{"message": "x", "repeat": {"times": 2, "every": 10, "x": 1}}`,
		`{"message": "x", "message": "y"}`, `{"message": "x"} x`, `{"message": 1, "rate": "1", "a/b~": {}}`,
		`{"message": "\ud83d\ude00", "rate": 1.7e2}`, `{"message": "x", "rate": 1e999}`, `[]`, `{`, "\xff",
		`{"message":"x","rate":-0}`, `{"a":{"b":{"c":[1,2,{"d":null}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	document := check.Must(site.OpenAPI(""))(f)
	bodies := check.Must(web.CompileSchemas(document, site.Routes()))(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		type request struct {
			Title    string  `json:"title"`
			Message  string  `json:"message"`
			Rate     float64 `json:"rate"`
			Voice    string  `json:"voice"`
			Urgent   bool    `json:"urgent"`
			Priority float64 `json:"priority"`
			Volume   float64 `json:"volume"`
			Chime    string  `json:"chime"`
			Name     string  `json:"name"`
			Cron     string  `json:"cron"`
			TTL      float64 `json:"ttl"`
			Repeat   struct {
				Times float64 `json:"times"`
				Every float64 `json:"every"`
			} `json:"repeat"`
		}
		outside := func(n, least, most float64) bool { return n != 0 && (n < least || n > most) }
		var got, want request
		status, code := bodies.Decode(slices.Clone(text), control.Plan{}, &got)
		switch status {
		case 200:
			if err := json.Unmarshal(text, &want); err != nil || got != want || !utf8.Valid(text) {
				t.Fatalf("%q was decoded as %+v, want %+v: %v", text, got, want, err)
			}
			if outside(got.Rate, 60, 400) || outside(got.TTL, 5, 86400) || outside(got.Priority, 1, 5) ||
				outside(got.Volume, 1, 100) ||
				outside(got.Repeat.Times, 2, 10) || outside(got.Repeat.Every, 10, 3600) {
				t.Fatalf("%q was decoded as %+v", text, got)
			}
		case 400, 422:
			check.Require(t, code != "", "%q was refused without a code", text)
		default:
			t.Fatalf("%q: status %d", text, status)
		}
	})
}

// Every accepted Host is an address or a name that cannot be registered.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{
		"localhost", "[::1]:80", "10.0.0.1:8888", "a.local.", "evil.example", "0.0.0.0", "1.2.3", "[::", "a:b:c",
		"x.HOME.arpa:1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if !web.AllowHost(header) {
			return
		}
		host := strings.ToLower(header)
		if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
			host = host[:i]
		}
		host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
		if a, err := netip.ParseAddr(host); err == nil {
			check.Require(t, !a.IsUnspecified(), "Host %q was accepted", header)
			return
		}
		local := func(suffix string) bool { return strings.HasSuffix(host, suffix) }
		suffixes := []string{".local", ".localhost", ".home.arpa", ".internal", ".lan", ".home", ".localdomain"}
		if strings.Contains(host, ".") && !slices.ContainsFunc(suffixes, local) {
			t.Fatalf("Host %q was accepted", header)
		}
		check.Require(t, !strings.ContainsAny(host, "/@\\%?# "), "Host %q was accepted", header)
	})
}

// Forwarding headers of an untrusted client never change its address, and never
// hide it behind a trusted proxy that appends to them.
func FuzzForwarded(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1", `for="[::1]:1"`,
		"unknown", `for=10.0.0.1;for=10.0.0.2`, `"`, ",", "10.0.0.1, 127.0.0.1", `for="a,b";x`, `for=127.0.0.1;by="`,
	} {
		f.Add(seed, seed)
	}
	proxy, untrusted := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("203.0.113.5")
	trusted := []netip.Prefix{netip.PrefixFrom(proxy, 32)}
	f.Fuzz(func(t *testing.T, forwardedFor, forwarded string) {
		headers := http.Header{"X-Forwarded-For": {forwardedFor}, "Forwarded": {forwarded}}
		if got := web.ClientOf(trusted, untrusted, headers); got.IsValid() {
			t.Fatalf("the client became %v", got)
		}
		appended := http.Header{"X-Forwarded-For": {forwardedFor + ", " + untrusted.String()}}
		if got := web.ClientOf(trusted, proxy, appended); got != untrusted {
			t.Fatalf("the client became %v", got)
		}
		for _, passed := range []http.Header{
			{"X-Forwarded-For": {untrusted.String()}, "Forwarded": {forwarded}},
			{"Forwarded": {forwarded, "for=" + untrusted.String()}},
			{"Forwarded": {forwarded + `, for="` + untrusted.String() + `:80"`}},
		} {
			if got := web.ClientOf(trusted, proxy, passed); got.IsValid() && got != untrusted {
				t.Fatalf("%v: the client became %v", passed, got)
			}
		}
	})
}
