package web_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

var pageFile = regexp.MustCompile(`"(/page/[0-9a-f]{12}/)([a-zA-Z0-9.-]+)"`)

// The document links to its files by the hash of all of them. They may be cached
// for ever, and are compressed for clients that accept it.
func TestPage_files(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	page := r.Do(t, "GET", "/", "").Want(200)
	if cache := page.Header.Get("Cache-Control"); cache != "private, no-cache" {
		t.Errorf("the document has Cache-Control %q", cache)
	}
	links := pageFile.FindAllStringSubmatch(page.Text, -1)
	check.Require(t, len(links) >= 5, "the document links to %q", links)
	for _, file := range links {
		plain := r.Do(t, "GET", file[1]+file[2], "").Want(200)
		gzipped := r.Do(t, "GET", file[1]+file[2], "", "Accept-Encoding", "gzip").Want(200)
		if cache := gzipped.Header.Get("Cache-Control"); cache != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", file[2], cache)
		}
		body := []byte(gzipped.Text)
		if gzipped.Header.Get("Content-Encoding") == "gzip" {
			z := check.Must(gzip.NewReader(gzipped.Body))(t)
			body = check.Must(io.ReadAll(z))(t)
		} else if ext := filepath.Ext(file[2]); ext != ".woff2" && ext != ".png" {
			t.Errorf("%s is not compressed", file[2])
		}
		if string(body) != plain.Text || len(body) == 0 {
			t.Errorf("%s differs when it is compressed", file[2])
		}
		r.Do(t, "GET", "/page/000000000000/"+file[2], "").Want(404, "not_found")
	}
	r.Do(t, "GET", links[0][1]+"types.d.ts", "").Want(404, "not_found")
	r.Do(t, "GET", links[0][1]+"1-base.css", "").Want(404, "not_found")
	r.Do(t, "GET", links[0][1]+"board.scorebook.js", "").Want(404, "not_found")
	board := r.Do(t, "GET", links[0][1]+"board.js", "").Want(200).Text
	for text, want := range map[string]int{
		"class Scorebook": 1, "class Scene": 1, "export * from": 0, ` from "./ui.js"`: 1,
	} {
		if got := strings.Count(board, text); got != want {
			t.Errorf("board.js has %s %d times, want %d", text, got, want)
		}
	}
	var style strings.Builder
	for _, part := range check.Must(filepath.Glob("static/page/css/*.css"))(t) {
		style.Write(check.Must(os.ReadFile(part))(t))
	}
	if got := r.Do(t, "GET", links[0][1]+"style.css", "").Want(200).Text; got != style.String() || got == "" {
		t.Errorf("style.css has %d bytes, its parts have %d", len(got), style.Len())
	}
}

// The document has CONTROL_ACCESS, so that the page disables what its user may not
// change.
func TestPage_controlAccess(t *testing.T) {
	t.Parallel()
	for _, access := range []web.Control{web.ControlAdmin, web.ControlLAN} {
		r := webtest.NewRig(t, func(c *site.Config) { c.ControlAccess = access })
		want := fmt.Sprintf(`<meta name="pressbox-control" content=%q>`, access)
		check.Contains(t, r.Do(t, "GET", "/announcements", "").Want(200).Text, want, "the document")
	}
}

// At an unknown path, browsers get the page and other clients a problem.
func TestPage_notFound(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	request := webtest.NewRequest("GET", "/left/field", "", "Accept", "text/html,*/*")
	w := httptest.NewRecorder() // not checked: the document has a problem here
	if r.Handler().ServeHTTP(w, request); w.Code != http.StatusNotFound ||
		!strings.Contains(w.Body.String(), "/app.js") {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	r.Do(t, "GET", "/left/field", "").Want(404, "not_found")
	r.Do(t, "GET", "/api/left/field", "", "Accept", "text/html").Want(404, "not_found")
}

// Vendored files have the published checksums.
func TestPage_vendored(t *testing.T) {
	t.Parallel()
	sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	sums.Dir = "static/vendor"
	out, err := sums.CombinedOutput()
	check.That(t, err == nil, "%v: %s", err, out)
	all := check.Must(os.ReadDir(sums.Dir))(t)
	check.Equal(t, strings.Count(string(out), ": OK\n")+1, len(all), "files with a checksum, and that of these")
}

// The document links to a manifest, whose icons exist and have the sizes and types that it names.
func TestPage_manifest(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	page := r.Do(t, "GET", "/", "").Want(200)
	if !strings.Contains(page.Text, `<link rel="manifest" href="/manifest.webmanifest">`) ||
		!strings.Contains(page.Text, `<link rel="icon" href="data:image/svg`) {
		t.Errorf("the document has no manifest or no icon: %s", page.Text)
	}
	answer := r.Do(t, "GET", "/manifest.webmanifest", "").Want(200)
	check.Equal(t, answer.Header.Get("Content-Type"), "application/manifest+json", "Content-Type")
	var manifest struct {
		Display string
		Theme   string `json:"theme_color"`
		Icons   []struct{ Src, Sizes, Type, Purpose string }
	}
	check.NoError(t, json.Unmarshal([]byte(answer.Text), &manifest))
	if manifest.Display != "standalone" || manifest.Theme == "" {
		t.Errorf("display %q, theme_color %q", manifest.Display, manifest.Theme)
	}
	seen := map[string]bool{}
	for _, icon := range manifest.Icons {
		seen[icon.Purpose+" "+icon.Sizes] = true
		file := r.Do(t, "GET", icon.Src, "").Want(200)
		check.Equal(t, file.Header.Get("Content-Type"), icon.Type, "%s: Content-Type", icon.Src)
		if icon.Type != "image/png" {
			continue
		}
		picture, err := png.DecodeConfig(strings.NewReader(file.Text))
		if size := fmt.Sprintf("%dx%d", picture.Width, picture.Height); err != nil || size != icon.Sizes {
			t.Errorf("%s is %s (%v), in the manifest %s", icon.Src, size, err, icon.Sizes)
		}
	}
	for _, want := range []string{"any 192x192", "any 512x512", "maskable 512x512"} { // Chromium requires the first two
		check.That(t, seen[want], "no icon %s: %v", want, seen)
	}
}

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
		page := r.Do(t, "GET", "/", "", "Cookie", "pressbox_language="+tt.cookie, "Accept-Language", tt.accept).Want(200)
		if !strings.Contains(page.Text, `<html lang="`+tt.want+`">`) ||
			!strings.Contains(page.Text, "/"+tt.want+".js") ||
			page.Header.Get("Content-Language") != tt.want ||
			!strings.Contains(page.Header.Get("Vary"), "Accept-Language, Cookie") {
			t.Errorf("cookie %q, Accept-Language %q: %q, want %q",
				tt.cookie, tt.accept, page.Header.Get("Content-Language"), tt.want)
		}
	}
}
