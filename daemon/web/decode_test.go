package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
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

// Addresses are accepted, as rebinding needs a name, and names that nobody can register or that are configured: of
// *.club.example those below it. Browsers parse a name whose last label is a number as an address.
func TestHosts_allow(t *testing.T) {
	t.Parallel()
	for want, hosts := range map[bool][]string{
		true: {
			"localhost", "localhost:8888", "LOCALHOST.:8888", "box.localhost", "192.168.1.7", "192.168.1.7:8888",
			"203.0.113.7", "[::1]", "[::1]:8888", "[fd00::7]:8888", "pressbox", "pressbox:80", "pressbox.local",
			"pressbox-2.local.", "pressbox.home.arpa", "speaker.example.org", "Speaker.Example.Org:443",
			"kiosk.club.example", "a.b.club.example", "local", "pressbox.lan", "pressbox.LAN.:8888",
			"pressbox.internal", "pressbox.home", "pressbox.localdomain", "evil-lan",
		},
		false: {
			"", "evil.example", "evil.example:8888", "club.example", "speaker.example.org.evil.example",
			"notspeaker.example.org", ".local", "evil.local.example", "0.0.0.0", "0.0.0.0:8888", "[::]", "[::]:8888",
			"::1", "[127.0.0.1]", "[fe80::1%25eth0]", ".lan", "pressbox.lan.evil.example", "pressbox.fritz.box",
			"2130706433", "evil.127", "localhost:", "localhost:x", "localhost:80:80", "local host", "localhost/evil",
			"user@localhost", "a..local", strings.Repeat("a", 64) + ".local",
		},
	} {
		for _, host := range hosts {
			check.Equal(t, web.AllowHost(host, "speaker.example.org", "*.club.example"), want, "Host %s accepted", host)
		}
	}
}

// Node's fetch, which sends Sec-Fetch-Mode alone, is no browser; a page that sets a header is none of another site.
func TestContentType_nodeFetch(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, media := range []string{"text/plain;charset=UTF-8", "application/x-www-form-urlencoded;charset=UTF-8", ""} {
		for header, want := range map[string]int{"Sec-Fetch-Mode": 202, "Sec-Fetch-Site": 415, "Origin": 415} {
			value := map[string]string{
				"Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin", "Origin": "http://localhost",
			}
			headers := []string{header, value[header], "Host", "localhost", "Client", "127.0.0.1:1"}
			if media != "" {
				headers = append(headers, "Content-Type", media)
			}
			r.Do(t, "POST", "/notify", "Dinner is ready.", headers...).Want(want)
			headers = append(headers, "X-Requested-With", "docs") // which no other site's page can send
			r.Do(t, "POST", "/notify", "Dinner is ready.", headers...).Want(202)
			check.Must(r.Announcer.CancelWaiting(t.Context(), nil))(t)
		}
	}
}

func TestGuards_wrongHost(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Do(t, "GET", "/health", "", "Host", "evil.example").Want(421, "wrong_host")
	r.Do(t, "POST", "/notify", `{"message": "x"}`, "Host", "0.0.0.0:8888").Want(421, "wrong_host")
	r.Do(t, "GET", "/nowhere", "", "Host", "evil.example").Want(421, "wrong_host")
	r.Do(t, "GET", "/health", "", "Host", "10.0.0.1:8888").Want(200)
	own := check.Must(os.Hostname())(t)
	own, _, _ = strings.Cut(own, ".")
	r.Do(t, "GET", "/health", "", "Host", own+".fritz.box").Want(200)
	r.Do(t, "GET", "/health", "", "Host", "x"+own+".fritz.box").Want(421, "wrong_host")
	for version, want := range map[int]int{0: 200, 1: 421} {
		req := webtest.NewRequest("GET", "/health", "")
		req.Host, req.ProtoMajor, req.ProtoMinor = "", 1, version
		check.Equal(t, r.Send(t, r.Handler(), req).StatusCode, want, "HTTP/1.%d without a Host: status", version)
	}
}

func TestHosts_configured(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"x.example", "*.x.example", "Box.Example.", "192.168.1.5", "fd00::7"} {
		check.ErrorIs(t, web.CheckAllowedHost(good), nil, "ALLOWED_HOSTS=%q", good)
	}
	for _, bad := range []string{"", "http://x.example", "x.example/y", "*", "*.", "a*b", "x.example:80", "two names"} {
		check.That(t, web.CheckAllowedHost(bad) != nil, "ALLOWED_HOSTS=%q is accepted", bad)
	}
}

