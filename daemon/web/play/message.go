package play

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gorilla/websocket"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// prepare returns the frame of a message, which all its receivers share.
func (h *handlers) prepare(m *protocol.Message) (*websocket.PreparedMessage, error) {
	frame, ok := m.Frame(func(m *protocol.Message) any {
		text, err := h.encode(m)
		if err != nil {
			return err
		}
		frame, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
		if err != nil {
			return err
		}
		return frame
	}).(*websocket.PreparedMessage)
	if !ok {
		return nil, fmt.Errorf("encode %s of %s at %d", m.Type, m.Game, m.Revision)
	}
	return frame, nil
}

// encode returns a message as JSON.
func (h *handlers) encode(m *protocol.Message) ([]byte, error) {
	frame := struct {
		*protocol.Message
		G string `json:"g,omitzero"` // some frames belong to no game
		D any    `json:"d,omitzero"`
	}{m, m.Game, m.Data}
	switch d := m.Data.(type) {
	case *protocol.Hello:
		frame.D = hello{subprotocol, h.Version(), m.Revision, web.Timestamp{Time: time.Now()}, *d}
	case protocol.Bye:
		frame.D = bye{d, 0}
		if d.Code == "restart" {
			frame.D = bye{d, retryAfterSec}
		}
	}
	return json.Marshal(frame)
}

// The d of frames that this package completes or makes.
type (
	hello struct {
		Proto  string        `json:"proto" const:"pressbox.v1"`
		Server string        `json:"server"` // version of the server
		Rev    uint64        `json:"rev"`
		Time   web.Timestamp `json:"server_time"`
		protocol.Hello
	}
	bye struct {
		protocol.Bye
		RetryAfter int `json:"retry_after,omitzero"` // seconds after which to reconnect
	}
	nak struct {
		Code   protocol.Code   `json:"code"`
		Detail string          `json:"detail"` // error text for people
		Errors []web.Violation `json:"errors,omitempty"`
	}
	pong struct {
		TS jsontext.Value `json:"ts,omitempty" type:"number"` // that of the ping
		// Smoothed round-trip time of the server's pings in milliseconds.
		Lag *float64 `json:"lag,omitempty" minimum:"0"`
	}
)
