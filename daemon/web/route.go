package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"pressbox/auth/netblock"
	"pressbox/daemon/limits"
)

// A Handler responds to a request, or returns an error, which becomes a
// [Problem] by the [Problems] of its package.
type Handler func(w http.ResponseWriter, r *http.Request) error

// A Route is a row of the table of routes.
type Route struct {
	Method    string
	Path      string // in httprouter's form: /notify/:id
	Class     Class
	Handle    Handler
	Operation Operation
}

// Template returns the path in the form of OpenAPI: /notify/{id}.
func (rt *Route) Template() string {
	parts := strings.Split(rt.Path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// Writes reports whether a request to the route changes something: it is carried out whatever becomes of its client.
func (rt *Route) Writes() bool {
	if rt.Method == http.MethodGet {
		return rt.Operation.Once
	}
	return !rt.Operation.Reads
}

// NewRoute returns a route.
func NewRoute(method, path string, class Class, handle Handler, op Operation) Route {
	return Route{Method: method, Path: path, Class: class, Handle: handle, Operation: op}
}

// An Operation describes a route in the OpenAPI document.
type Operation struct {
	ID          string // unique
	Tag         string
	Summary     string
	Description string
	Headers     []string // names of header parameters in components/parameters
	Params      []string // names of query parameters in components/parameters
	Request     any      // a value of the type of its JSON body; nil: none
	Optional    bool     // the body may be missing
	AnyMedia    bool     // the body may also be a form or text, except of browsers
	Sound       bool     // the body may also be a sound: audio/*, or a multipart form with a file
	Form        any      // a value of the type of its form body, instead of Request
	Responses   []Response
	Problems    []int // statuses in addition to those of its class and its body
	Limited     bool  // by NOTIFY_RATE
	Once        bool  // GET changes state, so HEAD is refused
	Reads       bool  // another method changes nothing: a request ends with its client
	Exact       bool  // a path that a parameter of other routes matches too; no other method has it
	QueryToken  bool  // the parameters token and auth may be API tokens
	Fallback    bool  // it is served where no other route has the first segment of the path
	Ntfy        bool  // its errors have the form of ntfy

	// Of a websocket: a value of each type of frame that it sends and that it receives.
	Sent, Received []any
}

// A Response is one of an operation's responses that is not a problem.
type Response struct {
	Status      int
	Description string
	Media       []string // nil means application/json
	Body        any      // a value of the type of its JSON body; nil: any bytes
	Location    bool     // with a Location header
}

// OK describes the one response of an operation that has a JSON body.
func OK(description string, body any) []Response {
	return []Response{{Status: http.StatusOK, Description: description, Body: body}}
}

// Done describes the one response of an operation that has no body.
func Done() []Response {
	return []Response{{Status: http.StatusNoContent, Description: "Done."}}
}

// When returns the routes with handlers that respond 404 unless available
// returns true.
func When(routes []Route, available func() bool) []Route {
	for i, rt := range routes {
		routes[i].Handle = func(w http.ResponseWriter, r *http.Request) error {
			if !available() {
				return ErrNotFound
			}
			return rt.Handle(w, r)
		}
	}
	return routes
}

// UnderAPI returns the same routes below /api, where a session counts as a
// permission to announce.
func UnderAPI(routes []Route) []Route {
	api := slices.Clone(routes)
	for i := range api {
		api[i].Path = "/api" + api[i].Path
		api[i].Operation.ID += "WithSession"
		switch api[i].Class {
		case ControlAccess:
			api[i].Class = ControlOrSession
		default:
			api[i].Class = NotifyOrSession
		}
	}
	return api
}

// servedOn reports whether routes of the class are served on the
// administrator's socket, or else on the network.
func (c Class) servedOn(adminSocket, openMetrics bool) bool {
	switch c {
	case MetricsAccess:
		return adminSocket || openMetrics
	case NotifyAccess, ControlAccess, TokenRequired:
		return true
	default:
		return (c == AdminSocket) == adminSocket
	}
}

// router returns a router of the administrator's routes, or of all others.
// Every route for GET also serves HEAD, unless its GET changes state; OPTIONS
// lists the methods of a path.
func (s *Server) router(routes []Route, adminSocket bool) http.Handler {
	fallback := newRouter(s.page.notFound())
	fallback.MethodNotAllowed = s.refuseTopic()
	m := newRouter(reserved(routes, s.page.notFound(), fallback))
	exact := map[string]http.Handler{}
	for _, rt := range routes {
		if !rt.Class.servedOn(adminSocket, s.cfg.OpenMetrics) {
			continue
		}
		h := s.routeHandler(rt)
		if rt.Operation.Exact {
			exact[rt.Path] = only(rt, h)
			continue
		}
		to := m
		if rt.Operation.Fallback {
			to = fallback
		}
		to.Handler(rt.Method, rt.Path, h)
		if rt.Method == http.MethodGet && !rt.Operation.Once {
			to.Handler(http.MethodHead, rt.Path, h)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = withoutSlash(r)
		if h, ok := exact[r.URL.Path]; ok {
			h.ServeHTTP(w, r)
			return
		}
		m.ServeHTTP(w, r)
	})
}

func newRouter(notFound http.Handler) *httprouter.Router {
	return &httprouter.Router{
		HandleMethodNotAllowed: true,
		HandleOPTIONS:          true,
		NotFound:               notFound,
		MethodNotAllowed:       refuseAll(errMethodNotAllowed),
		GlobalOPTIONS: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		}),
	}
}

