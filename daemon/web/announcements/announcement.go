package announcements

import (
	"net/http"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// An Announcement is the JSON of an announcement.
type Announcement struct {
	ID       string          `json:"id"`
	Status   announce.Status `json:"status"`
	Position *int            `json:"position,omitempty"`
	announce.Content
	Urgent     bool                          `json:"urgent"` // instead of the content's, which false omits
	CreatedAt  web.Timestamp                 `json:"created_at"`
	At         web.Timestamp                 `json:"at,omitzero"`
	SpeaksAt   web.Timestamp                 `json:"speaks_at,omitzero"`
	ExpiresAt  web.Timestamp                 `json:"expires_at"`
	ClockUnset bool                          `json:"clock_unset,omitempty"`
	Quiet      bool                          `json:"quiet,omitempty"`
	Repeat     *repetition                   `json:"repeat,omitempty"`
	Rooms      map[string]announce.RoomState `json:"rooms,omitempty"` // the other ones
	Sender     *sender                       `json:"sender,omitempty"`
	StartedAt  web.Timestamp                 `json:"started_at,omitzero"`
	EndedAt    web.Timestamp                 `json:"ended_at,omitzero"`
	Error      string                        `json:"error,omitempty"`
	Warnings   []string                      `json:"warnings,omitempty"` // of the request, in the response to it
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

// ViewerOf returns the viewer of the response of s to an authorized request.
func ViewerOf(s *web.Server, r *http.Request) viewer {
	switch {
	case s.Administrator(r):
		return administrator
	case s.SignedIn(r):
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
		ID: v.ID, Status: v.Status, Position: v.Position, Content: v.Content, Urgent: v.Urgent,
		CreatedAt: web.Timestamp{Time: v.Created},
		At:        web.Timestamp{Time: v.At}, SpeaksAt: web.Timestamp{Time: v.SpeaksAt},
		ExpiresAt: web.Timestamp{Time: v.Expires}, ClockUnset: v.ClockUnset, Quiet: v.Quiet, Sender: to.shown(v.Sender),
		StartedAt: web.Timestamp{Time: v.Started}, EndedAt: web.Timestamp{Time: v.Ended}, Error: v.Error,
	}
	a.Rooms = v.Rooms.States()
	if v.Repeat.Times > 0 {
		a.Repeat = &repetition{v.Repeat.Times, int(v.Repeat.Every.Seconds()), v.Spoken, v.Acknowledged}
	}
	return a
}
