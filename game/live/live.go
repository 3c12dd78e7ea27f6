// Package live plays games: it keeps the tables at which two sides sit, from the first invitation to the last out.
//
// Its one law: nothing is told that was not kept, and nothing happens that could not be kept. Each command is checked
// and applied to a copy; what it changed goes to the [Journal], which returns when the disk has it; then the copy becomes
// the game, the command is acknowledged, and only then is anybody told.
//
// A game is the list of its moves, one for each revision, counted from 1 without holes. A move holds what was decided and
// what the dice made of it, so loading a game applies its moves again and draws nothing. What a move looks like to
// spectators, to the managers and in words is derived from it (history.go) and never kept.
//
//	Do, Concede, …, the clock ─ check ─ script: moves on a copy ─ Journal.Keep ─ swap ─ ack ─ tell
//
// The package has no I/O of its own and knows no HTTP: disk, rosters and loudspeaker are behind [Journal], [Rosters] and
// [Announcer].
package live

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pressbox/game"
	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/teams"
)

// A Person is somebody who has signed in. The zero value is nobody, who may look at what is listed.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// A Club is what a game copies of a team when it is made.
type Club struct {
	game.Club
	Season    int                `json:"season"`
	Color     string             `json:"color,omitzero"`      // #rrggbb
	TextColor string             `json:"text_color,omitzero"` // on Color
	Ratings   chance.Ratings     `json:"ratings,omitzero"`    // who is not there is average
	Park      chance.ParkFactors `json:"park,omitzero"`
}

// clubOf returns a game's copy of a team.
func clubOf(r *teams.Roster) Club {
	return Club{
		Club: r.Club(), Season: r.Season, Color: r.Team.Color, TextColor: r.Team.TextColor,
		Ratings: teams.Ratings(*r), Park: r.Team.Park.Factors,
	}
}

// Rosters returns teams with their players.
type Rosters interface {
	// Roster returns a team with its players; season 0 means the default one. The error wraps [teams.ErrUnknown] or
	// [teams.ErrTooFewPlayers].
	Roster(ctx context.Context, season int, team string) (teams.Roster, error)
}

// An Announcer says something aloud, soon or never; it does not make the caller wait. Of what waits about the same game
// only the last is said.
type Announcer interface {
	Comment(game, text string)
}

// A Journal keeps games. What it is given is opaque to it.
type Journal interface {
	// Keep makes a change and returns when it is on the disk, or not at all. crowded says that room is getting short:
	// what is no longer needed should go. The error wraps [ErrFull] when a new game finds no room.
	Append(ctx context.Context, c Change) (crowded bool, err error)
	// Heads returns what the last change of each game had as its head.
	Summaries(ctx context.Context) (map[string][]byte, error)
	// Moves returns all moves of a game, in order; none for a game it does not know.
	Moves(ctx context.Context, game string) ([][]byte, error)
	// Boxes returns the boxes of those of the games that have one.
	Boxes(ctx context.Context, games []string) (map[string][]byte, error)
}

// A Change is what one command changes in the journal; all of it or nothing.
type Change struct {
	Game    string
	Summary []byte   // replaces the one before; nil: the game is forgotten
	First   uint64   // revision of the first of Moves
	Moves   [][]byte // are appended
	Box     []byte   // of a game that ends with this change: its moves may be packed; nil otherwise
}

// Config is what a hall needs.
type Config struct {
	Journal   Journal
	Rosters   Rosters
	Announcer Announcer // nil: nobody announces
	Log       *slog.Logger
}

// A Games is where games are played. Its methods may be called concurrently; who is late or absent is noticed only while
// [Games.Run] runs.
type Games struct {
	config  Config
	words   *call.Phrasebook
	changed chan struct{} // holds a token when something may be due earlier than Run knows

	mu     sync.Mutex // guards what follows; never held while a table's is taken
	heads  map[string]*head
	tables map[string]*table // those in memory
	lobby  map[*onlooker]struct{}
	closed bool
	alarm  time.Time // when Run looks next; zero: at nothing it knows

	season seasons
}

// New returns a hall with all games that the journal has. It starts nothing, and reads no game's moves.
func New(ctx context.Context, c Config) (*Games, error) {
	h := &Games{
		config: c, words: call.English(), changed: make(chan struct{}, 1),
		heads: map[string]*head{}, tables: map[string]*table{}, lobby: map[*onlooker]struct{}{},
	}
	if err := h.readHeads(ctx); err != nil {
		return nil, fmt.Errorf("read the games: %w", err)
	}
	return h, nil
}

// stamp returns the time as it is kept and told: of the wall, to the millisecond.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