// The server refuses what a page of another site can make a browser send, and
// accepts requests of its own page and of scripts.
func TestGuards_crossOrigin(t *testing.T) {
	t.Parallel()
	const trusted, own = "https://box.example.org", "http://pressbox.local:8888"
	const form, fetch = "application/x-www-form-urlencoded", "Sec-Fetch-Site"
	r := webtest.NewRig(t, func(c *site.Config) { c.TrustedOrigins = []string{trusted} })
	media := func(kind string, more ...string) []string { return append([]string{"Content-Type", kind}, more...) }
	const body = `{"message": "Dinner is ready."}`
	for _, tt := range []struct {
		name    string
		headers []string
		status  int
		code    string
	}{
		{"curl -d", media(form), 202, ""},
		{"curl --json", media(webtest.AsJSON), 202, ""},
		{"a script without Content-Type", nil, 202, ""},
		{"JSON with a charset", media("application/json; charset=utf-8"), 202, ""},
		{"a script's plain text", media("text/plain"), 202, ""},
		{"a script with two Content-Types", media(webtest.AsJSON, "Content-Type", "text/plain"), 202, ""},
		{"a script with an invalid Content-Type", media(";;"), 202, ""},

		{"our own page", media(webtest.AsJSON, "Origin", own), 202, ""},
		{"our own page, new browser", media(webtest.AsJSON, fetch, "same-origin"), 202, ""},
		{"our own page, form", media(form, "Origin", own), 415, "unsupported_media_type"},
		{"our own page, plain text", media("text/plain", fetch, "same-origin"), 415, "unsupported_media_type"},
		{"our own page, no type", []string{fetch, "same-origin"}, 415, "unsupported_media_type"},
		{"a trusted page", media(webtest.AsJSON, "Origin", trusted, fetch, "cross-site"), 202, ""},

		{"a blob without Content-Type", []string{"Origin", "https://evil.example"}, 403, "cross_origin"},
		{"another port of ours", media(webtest.AsJSON, "Origin", "http://pressbox.local:3000"), 403, "cross_origin"},
		{"a text/plain form", media("text/plain", "Origin", "null"), 403, "cross_origin"},
		{"a new browser, another site", media("text/plain", fetch, "cross-site"), 403, "cross_origin"},
		{"a new browser, a sister site", media(webtest.AsJSON, fetch, "same-site"), 403, "cross_origin"},
		{"rebinding", media(webtest.AsJSON, "Host", "a.example", "Origin", "http://a.example"), 421, "wrong_host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.Do(t, "POST", "/notify", body, tt.headers...).Want(tt.status, tt.code)
			r.Do(t, "DELETE", "/notify", "").Want(200)
		})
	}
}

func TestGuards_securityHeaders(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct{ method, path, host string }{
		{"GET", "/", "localhost"},
		{"GET", "/docs", "localhost"},
		{"GET", "/health", "localhost"},
		{"GET", "/nowhere", "localhost"},
		{"PUT", "/health", "localhost"},
		{"GET", "/health", "evil.example"},
		{"POST", "/notify", "localhost"},
	} {
		h := r.Do(t, tt.method, tt.path, "", "Host", tt.host).Header
		policy := h.Get("Content-Security-Policy")
		check.That(t, strings.Contains(policy, "default-src 'none'") && !strings.Contains(policy, "unsafe"),
			"%s %s: Content-Security-Policy %q", tt.method, tt.path, policy)
		check.That(t, h.Get("X-Content-Type-Options") == "nosniff" && h.Get("Referrer-Policy") != "",
			"%s %s: headers %v", tt.method, tt.path, h)
		// Browsers ignore it on others than https and the host itself, and say so.
		opener := map[string]string{"localhost": "same-origin"}[tt.host]
		check.Equal(t, h.Get("Cross-Origin-Opener-Policy"), opener, "Cross-Origin-Opener-Policy of %s", tt.host)
	}
}

