package web

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"pressbox/voice/announce"
)

// maxKey is how long an Idempotency-Key may be, in bytes.
const maxKey = 255

func (s *Server) notifyRoutes() []route {
	one := []success{{status: http.StatusOK, description: "The announcement.", schema: "Announcement"}}
	return []route{
		{http.MethodPost, "/notify", notifiers, s.announce, operation{
			id: "announce", tag: "announcements", summary: "Have something said",
			description: "202 means that it is kept on disk: it will be spoken, or expire, whatever happens to the power.",
			headers:     []string{"Idempotency-Key"},
			request:     "AnnouncementRequest",
			answers: []success{{
				status: http.StatusAccepted, description: "It is kept.", schema: "Announcement", location: true,
			}},
			problems: []int{http.StatusServiceUnavailable},
			limited:  true,
		}},
		{http.MethodGet, "/notify", notifiers, s.queue, operation{
			id: "listAnnouncements", tag: "announcements", summary: "What will be said, and what was",
			answers: []success{{status: http.StatusOK, description: "The queue.", schema: "Queue"}},
		}},
		{http.MethodDelete, "/notify", notifiers, s.cancelWaiting, operation{
			id: "cancelWaiting", tag: "announcements", summary: "Cancel all that wait",
			description: "The one being spoken is not cut off.",
			answers:     []success{{status: http.StatusOK, description: "They will not be said.", schema: "Cancelled"}},
			problems:    []int{http.StatusServiceUnavailable},
		}},
		{http.MethodGet, "/notify/:id", notifiers, s.find, operation{
			id: "getAnnouncement", tag: "announcements", summary: "What became of an announcement",
			answers: one, problems: []int{http.StatusNotFound},
		}},
		{http.MethodDelete, "/notify/:id", notifiers, s.cancel, operation{
			id: "cancelAnnouncement", tag: "announcements", summary: "Cancel an announcement, also in mid-sentence",
			answers: one, problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		}},
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

// An announcement is what clients are told of one.
type announcement struct {
	ID        string          `json:"id"`
	Status    announce.Status `json:"status"`
	Position  *int            `json:"position,omitempty"`
	Message   string          `json:"message"`
	Voice     string          `json:"voice"`
	Rate      int             `json:"rate"`
	Urgent    bool            `json:"urgent"`
	CreatedAt moment          `json:"created_at"`
	ExpiresAt moment          `json:"expires_at"`
	StartedAt moment          `json:"started_at,omitzero"`
	EndedAt   moment          `json:"ended_at,omitzero"`
	Error     string          `json:"error,omitempty"`
}

// A moment is written in UTC and with milliseconds (RFC 3339).
type moment struct{ time.Time }

// MarshalJSON writes such as "2026-11-20T19:05:00.000Z".
func (m moment) MarshalJSON() ([]byte, error) {
	return []byte(m.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

func newAnnouncement(v announce.View) announcement {
	return announcement{
		ID: v.ID, Status: v.Status, Position: v.Position,
		Message: v.Message, Voice: v.Voice, Rate: v.Rate, Urgent: v.Urgent,
		CreatedAt: moment{v.Created}, ExpiresAt: moment{v.Expires},
		StartedAt: moment{v.Started}, EndedAt: moment{v.Ended},
		Error: v.Error,
	}
}

// maxRecent is how many ended announcements one answer lists. There may be
// thousands, of five thousand characters each; all are found by their ids.
const maxRecent = 200

// A queueReply lists the announcements that wait, and the latest ended ones.
type queueReply struct {
	Queue  []announcement `json:"queue"`
	Recent []announcement `json:"recent"`
}

func (s *Server) announce(w http.ResponseWriter, r *http.Request) error {
	key, err := idempotencyKey(r.Header)
	if err != nil {
		return err
	}
	var body announcementRequest
	err = s.bodies.decode(w, r, "AnnouncementRequest", &body)
	shape, misshapen := errors.AsType[*bodyError](err)
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
		_, err := s.cfg.Announcer.Check(request)
		return shape.with(violationsOf(err))
	}
	view, err := s.cfg.Announcer.Announce(r.Context(), request)
	if err != nil {
		return err
	}
	w.Header().Set("Location", r.URL.Path+"/"+view.ID)
	return reply(w, http.StatusAccepted, newAnnouncement(view))
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
		return "", errIdempotency
	}
	return key, nil
}

func (s *Server) queue(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, s.queueReply())
}

func (s *Server) queueReply() queueReply {
	queue, recent := s.cfg.Announcer.Queue()
	recent = recent[:min(len(recent), maxRecent)]
	return queueReply{Queue: newAnnouncements(queue), Recent: newAnnouncements(recent)}
}

func newAnnouncements(views []announce.View) []announcement {
	all := make([]announcement, len(views))
	for i, v := range views {
		all[i] = newAnnouncement(v)
	}
	return all
}

func (s *Server) find(w http.ResponseWriter, r *http.Request) error {
	view, err := s.cfg.Announcer.Find(param(r, "id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, newAnnouncement(view))
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) error {
	view, err := s.cfg.Announcer.Cancel(r.Context(), param(r, "id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, newAnnouncement(view))
}

func (s *Server) cancelWaiting(w http.ResponseWriter, r *http.Request) error {
	n, err := s.cfg.Announcer.CancelWaiting(r.Context())
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, struct {
		Cancelled int `json:"cancelled"`
	}{n})
}
