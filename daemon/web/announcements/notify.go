// Package announcements serves announcements: their queue, their events, the
// voices that speak them, and speech as a file.
package announcements

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// maxKey is how long an Idempotency-Key may be, in bytes.
const maxKey = 255

// A Config holds what announcements need.
type Config struct {
	Announcer   *announce.Announcer
	Speaker     announce.Speaker // for POST /v1/audio/speech
	DefaultRate int              // words per minute at speed 1.0
	Voices      func() VoiceList // for GET /voices; called for every request
}

// handlers answer the routes of this package.
type handlers struct {
	*web.Server
	Config
	speeches chan struct{} // one element for each synthesis that is running
}

// Routes returns the routes of announcements. Those under NOTIFY_ACCESS are
// there a second time below /api, where a session permits them as well.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{s, cfg, make(chan struct{}, maxSpeeches)}
	guarded := slices.Concat(h.notifyRoutes(), h.eventRoutes(), h.speechRoutes())
	return slices.Concat(guarded, underAPI(guarded), h.voiceRoutes())
}

// underAPI returns the same routes below /api.
func underAPI(routes []web.Route) []web.Route {
	api := slices.Clone(routes)
	for i := range api {
		api[i].Path = "/api" + api[i].Path
		api[i].Class = web.NotifyOrSession
		api[i].Operation.ID += "FromPage"
	}
	return api
}

func (h *handlers) notifyRoutes() []web.Route {
	one := []web.Response{{Status: http.StatusOK, Description: "The announcement.", Schema: "Announcement"}}
	return []web.Route{
		web.NewRoute(http.MethodPost, "/notify", web.NotifyAccess, h.announce, web.Operation{
			ID: "announce", Tag: "announcements", Summary: "Have something said",
			Description: "202 means that it is kept on disk: it will be spoken, or expire, whatever happens to the power.",
			Headers:     []string{"Idempotency-Key"},
			Request:     "AnnouncementRequest",
			Responses: []web.Response{{
				Status: http.StatusAccepted, Description: "It is kept.", Schema: "Announcement", Location: true,
			}},
			Problems: []int{http.StatusServiceUnavailable},
			Limited:  true,
		}),
		web.NewRoute(http.MethodGet, "/notify", web.NotifyAccess, h.queue, web.Operation{
			ID: "listAnnouncements", Tag: "announcements", Summary: "What will be said, and what was",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The queue.", Schema: "Queue"}},
		}),
		web.NewRoute(http.MethodDelete, "/notify", web.NotifyAccess, h.cancelWaiting, web.Operation{
			ID: "cancelWaiting", Tag: "announcements", Summary: "Cancel all that wait",
			Description: "The one being spoken is not cut off.",
			Responses:   []web.Response{{Status: http.StatusOK, Description: "They will not be said.", Schema: "Cancelled"}},
			Problems:    []int{http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, "/notify/:id", web.NotifyAccess, h.find, web.Operation{
			ID: "getAnnouncement", Tag: "announcements", Summary: "What became of an announcement",
			Responses: one, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodDelete, "/notify/:id", web.NotifyAccess, h.cancel, web.Operation{
			ID: "cancelAnnouncement", Tag: "announcements", Summary: "Cancel an announcement, also in mid-sentence",
			Responses: one, Problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
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

// An Announcement is what clients are told of one.
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

// NewAnnouncement returns an announcement as clients see it.
func NewAnnouncement(v announce.View) Announcement {
	return Announcement{
		ID: v.ID, Status: v.Status, Position: v.Position,
		Message: v.Message, Voice: v.Voice, Rate: v.Rate, Urgent: v.Urgent,
		CreatedAt: web.Timestamp{Time: v.Created}, ExpiresAt: web.Timestamp{Time: v.Expires},
		StartedAt: web.Timestamp{Time: v.Started}, EndedAt: web.Timestamp{Time: v.Ended},
		Error: v.Error,
	}
}

// maxRecent is how many ended announcements one answer lists. There may be
// thousands, of five thousand characters each; all are found by their ids.
const maxRecent = 200

// A QueueReply lists the announcements that wait, and the latest ended ones.
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
	shape, misshapen := errors.AsType[*web.BodyError](err)
	if err != nil && !misshapen {
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
	if misshapen { // everything that is wrong is said at once
		_, err := h.Announcer.Check(request)
		return shape.With(web.ViolationsOf(err))
	}
	view, err := h.Announcer.Announce(r.Context(), request)
	if err != nil {
		return err
	}
	w.Header().Set("Location", r.URL.Path+"/"+view.ID)
	return web.WriteJSON(w, http.StatusAccepted, NewAnnouncement(view))
}

// idempotencyKey returns the key that a request carries; "" means none.
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

// Queue returns the announcements of an announcer.
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
