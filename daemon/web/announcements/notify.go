// Package announcements serves announcements: the queue, its events, and the voices.
package announcements

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"

	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/announce/draft"
	"pressbox/voice/control"
	"pressbox/voice/rooms"
	"pressbox/voice/sounds"
)

// A Config holds what the routes of this package use.
type Config struct {
	Announcer *announcer.Announcer
	Voices    func() VoiceList // for GET /voices; called for every request
	Changes   Changes          // for GET /events
	Rooms     *rooms.Rooms     // for GET /rooms
	Sounds    *sounds.Sounds   // has the recordings
	// Favorite returns the favorite with an id, for POST /favorites/{id}/announce.
	Favorite func(id string) (control.Favorite, error)
	// Preview is for POST /speakable; voice is installed.
	Preview func(ctx context.Context, voice, message string) (Preview, error)
}

// handlers has the handlers of this package.
type handlers struct {
	*web.Server
	Config
	reads *limits.Limiter // of announcements, by address
}

// How many requests of a kind an address can send each minute, in bursts of at most half as many.
const (
	readRate = 600
)

// Routes returns the routes of this package. Those under NOTIFY_ACCESS are also served below /api, where a
// session permits them as well.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{
		Server: s, Config: cfg,
		reads: s.NewLimiter(readRate, readRate/2),
	}
	guarded := slices.Concat(
		h.notifyRoutes(), h.announcementRoutes(), h.favoriteRoutes(), h.roomRoutes(), h.eventRoutes(),
		h.speakableRoutes(),
	)
	return slices.Concat(guarded, web.UnderAPI(guarded), h.voiceRoutes(), h.publishRoutes())
}

