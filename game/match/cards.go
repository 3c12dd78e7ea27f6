package match

import (
	"slices"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/protocol"
	"pressbox/game/teams"
)

// cards returns the players of a side with their cards, without the seasons, which a match does not know.
func (m *Match) cards(side game.Side) []card.Player {
	club := &m.Origin.Clubs[side]
	var box game.BoxScore
	if m.Status != protocol.Pending {
		box = m.BoxScore()
	}
	players := make([]card.Player, len(club.Players))
	for i, p := range club.Players {
		c := card.New(p, club.Ratings[p.ID], card.SourceOf(club.Source))
		c.Form = m.form(&box.Teams[side], p)
		if p.CanPitch() {
			c.RestDays = m.Origin.Recent.RestDays(p.ID)
		}
		players[i] = card.Player{Player: teams.Player{Player: p}, Card: c}
	}
	return players
}

// atBat returns the forms of the batter and the pitcher; nil once the game is over.
func (m *Match) atBat() *protocol.AtBat {
	s := &m.state
	if s.Over() {
		return nil
	}
	box := m.BoxScore()
	form := func(side game.Side, id game.PlayerID) card.Form {
		p, _ := m.Origin.Clubs[side].Player(id)
		return m.form(&box.Teams[side], p)
	}
	return &protocol.AtBat{Batter: form(s.Batting(), s.Batter()), Pitcher: form(s.Fielding(), s.Pitcher())}
}

// form returns a player's form; only those who pitch are ever tired.
func (m *Match) form(box *game.TeamBoxScore, p game.Player) card.Form {
	pitches := p.CanPitch() ||
		slices.ContainsFunc(box.Pitching, func(l game.PitchingLine) bool { return l.Player == p.ID })
	if !pitches {
		return card.FormOf(box, p.ID, 0)
	}
	return card.FormOf(box, p.ID, m.engine.table.Spent(&m.state, m.moment, p.ID))
}
