package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pressbox/daemon/web/static"
)

// LoginPath is the path at which browsers begin to sign in.
const LoginPath = "/api/auth/idp/login"

// A page is the web page. The paths of its files contain a hash of all of them,
// so that browsers may cache them for ever and never mix files of two versions.
type page struct {
	cfg       Config
	document  *template.Template
	policy    string // the Content-Security-Policy
	languages *languages
	hash      string            // of all files, 12 hexadecimal digits
	files     map[string]*asset // by name
	manifest  []byte
}

// An asset is a file of the page.
type asset struct {
	media string
	body  []byte
	// gzipped returns body compressed with gzip, on the first call; nil for
	// files that are compressed already.
	gzipped func() []byte
}

// mediaOf returns the media type of one of the page's files.
func mediaOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	default: // licenses
		return "text/plain; charset=utf-8"
	}
}

// loadPage returns the embedded page.
func loadPage(cfg Config) (*page, error) {
	document, documentErr := template.ParseFS(static.Files, "index.html")
	languages, languagesErr := loadLanguages()
	files, filesErr := loadFiles("page", "vendor", "icons")
	manifest, manifestErr := static.Files.ReadFile("manifest.webmanifest")
	if err := errors.Join(documentErr, languagesErr, filesErr, manifestErr); err != nil {
		return nil, fmt.Errorf("load the page: %w", err)
	}
	p := &page{cfg: cfg, document: document, languages: languages, files: files, hash: hashOf(files)}
	p.manifest = bytes.ReplaceAll(manifest, []byte("FILES"), []byte(p.prefix()))
	inline := sha256.Sum256([]byte(p.reload()))
	p.policy = strings.Replace(contentPolicy, "script-src",
		"script-src 'sha256-"+base64.StdEncoding.EncodeToString(inline[:])+"'", 1)
	return p, nil
}

// documentation matches a documentation comment that has its lines for itself.
var documentation = regexp.MustCompile(`(?m)^[ \t]*/\*\*(?:[^*]|\*+[^*/])*\*+/[ \t]*\n`)

// loadFiles returns the files of folders by name. The style sheets below
// page/css are one file, style.css, in the order of their names, and so are the
// parts of a module, without its documentation: a twentieth of a view.
func loadFiles(folders ...string) (map[string]*asset, error) {
	bodies, style := map[string][]byte{}, []byte(nil)
	for _, folder := range folders {
		err := fs.WalkDir(static.Files, folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			body, err := static.Files.ReadFile(name)
			switch {
			case path.Dir(name) == "page/css":
				style = append(style, body...)
			case folder == "page":
				bodies[entry.Name()] = documentation.ReplaceAll(body, nil)
			default:
				bodies[entry.Name()] = body
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	bodies["style.css"] = style
	joinModules(bodies)
	files := map[string]*asset{}
	for name, body := range bodies {
		files[name] = newAsset(name, body)
	}
	return files, nil
}

// hashOf returns the hash of all files, 12 hexadecimal digits.
func hashOf(files map[string]*asset) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(sum, "%s %d\n", name, len(files[name].body)) // a hash returns no error
		_, _ = sum.Write(files[name].body)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// prefix returns the path below which the files are.
func (p *page) prefix() string { return "/page/" + p.hash }

// icon returns the icon as a data URL, which costs no request.
func (p *page) icon() template.URL {
	//nolint:gosec // a file of ours
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(p.files["icon.svg"].body))
}

// reload returns the script that loads the page again if a file is missing.
func (p *page) reload() template.JS {
	return template.JS(p.files["reload.js"].body) //nolint:gosec // a file of ours
}

func newAsset(name string, body []byte) *asset {
	a := &asset{media: mediaOf(name), body: body}
	if ext := path.Ext(name); ext == ".woff2" || ext == ".png" { // compressed already
		return a
	}
	a.gzipped = sync.OnceValue(func() []byte {
		var buf bytes.Buffer
		z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
		if err != nil {
			panic(err) // only for an invalid level
		}
		_, _ = z.Write(body) // a buffer returns no error
		_ = z.Close()
		return buf.Bytes()
	})
	return a
}

// pagePaths returns the paths at which the page is served. Its script selects
// the view of each path: see routes in static/page/app.js.
func pagePaths() []struct{ id, path, summary string } {
	return []struct{ id, path, summary string }{
		{"getLobby", "/", "Get the lobby: active, open and finished games"},
		{"getNewGame", "/new", "Get the form of a new game"},
		{"getGamePage", "/games/:id", "Get a game: scoreboard, field, decisions, play-by-play"},
		{"getLineupPage", "/games/:id/lineup", "Get the line-up cards of a game"},
		{"getReplay", "/games/:id/replay", "Get the replay of a game"},
		{"getReplayAt", "/games/:id/replay/:rev", "Get the replay of a game from one of its plays"},
		{"getJoinPage", "/join/:code", "Get the form by which a guest takes a seat"},
		{"getStandingsPage", "/standings", "Get the standings of the clubs"},
		{"getPlayersPage", "/players", "Get batting and pitching lines"},
		{"getLeadersPage", "/leaders", "Get the leaders and the records of a season"},
		{"getManagersPage", "/managers", "Get the ladder of managers"},
		{"getLeaguesPage", "/leagues", "Get the series and leagues, and the form of a new one"},
		{"getLeaguePage", "/leagues/:id", "Get a league: calendar, results, standings"},
		{"getSeriesPage", "/series/:id", "Get a series: games, results"},
		{"getAnnouncementsPage", "/announcements", "Get the queue of announcements and a form to create one"},
		{"getAdministrationPage", "/admin", "Get the administration: sound, voices, accounts, tokens, health, backups"},
		{"getAccountPage", "/account", "Get the account and its sessions"},
		{"getKiosk", "/kiosk", "Get the wall display"},
		{"getHelp", "/help", "Get the rules, the glossary and the keys"},
		{"getAbout", "/about", "Get the version, components and licenses"},
	}
}

// PageRoutes returns the routes of the page.
func (s *Server) PageRoutes() []Route {
	routes := []Route{{http.MethodGet, "/page/:version/:file", Public, s.page.serveFile, Operation{
		ID: "getPageFile", Tag: "page", Summary: "Get a file of the page",
		Description: "The path contains a hash of all files, so that clients may cache the file for ever.",
		Responses:   []Response{{Status: http.StatusOK, Description: "The file.", Media: []string{"*/*"}}},
		Problems:    []int{http.StatusNotFound},
	}}}
	routes = append(routes, s.page.manifestRoute())
	for _, p := range pagePaths() {
		routes = append(routes, Route{http.MethodGet, p.path, Public, s.page.handler(http.StatusOK), Operation{
			ID: p.id, Tag: "page", Summary: p.summary,
			Responses: []Response{{Status: http.StatusOK, Description: "The page.", Media: []string{"text/html"}}},
		}})
	}
	return routes
}

// WritePage responds with the document. Browsers without scripts show plain,
// unless it is "".
func (s *Server) WritePage(w http.ResponseWriter, r *http.Request, status int, plain string) error {
	return s.page.write(w, r, status, plain)
}

// PageFiles returns the path below which the files of the page are.
func (s *Server) PageFiles() string { return s.page.prefix() }

// Language returns the language of the page for a request, such as "de".
func (s *Server) Language(r *http.Request) string { return s.page.languages.of(r) }

// handler returns a handler that responds with the document.
func (p *page) handler(status int) Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return p.write(w, r, status, "") }
}

