package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"
)

const (
	heartbeatInterval = 15 * time.Second // between two comments or events that keep a stream open
	eventTimeout      = 10 * time.Second // for a client to receive an event
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

func (e *EventStream) write(text []byte) error { return WriteFlushed(e.w, text) }

// WriteFlushed writes a part of a stream, for which a client has [eventTimeout].
func WriteFlushed(w http.ResponseWriter, text []byte) error {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(eventTimeout)) // httptest.ResponseRecorder has none
	if _, err := w.Write(text); err != nil {
		return err
	}
	return control.Flush()
}

// A Source is a channel from which a stream sends.
type Source struct {
	channel reflect.Value
	send    func(reflect.Value) error
}

// From returns the source of a channel whose values send handles. The stream ends when the
// channel is closed, or send returns an error.
func From[T any](c <-chan T, send func(T) error) Source {
	return Source{reflect.ValueOf(c), func(v reflect.Value) error {
		value, _ := reflect.TypeAssert[T](v)
		return send(value)
	}}
}

// Ends returns a source that ends the stream when a channel is closed.
func Ends(c <-chan struct{}) Source { return From(c, func(struct{}) error { return nil }) }

// Stream sends from sources until one of them ends, the client disconnects or is no longer
// authorized, or the server stops. heartbeat is called every [heartbeatInterval].
func (s *Server) Stream(r *http.Request, heartbeat func() error, sources ...Source) {
	beat := time.NewTicker(heartbeatInterval)
	defer beat.Stop()
	sources = append(sources, Ends(r.Context().Done()), Ends(s.Closing()), From(beat.C, func(time.Time) error {
		if err := s.Authorize(r); err != nil {
			return err
		}
		return heartbeat()
	}))
	cases := make([]reflect.SelectCase, len(sources))
	for i, source := range sources {
		cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: source.channel}
	}
	for {
		i, value, open := reflect.Select(cases)
		if !open || sources[i].send(value) != nil {
			return
		}
	}
}
