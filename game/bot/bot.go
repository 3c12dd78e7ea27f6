// Package bot manages a side: it makes a line-up out of a roster, decides before each turn and after contact, and changes
// pitchers, hitters and fielders.
//
// Its one law: it knows what a manager in the dugout knows, the state, the players' ratings and the odds, and never the
// dice. It keeps nothing between decisions and draws no lots, so the same state always gives the same decision, and a
// game can be handed to it, or taken back, at any moment.
//
// It weighs decisions by runs: what the rest of the half-inning is worth before and after, by bases, outs, batter and
// pitcher (value.go). Where one run wins the game, by the chance of one run.
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
	table   *chance.Simulator
	scales  scales
}

// New returns the manager of a side. The ratings must be those that the table was made from.
func New(side game.Side, club game.Club, ratings chance.Ratings, table *chance.Simulator) *Manager {
	return &Manager{side: side, club: club, ratings: ratings, table: table, scales: newScales()}
}

// Substitutions returns what the manager changes before the next turn, to be announced together; nil if nothing. They
// are legal in s. Call it again until it returns nil: a pinch hitter's place in the field is a change of its own.
func (m *Manager) Substitutions(s *game.State, at chance.Progress) []game.Substitution {
	if s.Over() {
		return nil
	}
	var subs []game.Substitution
	switch {
	case s.Fielding() == m.side:
		if subs = m.takeField(s); subs == nil && at.Pitches == (chance.Pitches{}) {
			subs = m.relieve(s, at)
		}
	case at.Pitches == (chance.Pitches{}):
		subs = m.pinchHit(s, at)
	}
	if _, err := s.Substitute(subs...); err != nil {
		return nil
	}
	return subs
}

// AnswerQuestion answers a question after contact: whether to be bold. Asked of the offence, it is whether the runner in front
// takes another base, which is weighed; asked of the defence, the percentages decide.
func (m *Manager) AnswerQuestion(s *game.State, turn *chance.Resolution) bool {
	if turn.Question != chance.SendRunner {
		return turn.Bold
	}
	held := turn.Final(false)
	after, err := s.Apply(held)
	if err != nil || after.Over() || after.Half != s.Half {
		return turn.Bold
	}
	v := m.scales.of(s)
	runs := after.Score[s.Batting()] - s.Score[s.Batting()]
	return v.sends(situation(&after), runs, turn.SuccessChance)
}

// sends reports whether the runner in front should try for the next base with a chance to be safe.
func (v *scale) sends(at situationIndex, runs int, safe float64) bool {
	lead := leadRunner(at)
	if lead == 0 {
		return true
	}
	won, scored := at.move(lead, 1)
	return safe*v.after(runs+scored, won)+(1-safe)*v.after(runs, at.remove(lead).out()) > v.after(runs, at)
}

// player finds a player of the manager's club.
func (m *Manager) player(id game.PlayerID) game.Player {
	p, _ := m.club.Player(id)
	return p
}
