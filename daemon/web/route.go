package web

import (
	"net/http"
	"time"

	"github.com/julienschmidt/httprouter"
)

// A Handler answers a request, or returns an error, which becomes a
// [Problem]; see [statuses].
type Handler func(w http.ResponseWriter, r *http.Request) error

// A Route is a row of the table of routes.
type Route struct {
	Method    string
	Path      string // in httprouter's form: /notify/:id
	Class     Class
	Handle    Handler
	Operation Operation
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
	Headers     []string // names of components/parameters that it takes
	Params      []string // the same, in the query
	Request     string   // schema of its JSON body; "" means that it reads none
	Optional    bool     // the body may be missing
	Form        string   // schema of its body as a form, instead of Request
	Responses   []Response
	Problems    []int // statuses besides those that its class and its body lead to
	Limited     bool  // by NOTIFY_RATE
	Once        bool  // a GET changes something, so HEAD is not served
}

// A Response is one of an operation's responses that is not a problem.
type Response struct {
	Status      int
	Description string
	Media       []string // nil means application/json
	Schema      string   // "" means any bytes
	Location    bool     // it has a Location header
}

// When returns the routes with handlers that answer 404 unless there reports
// true.
func When(routes []Route, there func() bool) []Route {
	for i, rt := range routes {
		routes[i].Handle = func(w http.ResponseWriter, r *http.Request) error {
			if !there() {
				return ErrNotFound
			}
			return rt.Handle(w, r)
		}
	}
	return routes
}

// serves reports whether routes of a class are served on the administrator's
// socket, or else on the network.
func (s *Server) serves(c Class, onAdminSocket bool) bool {
	if c == MetricsAccess {
		return onAdminSocket || s.cfg.OpenMetrics
	}
	return (c == AdminSocket) == onAdminSocket
}

// router makes a router of the administrator's routes, or of all others.
// Every route for GET answers HEAD as well, unless a GET changes something;
// OPTIONS lists a path's methods.
func (s *Server) router(routes []Route, onAdminSocket bool) http.Handler {
	m := &httprouter.Router{
		RedirectTrailingSlash:  true,
		HandleMethodNotAllowed: true,
		HandleOPTIONS:          true,
		NotFound:               s.notFound(),
		MethodNotAllowed:       s.refuseAll(errMethodNotAllowed),
		GlobalOPTIONS: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		}),
	}
	for _, rt := range routes {
		if !s.serves(rt.Class, onAdminSocket) {
			continue
		}
		h := s.routeHandler(rt)
		m.Handler(rt.Method, rt.Path, h)
		if rt.Method == http.MethodGet && !rt.Operation.Once {
			m.Handler(http.MethodHead, rt.Path, h)
		}
	}
	return m
}

// refuseAll returns a handler that answers every request with err.
func (s *Server) refuseAll(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.writeProblem(w, r, err) })
}

// routeHandler returns a route's handler behind the guards that depend on the
// route. An error that it returns becomes a problem.
func (s *Server) routeHandler(rt Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := infoOf(r.Context())
		info.class, info.route = rt.Class, rt.Path
		err := s.authorizeRoute(rt, r)
		if err == nil {
			err = rt.Handle(w, r)
		}
		if err != nil {
			s.writeProblem(w, r, err)
		}
	})
}

// authorizeRoute returns nil when the request may use the route now, and its
// body has a media type that the route reads.
func (s *Server) authorizeRoute(rt Route, r *http.Request) error {
	if rt.Operation.Limited {
		if err := s.Allow(s.posts, r); err != nil {
			return err
		}
	}
	if err := s.authorize(r, rt.Class); err != nil {
		return err
	}
	if rt.Operation.Request == "" || rt.Operation.Optional {
		return nil
	}
	return checkContentType(r)
}

// Allow counts a request against the limit of its address, and returns a
// [RetryError] when that is reached. Loopback addresses have no limit unless
// LimitLoopback is set. A client of unknown address counts as the peer of the
// connection.
func (s *Server) Allow(l *Limiter, r *http.Request) error {
	client := infoOf(r.Context()).client
	if client.IsLoopback() && !s.cfg.LimitLoopback {
		return nil
	}
	if !client.IsValid() {
		client = remoteAddr(r.RemoteAddr)
	}
	if wait := l.reserve(client, time.Now()); wait > 0 {
		return &RetryError{Err: ErrTooManyRequests, After: wait}
	}
	return nil
}

// Param returns a part of the path, such as "id".
func Param(r *http.Request, name string) string {
	return httprouter.ParamsFromContext(r.Context()).ByName(name)
}
