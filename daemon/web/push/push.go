// Package push serves the publishing routes of ntfy and Gotify, so that programs which
// send to these can send to Pressbox.
//
// One law: both lead to the same [draft.Draft] as POST /notify. What such a program sends
// that has no effect on speech is ignored; a field that neither it nor Pressbox knows is
// ignored with a warning.
package push

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/announce/draft"
)

// A Config holds what the routes of this package use.
type Config struct {
	Announcer *announcer.Announcer
	// Ntfy and Gotify report whether the routes of each exist (NTFY, GOTIFY).
	Ntfy, Gotify func() bool
	// UrgentFrom returns the priority of ntfy, 1 to 5, from which an announcement is
	// urgent; 0 means never (NTFY_URGENT).
	UrgentFrom func() int
	// IsRoom reports whether there is a room of a name. Announcements for a topic of ntfy
	// with this name are spoken there.
	IsRoom func(name string) bool
	// History reports whether announcements that have ended may be told (HISTORY).
	History func() bool
}

var (
	errNotWebsocket = errors.New("a websocket handshake is expected (RFC 6455)")
	errStopping     = errors.New("the server is stopping")
)

var statuses = web.Statuses{
	web.NewStatus(errNotWebsocket, http.StatusBadRequest, "not_websocket", 0),
	web.NewStatus(errStopping, http.StatusServiceUnavailable, "stopping", 2*time.Second),
}

// Problem returns the problem that an error of these routes is to the client.
func Problem(err error) (web.Problem, bool) { return statuses.Problem(err) }

type handlers struct {
	*web.Server
	Config
}

// Routes returns the routes of this package.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{s, cfg}
	return slices.Concat(web.When(h.ntfyRoutes(), cfg.Ntfy), web.When(h.gotifyRoutes(), cfg.Gotify))
}

// announce accepts the announcement of a draft, which was published in a topic of ntfy unless that is "", and sets the
// Location of the response.
func (h *handlers) announce(
	w http.ResponseWriter, r *http.Request, d *draft.Draft, topic, sequence string,
) (announce.View, error) {
	by, err := h.RequestBy(r)
	if err != nil {
		return announce.View{}, err
	}
	by.Sender.Topic, by.Sender.Sequence = topic, sequence
	view, err := d.Announce(r.Context(), h.Announcer, by)
	if err != nil {
		return announce.View{}, err
	}
	w.Header().Set("Location", "/notify/"+view.ID)
	if view.Created.IsZero() { // the request was repeated, and its announcement is no longer stored
		view.Created = time.Now().UTC()
	}
	return view, nil
}

// number returns the number of a priority, from 0; ok is false if text is not one.
func number(text string, most int) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && 0 <= n && n <= most
}

// operation returns the parts of an operation that the routes of this package share.
func operation(o web.Operation) web.Operation {
	o.Tag, o.Limited = "announcements", true
	o.Headers = append(o.Headers, "Idempotency-Key")
	o.Problems = append(o.Problems, http.StatusBadRequest,
		http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	return o
}
