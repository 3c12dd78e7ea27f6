package auth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/packaging/check"
)

// Spellings of a name are one name.
func TestCanonicalName_spellings(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"alice", "Alice", "ALICE", " alice ", "ａｌｉｃｅ"},
		{"anna b", "Anna  B", "anna\u00a0b"},
		{"josé", "JOSÉ", "jose\u0301"},
		{"alica", "Alica"},
	} {
		for _, name := range same {
			got, ok := auth.CanonicalName(name)
			if want, _ := auth.CanonicalName(same[0]); !ok || got != want || want == "alice" != (same[0] == "alice") {
				t.Errorf("%q is %q, %v; want %q", name, got, ok, want)
			}
		}
	}
	for _, name := range []string{"", "  ", "a\x00b", "a\nb", "\xff", strings.Repeat("a", auth.MaxNameLength+1)} {
		got, ok := auth.CanonicalName(name)
		check.That(t, !ok, "%q is the name %q, want none", name, got)
	}
}

// A passphrase has 8 to 128 characters of any sort; only exact entries of the list are refused.
func TestCheckPassphrase_limits(t *testing.T) {
	t.Parallel()
	short, common := auth.ErrPassphraseTooShort, auth.ErrPassphraseTooCommon
	for passphrase, want := range map[string]error{
		"1234567": short, "": short, "ééééééé": short, strings.Repeat("é", 129): auth.ErrPassphraseTooLong,
		"password1": common, "12345678": common, "correct horse battery staple": common,
		"password1x": nil, "my password1": nil, "Password1 ": nil, "password1\nqwertyui": nil, "        ": nil,
		strings.Repeat("é", 64): nil, strings.Repeat("é", 128): nil, "\x00\x01\x02\x03\x04\x05\x06\x07": nil,
	} {
		check.ErrorIs(t, auth.CheckPassphrase(passphrase), want, "%q", passphrase)
	}
}

// An Authorization header has one valid form.
func TestBearer_forms(t *testing.T) {
	t.Parallel()
	good := auth.NewToken(auth.KindAccess).Reveal()
	for header, want := range map[string]bool{
		"Bearer " + good: true, "bearer " + good: true, "BEARER  " + good: true,
		"": false, "Bearer": false, "Bearer ": false, "Bearer a b": false, "Basic " + good: false, good: false,
		"Bearer " + good + " x": false, "Bearer " + good + "=": false, "Bearer\t" + good: false,
		"Bearer " + strings.Repeat("a", 1<<20): false, "Bearer " + strings.ToUpper(good): false,
	} {
		if token, ok := auth.Bearer([]string{header}); ok != want || ok != (token.Reveal() == good) {
			t.Errorf("Authorization: %.30q: %v, want %v", header, ok, want)
		}
	}
	_, ok := auth.Bearer([]string{"Bearer " + good, "Bearer " + good})
	check.That(t, !ok, "two headers are accepted")
}

// A printed, logged or marshaled token shows its kind alone.
func TestToken_hidesSecret(t *testing.T) {
	t.Parallel()
	token := auth.NewToken(auth.KindAPI)
	var out strings.Builder
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", token, "in", struct{ T auth.Token }{token})
	js := check.Must(json.Marshal(map[string]any{"t": token}))(t)
	fmt.Fprintf(&out, "%v %+v %#v %s %q %s", token, token, token, token, token, js)
	check.That(t, !strings.Contains(out.String(), token.Reveal()[4:]), "shown in %s", out.String())
}

// A device description identifies no single device.
func TestDevice_description(t *testing.T) {
	t.Parallel()
	const kit = " AppleWebKit/537.36 (KHTML, like Gecko) "
	for want, header := range map[string]string{
		"Firefox on Linux":  "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
		"Edge on Windows":   "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + kit + "Chrome/126.0 Safari/537.36 Edg/126.0",
		"Chrome on Android": "Mozilla/5.0 (Linux; Android 14; Pixel 8)" + kit + "Chrome/126.0 Mobile Safari/537.36",
		"Safari on iPhone":  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)" + kit + "Version/17.5 Safari/604",
		"curl":              "curl/7.88.1",
		"Unknown program":   "x",
	} {
		check.Equal(t, auth.Agent(header), want, "Agent(%q)", header)
	}
	for addr, want := range map[string]string{
		"192.168.1.77": "192.168.1.0/24", "::ffff:10.1.2.3": "10.1.2.0/24", "": "",
		"2001:db8:1:2::3": "2001:db8:1::/48", "fe80::1%eth0": "fe80::/48",
	} {
		a, _ := netip.ParseAddr(addr)
		check.Equal(t, auth.Network(a), want, "Network(%s)", addr)
	}
}

