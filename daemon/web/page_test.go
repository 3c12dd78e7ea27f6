package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressbox/daemon/web/webtest"
)

var pageFile = regexp.MustCompile(`"(/page/[0-9a-f]{12}/)([a-zA-Z0-9.-]+)"`)

// The document names its files under the hash of them all. They may be kept
// for ever, and come packed to whom they can.
func TestPageFilesAreForEver(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	page := r.Do(t, "GET", "/", "").Want(200, "")
	if kept := page.Header().Get("Cache-Control"); kept != "no-cache" {
		t.Errorf("the document has Cache-Control %q", kept)
	}
	named := pageFile.FindAllStringSubmatch(page.Body.String(), -1)
	if len(named) < 5 {
		t.Fatalf("the document names %q", named)
	}
	for _, file := range named {
		plain := r.Do(t, "GET", file[1]+file[2], "").Want(200, "")
		packed := r.Do(t, "GET", file[1]+file[2], "", "Accept-Encoding", "gzip").Want(200, "")
		if kept := packed.Header().Get("Cache-Control"); kept != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", file[2], kept)
		}
		body := packed.Body.Bytes()
		if packed.Header().Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(packed.Body)
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		} else if filepath.Ext(file[2]) != ".woff2" {
			t.Errorf("%s comes unpacked", file[2])
		}
		if !bytes.Equal(body, plain.Body.Bytes()) || len(body) == 0 {
			t.Errorf("%s is something else when packed", file[2])
		}
		r.Do(t, "GET", "/page/000000000000/"+file[2], "").Want(404, "not_found")
	}
	r.Do(t, "GET", named[0][1]+"types.d.ts", "").Want(404, "not_found")
}

// Whoever reads and is lost gets the page; a program gets a problem.
func TestPageOfTheLost(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	lost := webtest.NewRequest("GET", "/left/field", "", "Accept", "text/html,*/*")
	w := httptest.NewRecorder() // not held against the document, which promises a problem
	if r.Handler().ServeHTTP(w, lost); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "/app.js") {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	r.Do(t, "GET", "/left/field", "").Want(404, "not_found")
	r.Do(t, "GET", "/api/left/field", "", "Accept", "text/html").Want(404, "not_found")
}

// What others wrote is what they wrote.
func TestPageVendored(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("static/vendor/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{"SHA256SUMS": ""}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	all, err := os.ReadDir("static/vendor")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(listed) {
		t.Errorf("%d files, of which %d are listed", len(all), len(listed))
	}
	for _, file := range all {
		body, err := os.ReadFile(filepath.Join("static/vendor", file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(body)
		if want := listed[file.Name()]; want != "" && want != hex.EncodeToString(sum[:]) {
			t.Errorf("%s was changed", file.Name())
		}
	}
}
