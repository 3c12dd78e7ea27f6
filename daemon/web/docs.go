package web

import (
	_ "embed"
	"net/http"

	"github.com/swaggest/swgui/v5/static"
	"github.com/vearutop/statigz"
)

//go:embed static/docs.html
var docsPage []byte

//go:embed static/docs.js
var docsScript []byte

// docsRoutes serves Swagger UI. Its own page has scripts in it, which our
// policy forbids; so only its files are used, and the page and the script that
// starts it are ours.
func (s *Server) docsRoutes() []route {
	assets := http.StripPrefix("/docs", statigz.FileServer(static.FS))
	asset := func(w http.ResponseWriter, r *http.Request) error {
		switch param(r, "asset") {
		case "swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png":
			assets.ServeHTTP(w, r)
			return nil
		default:
			return errNoSuchPage
		}
	}
	return []route{
		{http.MethodGet, "/docs", everyone, file("text/html", docsPage), operation{
			id: "getDocs", tag: "page", summary: "The API, to read and to try",
			answers: []success{{status: http.StatusOK, description: "A page.", media: "text/html"}},
		}},
		{http.MethodGet, "/docs.js", everyone, file("text/javascript", docsScript), operation{
			id: "getDocsScript", tag: "page", summary: "What starts the page about the API",
			answers: []success{{status: http.StatusOK, description: "A script.", media: "text/javascript"}},
		}},
		{http.MethodGet, "/docs/:asset", everyone, asset, operation{
			id: "getDocsAsset", tag: "page", summary: "A file of Swagger UI",
			answers:  []success{{status: http.StatusOK, description: "A file.", media: "*/*"}},
			problems: []int{http.StatusNotFound},
		}},
		{http.MethodGet, "/openapi.json", everyone, s.openAPI, operation{
			id: "getOpenAPI", tag: "page", summary: "This document",
			answers: []success{{status: http.StatusOK, description: "OpenAPI 3.1.", schema: "Document"}},
		}},
	}
}

func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	return file("application/json", s.document)(w, r)
}
