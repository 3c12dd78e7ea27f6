package match

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// journalVersion is the version of the moves: the only one that is read.
const journalVersion = 3

// A move is one revision of a match as the journal stores it: a decision, or what follows from one, with the drawn
// outcome. Its JSON is the journal's format.
type move struct {
	Version   int                 `json:"v"` // journalVersion
	Revision  uint64              `json:"rev"`
	Kind      protocol.EventKind  `json:"kind"`
	At        time.Time           `json:"at"`
	By        protocol.Person     `json:"by,omitzero"`  // zero: no person asked for it
	CommandID string              `json:"cid,omitzero"` // of the command that caused it
	Side      game.Side           `json:"side"`         // that moves; of Joined, that is taken
	Origin    *Origin             `json:"origin,omitzero"`
	Lineup    *game.Lineup        `json:"lineup,omitzero"`
	Calls     *chance.Tactics     `json:"calls,omitzero"` // Sealed, TimedOut: the side's own part; Played: both
	Play      *game.Play          `json:"play,omitzero"`
	Next      *chance.Progress    `json:"next,omitzero"` // Played: the moment after it
	Question  *question           `json:"question,omitzero"`
	Bold      bool                `json:"bold,omitzero"` // Answered
	Subs      []game.Substitution `json:"subs,omitzero"`
	Reason    string              `json:"reason,omitzero"`  // BotTookOver, Conceded, Stopped
	Skip      *protocol.Skip      `json:"skip,omitzero"`    // PlayingOn; nil: the manager decides every turn again
	Skipped   bool                `json:"skipped,omitzero"` // Played: both sides left the turn to the usual calls
	Player    game.PlayerID       `json:"player,omitzero"`  // Stopped: who the coach would take out of the game
	Number    int                 `json:"number,omitzero"`  // Started: 0 the first game of the day, 2 the second, …
	Game      string              `json:"game,omitzero"`    // RematchCreated
}

// decodeMove decodes a move of the journal.
func decodeMove(data []byte) (*move, error) {
	m := &move{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("decode a move: %w", err)
	}
	if err := checkVersion("journal", m.Version, journalVersion); err != nil {
		return nil, err
	}
	return m, nil
}

// checkVersion refuses a match whose journal or rules have another version than this program's.
func checkVersion(what string, version, ours int) error {
	switch {
	case version > ours:
		return protocol.Refuse(protocol.NewerRules, "the game's %s has version %d, this server reads version %d",
			what, version, ours)
	case version < ours:
		return protocol.Refuse(protocol.UnreadableGame,
			"the game's %s is older than version %d: Pressbox 0.5.0 is the last release that reads it", what, ours)
	}
	return nil
}

// An Origin holds all that a match is created from.
type Origin struct {
	Rules    int                `json:"rules"`
	Options  protocol.Options   `json:"options"`
	Seed     Seed               `json:"seed"`
	Season   int                `json:"season"`
	Clubs    [2]Club            `json:"clubs"`             // visitors, home
	Managers [2]protocol.Person `json:"managers"`          // zero: the side is open, or the bot's
	Reserved [2]protocol.Person `json:"reserved,omitzero"` // who alone may join an open side
	Bots     [2]bool            `json:"bots"`
	Former   string             `json:"former,omitzero"` // id of the match that this one follows
	Recent   chance.RecentWork  `json:"recent,omitzero"` // of both clubs; nil: unknown

	Competition protocol.Competition `json:"competition,omitzero"` // that the match belongs to
}

// DrawRest draws what the pitchers did before a game of no league, if the options ask for it.
func (o *Origin) DrawRest() {
	if o.Recent != nil || !o.Options.Rest {
		return
	}
	seed := chance.Seed(o.Seed)
	o.Recent = seed.Rest(o.Clubs[0].Club)
	maps.Copy(o.Recent, seed.Rest(o.Clubs[1].Club))
}

// clubs returns the clubs as the rules use them, visitors first.
func (o *Origin) clubs() [2]game.Club { return [2]game.Club{o.Clubs[0].Club, o.Clubs[1].Club} }

// commitment returns the hash of the seed, in hex.
func (o *Origin) commitment() string {
	sum := chance.Seed(o.Seed).Commitment()
	return hex.EncodeToString(sum[:])
}

// Epoch returns a text that differs between two matches, or two histories of one, with near certainty.
func (o *Origin) Epoch() string { return o.commitment()[:8] }

// A question is a choice after contact, with the outcome of either answer.
type question struct {
	Ask   chance.Question `json:"ask"`
	Asker game.Side       `json:"asker"` // the side that answers
	Odds  float64         `json:"odds"`  // probability that the bold choice succeeds
	Usual bool            `json:"usual"` // the percentages favor the bold choice
	Safe  game.Play       `json:"safe"`
	Bold  game.Play       `json:"bold"`
	Next  chance.Progress `json:"next"`
	Calls *chance.Tactics `json:"calls"` // of both sides

	Skipped bool `json:"skipped,omitzero"` // both sides left the turn to the usual calls
}

// play returns the outcome of an answer.
func (q *question) play(bold bool) *game.Play {
	if bold {
		return &q.Bold
	}
	return &q.Safe
}

// turn returns the question as the resolver returned it.
func (q *question) turn() *chance.Resolution {
	return &chance.Resolution{
		Play: *q.play(q.Usual), Alternative: *q.play(!q.Usual), Question: q.Ask, Decider: q.Asker,
		SuccessChance: q.Odds, Bold: q.Usual, Next: q.Next,
	}
}

// A Seed is a [chance.Seed] that is written in hex.
type Seed chance.Seed

func (s Seed) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes 64 hex digits.
func (s Seed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads 64 hex digits.
func (s *Seed) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("seed of %d hex digits, want %d", len(text), hex.EncodedLen(len(s)))
	}
	_, err := hex.Decode(s[:], text)
	return err
}
