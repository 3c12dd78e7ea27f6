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

// prepared returns the frame of a message: for all who are told the same, the same.
func (h *handlers) prepared(m *protocol.Message) (*websocket.PreparedMessage, error) {
	made, ok := m.Frame(func(m *protocol.Message) any {
		text, err := h.frame(m)
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
	return made, nil
}

// frame writes a message as clients read it.
func (h *handlers) frame(m *protocol.Message) ([]byte, error) {
	whole := struct {
		*protocol.Message
		G string `json:"g,omitzero"` // not every frame is about a game
		D any    `json:"d,omitzero"`
	}{m, m.Game, m.Data}
	switch d := m.Data.(type) {
	case *protocol.Hello:
		whole.D = hello{subprotocol, h.Version(), m.Revision, web.Timestamp{Time: time.Now()}, d}
	case protocol.Bye:
		whole.D = bye{d, 0}
		if d.Code == "restart" {
			whole.D = bye{d, retryAfter}
		}
	}
	return json.Marshal(whole)
}

// What stands in the d of frames that are not the hall's alone.
type (
	hello struct {
		Proto  string        `json:"proto"`
		Server string        `json:"server"` // version
		Rev    uint64        `json:"rev"`
		Time   web.Timestamp `json:"server_time"`
		*protocol.Hello
	}
	bye struct {
		protocol.Bye
		RetryAfter int `json:"retry_after,omitzero"` // seconds
	}
	nak struct {
		Code   protocol.Code   `json:"code"`
		Detail string          `json:"detail"`
		Errors []web.Violation `json:"errors,omitempty"`
	}
	pong struct {
		TS  jsontext.Value `json:"ts,omitempty"`
		Lag *float64       `json:"lag,omitempty"` // ms from our pings to their pongs
	}
)
