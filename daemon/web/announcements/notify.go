// Package announcements serves announcements: the queue, its events, the voices,
// and speech as a file.
package announcements

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// maxKey is the maximum length of an Idempotency-Key in bytes.
const maxKey = 255

// A Config holds what the routes of this package use.
type Config struct {
	Announcer   *announce.Announcer
	Speaker     announce.Speaker // for POST /v1/audio/speech
	DefaultRate int              // words per minute at speed 1.0
	Voices      func() VoiceList // for GET /voices; called for every request
	// Preview is for POST /speakable; voice is installed.
	Preview func(ctx context.Context, voice, message string) (Preview, error)
}

// handlers has the handlers of this package.
type handlers struct {
	*web.Server
	Config
	speeches speechSlots
	reads    *web.Limiter // of announcements, by address
	cancels  *web.Limiter // by address
}

// How many requests of a kind an address can send each minute, in bursts of at
// most half as many.
const (
	readRate   = 600
	cancelRate = 120
)

// limited returns a handler that first counts its requests with a limiter.
func (h *handlers) limited(l *web.Limiter, next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := h.Allow(l, r); err != nil {
			return err
		}
		return next(w, r)
	}
}

// Routes returns the routes of this package. Those under NOTIFY_ACCESS are also
// served below /api, where a session permits them as well.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{
		Server: s, Config: cfg, speeches: speechSlots{clients: map[netip.Prefix]bool{}},
		reads: s.NewLimiter(readRate, readRate/2), cancels: s.NewLimiter(cancelRate, cancelRate/2),
	}
	guarded := slices.Concat(h.notifyRoutes(), h.eventRoutes(), h.speechRoutes(), h.speakableRoutes())
	return slices.Concat(guarded, underAPI(guarded), h.voiceRoutes())
}

// underAPI returns the same routes below /api.
func underAPI(routes []web.Route) []web.Route {
	api := slices.Clone(routes)
	for i := range api {
		api[i].Path = "/api" + api[i].Path
		api[i].Class = web.NotifyOrSession
		api[i].Operation.ID += "WithSession"
	}
	return api
}