func (p *page) write(w http.ResponseWriter, r *http.Request, status int, plain string) error {
	var document bytes.Buffer
	values := struct {
		Version, Files, Join, Plain, Again, Account string
		Language, Languages                         string
		Icon                                        template.URL
		Reload                                      template.JS
		Season                                      int
		Control                                     Control
	}{
		p.cfg.Version, p.prefix(), joinURL(r, p.cfg.PublicOrigin), plain, LoginPath, "",
		p.languages.of(r), strings.Join(p.languages.names, " "),
		p.icon(), p.reload(), p.cfg.Season, p.cfg.ControlAccess,
	}
	if p.cfg.PageAccount != nil {
		values.Account = p.cfg.PageAccount(r)
	}
	if err := p.document.Execute(&document, values); err != nil {
		return fmt.Errorf("render the page: %w", err)
	}
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "private, no-cache") // browsers may store it, and must revalidate it
	w.Header().Add("Vary", "Accept-Language, Cookie")
	w.Header().Set("Content-Language", values.Language)
	w.WriteHeader(status)
	_, _ = w.Write(document.Bytes()) // the client may have disconnected
	return nil
}

// serveFile responds with a file. A path with another hash belongs to a page
// that was opened before an upgrade; the page reloads itself after the 404.
func (p *page) serveFile(w http.ResponseWriter, r *http.Request) error {
	a, ok := p.files[Param(r, "file")]
	if !ok || Param(r, "version") != p.hash {
		return ErrNotFound
	}
	h := w.Header()
	h.Set("Content-Type", a.media)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	body := a.body
	if a.gzipped != nil {
		h.Add("Vary", "Accept-Encoding")
		if AcceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
			body = a.gzipped()
		}
	}
	_, _ = w.Write(body) // the client may have disconnected
	return nil
}

// notFound returns the handler of unknown paths: it responds to browsers with
// the page, to other clients with a problem.
func (p *page) notFound() http.Handler {
	document, problem := p.handler(http.StatusNotFound), refuseAll(ErrNotFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		browser := r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") &&
			strings.Contains(r.Header.Get("Accept"), "text/html")
		if !browser || document(w, r) != nil {
			problem.ServeHTTP(w, r)
		}
	})
}

// JoinOrigin returns the origin at which other hosts reach the page.
func (s *Server) JoinOrigin(r *http.Request) string {
	return cmp.Or(joinURL(r, s.cfg.PublicOrigin), s.Origin(r))
}

// joinURL returns the origin at which other hosts reach the page, "" if the one
// that the browser used will do. A wall display on this host uses "localhost",
// which a phone cannot open.
func joinURL(r *http.Request, publicOrigin string) string {
	if publicOrigin != "" {
		return publicOrigin
	}
	if !NamesLoopback(r.Host) {
		return ""
	}
	address, ok := privateAddr()
	if !ok {
		return ""
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "http://" + net.JoinHostPort(address.String(), port)
	}
	return "http://" + address.String()
}

// privateAddr returns the first private IPv4 address of this host.
func privateAddr() (netip.Addr, bool) {
	for _, prefix := range interfacePrefixes() {
		if a := prefix.Addr(); a.Is4() && a.IsPrivate() {
			return a, true
		}
	}
	return netip.Addr{}, false
}
