// Package bot manages a side: it suggests line-ups, decides before each turn and after contact, and substitutes pitchers,
// hitters and fielders.
//
// Its one law: it knows what a manager knows, the state, the ratings and the odds, and never the dice. It has no state and
// draws nothing, so the same state always gives the same decision, and a side can be handed to it at any moment.
//
// It compares decisions by run expectancy: the expected runs of the rest of the half-inning before and after, by base-out
// state, batter and pitcher (valuation.go); where one run wins the game, by the chance of that run.
package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// A Manager manages one side of one game. It never changes and may be shared.
type Manager struct {
	side       game.Side
	club       game.Club
	ratings    chance.Ratings
	sim        *chance.Simulator
	valuations valuations
}

// New returns the manager of a side. ratings must be those of the simulator.
func New(side game.Side, club game.Club, ratings chance.Ratings, sim *chance.Simulator) *Manager {
	return &Manager{side: side, club: club, ratings: ratings, sim: sim, valuations: newValuations()}
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

// AnswerQuestion reports whether to take the bold choice after contact. A question to the offence, whether to send the lead
// runner, is decided by run expectancy; one to the defence by the percentages.
func (m *Manager) AnswerQuestion(s *game.State, turn *chance.Resolution) bool {
	if turn.Question != chance.SendRunner {
		return turn.Bold
	}
	safe := turn.Final(false)
	after, err := s.Apply(safe)
	if err != nil || after.Over() || after.Half != s.Half {
		return turn.Bold
	}
	v := m.valuations.forState(s)
	runs := after.Score[s.Batting()] - s.Score[s.Batting()]
	return v.sendsRunner(stateOf(&after), runs, turn.SuccessChance)
}

// sendsRunner reports whether to send the lead runner, who is safe with the given chance.
func (v *valuation) sendsRunner(at baseOutState, runs int, safe float64) bool {
	lead := leadRunner(at)
	if lead == 0 {
		return true
	}
	won, scored := at.advance(lead, 1)
	return safe*v.after(runs+scored, won)+(1-safe)*v.after(runs, at.removeRunner(lead).addOut()) > v.after(runs, at)
}

// player returns a player of the manager's club.
func (m *Manager) player(id game.PlayerID) game.Player {
	p, _ := m.club.Player(id)
	return p
}