// withoutSlash returns a request without the slash at the end of its path: small clients do not follow a redirection.
func withoutSlash(r *http.Request) *http.Request {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if path == "" || path == r.URL.Path {
		return r
	}
	r = r.WithContext(r.Context()) // a copy
	address := *r.URL
	address.Path, address.RawPath, r.URL = path, "", &address
	return r
}

// reserved returns a handler of paths of which no route is found: those whose first segment no route has are passed on
// to others.
func reserved(routes []Route, notFound, others http.Handler) http.Handler {
	first := func(path string) string {
		segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return segment
	}
	taken := map[string]bool{"api": true, "v1": true, "join": true, "sounds": true, "static": true}
	for _, rt := range routes {
		taken[first(rt.Path)] = taken[first(rt.Path)] || !rt.Operation.Fallback
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if taken[first(r.URL.Path)] {
			notFound.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// refuseTopic returns a handler of requests for a topic by a method that it has not: pages are looked for as if there
// were no topics.
func (s *Server) refuseTopic() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || strings.Count(r.URL.Path, "/") == 1 {
			w.Header().Del("Allow")
			s.page.notFound().ServeHTTP(w, r)
			return
		}
		writeProblem(w, r, errMethodNotAllowed)
	})
}

// only returns a handler of requests by the methods of a route. As the router does, it responds to
// OPTIONS, and refuses all others.
func only(rt Route, h http.Handler) http.Handler {
	methods := []string{rt.Method, http.MethodOptions}
	if rt.Method == http.MethodGet && !rt.Operation.Once {
		methods = []string{rt.Method, http.MethodHead, http.MethodOptions}
	}
	slices.Sort(methods)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions && slices.Contains(methods, r.Method) {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		writeProblem(w, r, errMethodNotAllowed)
	})
}

// refuseAll returns a handler that responds to every request with err.
func refuseAll(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeProblem(w, r, err) })
}

// routeHandler returns a route's handler behind the guards that depend on the
// route. An error becomes a problem.
func (s *Server) routeHandler(rt Route) http.Handler {
	row := s.writes.of(rt)
	if rt.Operation.Limited {
		row = nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rt.Writes() {
			ctx, cancel := withoutClient(r.Context())
			defer cancel()
			r = r.WithContext(ctx)
		}
		info := infoOf(r.Context())
		info.class, info.route = rt.Class, rt.Path
		info.queryToken, info.ntfy = rt.Operation.QueryToken, rt.Operation.Ntfy
		err := s.authorizeRoute(rt, r)
		if err == nil {
			err = s.allowWrite(row, r)
		}
		switch {
		case err != nil:
		case rt.Class.Administers():
			err = s.administer(rt, w, r)
		default:
			err = rt.Handle(w, r)
		}
		if err != nil {
			writeProblemOf(w, r, err, s.problems)
		}
	})
}

// authorizeRoute returns nil if the request is within the route's rate limit,
// may use the route, and has a body of a media type that the route accepts.
func (s *Server) authorizeRoute(rt Route, r *http.Request) error {
	if rt.Operation.Limited {
		if err := s.Allow(s.posts, r); err != nil {
			return err
		}
	}
	if rt.Class.Administers() {
		if err := s.Allow(s.administration, r); err != nil {
			return err
		}
	}
	if err := s.access.authorize(r, rt.Class); err != nil {
		return err
	}
	if rt.Operation.Optional || rt.Operation.Request == nil && !rt.Operation.AnyMedia {
		return nil
	}
	if rt.Operation.AnyMedia && (!fromBrowser(r) || rt.Operation.Sound && isAudio(r)) {
		return nil
	}
	return checkContentType(r)
}

// Allow counts a request against the limit of its client's address, and returns
// a [RetryError] above the limit. Loopback addresses have no limit unless
// LimitLoopback is set. A client with an unknown address counts as the peer of
// the connection.
func (s *Server) Allow(l *limits.Limiter, r *http.Request) error { return s.allowN(l, 1, r) }

// AllowUpload counts a request with a sound as so many of NOTIFY_RATE, of which it has counted as one.
func (s *Server) AllowUpload(requests int, r *http.Request) error {
	return s.allowN(s.posts, requests-1, r)
}

func (s *Server) allowN(l *limits.Limiter, n int, r *http.Request) error {
	client, limited := s.countedAs(r)
	if !limited {
		return nil
	}
	if wait := l.ReserveN(client, n, time.Now()); wait > 0 {
		return &RetryError{Err: ErrTooManyRequests, After: wait}
	}
	return nil
}

// Limited returns a handler that a client may call as often as l permits; see [Server.Allow].
func (s *Server) Limited(l *limits.Limiter, next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.Allow(l, r); err != nil {
			return err
		}
		return next(w, r)
	}
}

// countedAs returns the address as which a request is counted, and whether it is
// limited.
func (s *Server) countedAs(r *http.Request) (client netip.Addr, limited bool) {
	info := infoOf(r.Context())
	client = info.client
	limited = !info.local && (!client.IsLoopback() || s.cfg.LimitLoopback)
	if !client.IsValid() {
		client = netblock.RemoteAddr(r.RemoteAddr)
	}
	return client, limited
}

// ClientBlock returns the block of addresses as which the client of a request is
// counted; zero if it is not limited.
func (s *Server) ClientBlock(r *http.Request) netip.Prefix {
	client, limited := s.countedAs(r)
	if !limited {
		return netip.Prefix{}
	}
	return s.cfg.Blocks.Of(client).Host
}

// Param returns a parameter of the path, such as "id".
func Param(r *http.Request, name string) string {
	return httprouter.ParamsFromContext(r.Context()).ByName(name)
}
