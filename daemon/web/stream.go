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
	eventTimeout = 10 * time.Second // for a client to take an event
)

// An EventStream writes server-sent events (WHATWG HTML §9.2).
type EventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEventStream begins an answer that is a stream of events. ok is false for
// HEAD, which only gets the header.
func NewEventStream(w http.ResponseWriter, r *http.Request) (stream *EventStream, ok bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would delay events
	return &EventStream{w, http.NewResponseController(w)}, r.Method != http.MethodHead
}

// Open tells the client how long to wait before it reconnects.
func (e *EventStream) Open() error { return e.write([]byte("retry: 2000\n\n")) }

// Send writes an event with data as JSON; id "" means that it has none.
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
func (e *EventStream) Heartbeat() error { return e.write([]byte(": still here\n\n")) }

// ExtendDeadline gives the client time to take what is written next: an event,
// or the end of the answer, which would otherwise look cut off.
func (e *EventStream) ExtendDeadline() {
	_ = e.control.SetWriteDeadline(time.Now().Add(eventTimeout)) // a test's recorder has none
}

func (e *EventStream) write(text []byte) error {
	e.ExtendDeadline()
	if _, err := e.w.Write(text); err != nil {
		return err
	}
	return e.control.Flush()
}
