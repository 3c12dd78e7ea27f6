// Package live runs matches: it loads them, locks them, runs their clocks, saves their moves and publishes what
// happened to subscribers.
//
// Its law: nothing is published that is not saved, and nothing changes if it cannot be saved. A command makes
// moves on a copy of the match ([match.Tx]); [Journal.Append] returns when they are on disk; then the copy becomes
// the match, the command is acknowledged, and only then are subscribers notified.
//
//	Submit, Concede, …, a clock ─ match.Tx ─ Journal.Append ─ Match.Commit ─ ack ─ publish
//
// The rules of a match are in package match. This package has no I/O of its own and knows no HTTP: disk, rosters
// and loudspeaker are behind [Journal], [Rosters] and [Announcer].
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/match"
	"pressbox/game/protocol"
	"pressbox/game/teams"
)

// ErrFull is the error of a [Journal] without room for another game.
var ErrFull = errors.New("no room for another game")

// Rosters returns the teams that games are created with.
type Rosters interface {
	// Roster returns a team with its present players; season 0 means the default one. The error wraps
	// [teams.ErrUnknown] or [teams.ErrTooFewPlayers].
	Roster(ctx context.Context, season int, team string) (teams.Roster, error)
}

// An Announcer speaks commentary, now, later or never; it does not block. A new comment replaces a waiting one
// about the same game.
type Announcer interface {
	Comment(game, text string)
}

// A Journal stores games. It does not interpret the data.
type Journal interface {
	// Append saves a change and returns when it is on disk; on error nothing is saved. The error wraps [ErrFull] if a
	// game finds no room.
	Append(ctx context.Context, c Change) (Space, error)
	// Summaries returns what lists need of each game.
	Summaries(ctx context.Context) (map[string]Stored, error)
	// Moves returns all moves of a game, in order; none for an unknown game.
	Moves(ctx context.Context, game string) ([][]byte, error)
	// Boxes returns the box scores of those of the games that have one.
	Boxes(ctx context.Context, games []string) (map[string][]byte, error)
}

// A Space is the room for games after a change.
type Space struct {
	Game    int64 // bytes that the game takes
	All     int64 // bytes that all games may take; 0: any number
	Crowded bool  // it is running out, and old games should be deleted
}

// A Stored game has the summary of its last change.
type Stored struct {
	Summary []byte
	Bytes   int64 // that the game takes
}

// A Change is what one command changes in the journal, saved as a whole or not at all.
type Change struct {
	Game    string
	Summary []byte   // replaces the previous one; nil: the game is deleted
	First   uint64   // revision of the first of Moves
	Moves   [][]byte // appended; may be empty
	Replace bool     // the one of Moves takes the place of that of its revision
	Box     []byte   // of a game that ends with this change, whose moves may be packed; nil otherwise
}

// Config holds what [New] needs.
type Config struct {
	Journal   Journal
	Rosters   Rosters
	Shelf     Shelf     // nil: accounts cannot save line-ups
	Announcer Announcer // nil: no commentary
	// Finished, if not nil, is called when a game has ended and is saved. It must not block and must not call [Games].
	Finished func(id string)
	// Seeds returns the seed of a new game's dice, also to concurrent callers. Nil draws it at random.
	Seeds func() chance.Seed
	Log   *slog.Logger
}

// Games holds all matches. Its methods may be called concurrently. Clocks and absence are acted on only while
// [Games.Run] runs.
type Games struct {
	config  Config
	words   *call.Phrasebook
	changed chan struct{} // receives a value when something is due earlier than Run knows

	mu        sync.Mutex // guards what follows; a match's lock is never taken while it is held
	summaries map[string]*summary
	loaded    map[string]*liveMatch
	lobby     map[*subscriber]struct{}
	rematches map[*subscriber]struct{}
	closed    bool
	alarm     time.Time // when Run wakes up next; zero: not planned
	room      int64     // bytes that all games may take; 0: any number, or not known yet

	season seasons
}

// A summary is a match's summary with the time since when it exists, by the monotonic clock, and its size in the
// journal.
type summary struct {
	*match.Summary
	known time.Time
	bytes int64
}

// New returns the games that the journal has. It starts nothing. Summaries of another version are built again from the
// moves and saved; no other game's moves are read.
func New(ctx context.Context, c Config) (*Games, error) {
	if c.Seeds == nil {
		c.Seeds = randomSeed
	}
	g := &Games{
		config: c, words: call.English(), changed: make(chan struct{}, 1), summaries: map[string]*summary{},
		loaded: map[string]*liveMatch{}, lobby: map[*subscriber]struct{}{}, rematches: map[*subscriber]struct{}{},
	}
	if err := g.readSummaries(ctx); err != nil {
		return nil, fmt.Errorf("read the games: %w", err)
	}
	return g, nil
}

// CountByStatus returns the number of games of each status.
func (g *Games) CountByStatus() map[protocol.Status]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts := map[protocol.Status]int{protocol.Pending: 0, protocol.Active: 0, protocol.Finished: 0}
	for _, s := range g.summaries {
		counts[s.Status]++
	}
	return counts
}

// stamp returns a time as it is stored and sent: UTC, in milliseconds, without the monotonic clock.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
