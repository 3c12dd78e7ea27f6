package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"pressbox/voice/announce"
)

const (
	heartbeat     = 15 * time.Second // between two signs of life
	eventPatience = 10 * time.Second // for a client to take an event
	maxMissed     = 200              // ends of which a client that returns is told
)

func (s *Server) eventRoutes() []route {
	return []route{{http.MethodGet, "/events", notifiers, s.events, operation{
		id: "watchAnnouncements", tag: "announcements", summary: "What happens to announcements, as server-sent events",
		description: "Every event is of the type `announcement`, its data an Announcement. First come the ends that a client with a " +
			"Last-Event-ID missed, then everything that is spoken or waits, then each change. The id of an event is that of the announcement that ended last.",
		headers: []string{"Last-Event-ID"},
		answers: []success{{status: http.StatusOK, description: "A stream without an end.", media: []string{"text/event-stream"}}},
	}}}
}

// events streams until the client goes, does not keep up, may no longer
// listen, or the server stops.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	if r.Method == http.MethodHead {
		return nil
	}
	changes, stop := s.cfg.Announcer.Watch()
	defer stop()
	queue, recent := atOnce(changes, s.cfg.Announcer.Queue)
	out := &eventStream{w: w, out: http.NewResponseController(w)}
	defer out.patient()
	if err := out.open(queue, recent, r.Header.Get("Last-Event-ID")); err != nil {
		return nil // the client has gone; there is no one to tell
	}
	pulse := time.NewTicker(heartbeat)
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
			if err = s.admit(r, visitOf(r.Context()).class); err == nil {
				err = out.write([]byte(": still here\n\n"))
			}
		case <-r.Context().Done():
			return nil
		case <-s.closing:
			return nil
		}
		if err != nil {
			return nil // whoever does not listen, or no longer may, is hung up on
		}
	}
}

// atOnce returns what list says, and takes from changes what led there, so that
// what is still in it comes after. When as many changes wait after the listing
// as before, all of them were made before.
func atOnce(changes <-chan announce.Event, list func() (queue, recent []announce.View)) (queue, recent []announce.View) {
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

// An eventStream writes server-sent events (WHATWG HTML §9.2).
type eventStream struct {
	w    http.ResponseWriter
	out  *http.ResponseController
	last string // id of the announcement that ended last; "" means none has
}

// open sends the ends that the client missed since the announcement lastSeen
// ended, and everything that has not ended.
func (e *eventStream) open(queue, recent []announce.View, lastSeen string) error {
	if err := e.write([]byte("retry: 2000\n\n")); err != nil {
		return err
	}
	missed := 0
	if lastSeen != "" {
		missed = slices.IndexFunc(recent, func(v announce.View) bool { return v.ID == lastSeen })
		if missed < 0 { // so long ago that it is forgotten
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

// send writes one announcement.
func (e *eventStream) send(v announce.View) error {
	if v.Status.Ended() {
		e.last = v.ID
	}
	data, err := json.Marshal(newAnnouncement(v))
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	var text bytes.Buffer
	if e.last != "" {
		fmt.Fprintf(&text, "id: %s\n", e.last)
	}
	fmt.Fprintf(&text, "event: announcement\ndata: %s\n\n", data)
	return e.write(text.Bytes())
}

// patient gives the client a while to take what comes: an event, or the end of the
// answer, which would otherwise look cut off.
func (e *eventStream) patient() {
	_ = e.out.SetWriteDeadline(time.Now().Add(eventPatience)) // only a test's recorder has none
}

// write sends bytes now, and gives the client a while to take them.
func (e *eventStream) write(text []byte) error {
	e.patient()
	if _, err := e.w.Write(text); err != nil {
		return err
	}
	return e.out.Flush()
}
