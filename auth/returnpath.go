package auth

import (
	"net/url"
	"path"
	"strings"
)

// maxReturnPath is the length limit of a return path, in bytes.
const maxReturnPath = 512

// ReturnPath returns s if it is a path in the client, with or without a query,
// in a spelling that no browser reads as another origin; otherwise "", the
// client's default.
func ReturnPath(s string) string {
	if len(s) > maxReturnPath || !strings.HasPrefix(s, "/") || strings.ContainsFunc(s, isUnsafe) {
		return ""
	}
	u, err := url.ParseRequestURI(s)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return ""
	}
	if path.Clean(u.Path) != u.Path || strings.ContainsFunc(u.Path, isUnsafe) {
		return ""
	}
	return s
}

// isUnsafe reports whether a character is refused in a return path: a backslash,
// which browsers read as a slash, a fragment, or not printable ASCII.
func isUnsafe(r rune) bool { return r == '\\' || r == '#' || r <= ' ' || r > '~' }
