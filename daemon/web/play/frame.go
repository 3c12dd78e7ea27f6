package play

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// What a frame of a client may have.
const (
	maxFrame   = 8 << 10  // bytes of text
	maxDrained = 64 << 10 // bytes after which nobody waits for its end
	maxID      = 64       // bytes of a game's or a command's id
)

// The codes of naks that the socket itself finds; the others are the hall's.
const (
	nakMalformed   protocol.Code = protocol.Malformed
	nakUnknownType protocol.Code = "unknown_type"
	nakNotJoined   protocol.Code = "not_joined"
	nakRateLimited protocol.Code = "rate_limited"
	nakTooLarge    protocol.Code = "too_large"
)

// A request is a frame of a client, read.
type request struct {
	kind  string // "join", "leave", "cmd", "sync", "ping"
	game  string
	cid   string
	rev   uint64
	since uint64          // join and sync
	act   protocol.Action // cmd
	ts    jsontext.Value  // ping: a number, to be sent back
}

// parseFrame reads a client's frame. The error is a [*protocol.Error]; then the
// request holds what is known of whom to answer.
func parseFrame(text []byte) (request, error) {
	var f struct {
		Type string         `json:"t"`
		Game string         `json:"g"`
		CID  string         `json:"cid"`
		Rev  uint64         `json:"rev"`
		Data jsontext.Value `json:"d"`
	}
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return request{}, malformed("a frame is one JSON object with t, g, rev, cid and d, none of them twice")
	}
	r := request{kind: f.Type, rev: f.Rev}
	if goodID(f.Game) {
		r.game = f.Game
	}
	if goodID(f.CID) {
		r.cid = f.CID
	}
	switch {
	case r.game != f.Game:
		return r, &protocol.Error{Code: protocol.UnknownGame, Detail: "that is no game's id"}
	case r.cid != f.CID:
		return r, malformed("cid is 1 to 64 printable ASCII characters")
	case f.Rev > web.MaxInteger:
		return r, malformed("rev is no revision")
	}
	return r, r.read(f.Data)
}

// read reads the d of the request's kind.
func (r *request) read(data jsontext.Value) error {
	switch r.kind {
	case "join", "sync":
		var d struct {
			Since uint64 `json:"since"`
		}
		if err := unmarshalData(data, &d); err != nil || d.Since > web.MaxInteger {
			return malformed("d.since is a revision, 0 for all")
		}
		r.since = d.Since
		return r.needGame()
	case "leave":
		return r.needGame()
	case "cmd":
		return r.readCommand(data)
	case "ping":
		return r.readPing(data)
	case "auth":
		return malformed("it is known already who you are")
	default:
		return &protocol.Error{Code: nakUnknownType, Detail: fmt.Sprintf("there is no frame of type %.20q", r.kind)}
	}
}

func (r *request) needGame() error {
	if r.game == "" {
		return malformed("g, the game's id, is needed")
	}
	return nil
}

func (r *request) readCommand(data jsontext.Value) error {
	var d struct {
		Action jsontext.Value `json:"action"`
	}
	if r.cid == "" {
		return malformed("cid is needed: 1 to 64 printable ASCII characters")
	}
	if err := unmarshalData(data, &d); err != nil || d.Action.Kind() != '{' {
		return malformed("d.action is one of the actions that the server sent")
	}
	if err := r.needGame(); err != nil {
		return err
	}
	var err error
	r.act, err = protocol.ReadAction(d.Action)
	return err
}

func (r *request) readPing(data jsontext.Value) error {
	var d struct {
		TS  jsontext.Value `json:"ts"`
		Lag float64        `json:"lag"` // ms, as the client sees it
	}
	if err := unmarshalData(data, &d); err != nil || d.TS != nil && d.TS.Kind() != '0' {
		return malformed("d.ts and d.lag are numbers")
	}
	r.ts = d.TS
	return nil
}

// unmarshalData reads d, which may be missing.
func unmarshalData(data jsontext.Value, into any) error {
	if data == nil {
		return nil
	}
	if data.Kind() != '{' {
		return errors.New("no object")
	}
	return json.Unmarshal(data, into, json.RejectUnknownMembers(true))
}

func malformed(detail string) error {
	return &protocol.Error{Code: nakMalformed, Detail: detail}
}

// goodID says whether a text is empty or can be an id: printable ASCII, and
// not too much of it.
func goodID(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= maxID
}
