package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/swaggest/swgui/v5/static"
)

//go:embed static/docs.html
var docsPage []byte

//go:embed static/docs.js
var docsScript []byte

// docsRoutes serves Swagger UI. Its own page has scripts in it, which our
// policy forbids; so only its files are used, and the page and the script that
// starts it are ours.
func (s *Server) docsRoutes() []route {
	return []route{
		{http.MethodGet, "/docs", everyone, file("text/html", docsPage), operation{
			id: "getDocs", tag: "page", summary: "The API, to read and to try",
			answers: []success{{status: http.StatusOK, description: "A page.", media: []string{"text/html"}}},
		}},
		{http.MethodGet, "/docs.js", everyone, file("text/javascript", docsScript), operation{
			id: "getDocsScript", tag: "page", summary: "What starts the page about the API",
			answers: []success{{status: http.StatusOK, description: "A script.", media: []string{"text/javascript"}}},
		}},
		{http.MethodGet, "/docs/:asset", everyone, s.docsAsset, operation{
			id: "getDocsAsset", tag: "page", summary: "A file of Swagger UI",
			answers: []success{
				{status: http.StatusOK, description: "A file.", media: []string{"*/*"}},
				{status: http.StatusNotModified, description: "The client has it."},
			},
			problems: []int{http.StatusNotFound},
		}},
		{http.MethodGet, "/openapi.json", everyone, s.openAPI, operation{
			id: "getOpenAPI", tag: "page", summary: "This document",
			answers: []success{{status: http.StatusOK, description: "OpenAPI 3.1.", schema: "Document"}},
		}},
		{http.MethodGet, "/asyncapi.json", everyone, s.asyncAPI, operation{
			id: "getAsyncAPI", tag: "page", summary: "The frames of the websocket at /api/ws",
			answers: []success{{status: http.StatusOK, description: "AsyncAPI 3.0.", schema: "SocketDocument"}},
		}},
	}
}

func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	return file("application/json", s.document)(w, r)
}

// docsAsset answers with a file of Swagger UI, compressed as it is embedded
// where the client takes that.
func (s *Server) docsAsset(w http.ResponseWriter, r *http.Request) error {
	name := param(r, "asset")
	var media string
	switch name {
	case "swagger-ui.css":
		media = "text/css; charset=utf-8"
	case "swagger-ui-bundle.js":
		media = "text/javascript; charset=utf-8"
	default:
		return errNoSuchPage
	}
	packed, err := static.FS.ReadFile(name + ".gz")
	if err != nil {
		return fmt.Errorf("read Swagger UI: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-cache") // it may be kept, and has to be asked about
	h.Add("Vary", "Accept-Encoding")
	if takesGzip(r) {
		return kept(w, r, packed)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("unpack Swagger UI: %w", err)
	}
	_, _ = io.Copy(w, unpacked) //nolint:gosec // what is embedded is of a known size; the client may have gone
	return nil
}

// kept answers with a file that is packed with gzip, or that the client has it.
func kept(w http.ResponseWriter, r *http.Request, packed []byte) error {
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(packed))
	h := w.Header()
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) { // it may be one of several, and weakened by a proxy
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Encoding", "gzip")
	_, _ = w.Write(packed) //nolint:gosec // it is embedded; and the client may have gone
	return nil
}

// takesGzip says whether the client takes an answer that is packed with gzip
// (RFC 9110 §12.5.3).
func takesGzip(r *http.Request) bool {
	accepted := strings.Join(r.Header.Values("Accept-Encoding"), ",")
	for part := range strings.SplitSeq(accepted, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			weight, weighed := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			return !weighed || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

// file answers with bytes that do not change while the daemon runs.
func file(media string, body []byte) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		if media == "text/html" || media == "text/css" || media == "text/javascript" {
			media += "; charset=utf-8"
		}
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(body) // the client has gone; there is no one to tell
		return nil
	}
}
