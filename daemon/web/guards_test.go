package web_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

func TestHosts_allow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host string
		want bool
	}{
		{"localhost", true},
		{"localhost:8888", true},
		{"LOCALHOST.:8888", true},
		{"box.localhost", true},
		{"192.168.1.7", true},
		{"192.168.1.7:8888", true},
		{"203.0.113.7", true}, // rebinding needs a name
		{"[::1]", true},
		{"[::1]:8888", true},
		{"[fd00::7]:8888", true},
		{"pressbox", true},
		{"pressbox:80", true},
		{"pressbox.local", true},
		{"pressbox-2.local.", true},
		{"pressbox.home.arpa", true},
		{"speaker.example.org", true},
		{"Speaker.Example.Org:443", true},
		{"kiosk.club.example", true},
		{"a.b.club.example", true},

		{"", false},
		{"evil.example", false},
		{"evil.example:8888", false},
		{"club.example", false}, // only names below it are configured
		{"speaker.example.org.evil.example", false},
		{"notspeaker.example.org", false},
		{"local", true}, // a name without a dot
		{".local", false},
		{"evil.local.example", false},
		{"0.0.0.0", false},
		{"0.0.0.0:8888", false},
		{"[::]", false},
		{"[::]:8888", false},
		{"::1", false}, // needs brackets
		{"[127.0.0.1]", false},
		{"[fe80::1%25eth0]", false},
		{"pressbox.lan", true},
		{"pressbox.LAN.:8888", true},
		{"pressbox.internal", true},
		{"pressbox.home", true},
		{"pressbox.localdomain", true},
		{".lan", false},
		{"evil-lan", true}, // without a dot
		{"pressbox.lan.evil.example", false},
		{"pressbox.fritz.box", false}, // .box can be registered
		{"2130706433", false},         // browsers parse it as 127.0.0.1
		{"evil.127", false},
		{"localhost:", false},
		{"localhost:x", false},
		{"localhost:80:80", false},
		{"local host", false},
		{"localhost/evil", false},
		{"user@localhost", false},
		{"a..local", false},
		{strings.Repeat("a", 64) + ".local", false},
	} {
		check.Equal(t, web.AllowHost(tt.host, "speaker.example.org", "*.club.example"),
			tt.want, "Host %s accepted", tt.host)
	}
}

func TestGuards_wrongHost(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Do(t, "GET", "/health", "", "Host", "evil.example").Want(421, "wrong_host")
	r.Do(t, "POST", "/notify", `{"message": "x"}`, "Host", "0.0.0.0:8888").Want(421, "wrong_host")
	r.Do(t, "GET", "/nowhere", "", "Host", "evil.example").Want(421, "wrong_host")
	r.Do(t, "GET", "/health", "", "Host", "10.0.0.1:8888").Want(200)
}

func TestHosts_configured(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"x.example", "*.x.example", "Box.Example.", "192.168.1.5", "fd00::7"} {
		if err := web.CheckAllowedHost(good); err != nil {
			t.Errorf("ALLOWED_HOSTS=%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "http://x.example", "x.example/y", "*", "*.", "a*b", "x.example:80", "two names"} {
		if err := web.CheckAllowedHost(bad); err == nil {
			t.Errorf("ALLOWED_HOSTS=%q is accepted", bad)
		}
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
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s %s: Content-Security-Policy %q", tt.method, tt.path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") == "" {
			t.Errorf("%s %s: headers %v", tt.method, tt.path, h)
		}
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
		if got := web.ClientOf(trusted, netip.MustParseAddr(tt.peer), headers); got != want {
			t.Errorf("client of %s with %q: %v, want %q", tt.peer, tt.headers, got, tt.want)
		}
	}
}
