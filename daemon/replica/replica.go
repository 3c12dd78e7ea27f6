// Package replica stands in for a client of the websocket that trusts nobody: it applies every play itself, and holds
// what it comes to against what the server says.
//
// Its one law: a hole, a play that the rules refuse, or a hash that differs is an error.
package replica

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"pressbox/game"
)

// A Replica is a game as the client keeps it.
type Replica struct {
	Rev   uint64
	Hash  string   // of the state; "" before the start
	Kinds []string // of the events, "" for a skip
	Over  bool

	// Legal and Offers are what the server said last of what may be done.
	Legal, Offers []Choice

	clubs   [2]game.Club
	options game.Options
	state   game.State
}

// A Choice is something that may be done.
type Choice struct {
	Action json.RawMessage
	Label  string
	Group  string
	Side   string
}

// A Frame is one of the server's.
type Frame struct {
	T   string
	G   string
	Rev uint64
	CID string
	D   json.RawMessage
}

// New begins with what GET /api/games/{id} answers: the rosters.
func New(answer []byte) (*Replica, error) {
	var d struct {
		Home, Away struct{ Team game.Club }
		Rosters    struct {
			Home, Away struct{ Players []game.Player }
		}
		Options game.Options
	}
	if err := json.Unmarshal(answer, &d); err != nil {
		return nil, fmt.Errorf("read a game: %w", err)
	}
	r := &Replica{clubs: [2]game.Club{d.Away.Team, d.Home.Team}, options: d.Options}
	r.clubs[game.Away].Players, r.clubs[game.Home].Players = d.Rosters.Away.Players, d.Rosters.Home.Players
	return r, nil
}

// An event is what a replica takes of one, and of a state.
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

// Take takes over a frame.
func (r *Replica) Take(f Frame) error {
	var e event
	switch f.T {
	case "event", "state":
		if err := json.Unmarshal(f.D, &e); err != nil {
			return fmt.Errorf("read %s %d: %w", f.T, f.Rev, err)
		}
	case "skip":
	default:
		return nil
	}
	if f.T == "state" {
		r.Over = r.Over || e.State.Status == "finished"
	} else if err := r.follow(f, e); err != nil {
		return err
	}
	if e.Legal != nil {
		r.Legal = *e.Legal
	}
	if e.Offers != nil {
		r.Offers = *e.Offers
	}
	if f.T != "skip" && (e.Hash != r.Hash || f.Rev != r.Rev) {
		return fmt.Errorf("%s %s at %d has the hash %.8s, ours at %d is %.8s", f.T, e.Kind, f.Rev, e.Hash, r.Rev, r.Hash)
	}
	return nil
}

// follow applies an event or a skip.
func (r *Replica) follow(f Frame, e event) error {
	if f.Rev != r.Rev+1 {
		return fmt.Errorf("revision %d comes after %d", f.Rev, r.Rev)
	}
	r.Rev = f.Rev
	r.Kinds = append(r.Kinds, e.Kind)
	if err := r.apply(e); err != nil {
		return fmt.Errorf("revision %d, %s: %w", f.Rev, e.Kind, err)
	}
	return nil
}

func (r *Replica) apply(e event) (err error) {
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