func TestProxies_client(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/24")}
	const proxy, untrusted = "10.0.0.1", "203.0.113.5"
	for _, tt := range []struct {
		peer    string
		headers []string
		want    string // "" means unknown
	}{
		{untrusted, nil, untrusted},
		{proxy, nil, ""}, // it names no client
		{"127.0.0.1", nil, "127.0.0.1"},
		{untrusted, []string{"X-Forwarded-For: 127.0.0.1"}, ""},
		{untrusted, []string{"Forwarded: for=127.0.0.1"}, ""},
		{"192.168.1.9", []string{"X-Forwarded-For: 192.168.1.10"}, ""}, // a proxy that is not trusted
		{"192.168.1.9", []string{"X-Real-Ip: 192.168.1.10"}, ""},
		{proxy, []string{"X-Real-Ip: 192.168.1.10"}, ""},

		{proxy, []string{"X-Forwarded-For: 198.51.100.1"}, "198.51.100.1"},
		// the client sent the first address
		{proxy, []string{"X-Forwarded-For: 127.0.0.2, 198.51.100.1"}, "198.51.100.1"},
		{proxy, []string{"X-Forwarded-For: 192.168.1.1, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{proxy, []string{"X-Forwarded-For: 192.168.1.1", "X-Forwarded-For: 198.51.100.1"}, "198.51.100.1"},
		{proxy, []string{"X-Forwarded-For: 10.0.0.3"}, "10.0.0.3"},
		{proxy, []string{"X-Forwarded-For: [2001:db8::1]:443"}, "2001:db8::1"},
		{proxy, []string{"X-Forwarded-For: 198.51.100.1:4711"}, "198.51.100.1"},
		{proxy, []string{"X-Forwarded-For: ::ffff:198.51.100.1"}, "198.51.100.1"},
		{proxy, []string{"X-Forwarded-For: unknown"}, ""},
		{proxy, []string{"X-Forwarded-For: "}, ""},
		{proxy, []string{"X-Forwarded-For: 198.51.100.1,"}, ""},

		{proxy, []string{"Forwarded: for=198.51.100.1"}, "198.51.100.1"},
		{proxy, []string{`Forwarded: For="[2001:db8::1]:4711";proto=https;by=10.0.0.1`}, "2001:db8::1"},
		{proxy, []string{`Forwarded: for=192.168.1.1, for="198.51.100.1:80"`}, "198.51.100.1"},
		{proxy, []string{`Forwarded: for=192.168.1.1;by="a,for=127.0.0.1", proto=http`}, ""},
		{proxy, []string{"Forwarded: for=192.168.1.1;for=198.51.100.1"}, ""},
		{proxy, []string{`Forwarded: for=127.0.0.1;by=", for=198.51.100.1`}, ""}, // an open quote
		{proxy, []string{`Forwarded: for=127.0.0.1;by="`, "Forwarded: for=198.51.100.1"}, "198.51.100.1"},
		{proxy, []string{`Forwarded: for=127.0.0.1;by=", for="198.51.100.1:80"`}, ""},
		{proxy, []string{"Forwarded: for=198.51.100.1,"}, ""},
		{proxy, []string{"Forwarded: "}, ""},
		{proxy, []string{"Forwarded: for=_hidden"}, ""},
		{proxy, []string{"Forwarded: proto=https"}, ""},

		{proxy, []string{"X-Forwarded-For: 198.51.100.1", "Forwarded: for=198.51.100.1"}, "198.51.100.1"},
		// the client sent one of them
		{proxy, []string{"X-Forwarded-For: 198.51.100.1", "Forwarded: for=127.0.0.1"}, ""},
	} {
		headers := http.Header{}
		for _, h := range tt.headers {
			name, value, _ := strings.Cut(h, ": ")
			headers.Add(name, value)
		}
		want, _ := netip.ParseAddr(tt.want)
		got := web.ClientOf(trusted, netip.MustParseAddr(tt.peer), headers)
		check.That(t, got == want, "client of %s with %q: %v, want %q", tt.peer, tt.headers, got, tt.want)
	}
}

func TestPeerOf_credentials(t *testing.T) {
	t.Parallel()
	l, path := webtest.ListenUnix(t)
	dialed := check.Must(new(net.Dialer).DialContext(t.Context(), "unix", path))(t)
	defer dialed.Close()
	conn := check.Must(l.Accept())(t)
	defer conn.Close()
	uid, groups, err := web.PeerOf(conn.(*net.UnixConn))
	check.That(t, err == nil && uid == os.Getuid(), "the peer is user %d (%v), want %d", uid, err, os.Getuid())
	want := check.Must(os.Getgroups())(t)
	for _, group := range append(want, os.Getgid()) {
		check.That(t, slices.Contains(groups, uint32(group)), "groups %v of the peer lack %d", groups, group)
	}
}

func TestPeer_administers(t *testing.T) {
	t.Parallel()
	_, path := webtest.ListenUnix(t)
	own, group := os.Geteuid(), uint32(os.Getegid())
	for _, tt := range []struct {
		name   string
		uid    int
		groups []uint32
		socket string
		want   bool
	}{
		{"root", 0, []uint32{0}, path, true},
		{"the server's user", own, []uint32{group + 1}, path, true},
		{"a member of the socket's group", own + 1000, []uint32{group}, path, true},
		{"a member by a supplementary group", own + 1000, []uint32{group + 1, group + 2, group}, path, true},
		{"another user", own + 1000, []uint32{group + 1, group + 2}, path, false},
		{"another user at a deleted socket", own + 1000, []uint32{group}, path + "-deleted", false},
		{"root at a deleted socket", 0, []uint32{0}, path + "-deleted", true},
	} {
		check.Equal(t, web.Administers(tt.uid, tt.groups, tt.socket), tt.want, "%s administers", tt.name)
	}
}

// A TCP socket has no peer credentials, so no client can administer through it.
func TestServeAdmin_tcp(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Level = new(slog.LevelVar) })
	l := webtest.NewWire()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.ServeAdmin(ctx, l) }()
	conn, resp := l.Ask(t, "GET /admin/log-level HTTP/1.1\r\nHost: localhost\r\n\r\n")
	body, err := io.ReadAll(resp.Body)
	check.That(t, err == nil && resp.StatusCode == http.StatusForbidden &&
		strings.Contains(string(body), "not_administrator"), "status %d, %v: %s", resp.StatusCode, err, body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	r.Check.CheckResponse(t, webtest.NewRequest("GET", "/admin/log-level", ""), resp)
	conn.Close()
	cancel()
	check.NoError(t, <-served)
}