// A return path is a path in the client, or its default.
func TestReturnPath_openRedirect(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/lobby": "/lobby", "/games/7?side=home": "/games/7?side=home", "/": "/",
		"": "", "lobby": "", "//evil": "", "///evil": "", `/\evil`: "", `\\evil`: "", "/%09/evil": "", "/%5cevil": "",
		"/%2f/evil": "", "https:evil": "", "https://evil/": "", "/./..//evil": "", "/a/../b": "", "/a//b": "",
		"javascript:alert(1)": "", "/\tevil": "", "/ evil": "", "/a\r\nSet-Cookie:x": "", "/a#b": "", "/é": "",
		"/" + strings.Repeat("a", 600): "", "/%zz": "",
	} {
		check.Equal(t, auth.ReturnPath(in), want, "ReturnPath(%q)", in)
	}
}

// Repeated and overlong parameters are refused.
func TestParseCallback_parameters(t *testing.T) {
	t.Parallel()
	parse := func(query string) (auth.Callback, error) {
		q := check.Must(url.ParseQuery(query))(t)
		return auth.ParseCallback(q)
	}
	for _, query := range []string{
		"state=a&state=b&code=c", "state=a&code=c&code=d", "iss=a&iss=b",
		"state=a&code=" + strings.Repeat("c", 100_000),
	} {
		_, err := parse(query)
		check.That(t, auth.CodeOf(err) == auth.CodeInvalidState, "ParseCallback(%.40q): %v, want a refusal", query, err)
	}
	got, err := parse("state=a&code=b%2Fc&iss=d&error=e&extra=f&extra=g")
	check.That(t, err == nil && got.State == "a" && got.Code == "b/c" && got.Issuer == "d" && got.Error == "e",
		"ParseCallback = %+v, %v", got, err)
}

// A refusal has its cause for the log and its code for the client, and an unknown code a description.
func TestRefusalError_codes(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	err := auth.Refuse(auth.CodeUnreachable, cause)
	check.That(t, errors.Is(err, cause) && auth.CodeOf(auth.Refuse(auth.CodeServerError, err)) == auth.CodeUnreachable,
		"%v has lost its cause or its code", err)
	check.Equal(t, auth.Code("x").Description(), auth.CodeServerError.Description(), "of an unknown code")
}

// Bearer returns a token in its one spelling, or none (GHSA-xmf8-cvqr-rfgj).
func FuzzBearer(f *testing.F) {
	for _, seed := range []string{"", "Bearer", "Bearer x", "bearer xa_" + strings.Repeat("A", 43), "Basic YTpi"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, ok := auth.Bearer([]string{header})
		check.That(t, !ok || strings.HasSuffix(header, token.Reveal()), "%q returns another token", header)
		check.Equal(t, ok, token != auth.Token{}, "%q: token %q", header, token.Reveal())
		again, same := auth.ParseToken(token.Reveal())
		check.That(t, !ok || same && again == token, "%q returns a token that ParseToken refuses", header)
	})
}

// A callback has each parameter at most once and of bounded length, or is refused.
func FuzzParseCallback(f *testing.F) {
	for _, seed := range []string{"", "state=a&code=b", "state=a&state=b", "error=x&iss=%00", "code=%zz", "a;b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, _ := url.ParseQuery(query)
		c, err := auth.ParseCallback(q)
		if err != nil {
			check.Equal(t, auth.CodeOf(err), auth.CodeInvalidState, "%q: %v", query, err)
			return
		}
		for name, got := range map[string]string{"state": c.State, "code": c.Code, "iss": c.Issuer, "error": c.Error} {
			check.That(t, got == q.Get(name) && len(q[name]) <= 1 && len(got) <= 4096, "%q: %s = %q", query, name, got)
		}
	})
}

// A return path is a path in the client, as browsers parse URLs.
func FuzzReturnPath(f *testing.F) {
	for _, seed := range []string{"/", "/a?b", "//evil", `/\evil`, "/%09/evil", "https:evil", "/./..//evil"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := auth.ReturnPath(in)
		if out == "" {
			return
		}
		u, err := url.Parse("http://client.example" + out)
		check.Require(t, err == nil && u.Host == "client.example" && strings.HasPrefix(u.Path, "/"),
			"%q leads to %v, %v", in, u, err)
		check.That(t, !strings.HasPrefix(out, "//") && !strings.ContainsAny(out, "\\\t\r\n #"),
			"%q passes as %q", in, out)
	})
}

// A canonical name is its own canonical name.
func FuzzCanonicalName(f *testing.F) {
	for _, seed := range []string{"", "Alice", "ａｌｉｃｅ", "a  b", "ﬃ", "İ", "ß", "Σς"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		canonical, ok := auth.CanonicalName(name)
		if !ok {
			return
		}
		again, ok := auth.CanonicalName(canonical)
		check.That(t, !ok || again == canonical, "%q is %q is %q", name, canonical, again)
	})
}
