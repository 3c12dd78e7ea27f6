package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// Heartbeat is the time between two comments that keep a stream open.
	Heartbeat    = 15 * time.Second
	eventTimeout = 10 * time.Second // for a client to receive an event
)

// An EventStream writes server-sent events (WHATWG HTML §9.2).
type EventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEventStream begins a response that is a stream of events. ok is false for
// HEAD, whose response is only the header.
func NewEventStream(w http.ResponseWriter, r *http.Request) (stream *EventStream, ok bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would delay events
	return &EventStream{w, http.NewResponseController(w)}, r.Method != http.MethodHead
}

// Open sends the time that the client waits before it reconnects.
func (e *EventStream) Open() error { return e.write([]byte("retry: 2000\n\n")) }

// Send writes an event with data as JSON; id "" means none.
func (e *EventStream) Send(id, event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	var b bytes.Buffer
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", event, text)
	return e.write(b.Bytes())
}

// Heartbeat writes a comment.
func (e *EventStream) Heartbeat() error { return e.write([]byte(": heartbeat\n\n")) }

// ExtendDeadline gives the client [eventTimeout] to receive the next event, or
// the end of the response, which would otherwise look incomplete.
func (e *EventStream) ExtendDeadline() {
	_ = e.control.SetWriteDeadline(time.Now().Add(eventTimeout)) // httptest.ResponseRecorder has none
}

func (e *EventStream) write(text []byte) error {
	e.ExtendDeadline()
	if _, err := e.w.Write(text); err != nil {
		return err
	}
	return e.control.Flush()
}
