package play

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// Limits of a client's frame.
const (
	maxFrame     = 8 << 10  // bytes
	maxDiscarded = 64 << 10 // bytes; a longer frame closes the connection
	maxID        = 64       // bytes of a game's or command's id
)

// A request is a decoded frame of a client.
type request struct {
	kind   string // "auth", "join", "leave", "cmd", "sync", "react", "ping"
	game   string
	cid    string
	rev    uint64
	since  uint64          // join and sync
	action protocol.Action // cmd
	react  protocol.ReactionName
	ts     jsontext.Value // ping: a number, returned in the pong
	token  string         // auth
}

// parseFrame decodes a client's frame. The error is a [*protocol.Error]; the request then has the ids that
// its answer needs, as far as they are valid.
func parseFrame(text []byte) (request, error) {
	var f struct {
		Type string         `json:"t"`
		Game string         `json:"g"`
		CID  string         `json:"cid"`
		Rev  uint64         `json:"rev"`
		Data jsontext.Value `json:"d"`
	}
	if err := web.DecodeJSON(text, &f); err != nil {
		return request{}, malformed("want one JSON object with the members t, g, rev, cid and d, each at most once")
	}
	r := request{kind: f.Type, rev: f.Rev}
	if isID(f.Game) {
		r.game = f.Game
	}
	if isID(f.CID) {
		r.cid = f.CID
	}
	switch {
	case r.game != f.Game:
		return r, protocol.Refuse(protocol.UnknownGame, "g is not the id of a game")
	case r.cid != f.CID:
		return r, malformed("cid must be 1 to 64 printable ASCII characters")
	case f.Rev > web.MaxInteger:
		return r, malformed("rev exceeds 2^53-1")
	}
	return r, r.decodeData(f.Data)
}

// decodeData decodes the d of the request's type.
func (r *request) decodeData(data jsontext.Value) error {
	switch r.kind {
	case "auth":
		return r.decodeAuth(data)
	case "join", "sync":
		var d struct {
			Since uint64 `json:"since"`
		}
		if err := unmarshalData(data, &d); err != nil || d.Since > web.MaxInteger {
			return malformed("d.since must be a revision; 0: from the start")
		}
		r.since = d.Since
		return r.requireGame()
	case "leave":
		return r.requireGame()
	case "cmd":
		return r.decodeCommand(data)
	case "react":
		return r.decodeReaction(data)
	case "ping":
		return r.decodePing(data)
	default:
		return protocol.Refuse(protocol.UnknownType, "unknown frame type %.20q", r.kind)
	}
}

func (r *request) requireGame() error {
	if r.game == "" {
		return malformed("g, the game's id, is missing")
	}
	return nil
}

func (r *request) decodeAuth(data jsontext.Value) error {
	var d struct {
		Token string `json:"token"`
	}
	if err := unmarshalData(data, &d); err != nil || d.Token == "" {
		return malformed("d.token must be an access token")
	}
	r.token = d.Token
	return nil
}

func (r *request) decodeCommand(data jsontext.Value) error {
	var d struct {
		Action jsontext.Value `json:"action"`
	}
	if r.cid == "" {
		return malformed("cid is missing: 1 to 64 printable ASCII characters")
	}
	if err := unmarshalData(data, &d); err != nil || d.Action.Kind() != '{' {
		return malformed("d.action must be one of the actions that the server sent")
	}
	if err := r.requireGame(); err != nil {
		return err
	}
	if err := web.DecodeJSON(d.Action, &r.action); err != nil {
		return malformed("the action is not one that the server sent")
	}
	return r.action.Check()
}

func (r *request) decodeReaction(data jsontext.Value) error {
	var d struct {
		Name protocol.ReactionName `json:"name"`
	}
	if err := unmarshalData(data, &d); err != nil || !d.Name.Valid() {
		return malformed("d.name must be the name of a reaction")
	}
	r.react = d.Name
	return r.requireGame()
}

func (r *request) decodePing(data jsontext.Value) error {
	var d struct {
		TS  jsontext.Value `json:"ts"`
		Lag float64        `json:"lag"` // ms, as the client measured it
	}
	if err := unmarshalData(data, &d); err != nil || d.TS != nil && d.TS.Kind() != '0' {
		return malformed("d.ts and d.lag must be numbers")
	}
	r.ts = d.TS
	return nil
}

// unmarshalData decodes d, which may be missing.
func unmarshalData(data jsontext.Value, v any) error {
	if data == nil {
		return nil
	}
	if data.Kind() != '{' {
		return errors.New("d is not an object")
	}
	return web.DecodeJSON(data, v)
}

func malformed(detail string) error {
	return protocol.Refuse(protocol.Malformed, "%s", detail)
}

// isID reports whether s is empty or can be an id: at most 64 printable ASCII characters.
func isID(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= maxID
}
