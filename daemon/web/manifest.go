package web

import "net/http"

// manifestRoute returns the route of the manifest with which browsers install the page (W3C Web
// Application Manifest). They request it again to find new icons.
func (p *page) manifestRoute() Route {
	serve := func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", "no-cache")
		return File("application/manifest+json", p.manifest)(w, r)
	}
	return NewRoute(http.MethodGet, "/manifest.webmanifest", Public, serve, Operation{
		ID: "getManifest", Tag: "page", Summary: "Get the manifest with which browsers install the page",
		Responses: []Response{{
			Status: http.StatusOK, Description: "The manifest.", Media: []string{"application/manifest+json"},
		}},
	})
}
