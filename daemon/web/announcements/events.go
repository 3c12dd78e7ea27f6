package announcements

import (
	"net/http"
	"slices"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/control"
)

// Changes are changes of the volume, quiet, schedules and favorites.
type Changes interface {
	// Watch returns the changes from now on, and a function that ends them. The channel is closed if the
	// watcher is too slow.
	Watch() (changes <-chan control.Change, stop func())
	// State returns the data of an event: what has changed, as it is now.
	State(c control.Change) any
	// States returns what the responses to GET contain.
	States() map[control.Change]any
}

// maxMissed is the maximum number of missed ends that a client receives when it reconnects.
const maxMissed = 200

func (h *handlers) eventRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/events", web.NotifyAccess, h.events, web.Operation{
		ID: "watchAnnouncements", Tag: "announcements", Summary: "Watch announcements as server-sent events",
		Description: "Events of the type `announcement` have an Announcement as data. The stream begins with the " +
			"announcements that ended " +
			"after Last-Event-ID, oldest first, those in the queue, and the scheduled ones; then it sends each " +
			"change. The id of an event is that of the announcement that ended last. " +
			"Changes are also sent as events of the types `volume` and `quiet`, with what GET /volume and GET /quiet " +
			"return as data, and `schedules` and `favorites`, with an empty object. " +
			"With controls=true, the stream begins with one of each type, with what GET returns as data.",
		Headers: []string{"Last-Event-ID"},
		Params:  []string{"controls"},
		Responses: []web.Response{
			{Status: http.StatusOK, Description: "A stream that does not end.", Media: []string{"text/event-stream"}},
		},
	})}
}

// events streams until the client disconnects, does not read, or loses its permission, or until the server
// stops.
func (h *handlers) events(w http.ResponseWriter, r *http.Request) error {
	withControls, err := web.BoolParam(r, "controls")
	if err != nil {
		return err
	}
	events, ok := web.NewEventStream(w, r)
	if !ok {
		return nil
	}
	changes, stop := h.Announcer.Watch()
	defer stop()
	controls, stopControls := h.Changes.Watch()
	defer stopControls()
	list := Snapshot(changes, h.Announcer.List)
	out := &stream{EventStream: events, viewer: ViewerOf(h.Server, r)}
	defer out.ExtendDeadline()
	if err := out.begin(list, r.Header.Get("Last-Event-ID")); err != nil {
		return nil // the client has disconnected
	}
	if withControls && out.sendStates(h.Changes.States()) != nil {
		return nil // the client has disconnected
	}
	h.Stream(
		r,
		func() error {
			out.viewer = ViewerOf(h.Server, r)
			return out.Heartbeat()
		},
		web.From(changes, func(change announce.Event) error { return out.send(*change.View) }),
		web.From(
			controls,
			func(change control.Change) error { return out.Send(out.last, string(change), h.Changes.State(change)) },
		),
	)
	return nil
}

// Snapshot returns the result of list, and removes from changes the events that it includes, so that only later
// ones remain. If changes has as many events after a call of list as before it, list includes all of them.
func Snapshot(changes <-chan announce.Event, list func() announce.List) (l announce.List) {
	before := -1
	for before != len(changes) {
		before = len(changes)
		l = list()
	}
	for range before {
		<-changes
	}
	return l
}

// A stream sends announcements as server-sent events.
type stream struct {
	*web.EventStream
	viewer viewer
	last   string // id of the announcement that ended last; "" means none
}

// begin sends the announcements that ended after lastSeen, those in the queue, and the scheduled ones.
func (e *stream) begin(l announce.List, lastSeen string) error {
	recent := l.Recent
	if err := e.Open(); err != nil {
		return err
	}
	missed := 0
	if lastSeen != "" {
		missed = slices.IndexFunc(recent, func(v announce.View) bool { return v.ID == lastSeen })
		if missed < 0 { // it has been deleted
			missed = min(len(recent), maxMissed)
		}
	}
	if missed < len(recent) {
		e.last = recent[missed].ID
	}
	oldestFirst := slices.Clone(recent[:missed])
	slices.Reverse(oldestFirst)
	for _, v := range slices.Concat(oldestFirst, l.Queue, l.Scheduled) {
		if err := e.send(v); err != nil {
			return err
		}
	}
	return nil
}

// send sends an announcement.
func (e *stream) send(v announce.View) error {
	if v.Status.Ended() {
		e.last = v.ID
	}
	return e.Send(e.last, "announcement", NewAnnouncement(v, e.viewer))
}

// sendStates sends an event for each control.
func (e *stream) sendStates(states map[control.Change]any) error {
	for change, state := range states {
		if err := e.Send(e.last, string(change), state); err != nil {
			return err
		}
	}
	return nil
}
