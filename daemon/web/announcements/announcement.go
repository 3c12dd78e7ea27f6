package announcements

import (
	"net/http"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
)

// An Announcement is an announcement as a client sees it.
type Announcement struct {
	ID     string          `json:"id"`
	Status announce.Status `json:"status"`
	// 0: being spoken, 1 and more: waiting; absent while scheduled and after the end.
	Position *int `json:"position,omitempty" minimum:"0"`
	announce.Content
	Urgent     bool          `json:"urgent"`                        // instead of the content's, which false omits
	Seconds    float64       `json:"seconds,omitempty" minimum:"0"` // length of its recording
	CreatedAt  web.Timestamp `json:"created_at"`
	At         web.Timestamp `json:"at,omitzero"`        // time of the request, or of the next repetition
	SpeaksAt   web.Timestamp `json:"speaks_at,omitzero"` // expected time of speech, while scheduled
	ExpiresAt  web.Timestamp `json:"expires_at"`
	ClockUnset bool          `json:"clock_unset,omitempty"` // true while it waits for the host's clock to be set
	// True if quiet silences it, delays it until speaks_at, or lowers its volume. Decided when it is its turn;
	// foretold before.
	Quiet bool `json:"quiet,omitempty"`
	// Why it waits until speaks_at, or ended as silenced or unheard.
	Reason policy.Cause `json:"reason,omitempty"`
	Repeat *repetition  `json:"repeat,omitempty"`
	// What has become of it in each other room that it is for. The member status is that of this room; if it is
	// for other rooms only, it is queued until all have ended.
	Rooms     map[string]announce.RoomState `json:"rooms,omitempty"`
	Sender    *sender                       `json:"sender,omitempty"`
	StartedAt web.Timestamp                 `json:"started_at,omitzero"` // time at which the first sample was played
	EndedAt   web.Timestamp                 `json:"ended_at,omitzero"`
	Error     string                        `json:"error,omitempty"` // cause of the failure
	// Names of fields of the request that are unknown and were ignored, and why it would not be heard, or hardly. Only
	// in the response to it.
	Warnings []string `json:"warnings,omitempty" minItems:"1"`
}

// A repetition is a request for repetitions, with what has become of it.
type repetition struct {
	Times        int  `json:"times" minimum:"2" maximum:"10"`
	Every        int  `json:"every" minimum:"10" maximum:"3600"`
	Spoken       int  `json:"spoken" minimum:"0"` // finished repetitions
	Acknowledged bool `json:"acknowledged,omitempty"`
}

// A sender is the origin of an announcement. Only signed-in users see names, and only administrators addresses.
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
	at := func(t time.Time) web.Timestamp { return web.Timestamp{Time: t} }
	a := Announcement{
		ID: v.ID, Status: v.Status, Position: v.Position, Content: v.Content, Urgent: v.Urgent,
		CreatedAt: at(v.Created), At: at(v.At), SpeaksAt: at(v.SpeaksAt), ExpiresAt: at(v.Expires),
		ClockUnset: v.ClockUnset, Quiet: v.Quiet, Reason: v.Reason, Rooms: v.Rooms.States(), Sender: to.shown(v.Sender),
		StartedAt: at(v.Started), EndedAt: at(v.Ended), Error: v.Error,
	}
	a.Seconds = web.Seconds(v.Recording)
	if v.Repeat.Times > 0 {
		a.Repeat = &repetition{v.Repeat.Times, int(v.Repeat.Every.Seconds()), v.Spoken, v.Acknowledged}
	}
	return a
}