func (h *handlers) notifyRoutes() []web.Route {
	cancelled := web.Response{
		Status: http.StatusOK, Description: "The number of cancelled announcements.", Body: cancelledReply{},
	}
	return []web.Route{
		web.NewRoute(http.MethodPost, "/notify", web.NotifyAccess, h.announce, web.Operation{
			ID: "createAnnouncement", Tag: "announcements", Summary: "Create an announcement",
			Description: "202 means that the announcement is on disk: it survives a crash or a power cut, and is " +
				"spoken unless it expires or ends `silenced`. " +
				"The queue has ten places beyond QUEUE_MAX_SIZE for urgent announcements; at most 200 announcements " +
				"are scheduled or repeated at a time. A client (an account, a token or an address other than the " +
				"host's own) has at most half of the queue's places and 50 of the 200; beyond, `errors` of the " +
				"problem has the path `/sender`. " +
				"A body that begins with { is JSON, whatever its media type; a form has a field `message`; any other " +
				"body is the text of the message. Parameters of the URL are fields too. " +
				"Unknown members of JSON are refused; unknown fields of forms and unknown parameters are ignored and " +
				"listed in `warnings`. Pages of browsers must send application/json, or a header X-Requested-With. " +
				"An audio/* body, or a multipart form with a `file`, is a recording of at most 10 MB and a minute. " +
				"It is announced once, in this room only, and then deleted: its `sound` is recording. " +
				"It counts as ten requests. " +
				"A repeated Idempotency-Key of the same client returns the announcement as it is now; the last 1,000 " +
				"keys of 24 hours are stored for each client.",
			Headers:  []string{"Idempotency-Key"},
			Request:  announce.AnnouncementRequest{},
			AnyMedia: true,
			Sound:    true,
			Responses: []web.Response{{
				Status: http.StatusAccepted, Description: "The announcement is saved.", Body: Accepted{},
				Location: true,
			}},
			Problems: []int{http.StatusServiceUnavailable},
			Limited:  true,
		}),
		web.NewRoute(http.MethodGet, "/notify", web.NotifyAccess, h.Limited(h.reads, h.queue), web.Operation{
			ID: "listAnnouncements", Tag: "announcements", Summary: "List the queue, the scheduled and the recent " +
				"announcements",
			Description: "GET creates no announcement: with a parameter `message` it is 400.",
			Responses:   []web.Response{{Status: http.StatusOK, Description: "The announcements.", Body: QueueReply{}}},
			Problems:    []int{http.StatusBadRequest, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodDelete, "/notify", web.NotifyAccess, h.cancelWaiting, web.Operation{
			ID: "cancelWaiting", Tag: "announcements", Summary: "Cancel all waiting announcements",
			Description: "Also those that were interrupted or wait for their next repetition, and with " +
				"scheduled=true the scheduled ones that the client has sent, or all if it may change what " +
				"CONTROL_ACCESS protects. The announcement that is being spoken is not cancelled.",
			Params:    []string{"scheduled"},
			Responses: []web.Response{cancelled},
			Problems:  []int{http.StatusTooManyRequests, http.StatusServiceUnavailable},
		}),
	}
}

// announcementRoutes returns the routes of one announcement.
func (h *handlers) announcementRoutes() []web.Route {
	one := []web.Response{{Status: http.StatusOK, Description: "The announcement.", Body: Announcement{}}}
	changes := []int{
		http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable,
	}
	return []web.Route{
		web.NewRoute(http.MethodGet, "/notify/:id", web.NotifyAccess, h.Limited(h.reads, h.find), web.Operation{
			ID: "getAnnouncement", Tag: "announcements", Summary: "Get an announcement",
			Responses: one, Problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodDelete, "/notify/:id", web.NotifyAccess, h.cancel, web.Operation{
			ID: "cancelAnnouncement", Tag: "announcements", Summary: "Cancel an announcement, also while it is spoken",
			Responses: one,
			Problems:  changes,
		}),
		web.NewRoute(
			http.MethodPost, "/notify/:id/ack", web.NotifyAccess, h.acknowledge,
			web.Operation{
				ID: "acknowledgeAnnouncement", Tag: "announcements", Summary: "End the repetitions of an announcement",
				Description: "While it is being spoken, it is spoken to its end. Otherwise it ends as `done`, or as " +
					"`cancelled` if it was not spoken yet.",
				Responses: one,
				Problems:  changes,
			},
		),
		web.NewRoute(http.MethodPost, "/notify/:id/again", web.NotifyAccess, h.again, web.Operation{
			ID: "repeatAnnouncement", Tag: "announcements", Summary: "Speak an announcement once more",
			Description: "Creates an announcement with the same text, voice, rate, priority, volume, chime and time " +
				"to live, which is spoken now.",
			Headers: []string{"Idempotency-Key"},
			Responses: []web.Response{{
				Status: http.StatusAccepted, Description: "The new announcement is saved.", Body: Accepted{},
				Location: true,
			}},
			Problems: []int{
				http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusGone,
				http.StatusServiceUnavailable,
			},
			Limited: true,
		}),
	}
}

// maxRecent is the maximum number of ended announcements in one response. The store may have thousands, of
// 5,000 characters each; GET /notify/{id} finds all.
const maxRecent = 200

// A QueueReply holds the announcements.
type QueueReply struct {
	// In speaking order, beginning with the announcement that is being spoken.
	Queue []Announcement `json:"queue"`
	// The latest announcements that have ended, newest first.
	Recent []Announcement `json:"recent" maxItems:"200"`
	// Announcements that wait for a time, the next one first; those that wait for the host's clock to be set are
	// last.
	Scheduled []Announcement `json:"scheduled"`
}

// Accepted is an announcement that is saved, or one that a repeated request created earlier.
type Accepted struct{}

// JSONSchemaOneOf returns a value of each.
func (Accepted) JSONSchemaOneOf() []any { return []any{Announcement{}, Forgotten{}} }

// Forgotten is an announcement of a repeated request that is no longer stored.
type Forgotten struct {
	ID     string          `json:"id"`
	Status announce.Status `json:"status"`
	// Names of fields of the request that are unknown and were ignored.
	Warnings []string `json:"warnings,omitempty" minItems:"1"`
	_        struct{} `additionalProperties:"false"`
}

func (h *handlers) announce(w http.ResponseWriter, r *http.Request) error {
	if web.HasUpload(r) {
		return h.announceUpload(w, r)
	}
	d, by, err := h.draft(w, r, nil)
	if err != nil {
		return err
	}
	return h.create(w, r, r.URL.Path, d, by)
}

// draft returns the announcement of a request, and by whom it is. An empty body counts as empty.
func (h *handlers) draft(
	w http.ResponseWriter, r *http.Request, empty []byte,
) (d *draft.Draft, by announce.Request, err error) {
	if by, err = h.RequestBy(r); err != nil {
		return nil, by, err
	}
	body, err := web.ReadBody(w, r)
	if err != nil {
		return nil, by, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		body = empty
	}
	d, err = draft.Read(r.Header.Get("Content-Type"), body, r.URL.RawQuery)
	return d, by, err
}

// create creates the announcement of a draft, and responds with it. parent is the path above it.
func (h *handlers) create(
	w http.ResponseWriter, r *http.Request, parent string, d *draft.Draft, by announce.Request,
) error {
	view, err := d.Announce(r.Context(), h.Announcer, by)
	if err != nil {
		return err
	}
	return h.accepted(w, r, parent, view, d.Warnings)
}

// accepted responds with an accepted announcement and warnings. parent is the path above it.
func (h *handlers) accepted(
	w http.ResponseWriter, r *http.Request, parent string, view announce.View, warnings []string,
) error {
	w.Header().Set("Location", parent+"/"+view.ID)
	if view.Created.IsZero() { // the request was repeated, and its announcement is no longer stored
		return web.WriteJSON(w, http.StatusAccepted, Forgotten{ID: view.ID, Status: view.Status, Warnings: warnings})
	}
	a := NewAnnouncement(view, ViewerOf(h.Server, r))
	a.Warnings = warnings
	return web.WriteJSON(w, http.StatusAccepted, a)
}

func (h *handlers) queue(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Has("message") {
		return draft.NotCreated("GET /notify lists announcements; send POST to create one " +
			"(in Home Assistant's notify platform rest: method: POST_JSON), or GET /notify/publish with an API token")
	}
	return web.WriteJSON(w, http.StatusOK, newQueue(h.Announcer.List(), ViewerOf(h.Server, r)))
}

// Queue returns the announcements of a as administrators see them.
func Queue(a *announcer.Announcer) QueueReply { return newQueue(a.List(), administrator) }

func newQueue(l announce.List, to viewer) QueueReply {
	recent := l.Recent[:min(len(l.Recent), maxRecent)]
	return QueueReply{
		Queue:     newAnnouncements(l.Queue, to),
		Recent:    newAnnouncements(recent, to),
		Scheduled: newAnnouncements(l.Scheduled, to),
	}
}

func newAnnouncements(views []announce.View, to viewer) []Announcement {
	all := make([]Announcement, len(views))
	for i, v := range views {
		all[i] = NewAnnouncement(v, to)
	}
	return all
}

func (h *handlers) find(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Announcer.Find(web.Param(r, "id"))
	return h.reply(w, r, view, err)
}

func (h *handlers) cancel(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Announcer.Cancel(r.Context(), web.Param(r, "id"))
	return h.reply(w, r, view, err)
}

func (h *handlers) acknowledge(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Announcer.Acknowledge(r.Context(), web.Param(r, "id"))
	return h.reply(w, r, view, err)
}

// reply responds with an announcement, or returns err.
func (h *handlers) reply(w http.ResponseWriter, r *http.Request, view announce.View, err error) error {
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, NewAnnouncement(view, ViewerOf(h.Server, r)))
}

func (h *handlers) again(w http.ResponseWriter, r *http.Request) error {
	by, err := h.RequestBy(r)
	if err != nil {
		return err
	}
	id := web.Param(r, "id")
	view, err := h.Announcer.Again(r.Context(), id, by)
	if err != nil {
		return err
	}
	return h.accepted(w, r, strings.TrimSuffix(r.URL.Path, "/"+id+"/again"), view, h.Announcer.Warnings(view))
}

func (h *handlers) cancelWaiting(w http.ResponseWriter, r *http.Request) error {
	all, err := web.BoolParam(r, "scheduled")
	if err != nil {
		return err
	}
	var scheduled func(announce.Sender) bool
	if all {
		client, everybody := h.ClientID(r), h.MayControl(r)
		scheduled = func(s announce.Sender) bool { return everybody || s.Client == client }
	}
	n, err := h.Announcer.CancelWaiting(r.Context(), scheduled)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, cancelledReply{n})
}

// A cancelledReply says how many announcements were cancelled.
type cancelledReply struct {
	Cancelled int `json:"cancelled" minimum:"0"` // number of announcements that were cancelled
}
