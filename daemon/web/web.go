// Package web serves the daemon's HTTP. It holds what every route shares: the
// router, the guards before it, access rules, problems, the decoding of
// bodies, rate limits, connections, and the page. The routes themselves are in
// the packages below it, and [pressbox/daemon/web/site] puts all of them
// together.
//
// One law: a request passes every guard, in the same order, before a handler
// sees it; a handler decodes, calls one method, and encodes. The router and
// the OpenAPI document are made from the same table of routes.
package web

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A Config holds the settings of a [Server]. Log is required.
type Config struct {
	Log     *slog.Logger
	Version string

	Access   Access   // who may announce; "" means LAN
	Tokens   Tokens   // nil: every API token is invalid
	Sessions Sessions // nil: every request is without a session

	// AllowedHosts are Host names to accept besides the usual ones, such as
	// "pressbox.example.org" or "*.example.org"; see [hosts].
	AllowedHosts []string
	// TrustedOrigins are origins of pages that may send requests that change
	// something, such as "https://pressbox.example.org".
	TrustedOrigins []string
	// TrustedProxies are the reverse proxies whose Forwarded and
	// X-Forwarded-For headers are trusted.
	TrustedProxies []netip.Prefix
	// Frontend is the origin of a web client that is served elsewhere, which
	// may read answers (CORS); "" means none.
	Frontend string
	// PublicOrigin is the origin at which other hosts reach the page; "" means
	// that it is not configured.
	PublicOrigin string
	// Season is the season that the page asks for (DEFAULT_SEASON).
	Season int

	// NotifyRate is the number of announcements that one address may post each
	// minute, in bursts of at most half as many; 0 means 120.
	NotifyRate int
	// LimitLoopback applies rate limits to loopback addresses as well.
	LimitLoopback bool

	// OpenMetrics serves routes of class [MetricsAccess] on the network too.
	OpenMetrics bool
	// Observe is called after every request, unless it is nil. route is the
	// path in the table of routes, "" without one; method is "other" for
	// methods that no route has.
	Observe func(route, method string, status int, took time.Duration)
}

// A Server answers HTTP requests. [New] makes one, [Server.Mount] gives it its
// routes.
type Server struct {
	cfg      Config
	started  time.Time
	hosts    hosts
	proxies  proxies
	origins  *http.CrossOriginProtection
	posts    *Limiter      // of routes with Limited, by address
	closing  chan struct{} // closed when streams are to end
	stop     sync.Once     // closes closing
	activity activity      // of the network
	conns    connTracker   // connections that outlive their request
	schemas  schemas       // of request bodies
	page     *pageFiles
	public   http.Handler
	admin    http.Handler
}

// New makes a server without routes. It starts nothing; [Server.Serve] does.
func New(cfg Config) (*Server, error) {
	if cfg.Access == "" {
		cfg.Access = LAN
	}
	if cfg.NotifyRate == 0 {
		cfg.NotifyRate = 120
	}
	if cfg.Log == nil {
		return nil, errors.New("make the web server: no log")
	}
	names, err := newHosts(cfg.AllowedHosts)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:     cfg,
		started: time.Now(),
		hosts:   names,
		proxies: cfg.TrustedProxies,
		origins: http.NewCrossOriginProtection(),
		posts:   NewLimiter(cfg.NotifyRate, cfg.NotifyRate/2),
		closing: make(chan struct{}),
	}
	for _, origin := range cfg.TrustedOrigins {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	if s.page, err = loadPage(); err != nil {
		return nil, err
	}
	return s, nil
}

// Mount makes the server answer the routes. Request bodies are checked against
// the schemas of document, the routes' OpenAPI document. Mount must be called
// once, before the server is asked anything.
func (s *Server) Mount(routes []Route, document []byte) (err error) {
	if s.schemas, err = compileSchemas(document, routes); err != nil {
		return err
	}
	s.public = s.activity.count(s.guarded(s.router(routes, false)))
	s.admin = s.logged(s.router(routes, true))
	return nil
}

// Handler returns the handler of requests from the network.
func (s *Server) Handler() http.Handler { return s.public }

// AdminHandler returns the handler of requests on the administrator's socket.
// Only those who may administer can connect to it, so its requests are logged
// and pass no other guard.
func (s *Server) AdminHandler() http.Handler { return s.admin }

// Closing returns a channel that is closed when the server stops. Streams end
// then.
func (s *Server) Closing() <-chan struct{} { return s.closing }

// TrustsOrigin reports whether origin is one of the configured TrustedOrigins.
func (s *Server) TrustsOrigin(origin string) bool {
	for _, trusted := range s.cfg.TrustedOrigins {
		if trusted == origin {
			return true
		}
	}
	return false
}

// Log returns the server's log.
func (s *Server) Log() *slog.Logger { return s.cfg.Log }

// Version returns the version that the server was made with.
func (s *Server) Version() string { return s.cfg.Version }
