package announcements

import (
	"net/http"
	"slices"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// maxMissed is the number of ended announcements that a client that reconnects
// is sent.
const maxMissed = 200

func (h *handlers) eventRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/events", web.NotifyAccess, h.events, web.Operation{
		ID: "watchAnnouncements", Tag: "announcements", Summary: "What happens to announcements, as server-sent events",
		Description: "Every event is of the type `announcement`, its data an Announcement. First come the ends that a client with a " +
			"Last-Event-ID missed, then everything that is spoken or waits, then each change. The id of an event is that of the announcement that ended last.",
		Headers:   []string{"Last-Event-ID"},
		Responses: []web.Response{{Status: http.StatusOK, Description: "A stream without an end.", Media: []string{"text/event-stream"}}},
	})}
}

// events streams until the client disconnects, does not keep up, or may no
// longer listen, or until the server stops.
func (h *handlers) events(w http.ResponseWriter, r *http.Request) error {
	events, ok := web.NewEventStream(w, r)
	if !ok {
		return nil
	}
	changes, stop := h.Announcer.Watch()
	defer stop()
	queue, recent := Snapshot(changes, h.Announcer.Queue)
	out := &stream{EventStream: events}
	defer out.ExtendDeadline()
	if err := out.begin(queue, recent, r.Header.Get("Last-Event-ID")); err != nil {
		return nil // the client has disconnected
	}
	pulse := time.NewTicker(web.Heartbeat)
	defer pulse.Stop()
	for {
		var err error
		select {
		case change, ok := <-changes:
			if !ok {
				return nil
			}
			err = out.send(change.View)
		case <-pulse.C:
			if err = h.Authorize(r); err == nil {
				err = out.Heartbeat()
			}
		case <-r.Context().Done():
			return nil
		case <-h.Closing():
			return nil
		}
		if err != nil {
			return nil // the client does not read, or may no longer listen
		}
	}
}

// Snapshot returns what list says, and takes from changes what led there, so that
// what is still in it comes after. web.When as many changes wait after the listing
// as before, all of them were made before.
func Snapshot(changes <-chan announce.Event, list func() (queue, recent []announce.View)) (queue, recent []announce.View) {
	before := -1
	for before != len(changes) {
		before = len(changes)
		queue, recent = list()
	}
	for range before {
		<-changes
	}
	return queue, recent
}

// A stream sends announcements as server-sent events.
type stream struct {
	*web.EventStream
	last string // id of the announcement that ended last; "" means none has
}

// begin sends the ends that the client missed since the announcement lastSeen
// ended, and everything that has not ended.
func (e *stream) begin(queue, recent []announce.View, lastSeen string) error {
	if err := e.Open(); err != nil {
		return err
	}
	missed := 0
	if lastSeen != "" {
		missed = slices.IndexFunc(recent, func(v announce.View) bool { return v.ID == lastSeen })
		if missed < 0 { // it has been deleted since
			missed = min(len(recent), maxMissed)
		}
	}
	if missed < len(recent) {
		e.last = recent[missed].ID
	}
	for _, v := range slices.Backward(recent[:missed]) {
		if err := e.send(v); err != nil {
			return err
		}
	}
	if len(recent) > 0 {
		e.last = recent[0].ID
	}
	for _, v := range queue {
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
	return e.Send(e.last, "announcement", NewAnnouncement(v))
}
