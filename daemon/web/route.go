package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"
)

// A handler answers a request, or returns why it does not: see [statuses].
type handler func(w http.ResponseWriter, r *http.Request) error

// A route is a method and a path, who may use it, what answers, and how the
// OpenAPI document describes it.
type route struct {
	method string
	path   string // in httprouter's form: /notify/:id
	class  class
	handle handler
	op     operation
}

// routes is the table of everything that the daemon answers.
func (s *Server) routes() []route {
	guarded := slices.Concat(s.notifyRoutes(), s.eventRoutes(), s.speechRoutes())
	return slices.Concat(
		guarded,
		underAPI(guarded),
		s.healthRoutes(),
		s.voiceRoutes(),
		s.docsRoutes(),
		s.pageRoutes(),
		s.authRoutes(),
		s.teamRoutes(),
		s.gameRoutes(),
		s.socketRoutes(),
		s.kioskRoutes(),
		s.adminRoutes(),
		s.authAdminRoutes(),
	)
}

// underAPI returns the same routes below /api, where a session counts as
// permission.
func underAPI(routes []route) []route {
	api := slices.Clone(routes)
	for i := range api {
		api[i].path = "/api" + api[i].path
		api[i].class = members
		api[i].op.id += "FromPage"
	}
	return api
}

// router makes a router of the administrator's routes, or of all others.
// Whatever answers GET answers HEAD as well, unless asking changes something;
// OPTIONS says which methods there are.
func (s *Server) router(administrators bool) http.Handler {
	return s.routerOf(s.routes(), administrators)
}

// offers says whether routes of a class are on the administrator's socket, or on the
// network.
func (s *Server) offers(c class, administrators bool) bool {
	if c == scrapers {
		return administrators || s.cfg.Admin.OpenMetrics
	}
	return (c == admins) == administrators
}

func (s *Server) routerOf(routes []route, administrators bool) http.Handler {
	m := &httprouter.Router{
		RedirectTrailingSlash:  true,
		HandleMethodNotAllowed: true,
		HandleOPTIONS:          true,
		NotFound:               s.noSuchPage(),
		MethodNotAllowed:       s.always(errMethod),
		GlobalOPTIONS: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		}),
	}
	for _, rt := range routes {
		if !s.offers(rt.class, administrators) {
			continue
		}
		h := s.serve(rt)
		m.Handler(rt.method, rt.path, h)
		if rt.method == http.MethodGet && !rt.op.once {
			m.Handler(http.MethodHead, rt.path, h)
		}
	}
	return m
}

// always refuses every request with the same error.
func (s *Server) always(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, err) })
}

// serve puts before a route's handler the guards that depend on the route, and
// turns the error that it returns into a problem.
func (s *Server) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := visitOf(r.Context())
		v.class, v.route = rt.class, rt.path
		err := s.mayUse(rt, r)
		if err == nil {
			err = rt.handle(w, r)
		}
		if err != nil {
			s.refuse(w, r, err)
		}
	})
}

// mayUse returns nil when the request may have the route now, and its body is
// of a kind that the route reads.
func (s *Server) mayUse(rt route, r *http.Request) error {
	if rt.op.limited {
		if err := s.underLimit(s.posts, r); err != nil {
			return err
		}
	}
	if err := s.admit(r, rt.class); err != nil {
		return err
	}
	if rt.op.request == "" || rt.op.optional {
		return nil
	}
	return checkContentType(r)
}

// underLimit counts a request against the allowance of its address. This
// machine has no limit unless it is configured to; someone whom we do not
// know counts as the one who is at the other end of the connection.
func (s *Server) underLimit(l *limiter, r *http.Request) error {
	client := visitOf(r.Context()).client
	if client.IsLoopback() && !s.cfg.LimitLoopback {
		return nil
	}
	if !client.IsValid() {
		client = addrOf(r.RemoteAddr)
	}
	if wait := l.take(client, time.Now()); wait > 0 {
		return &retryError{errTooMany, wait}
	}
	return nil
}

// param returns a part of the path, such as "id".
func param(r *http.Request, name string) string {
	return httprouter.ParamsFromContext(r.Context()).ByName(name)
}

// openPath writes a path as OpenAPI does: /notify/{id}.
func openPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}
