package web

import (
	_ "embed"
	"net/http"
)

//go:embed static/home.html
var homePage []byte

//go:embed static/page.css
var pageStyle []byte

func (s *Server) homeRoutes() []route {
	page := func(id, path, summary, media string, body []byte) route {
		return route{http.MethodGet, path, everyone, file(media, body), operation{
			id: id, tag: "page", summary: summary,
			answers: []success{{status: http.StatusOK, description: "A file.", media: []string{media}}},
		}}
	}
	return []route{
		page("getHome", "/", "Where to go from here", "text/html", homePage),
		page("getStyle", "/page.css", "How pages look", "text/css", pageStyle),
	}
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
