package auth_test

import (
	"net/url"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/packaging/check"
)

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
