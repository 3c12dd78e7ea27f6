package auth

import (
	"net/url"
	"path"
	"strings"
)

// ReturnPath is s when it is a path inside the client, with its query if it has
// one, written in the one way that no browser reads as another site; otherwise
// it is "", the client's default.
func ReturnPath(s string) string {
	if len(s) > 512 || !strings.HasPrefix(s, "/") || strings.ContainsFunc(s, odd) {
		return ""
	}
	u, err := url.ParseRequestURI(s)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return ""
	}
	if path.Clean(u.Path) != u.Path || strings.ContainsFunc(u.Path, odd) {
		return ""
	}
	return s
}

// odd says of a character that it has no business in a return path: backslashes
// that browsers read as slashes, a fragment, and whatever is not plain ASCII.
func odd(r rune) bool { return r == '\\' || r == '#' || r <= ' ' || r > '~' }
