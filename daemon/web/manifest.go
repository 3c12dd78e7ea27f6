package web

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// manifestPath is the path of the page's manifest.
const manifestPath = "/manifest.webmanifest"

// A manifest lets browsers install the page (W3C Web Application Manifest).
type manifest struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	ShortName   string         `json:"short_name"`
	Description string         `json:"description"`
	Lang        string         `json:"lang"`
	Categories  []string       `json:"categories"`
	StartURL    string         `json:"start_url"`
	Scope       string         `json:"scope"`
	Display     string         `json:"display"`
	Background  string         `json:"background_color"` // while it starts
	Theme       string         `json:"theme_color"`      // of the window; the document has the same
	Icons       []manifestIcon `json:"icons"`
	Shortcuts   []manifestLink `json:"shortcuts"`
}

type manifestIcon struct {
	Source  string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"` // "maskable": may be cut to a circle
}

type manifestLink struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// manifestRoute returns the route of the page's manifest.
func (p *page) manifestRoute() Route {
	return NewRoute(http.MethodGet, manifestPath, Public, p.manifest, Operation{
		ID: "getManifest", Tag: "page", Summary: "Get the manifest with which browsers install the page",
		Responses: []Response{{
			Status: http.StatusOK, Description: "The manifest.", Media: []string{"application/manifest+json"},
		}},
	})
}

// manifest responds with the manifest. Browsers request it again to find new icons.
func (p *page) manifest(w http.ResponseWriter, _ *http.Request) error {
	icon := func(name, sizes, media, purpose string) manifestIcon {
		return manifestIcon{p.prefix() + "/" + name, sizes, media, purpose}
	}
	text, err := json.Marshal(manifest{
		ID: "/", Name: "Pressbox", ShortName: "Pressbox",
		Description: "Announcements on your loudspeakers, and baseball for two.",
		Lang:        "en", Categories: []string{"games", "utilities"},
		StartURL: "/", Scope: "/", Display: "standalone", Background: "#14273a", Theme: "#14273a",
		Icons: []manifestIcon{
			icon("icon.svg", "any", "image/svg+xml", "any"),
			icon("icon-192.png", "192x192", "image/png", "any"),
			icon("icon-512.png", "512x512", "image/png", "any"),
			icon("maskable-192.png", "192x192", "image/png", "maskable"),
			icon("maskable-512.png", "512x512", "image/png", "maskable"),
		},
		Shortcuts: []manifestLink{{"Games", "/"}, {"Announcements", "/announcements"}, {"Wall display", "/kiosk"}},
	})
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	w.Header().Set("Content-Type", "application/manifest+json")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(text) // the client may have disconnected
	return nil
}
