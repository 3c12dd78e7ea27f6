// Package replica follows a game over the websocket as a client does: it applies every play itself and
// compares the result with the server's state.
//
// A missing revision, a play that the rules refuse and a different hash are errors.
package replica

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"pressbox/game"
)

// A Replica is a client's copy of a game.
type Replica struct {
	Rev   uint64
	Hash  string   // of the state; "" before the start
	Kinds []string // of the events, "" for a skip
	Over  bool

	// Legal and Offers are the last ones that the server sent.
	Legal, Offers []Choice

	clubs   [2]game.Club
	options game.Options
	state   game.State
}

// A Choice is an action that the server offers.
type Choice struct {
	Action json.RawMessage
	Label  string
	Group  string
	Side   string
}

// A Frame is a frame of the server.
type Frame struct {
	T   string
	G   string
	Rev uint64
	CID string
	D   json.RawMessage
}

// New returns a replica before the start, with the rosters in the answer to GET /api/games/{id}.
func New(answer []byte) (*Replica, error) {
	var d struct {
		Home, Away struct{ Team game.Club }
		Rosters    struct {
			Home, Away struct{ Players []game.Player }
		}
		Options game.Options
	}
	if err := json.Unmarshal(answer, &d); err != nil {
		return nil, fmt.Errorf("decode a game: %w", err)
	}
	r := &Replica{clubs: [2]game.Club{d.Away.Team, d.Home.Team}, options: d.Options}
	r.clubs[game.Away].Players, r.clubs[game.Home].Players = d.Rosters.Away.Players, d.Rosters.Home.Players
	return r, nil
}

// An event holds the d of an event or a state, as far as a replica uses it.
type event struct {
	Kind    string
	Side    game.Side
	Play    game.Play
	Subs    []game.Substitution `json:"substitutions"`
	Lineups struct{ Home, Away game.Lineup }
	Hash    string
	State   struct{ Status string }
	Legal   *[]Choice
	Offers  *[]Choice
}

// Apply applies a frame.
func (r *Replica) Apply(f Frame) error {
	var e event
	switch f.T {
	case "event", "state":
		if err := json.Unmarshal(f.D, &e); err != nil {
			return fmt.Errorf("decode %s %d: %w", f.T, f.Rev, err)
		}
	case "skip":
	default:
		return nil
	}
	if f.T == "state" {
		r.Over = r.Over || e.State.Status == "finished"
	} else if err := r.advance(f, e); err != nil {
		return err
	}
	if e.Legal != nil {
		r.Legal = *e.Legal
	}
	if e.Offers != nil {
		r.Offers = *e.Offers
	}
	if f.T != "skip" && (e.Hash != r.Hash || f.Rev != r.Rev) {
		return fmt.Errorf("%s %s at revision %d has the hash %.8s, the replica at revision %d has %.8s",
			f.T, e.Kind, f.Rev, e.Hash, r.Rev, r.Hash)
	}
	return nil
}

// advance applies an event or a skip.
func (r *Replica) advance(f Frame, e event) error {
	if f.Rev != r.Rev+1 {
		return fmt.Errorf("revision %d follows revision %d", f.Rev, r.Rev)
	}
	r.Rev = f.Rev
	r.Kinds = append(r.Kinds, e.Kind)
	if err := r.applyEvent(e); err != nil {
		return fmt.Errorf("revision %d, %s: %w", f.Rev, e.Kind, err)
	}
	return nil
}

func (r *Replica) applyEvent(e event) (err error) {
	switch e.Kind {
	case "start":
		r.state, err = game.New(r.options, r.clubs, [2]game.Lineup{e.Lineups.Away, e.Lineups.Home})
	case "play":
		r.state, err = r.state.Apply(e.Play)
	case "substitution":
		r.state, err = r.state.Substitute(e.Subs...)
	case "conceded":
		r.state, err = r.state.Forfeit(e.Side)
	case "finished":
		r.Over = true
		return nil
	default:
		return nil
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(r.state)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	r.Hash = hex.EncodeToString(sum[:])
	return nil
}
