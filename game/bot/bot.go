// Package bot manages a side: it suggests line-ups, decides before each turn and after contact, and substitutes
// pitchers, hitters and fielders.
//
// Its one law: it knows what a manager knows, the state, the ratings and the odds, and never the dice. It has no
// state, and draws from the seed of the game by the number of the turn: the same state of a game always gives the same
// decision, which no one foresees, and a side can be handed to it at any moment.
//
// It compares decisions by the chance to win: the exact distribution of the turn's results, then the next batters
// by their own rates to the end of the half-inning, then average players (value.go). Of the calls of a turn it
// expects the other side to make those that cannot be exploited, and makes such ones itself (calls.go, solve.go).
// Lower levels see less.
package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// A Manager manages one side of one game. It never changes and may be shared.
type Manager struct {
	side    game.Side
	club    game.Club
	ratings chance.Ratings
	sim     *chance.Simulator
	level   Level
}

// A Level is the strength of a manager.
type Level int

// The levels.
const (
	// Beginner relieves exhausted pitchers and bunts runners over; otherwise it calls nothing.
	Beginner Level = 1
	// Regular calls what gains runs in this turn against the usual call of the other side.
	Regular Level = 2
	// Expert looks ahead, by the chance to win, and expects the other side to answer.
	Expert Level = 3
)

// New returns the manager of a side. ratings must be those of the simulator.
func New(side game.Side, club game.Club, ratings chance.Ratings, sim *chance.Simulator, level Level) *Manager {
	return &Manager{side: side, club: club, ratings: ratings, sim: sim, level: level}
}

// Substitutions returns the substitutions to announce together before the next turn, nil for none. They are legal in s.
// Call it until it returns nil: the new fielder for a pinch hitter is a further substitution.
func (m *Manager) Substitutions(s *game.State, progress chance.Progress) []game.Substitution {
	if s.Over() {
		return nil
	}
	var subs []game.Substitution
	switch {
	case s.Fielding() == m.side:
		if subs = m.fillPositions(s); subs == nil && progress.Pitches == (chance.Pitches{}) {
			subs = m.relieve(s, progress)
		}
	case progress.Pitches == (chance.Pitches{}):
		subs = m.pinchHit(s, progress)
	}
	if _, err := s.Substitute(subs...); err != nil {
		return nil
	}
	return subs
}

func (m *Manager) player(id game.PlayerID) game.Player {
	p, _ := m.club.Player(id)
	return p
}
