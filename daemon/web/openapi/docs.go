package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"

	swgui "github.com/swaggest/swgui/v5/static"

	"pressbox/daemon/web"
	"pressbox/daemon/web/static"
)

// Documents holds both documents. Its zero value has [Documents.Routes]
// already; [Documents.Build] fills it.
type Documents struct{ openAPI, asyncAPI []byte }

// Build makes the documents of the routes and of this version, and returns the
// OpenAPI document.
func (d *Documents) Build(routes []web.Route, version string) (openAPI []byte, err error) {
	if d.openAPI, err = Document(routes, version); err != nil {
		return nil, err
	}
	d.asyncAPI, err = AsyncAPI(version)
	return d.openAPI, err
}

// Routes returns the routes of the documents and of Swagger UI. The page that
// Swagger UI brings has inline scripts, which our policy forbids; so its files
// are used, and the page and the script that starts it are ours.
func (d *Documents) Routes() []web.Route {
	return []web.Route{
		web.NewRoute(http.MethodGet, "/docs", web.Public, staticFile("text/html", "docs.html"), web.Operation{
			ID: "getDocs", Tag: "page", Summary: "The API, to read and to try",
			Responses: []web.Response{{Status: http.StatusOK, Description: "A page.", Media: []string{"text/html"}}},
		}),
		web.NewRoute(http.MethodGet, "/docs.js", web.Public, staticFile("text/javascript", "docs.js"), web.Operation{
			ID: "getDocsScript", Tag: "page", Summary: "What starts the page about the API",
			Responses: []web.Response{{Status: http.StatusOK, Description: "A script.", Media: []string{"text/javascript"}}},
		}),
		web.NewRoute(http.MethodGet, "/docs/:asset", web.Public, docsAsset, web.Operation{
			ID: "getDocsAsset", Tag: "page", Summary: "A file of Swagger UI",
			Responses: []web.Response{
				{Status: http.StatusOK, Description: "A file.", Media: []string{"*/*"}},
				{Status: http.StatusNotModified, Description: "The client has it."},
			},
			Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodGet, "/openapi.json", web.Public, d.serveOpenAPI, web.Operation{
			ID: "getOpenAPI", Tag: "page", Summary: "This document",
			Responses: []web.Response{{Status: http.StatusOK, Description: "OpenAPI 3.1.", Schema: "Document"}},
		}),
		web.NewRoute(http.MethodGet, "/asyncapi.json", web.Public, d.serveAsyncAPI, web.Operation{
			ID: "getAsyncAPI", Tag: "page", Summary: "The frames of the websocket at /api/ws",
			Responses: []web.Response{{Status: http.StatusOK, Description: "AsyncAPI 3.0.", Schema: "SocketDocument"}},
		}),
	}
}

func (d *Documents) serveOpenAPI(w http.ResponseWriter, r *http.Request) error {
	return web.File("application/json", d.openAPI)(w, r)
}

func (d *Documents) serveAsyncAPI(w http.ResponseWriter, r *http.Request) error {
	return web.File("application/json", d.asyncAPI)(w, r)
}

// staticFile returns a handler that answers with one of our files.
func staticFile(media, name string) web.Handler {
	body, err := static.Files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return web.File(media, body)
}

// docsAsset answers with a file of Swagger UI, compressed as it is embedded
// where the client takes that.
func docsAsset(w http.ResponseWriter, r *http.Request) error {
	name := web.Param(r, "asset")
	var media string
	switch name {
	case "swagger-ui.css":
		media = "text/css; charset=utf-8"
	case "swagger-ui-bundle.js":
		media = "text/javascript; charset=utf-8"
	default:
		return web.ErrNotFound
	}
	packed, err := swgui.FS.ReadFile(name + ".gz")
	if err != nil {
		return fmt.Errorf("read Swagger UI: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-cache") // it may be kept, and has to be asked about
	h.Add("Vary", "Accept-Encoding")
	if web.AcceptsGzip(r) {
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
