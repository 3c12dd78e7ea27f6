// Package web is the HTTP server. It has what every route shares: the router,
// the guards before it, access rules, problems, the decoding of bodies, rate
// limits, connections, and the page. The routes are in the packages below it;
// [pressbox/daemon/web/site] joins them.
//
// One law: a request passes every guard, in the same order, before its handler
// is called; a handler decodes, calls one method, and encodes. The router and
// the OpenAPI document are built from the same table of routes.
package web

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"pressbox/auth/netblock"
	"pressbox/daemon/limits"
)

// A Config holds the settings of a [Server]. Log is required.
type Config struct {
	Log     *slog.Logger
	Version string

	Access        Access   // NOTIFY_ACCESS; "" means LAN
	ControlAccess Control  // CONTROL_ACCESS; "" means ControlAdmin
	Tokens        Tokens   // nil: every API token is invalid
	Sessions      Sessions // nil: every request is without a session
	// PageAccount returns the account that the browser of a request to the page is signed
	// in with, as JSON for the document; "" if unknown. nil: always "".
	PageAccount func(*http.Request) string

	// AllowedHosts are additional Host names to accept, such as
	// "pressbox.example.org" or "*.example.org"; see [hosts].
	AllowedHosts []string
	// TrustedOrigins are the origins of other pages that may send requests that
	// change state, such as "https://pressbox.example.org".
	TrustedOrigins []string
	// TrustedProxies are the reverse proxies whose Forwarded and
	// X-Forwarded-For headers are trusted.
	TrustedProxies []netip.Prefix
	// Frontend is the origin of a web client on another server, which may read
	// responses (CORS); "" means none.
	Frontend string
	// PublicOrigin is the origin at which other hosts reach the page; "" means
	// not configured.
	PublicOrigin string
	// Season is the season that the page requests (DEFAULT_SEASON).
	Season int

	// NotifyRate is the number of announcements that one address may create each
	// minute, in bursts of at most half as many; 0 means 120.
	NotifyRate int
	// Blocks are the addresses that count as one client; nil: without the prefixes
	// of the host's interfaces.
	Blocks *netblock.Table
	// LimitLoopback applies rate limits to loopback addresses as well.
	LimitLoopback bool

	// OpenMetrics serves routes of class [MetricsAccess] on the network too.
	OpenMetrics bool
	// Observe, if not nil, is called after every request. route is the path in
	// the table of routes, "" if none matches; method is "other" unless it is a
	// common one.
	Observe func(route, method string, status int, took time.Duration)
}

// A Server is an HTTP server. [New] creates it, [Server.Mount] sets its routes.
type Server struct {
	cfg            Config
	hosts          hosts
	access         accessRules
	requests       requestLog
	probes         probes
	origins        *http.CrossOriginProtection
	posts          *limits.Limiter         // of routes with Limited, by address
	administration *limits.Limiter         // of routes for administrators' accounts, by address
	writes         writeRows               // of the other routes that save something
	closing        chan struct{}           // closed when streams must end
	stop           sync.Once               // closes closing
	activity       activity                // of the network
	conns          connTracker             // connections that outlive their request
	schemas        func() (schemas, error) // of request bodies, compiled when the first is decoded
	problems       []Problems              // of the packages of routes
	page           *page
	public         http.Handler
	admin          http.Handler
}

// New returns a server without routes. It starts nothing; [Server.Serve] does.
func New(cfg Config) (*Server, error) {
	if cfg.Access == "" {
		cfg.Access = LAN
	}
	if cfg.NotifyRate == 0 {
		cfg.NotifyRate = 120
	}
	if cfg.Log == nil {
		return nil, errors.New("create the web server: Config.Log is nil")
	}
	names, err := newHosts(cfg.AllowedHosts)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:   cfg,
		hosts: names,
		access: accessRules{
			notify: cfg.Access, control: cfg.ControlAccess, tokens: cfg.Tokens, sessions: cfg.Sessions,
		},
		requests:       requestLog{logger: cfg.Log, observe: cfg.Observe, proxies: cfg.TrustedProxies},
		origins:        http.NewCrossOriginProtection(),
		posts:          limits.NewLimiter(cfg.Blocks, cfg.NotifyRate, cfg.NotifyRate/2),
		administration: limits.NewLimiter(cfg.Blocks, administrationRate, administrationBurst),
		closing:        make(chan struct{}),
		activity:       activity{started: time.Now()},
	}
	s.writes = s.newWriteRows()
	for _, origin := range cfg.TrustedOrigins {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	if s.page, err = loadPage(cfg); err != nil {
		return nil, err
	}
	return s, nil
}

// Mount sets the routes of the server. Request bodies are checked against the
// schemas of document, the routes' OpenAPI document, and problems are those of the errors
// that the routes return. Mount must be called once, before the server is used.
func (s *Server) Mount(routes []Route, document func() ([]byte, error), problems ...Problems) {
	s.problems = problems
	s.schemas = sync.OnceValues(func() (schemas, error) {
		text, err := document()
		if err != nil {
			return nil, err
		}
		return compileSchemas(text, routes)
	})
	s.public = s.activity.count(s.guarded(s.router(routes, false)))
	s.admin = s.requests.log(onSocket(s.router(routes, true)))
}

// Handler returns the handler of requests from the network.
func (s *Server) Handler() http.Handler { return s.public }

// AdminHandler returns the handler of requests on the administrator's socket.
// It logs them; [Server.ServeAdmin] checks the peer before.
func (s *Server) AdminHandler() http.Handler { return s.admin }

// Posts returns the limiter of announcements by address (NOTIFY_RATE).
func (s *Server) Posts() *limits.Limiter { return s.posts }

// Blocks returns the blocks of addresses that count as one client.
func (s *Server) Blocks() *netblock.Table { return s.cfg.Blocks }

// NewLimiter returns a limiter with the server's blocks of addresses.
func (s *Server) NewLimiter(perMinute, burst int) *limits.Limiter {
	return limits.NewLimiter(s.cfg.Blocks, perMinute, burst)
}

// Closing returns a channel that is closed when the server stops. Streams must
// end then.
func (s *Server) Closing() <-chan struct{} { return s.closing }

// Log returns the server's log.
func (s *Server) Log() *slog.Logger { return s.cfg.Log }

// Version returns Config.Version.
func (s *Server) Version() string { return s.cfg.Version }
