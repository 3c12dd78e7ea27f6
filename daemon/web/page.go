package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"sync"

	"pressbox/daemon/web/static"
)

// LoginPath is where browsers begin to sign in.
const LoginPath = "/api/auth/idp/login"

// A pageFiles is the page as browsers get it. Its files stand under an address
// with their common hash in it, so that they may be kept for ever, and a page
// never mixes files of two versions.
type pageFiles struct {
	document *template.Template
	version  string            // hash of all files, 12 hexadecimal digits
	files    map[string]*asset // by name
}

// An asset is a file of the page.
type asset struct {
	media string
	body  []byte
	// packed is body with gzip around it, made once, when it is first asked
	// for; nil where that would gain nothing.
	packed func() []byte
}

// mediaOf is the media type of one of the page's files.
func mediaOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	default: // licences
		return "text/plain; charset=utf-8"
	}
}

// loadPage reads the page.
func loadPage() (*pageFiles, error) {
	c := &pageFiles{files: map[string]*asset{}}
	var err error
	if c.document, err = template.ParseFS(static.Files, "index.html"); err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	sum := sha256.New()
	for _, folder := range []string{"page", "vendor"} {
		all, err := fs.ReadDir(static.Files, folder)
		if err != nil {
			return nil, fmt.Errorf("read the page: %w", err)
		}
		for _, entry := range all { // in the order of their names
			body, err := static.Files.ReadFile(path.Join(folder, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("read the page: %w", err)
			}
			_, _ = fmt.Fprintf(sum, "%s %d\n", entry.Name(), len(body)) // a hash takes everything
			_, _ = sum.Write(body)
			c.files[entry.Name()] = newAsset(entry.Name(), body)
		}
	}
	c.version = hex.EncodeToString(sum.Sum(nil)[:6])
	return c, nil
}

func newAsset(name string, body []byte) *asset {
	a := &asset{media: mediaOf(name), body: body}
	if path.Ext(name) == ".woff2" { // is packed already
		return a
	}
	a.packed = sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			panic(err) // only for a level that there is not
		}
		_, _ = z.Write(body) // a buffer takes everything
		_ = z.Close()
		return packed.Bytes()
	})
	return a
}

// pagePaths are the addresses at which the page is. Which part of it is shown
// there is its own script's to know: see routes in static/page/app.js.
func pagePaths() []struct{ id, path, summary string } {
	return []struct{ id, path, summary string }{
		{"getLobby", "/", "The lobby: games that are played, that wait and that are over"},
		{"getNewGame", "/new", "A new game"},
		{"getGamePage", "/games/:id", "A game: scoreboard, field, decisions, play-by-play"},
		{"getLineupPage", "/games/:id/lineup", "The line-up cards of a game"},
		{"getReplay", "/games/:id/replay", "A game again, from its first pitch"},
		{"getReplayAt", "/games/:id/replay/:rev", "A game again, at one of its plays"},
		{"getStandingsPage", "/standings", "The clubs' standings"},
		{"getPlayersPage", "/players", "Batting and pitching lines"},
		{"getAnnouncementsPage", "/announcements", "Say something in the house, and see what waits"},
		{"getAccountPage", "/account", "Who is signed in, and where"},
		{"getKiosk", "/kiosk", "For a display on the wall"},
		{"getAbout", "/about", "What this is, and of what it is made"},
	}
}

// PageRoutes returns the routes of the page.
func (s *Server) PageRoutes() []Route {
	routes := []Route{{http.MethodGet, "/page/:version/:file", Public, s.pageFile, Operation{
		ID: "getPageFile", Tag: "page", Summary: "A file of the page; one of this version may be kept for ever",
		Responses: []Response{{Status: http.StatusOK, Description: "A file.", Media: []string{"*/*"}}},
		Problems:  []int{http.StatusNotFound},
	}}}
	for _, p := range pagePaths() {
		routes = append(routes, Route{http.MethodGet, p.path, Public, s.pageHandler(http.StatusOK), Operation{
			ID: p.id, Tag: "page", Summary: p.summary,
			Responses: []Response{{Status: http.StatusOK, Description: "The page.", Media: []string{"text/html"}}},
		}})
	}
	return routes
}

// pageHandler answers with the document.
func (s *Server) pageHandler(status int) Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return s.WritePage(w, r, status, "") }
}

// WritePage answers with the document. Without scripts it says plain, if there
// is something that has to be said all the same.
func (s *Server) WritePage(w http.ResponseWriter, r *http.Request, status int, plain string) error {
	var document bytes.Buffer
	values := struct {
		Version, Files, Join, Plain, Again string
		Season                             int
	}{s.cfg.Version, "/page/" + s.page.version, s.joinAddress(r), plain, LoginPath, s.cfg.Season}
	if err := s.page.document.Execute(&document, values); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache") // it may be kept, and has to be asked about
	w.WriteHeader(status)
	_, _ = w.Write(document.Bytes()) // the client has gone; there is no one to tell
	return nil
}

// pageFile answers with a file. A version that is not ours is of a page that
// was opened before the daemon was renewed; it is told so, and loads itself
// again.
func (s *Server) pageFile(w http.ResponseWriter, r *http.Request) error {
	a, ok := s.page.files[Param(r, "file")]
	if !ok || Param(r, "version") != s.page.version {
		return ErrNotFound
	}
	h := w.Header()
	h.Set("Content-Type", a.media)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	body := a.body
	if a.packed != nil {
		h.Add("Vary", "Accept-Encoding")
		if AcceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
			body = a.packed()
		}
	}
	_, _ = w.Write(body) // the client has gone; there is no one to tell
	return nil
}

// notFound is the answer to a path that leads nowhere: the page to somebody
// who reads, a problem to a program.
func (s *Server) notFound() http.Handler {
	lost, problem := s.pageHandler(http.StatusNotFound), s.refuseAll(ErrNotFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") &&
			strings.Contains(r.Header.Get("Accept"), "text/html")
		if !reads || lost(w, r) != nil {
			problem.ServeHTTP(w, r)
		}
	})
}

// joinAddress is where other machines of the house reach the page. It is
// "" where the address that the browser used is as good as any; a wall display
// that shows this machine its own page has asked "localhost", of which no
// phone can make anything.
func (s *Server) joinAddress(r *http.Request) string {
	if s.cfg.PublicOrigin != "" {
		return s.cfg.PublicOrigin
	}
	name, ok := hostOf(r.Host)
	own, err := netip.ParseAddr(name)
	if !ok || name != "localhost" && (err != nil || !own.IsLoopback()) {
		return ""
	}
	address, ok := houseAddress()
	if !ok {
		return ""
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "http://" + net.JoinHostPort(address.String(), port)
	}
	return "http://" + address.String()
}

// houseAddress is the first private IPv4 address of this machine.
func houseAddress() (netip.Addr, bool) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, false
	}
	for _, one := range all {
		prefix, err := netip.ParsePrefix(one.String())
		if a := prefix.Addr(); err == nil && a.Is4() && a.IsPrivate() {
			return a, true
		}
	}
	return netip.Addr{}, false
}
