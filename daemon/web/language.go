package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"golang.org/x/text/language"

	"pressbox/daemon/web/static"
)

// languageCookie is the cookie in which the page saves the language that was
// chosen by hand. Scripts write it.
const languageCookie = "pressbox_language"

// languages are the languages of the page, one for each file in
// static/page/languages. English is the first, and the default.
type languages struct {
	names   []string // BCP 47 tags, such as "de"
	matcher language.Matcher
}

func loadLanguages() (*languages, error) {
	files, err := fs.Glob(static.Files, "page/languages/*.js")
	if err != nil {
		return nil, fmt.Errorf("list the languages of the page: %w", err)
	}
	l := &languages{names: []string{"en"}}
	for _, file := range files {
		if name := strings.TrimSuffix(path.Base(file), ".js"); name != l.names[0] {
			l.names = append(l.names, name)
		}
	}
	tags := make([]language.Tag, len(l.names))
	for i, name := range l.names {
		if tags[i], err = language.Parse(name); err != nil {
			return nil, fmt.Errorf("the name of a language of the page, %s: %w", name, err)
		}
	}
	l.matcher = language.NewMatcher(tags)
	return l, nil
}

// of returns the language of the page for a request: the one in the cookie, or
// else the best match for Accept-Language (RFC 9110, section 12.5.4).
func (l *languages) of(r *http.Request) string {
	var chosen string
	if cookie, err := r.Cookie(languageCookie); err == nil {
		chosen = cookie.Value
	}
	_, i := language.MatchStrings(l.matcher, chosen, r.Header.Get("Accept-Language"))
	return l.names[i]
}
