package web_test

import (
	"strings"
	"testing"

	"pressbox/daemon/web/webtest"
)

// The document is in the language that the page's cookie names, otherwise in
// the one that the browser prefers, otherwise in English.
func TestPage_language(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct{ cookie, accept, want string }{
		{"", "", "en"},
		{"", "de", "de"},
		{"", "de-AT,de;q=0.9,en;q=0.8", "de"},
		{"", "fr,de;q=0.5", "de"},
		{"", "en-GB,de;q=0.9", "en"},
		{"", "fr", "en"},
		{"", "de;q=x,,;", "en"},
		{"de", "en", "de"},
		{"en", "de", "en"},
		{"xx-invalid-", "de", "de"},
		{"../app", "", "en"},
	} {
		var headers []string
		if tt.cookie != "" {
			headers = append(headers, "Cookie", "pressbox_language="+tt.cookie)
		}
		if tt.accept != "" {
			headers = append(headers, "Accept-Language", tt.accept)
		}
		page := r.Do(t, "GET", "/", "", headers...).Want(200)
		if !strings.Contains(page.Text, `<html lang="`+tt.want+`">`) ||
			!strings.Contains(page.Text, "/"+tt.want+".js") ||
			page.Header.Get("Content-Language") != tt.want ||
			!strings.Contains(page.Header.Get("Vary"), "Accept-Language, Cookie") {
			t.Errorf("cookie %q, Accept-Language %q: %q, want %q",
				tt.cookie, tt.accept, page.Header.Get("Content-Language"), tt.want)
		}
	}
}
