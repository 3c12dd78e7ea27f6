package bot

import (
	"cmp"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// The bullpen is rationed: so many batters a relief pitcher faces, and so many come up in an inning.
const (
	perReliever = 6
	perInning   = 4.3
)

// better is by how many runs a turn a relief pitcher must be expected to be better than one who is not tired yet.
const better = .004

// relieve changes the pitcher when he is tired, or when there is a better one for the next three batters and relief
// enough for the rest of the game.
func (m *Manager) relieve(s *game.State, at chance.Progress) []game.Substitution {
	team := &s.Teams[m.side]
	if team.BattersFaced < 3 && !s.Options.NoThreeBatterMinimum || team.BattersFaced == 0 {
		return nil
	}
	pen := m.pen(team)
	if len(pen) == 0 {
		return nil
	}
	tired := m.table.Fatigue(s, at)
	next := m.call(s, pen)
	gain := m.against(s, at) - m.against(m.with(s, next), at)
	switch {
	case tired >= 1 && gain > -better:
	case tired >= .5 && gain > better && m.spare(s, pen) > 0:
	default:
		return nil
	}
	return []game.Substitution{{Side: m.side, Player: next, Slot: mound(team), Position: game.Pitcher}}
}

// NextReliever returns who would come in if the pitcher had to be changed now, "" if nobody can.
func (m *Manager) NextReliever(s *game.State) game.PlayerID {
	pen := m.pen(&s.Teams[m.side])
	if len(pen) == 0 {
		return ""
	}
	return m.call(s, pen)
}

// mound returns the pitcher's place in the order, 0 if he does not bat.
func mound(team *game.TeamState) int {
	if team.DH != 0 {
		return 0
	}
	for i, slot := range team.Order {
		if slot.Position == game.Pitcher {
			return i + 1
		}
	}
	return 0
}

// pen returns who can pitch from the bench, the best first: relief pitchers, and starters only if there is no other.
func (m *Manager) pen(team *game.TeamState) []game.PlayerID {
	var relief, rest []game.PlayerID
	for _, id := range team.Bench {
		switch p := m.player(id); {
		case !p.CanPitch():
		case slices.Contains(p.Positions, "SP"):
			rest = append(rest, id)
		default:
			relief = append(relief, id)
		}
	}
	if len(relief) == 0 {
		relief = rest
	}
	slices.SortStableFunc(relief, func(a, b game.PlayerID) int {
		return cmp.Compare(pitching(m.player(a), m.ratings), pitching(m.player(b), m.ratings))
	})
	return relief
}

// call chooses from the pen by what is at stake: the best for the last innings of a close game, the last man when the
// game is decided, one of the middle when it is merely lost.
func (m *Manager) call(s *game.State, pen []game.PlayerID) game.PlayerID {
	lead := s.Score[m.side] - s.Score[m.side.Other()]
	left := max(s.Options.ScheduledInnings()-s.Inning, 0) // innings after this one
	last := len(pen) - 1
	switch {
	case lead >= -1 && lead <= 4:
		return pen[min(left, last)]
	case lead >= -3 && lead < 0:
		return pen[min(left+1, last)]
	default:
		return pen[last]
	}
}

// spare is how many batters the pen can face beyond those who are likely to come up.
func (m *Manager) spare(s *game.State, pen []game.PlayerID) float64 {
	left := float64(max(s.Options.ScheduledInnings()-s.Inning, 0)) + 1 - float64(s.Outs)/3
	return float64(len(pen)*perReliever) - left*perInning
}

// with returns the state with another pitcher.
func (m *Manager) with(s *game.State, id game.PlayerID) *game.State {
	next := *s
	next.Teams[m.side].Pitcher = id
	return &next
}

// against returns what a turn of the next three batters is worth against who pitches in s.
func (m *Manager) against(s *game.State, at chance.Progress) float64 {
	next, sum := *s, 0.0
	team := &next.Teams[s.Batting()]
	for range 3 {
		sum += runs(m.table.ExpectedRates(&next, at, chance.Tactics{}))
		team.NextBatter = (team.NextBatter + 1) % 9
	}
	return sum / 3
}
