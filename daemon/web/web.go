// Package web is the daemon's HTTP: every route, the guards that stand before
// them, and the document that describes them.
//
// One law: a request passes every guard, in the same order, before a handler
// sees it; a handler decodes, calls one method, and encodes. Which routes
// there are is said once, in [Server.routes]; the router and the OpenAPI
// document are both made from it.
package web

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"pressbox/game/live"
	"pressbox/voice/announce"
)

// A Config is what a [Server] is made of. Where it says so, a zero value means
// something; everything else is needed.
type Config struct {
	Log     *slog.Logger
	Version string
	Admin   Admin
	// Versions names what else the daemon is built of, such as "onnxruntime",
	// for GET /admin/status; nil means nothing.
	Versions map[string]string

	Announcer   *announce.Announcer
	Speaker     announce.Speaker // for POST /v1/audio/speech
	DefaultRate int              // words per minute at speed 1.0
	Voices      func() VoiceList // for GET /voices; called for every request
	Checks      []Check          // for GET /health, in their order

	Access   Access   // who may announce; "" means LAN
	Tokens   Tokens   // nil means that no token is valid
	Sessions Sessions // nil means that no one is signed in
	SignIn   *SignIn  // nil means that no one can sign in; otherwise it is Tokens and Sessions too

	Hall  *live.Games // nil means that nobody plays
	Teams Teams       // nil means the same
	// Season is what the page asks for, and what statistics are of that name
	// none (DEFAULT_SEASON).
	Season int

	// AllowedHosts are further names under which the daemon may be asked,
	// such as "pressbox.example.org" or "*.example.org"; see [hosts].
	AllowedHosts []string
	// TrustedOrigins may send requests that change something from a page of
	// their own, such as "https://pressbox.example.org".
	TrustedOrigins []string
	// TrustedProxies are believed about whom they speak for.
	TrustedProxies []netip.Prefix

	// NotifyRate is how many announcements a minute one address may post, in
	// bursts of at most half as many; 0 means 120.
	NotifyRate int
	// LimitLoopback says that the limit holds for this machine as well.
	LimitLoopback bool
}

// A Server answers the daemon's HTTP requests. Make one with [New].
type Server struct {
	cfg      Config
	started  time.Time
	hosts    hosts
	proxies  proxies
	origins  *http.CrossOriginProtection
	posts    *limiter      // POST /notify, by address
	starts   *limiter      // sign-ins begun, by address
	jar      jar           // our cookies
	pages    *pages        // about signing in
	speeches chan struct{} // one element for each synthesis that is running
	closing  chan struct{} // closed when streams are to end
	stop     sync.Once     // closes closing
	traffic  traffic       // from the network
	sockets  tracker       // websockets that are open
	buffers  sync.Pool     // for what they write
	bodies   bodies        // what requests must look like
	document []byte        // openapi.json
	// socketDocument is asyncapi.json.
	socketDocument []byte
	client         *client // the page
	public         http.Handler
	admin          http.Handler
}

// New makes a server. It starts nothing; [Server.Serve] does.
func New(cfg Config) (*Server, error) {
	if cfg.Access == "" {
		cfg.Access = LAN
	}
	if cfg.NotifyRate == 0 {
		cfg.NotifyRate = 120
	}
	switch {
	case cfg.Log == nil:
		return nil, errors.New("make the web server: no log")
	case cfg.Announcer == nil || cfg.Speaker == nil || cfg.Voices == nil:
		return nil, errors.New("make the web server: an announcer, a speaker and voices are needed")
	}
	names, err := newHosts(cfg.AllowedHosts)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:      cfg,
		started:  time.Now(),
		hosts:    names,
		proxies:  cfg.TrustedProxies,
		origins:  http.NewCrossOriginProtection(),
		posts:    newLimiter(cfg.NotifyRate),
		starts:   newBurstLimiter(startRate, startRate),
		speeches: make(chan struct{}, maxSpeeches),
		closing:  make(chan struct{}),
	}
	for _, origin := range cfg.TrustedOrigins {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	if err := s.openDoor(); err != nil {
		return nil, err
	}
	if s.client, err = newClient(); err != nil {
		return nil, err
	}
	if s.document, err = document(s.routes(), cfg.Version); err != nil {
		return nil, err
	}
	if s.socketDocument, err = AsyncAPI(cfg.Version); err != nil {
		return nil, err
	}
	if s.bodies, err = newBodies(s.document, s.routes()); err != nil {
		return nil, err
	}
	s.public = s.traffic.counted(s.guarded(s.router(false)))
	s.admin = s.identified(s.router(true))
	return s, nil
}

// Handler answers requests from the network.
func (s *Server) Handler() http.Handler { return s.public }

// AdminHandler answers requests on the administrator's socket, to which only
// those can connect who may administer; no guard but the recording of what
// happened stands before it.
func (s *Server) AdminHandler() http.Handler { return s.admin }

// OpenAPI returns the document that GET /openapi.json answers, for a daemon of
// this version.
func OpenAPI(version string) ([]byte, error) {
	return document(new(Server).routes(), version)
}
