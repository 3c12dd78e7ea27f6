package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	swgui "github.com/swaggest/swgui/v5/static"

	"pressbox/daemon/web"
	"pressbox/daemon/web/static"
)

// Documents makes both documents when the first request needs one. [Documents.Of] says of which routes;
// [Documents.Routes] may be called before.
type Documents struct{ openAPI, asyncAPI func() ([]byte, error) }

// A document is an OpenAPI document.
type document struct {
	OpenAPI string         `json:"openapi" const:"3.1.0"`
	Info    map[string]any `json:"info"`
	Paths   map[string]any `json:"paths"`
	_       struct{}       `additionalProperties:"true"`
}

// A socketDocument is an AsyncAPI document.
type socketDocument struct {
	AsyncAPI   string         `json:"asyncapi" const:"3.0.0"`
	Info       map[string]any `json:"info"`
	Channels   map[string]any `json:"channels"`
	Operations map[string]any `json:"operations"`
	_          struct{}       `additionalProperties:"true"`
}

// Of sets the routes, and returns what makes their OpenAPI document.
func (d *Documents) Of(routes []web.Route, version string) (openAPI func() ([]byte, error)) {
	d.openAPI = sync.OnceValues(func() ([]byte, error) { return Document(routes, version) })
	d.asyncAPI = sync.OnceValues(func() ([]byte, error) { return AsyncAPI(version) })
	return d.openAPI
}

// Routes returns the routes of the documents and of Swagger UI. Swagger UI's own
// page has inline scripts, which the Content-Security-Policy forbids; so the page
// and its start script are replaced.
func (d *Documents) Routes() []web.Route {
	return []web.Route{
		web.NewRoute(http.MethodGet, "/docs", web.Public, staticFile("text/html", "docs.html"), web.Operation{
			ID: "getDocs", Tag: "page", Summary: "Get the API documentation (Swagger UI)",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The page.", Media: []string{"text/html"}}},
		}),
		web.NewRoute(http.MethodGet, "/docs.js", web.Public, staticFile("text/javascript", "docs.js"), web.Operation{
			ID: "getDocsScript", Tag: "page", Summary: "Get the start script of the API documentation",
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "The script.", Media: []string{"text/javascript"},
			}},
		}),
		web.NewRoute(http.MethodGet, "/docs/:asset", web.Public, docsAsset, web.Operation{
			ID: "getDocsAsset", Tag: "page", Summary: "Get a file of Swagger UI",
			Responses: []web.Response{
				{Status: http.StatusOK, Description: "The file.", Media: []string{"*/*"}},
				{Status: http.StatusNotModified, Description: "The client's copy is current."},
			},
			Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodGet, "/openapi.json", web.Public, serve(&d.openAPI), web.Operation{
			ID: "getOpenAPI", Tag: "page", Summary: "Get this document",
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "The OpenAPI 3.1 document.", Body: document{},
			}},
		}),
		web.NewRoute(http.MethodGet, "/asyncapi.json", web.Public, serve(&d.asyncAPI), web.Operation{
			ID: "getAsyncAPI", Tag: "page", Summary: "Get the description of the websocket at /api/ws",
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "The AsyncAPI 3.0 document.", Body: socketDocument{},
			}},
		}),
	}
}

// serve returns a handler that responds with a document, of which the maker is set later.
func serve(document *func() ([]byte, error)) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		text, err := (*document)()
		if err != nil {
			return err
		}
		return web.File("application/json", text)(w, r)
	}
}

// staticFile returns a handler that responds with a file of package static.
func staticFile(media, name string) web.Handler {
	body, err := static.Files.ReadFile(name)
	if err != nil {
		panic(err) // not for an embedded file
	}
	return web.File(media, body)
}

// docsAsset responds with a file of Swagger UI, compressed as it is embedded if
// the client accepts gzip.
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
	gzipped, err := swgui.FS.ReadFile(name + ".gz")
	if err != nil {
		return fmt.Errorf("read Swagger UI: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-cache") // clients may store it, and must revalidate it
	h.Add("Vary", "Accept-Encoding")
	if web.AcceptsGzip(r) {
		return serveGzip(w, r, gzipped)
	}
	z, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		return fmt.Errorf("decompress Swagger UI: %w", err)
	}
	_, _ = io.Copy(w, z) //nolint:gosec // the embedded file has a known size; the client may have disconnected
	return nil
}

// serveGzip responds with a file compressed with gzip, or with 304 if the client
// has it.
func serveGzip(w http.ResponseWriter, r *http.Request, gzipped []byte) error {
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(gzipped))
	h := w.Header()
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) { // a list, whose tags a proxy may have weakened
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Encoding", "gzip")
	_, _ = w.Write(gzipped) // the client may have disconnected
	return nil
}
