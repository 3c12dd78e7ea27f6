package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/daemon/settings"
	"pressbox/packaging/check"
)

// One token is for the one URL; of several URLs, each may have one. A file that says something else is refused, and
// nobody needs one.
func TestEvents_tokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ urls, file, want string }{
		{"http://a/x", "secret\n", "map[http://a/x:secret]"},
		{"http://a/x", "http://a/x secret", "map[http://a/x:secret]"},
		{"http://a/x http://b", "http://b two\n\nhttp://a/x one\n", "map[http://a/x:one http://b:two]"},
		{"http://a/x http://b", "http://b two", "map[http://b:two]"},
		{"http://a/x http://b", "secret", "EVENTS_TOKEN_FILE: one token is expected"},
		{"http://a/x", "http://c secret", "EVENTS_TOKEN_FILE: one token is expected"},
		{"http://a/x", "one\ntwo three four", "EVENTS_TOKEN_FILE: one token is expected"},
		{"", "secret", "map[]"},
	} {
		path := filepath.Join(t.TempDir(), "token")
		check.NoError(t, os.WriteFile(path, []byte(tt.file), 0o600))
		tokens, err := settings.Events{URLs: strings.Fields(tt.urls), TokenFile: path}.Tokens()
		got := fmt.Sprint(tokens)
		if err != nil {
			got = err.Error()
		}
		check.That(t, strings.HasPrefix(got, tt.want), "%q with %q: %s, want %s", tt.urls, tt.file, got, tt.want)
	}
	_, err := settings.Events{URLs: []string{"http://a"}, TokenFile: "/nonexistent"}.Tokens()
	check.That(t, err != nil, "a file that is missing is no error")
	none, err := settings.Events{URLs: []string{"http://a"}}.Tokens()
	check.That(t, err == nil && len(none) == 0, "without a file: %v, %v", none, err)
}

// The path and the query of a URL are not printed.
func TestMaskedURL(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		http://a              | http://a
		https://a.example:81  | https://a.example:81
		http://a/             | http://a/…
		http://a/api/x?y=z    | http://a/…
		http://a?y=z          | http://a/…
		no URL                | …
	`) {
		check.Equal(t, settings.MaskedURL(row[0]), row[1], "%s", row[0])
	}
}
