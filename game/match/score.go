package match

import (
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/protocol"
)

// LiveScore returns what displays show of a match that has begun.
func (m *Match) LiveScore() *protocol.LiveScore {
	public, box := m.Summary().Game(protocol.Person{}), m.BoxScore()
	s := &protocol.LiveScore{
		ID: m.ID, Revision: m.Revision, Innings: m.Origin.Options.Innings, Scoreboard: public.Scoreboard,
		Paused: m.Pause != nil, Result: m.Result,
	}
	s.At, s.Text = m.latestPlay()
	for side, to := range [2]*protocol.ScoreLine{&s.Away, &s.Home} {
		seat, team := public.Seat(game.Side(side)), &box.Teams[side]
		*to = protocol.ScoreLine{
			Team: seat.Team, Manager: seat.Manager, Bot: seat.Bot,
			Line: append([]int{}, team.LineScore...), Runs: team.Runs, Hits: team.Hits, Errors: team.Errors,
		}
	}
	for side := range box.Teams {
		for _, l := range box.Teams[side].Batting {
			if l.Player == s.Scoreboard.Batter {
				s.Batter = protocol.Batter{Name: l.Name, AtBats: l.AtBats, Hits: l.Hits}
			}
		}
		for _, l := range box.Teams[side].Pitching {
			if l.Player == s.Scoreboard.Pitcher {
				s.Pitcher = protocol.Pitcher{Name: l.Name, Outs: l.Outs, Strikeouts: l.Strikeouts}
			}
		}
	}
	return s
}

// latestPlay returns the time of the latest event, and the latest play in words: before the first play those of
// the start, after the last one also the outcome.
func (m *Match) latestPlay() (at time.Time, text []string) {
	for _, r := range slices.Backward(m.history.events) {
		event, ok := r.Public.Data.(*protocol.Event)
		if !ok {
			continue
		}
		if at.IsZero() {
			at = event.At
		}
		switch event.Kind {
		case protocol.Ended, protocol.Conceded:
			text = slices.Concat(event.Text, text)
		case protocol.Played, protocol.Started:
			return at, slices.Concat(event.Text, text)
		default:
		}
	}
	return at, text
}
