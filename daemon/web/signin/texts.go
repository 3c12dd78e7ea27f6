package signin

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"pressbox/auth"
	"pressbox/daemon/web/static"
)

// texts are the words of the sign-in pages by key, as in signin-en.js of the page.
type texts map[string]string

// of returns a text, in which n replaces the placeholder.
func (t texts) of(key string, n int) string {
	return strings.ReplaceAll(t[key], "{n}", strconv.Itoa(n))
}

//nolint:gochecknoglobals // read once, never changed
var translations = readTexts(static.Files)

// line matches a text of a file of the page: its key and its value.
var line = regexp.MustCompile(`(?m)^  (\w+): "([^"\\]*)",$`)

// readTexts returns the texts by language.
func readTexts(files fs.FS) map[string]texts {
	all := map[string]texts{}
	names, _ := fs.Glob(files, "page/signin-*.js") // the pattern is valid
	for _, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			continue // it is embedded
		}
		found := texts{}
		for _, m := range line.FindAllStringSubmatch(string(source), -1) {
			found[m[1]] = m[2]
		}
		all[strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "signin-"), ".js")] = found
	}
	return all
}

// A mistake is what a user can correct in a form.
type mistake struct {
	err   error
	field string // "name", "passphrase" or "invite"
	key   string // of its text
	n     int    // in its text
}

// mistakeOf returns the mistake that an error tells of.
func mistakeOf(err error) (mistake, bool) {
	for _, m := range []mistake{
		{auth.ErrWrongCredentials, "passphrase", "wrong", 0},
		{auth.ErrInvalidName, "name", "invalid", auth.MaxNameLength},
		{auth.ErrNameTaken, "name", "taken", 0},
		{auth.ErrPassphraseTooShort, "passphrase", "short", auth.MinPassphraseLength},
		{auth.ErrPassphraseTooLong, "passphrase", "long", auth.MaxPassphraseLength},
		{auth.ErrPassphraseTooCommon, "passphrase", "common", 0},
		{auth.ErrNotInvited, "invite", "uninvited", 0},
	} {
		if errors.Is(err, m.err) {
			return m, true
		}
	}
	return mistake{}, false
}
