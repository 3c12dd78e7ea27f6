package announcements

import (
	"net/http"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// An announcementRequest is the body of POST /notify.
type announcementRequest struct {
	Title    string `json:"title"`
	Message  string `json:"message"`
	Rate     int    `json:"rate"`
	Voice    string `json:"voice"`
	Urgent   *bool  `json:"urgent"`
	Priority int    `json:"priority"`
	Volume   int    `json:"volume"`
	Chime    string `json:"chime"`
	At       string `json:"at"`
	In       int    `json:"in"`  // seconds
	TTL      int    `json:"ttl"` // seconds
	Repeat   struct {
		Times int `json:"times"`
		Every int `json:"every"` // seconds
	} `json:"repeat"`
}

// request returns the request by a client, and an error if the time is not valid.
func (b announcementRequest) request(by announce.Request) (announce.Request, error) {
	r := by
	r.Title, r.Message, r.Voice, r.Rate, r.Chime = b.Title, b.Message, b.Voice, b.Rate, b.Chime
	r.Urgent, r.Priority, r.Volume = b.Urgent != nil && *b.Urgent, b.Priority, b.Volume
	if b.Urgent != nil && !*b.Urgent { // it takes precedence over the priority
		r.Priority = min(r.Priority, notUrgent)
	}
	r.In, r.TTL = time.Duration(b.In)*time.Second, time.Duration(b.TTL)*time.Second
	r.Repeat = announce.Repeat{Times: b.Repeat.Times, Every: time.Duration(b.Repeat.Every) * time.Second}
	if b.At == "" {
		return r, nil
	}
	if err := r.At.UnmarshalText([]byte(b.At)); err != nil || r.At.Before(time.Unix(0, 0)) {
		r.At = time.Time{}
		return r, &web.BodyError{Violations: []web.Violation{{
			Path: "/at", Code: "invalid", Detail: "must be a date and time of RFC 3339, such as 2026-11-22T18:30:00+01:00",
		}}}
	}
	return r, nil
}

// notUrgent is the highest priority that is not urgent.
const notUrgent = 4

// An Announcement is the JSON of an announcement.
type Announcement struct {
	ID         string          `json:"id"`
	Status     announce.Status `json:"status"`
	Position   *int            `json:"position,omitempty"`
	Title      string          `json:"title,omitempty"`
	Message    string          `json:"message"`
	Voice      string          `json:"voice"`
	Rate       int             `json:"rate"`
	Urgent     bool            `json:"urgent"`
	Priority   int             `json:"priority"`
	Volume     int             `json:"volume,omitempty"`
	Chime      string          `json:"chime,omitempty"`
	CreatedAt  web.Timestamp   `json:"created_at"`
	At         web.Timestamp   `json:"at,omitzero"`
	SpeaksAt   web.Timestamp   `json:"speaks_at,omitzero"`
	ExpiresAt  web.Timestamp   `json:"expires_at"`
	ClockUnset bool            `json:"clock_unset,omitempty"`
	Quiet      bool            `json:"quiet,omitempty"`
	Repeat     *repetition     `json:"repeat,omitempty"`
	Sender     *sender         `json:"sender,omitempty"`
	StartedAt  web.Timestamp   `json:"started_at,omitzero"`
	EndedAt    web.Timestamp   `json:"ended_at,omitzero"`
	Error      string          `json:"error,omitempty"`
}

type repetition struct {
	Times        int  `json:"times"`
	Every        int  `json:"every"` // seconds
	Spoken       int  `json:"spoken"`
	Acknowledged bool `json:"acknowledged,omitempty"`
}

type sender struct {
	Kind announce.SenderKind `json:"kind"`
	Name string              `json:"name,omitempty"`
}

// A viewer selects what a response shows of the sender of an announcement.
type viewer int

// The viewers.
const (
	Wall          viewer = iota // nothing
	client                      // its kind
	signedIn                    // and its name, unless that is an address
	administrator               // everything
)

// viewerOf returns the viewer of the response to an authorized request.
func (h *handlers) viewerOf(r *http.Request) viewer {
	switch {
	case h.Administrator(r):
		return administrator
	case h.SignedIn(r):
		return signedIn
	default:
		return client
	}
}

// shown returns what a viewer sees of a sender; nil means nothing.
func (v viewer) shown(s announce.Sender) *sender {
	if s.Kind == "" || v == Wall {
		return nil
	}
	if v == administrator || v == signedIn && s.Kind != announce.FromAddress {
		return &sender{s.Kind, s.Name}
	}
	return &sender{Kind: s.Kind}
}

// NewAnnouncement returns the JSON of v for a viewer.
func NewAnnouncement(v announce.View, to viewer) Announcement {
	a := Announcement{
		ID: v.ID, Status: v.Status, Position: v.Position, Title: v.Title, Message: v.Message, Voice: v.Voice, Rate: v.Rate,
		Urgent: v.Urgent, Priority: v.Priority, Volume: v.Volume, Chime: v.Chime,
		CreatedAt: web.Timestamp{Time: v.Created}, At: web.Timestamp{Time: v.At}, SpeaksAt: web.Timestamp{Time: v.SpeaksAt},
		ExpiresAt: web.Timestamp{Time: v.Expires}, ClockUnset: v.ClockUnset, Quiet: v.Quiet, Sender: to.shown(v.Sender),
		StartedAt: web.Timestamp{Time: v.Started}, EndedAt: web.Timestamp{Time: v.Ended}, Error: v.Error,
	}
	if v.Repeat.Times > 0 {
		a.Repeat = &repetition{v.Repeat.Times, int(v.Repeat.Every.Seconds()), v.Spoken, v.Acknowledged}
	}
	return a
}