func (h *handlers) notifyRoutes() []web.Route {
	one := []web.Response{{Status: http.StatusOK, Description: "The announcement.", Schema: "Announcement"}}
	return []web.Route{
		web.NewRoute(http.MethodPost, "/notify", web.NotifyAccess, h.announce, web.Operation{
			ID: "createAnnouncement", Tag: "announcements", Summary: "Create an announcement",
			Description: "202 means that the announcement is on disk: it survives a crash or a power cut, and is spoken unless it expires. " +
				"A repeated Idempotency-Key of the same client returns the announcement as it is now; the last 1,000 keys of 24 hours are stored for each client.",
			Headers: []string{"Idempotency-Key"},
			Request: "AnnouncementRequest",
			Responses: []web.Response{{
				Status: http.StatusAccepted, Description: "The announcement is saved.", Schema: "Accepted", Location: true,
			}},
			Problems: []int{http.StatusServiceUnavailable},
			Limited:  true,
		}),
		web.NewRoute(http.MethodGet, "/notify", web.NotifyAccess, h.limited(h.reads, h.queue), web.Operation{
			ID: "listAnnouncements", Tag: "announcements", Summary: "List the queue and the recent announcements",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The announcements.", Schema: "Queue"}},
			Problems:  []int{http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodDelete, "/notify", web.NotifyAccess, h.limited(h.cancels, h.cancelWaiting), web.Operation{
			ID: "cancelWaiting", Tag: "announcements", Summary: "Cancel all waiting announcements",
			Description: "The announcement that is being spoken is not cancelled.",
			Responses:   []web.Response{{Status: http.StatusOK, Description: "The number of cancelled announcements.", Schema: "Cancelled"}},
			Problems:    []int{http.StatusTooManyRequests, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, "/notify/:id", web.NotifyAccess, h.limited(h.reads, h.find), web.Operation{
			ID: "getAnnouncement", Tag: "announcements", Summary: "Get an announcement",
			Responses: one, Problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodDelete, "/notify/:id", web.NotifyAccess, h.limited(h.cancels, h.cancel), web.Operation{
			ID: "cancelAnnouncement", Tag: "announcements", Summary: "Cancel an announcement, also while it is spoken",
			Responses: one, Problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		}),
	}
}

// An announcementRequest is the body of POST /notify.
type announcementRequest struct {
	Message string `json:"message"`
	Rate    int    `json:"rate"`
	Voice   string `json:"voice"`
	Urgent  bool   `json:"urgent"`
	TTL     int    `json:"ttl"` // seconds
}

// An Announcement is the JSON of an announcement.
type Announcement struct {
	ID        string          `json:"id"`
	Status    announce.Status `json:"status"`
	Position  *int            `json:"position,omitempty"`
	Message   string          `json:"message"`
	Voice     string          `json:"voice"`
	Rate      int             `json:"rate"`
	Urgent    bool            `json:"urgent"`
	CreatedAt web.Timestamp   `json:"created_at"`
	ExpiresAt web.Timestamp   `json:"expires_at"`
	StartedAt web.Timestamp   `json:"started_at,omitzero"`
	EndedAt   web.Timestamp   `json:"ended_at,omitzero"`
	Error     string          `json:"error,omitempty"`
}

// NewAnnouncement returns the JSON of v.
func NewAnnouncement(v announce.View) Announcement {
	return Announcement{
		ID: v.ID, Status: v.Status, Position: v.Position,
		Message: v.Message, Voice: v.Voice, Rate: v.Rate, Urgent: v.Urgent,
		CreatedAt: web.Timestamp{Time: v.Created}, ExpiresAt: web.Timestamp{Time: v.Expires},
		StartedAt: web.Timestamp{Time: v.Started}, EndedAt: web.Timestamp{Time: v.Ended},
		Error: v.Error,
	}
}

// maxRecent is the maximum number of ended announcements in one response. The
// store may have thousands, of 5,000 characters each; GET /notify/{id} finds all.
const maxRecent = 200

// A QueueReply is the body of GET /notify.
type QueueReply struct {
	Queue  []Announcement `json:"queue"`
	Recent []Announcement `json:"recent"`
}

func (h *handlers) announce(w http.ResponseWriter, r *http.Request) error {
	key, err := idempotencyKey(r.Header)
	if err != nil {
		return err
	}
	var body announcementRequest
	err = h.Decode(w, r, "AnnouncementRequest", &body)
	bodyErr, invalid := errors.AsType[*web.BodyError](err)
	if err != nil && !invalid {
		return err
	}
	request := announce.Request{
		Message:        body.Message,
		Voice:          body.Voice,
		Rate:           body.Rate,
		Urgent:         body.Urgent,
		TTL:            time.Duration(body.TTL) * time.Second,
		IdempotencyKey: key,
	}
	if key != "" {
		request.Sender = h.Sender(r)
	}
	if invalid { // the response lists every violation
		_, err := h.Announcer.Check(request)
		return bodyErr.With(web.ViolationsOf(err))
	}
	view, err := h.Announcer.Announce(r.Context(), request)
	if err != nil {
		return err
	}
	w.Header().Set("Location", r.URL.Path+"/"+view.ID)
	if view.Created.IsZero() { // the request was repeated, and its announcement is no longer stored
		return web.WriteJSON(w, http.StatusAccepted, struct {
			ID     string          `json:"id"`
			Status announce.Status `json:"status"`
		}{view.ID, view.Status})
	}
	return web.WriteJSON(w, http.StatusAccepted, NewAnnouncement(view))
}

// idempotencyKey returns the Idempotency-Key of a request; "" means none.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	hidden := func(c rune) bool { return c < '!' || c > '~' }
	if len(values) > 1 || key == "" || len(key) > maxKey || slices.ContainsFunc([]rune(key), hidden) {
		return "", web.ErrIdempotencyKey
	}
	return key, nil
}

func (h *handlers) queue(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, Queue(h.Announcer))
}

// Queue returns the queue and the recent announcements of a.
func Queue(a *announce.Announcer) QueueReply {
	queue, recent := a.Queue()
	recent = recent[:min(len(recent), maxRecent)]
	return QueueReply{Queue: newAnnouncements(queue), Recent: newAnnouncements(recent)}
}

func newAnnouncements(views []announce.View) []Announcement {
	all := make([]Announcement, len(views))
	for i, v := range views {
		all[i] = NewAnnouncement(v)
	}
	return all
}

func (h *handlers) find(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Announcer.Find(web.Param(r, "id"))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, NewAnnouncement(view))
}

func (h *handlers) cancel(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Announcer.Cancel(r.Context(), web.Param(r, "id"))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, NewAnnouncement(view))
}

func (h *handlers) cancelWaiting(w http.ResponseWriter, r *http.Request) error {
	n, err := h.Announcer.CancelWaiting(r.Context())
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Cancelled int `json:"cancelled"`
	}{n})
}
