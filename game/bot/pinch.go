package bot

import (
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// From these innings on, counted from the last, a hitter, or the pitcher, is batted for.
const (
	hitLate   = 2
	pitchLate = 4
)

// worthIt is by how many runs a turn a pinch hitter must be better.
const worthIt = .02

// pinchHit sends a hitter from the bench for who is due: late, if he is better against this pitcher, and if somebody can
// take the field afterwards.
func (m *Manager) pinchHit(s *game.State, at chance.Progress) []game.Substitution {
	team := &s.Teams[m.side]
	slot := team.Order[team.NextBatter]
	left := s.Options.ScheduledInnings() - s.Inning
	pitcher := slot.Player == team.Pitcher && team.DH == 0
	switch {
	case pitcher && (left > pitchLate || len(m.pen(team)) == 0 || !m.done(s, at)):
		return nil
	case !pitcher && left > hitLate, slot.Position == game.PinchHitter:
		return nil
	}
	best, most := game.PlayerID(""), runs(m.table.ExpectedRates(s, at, chance.Tactics{}))+worthIt
	for _, id := range team.Bench {
		if !fields(m.player(id)) || !pitcher && !m.covers(team, slot.Position, id) {
			continue
		}
		next := *s
		next.Teams[m.side].Order[team.NextBatter].Player = id
		if worth := runs(m.table.ExpectedRates(&next, at, chance.Tactics{})); worth > most {
			best, most = id, worth
		}
	}
	if best == "" {
		return nil
	}
	return []game.Substitution{{Side: m.side, Player: best, Slot: team.NextBatter + 1, Position: game.PinchHitter}}
}

// done reports whether the manager's own pitcher has little left, or must be batted for to come back.
func (m *Manager) done(s *game.State, at chance.Progress) bool {
	field := *s
	field.Half = 1 - field.Half
	lead := s.Score[m.side] - s.Score[m.side.Other()]
	return m.table.Fatigue(&field, at) > .7 || lead < 0 && s.Inning >= s.Options.ScheduledInnings()-2
}

// covers reports whether a position can be filled with one who plays it after a pinch hitter has come in: by himself, or
// by another from the bench.
func (m *Manager) covers(team *game.TeamState, at game.Position, hitter game.PlayerID) bool {
	if !at.IsFielder() {
		return true
	}
	if m.plays(hitter, at) {
		return true
	}
	return slices.ContainsFunc(team.Bench, func(id game.PlayerID) bool { return id != hitter && m.plays(id, at) })
}

func (m *Manager) plays(id game.PlayerID, at game.Position) bool {
	return slices.ContainsFunc(m.player(id).Positions, func(r game.Role) bool { return plays(r, at) })
}

// takeField fills the positions that pinch hitters and runners have left open: each place in the order that has no
// position gets the open one that its man, or one from the bench, plays best. nil if nothing is open.
func (m *Manager) takeField(s *game.State) []game.Substitution {
	team := s.Teams[m.side]
	open := m.open(&team)
	if len(open) == 0 {
		return nil
	}
	var subs []game.Substitution
	bench := slices.Clone(team.Bench)
	take := func(id game.PlayerID, slot int, at game.Position) {
		subs = append(subs, game.Substitution{Side: m.side, Player: id, Slot: slot, Position: at})
		open = slices.DeleteFunc(open, func(p game.Position) bool { return p == at })
		bench = slices.DeleteFunc(bench, func(b game.PlayerID) bool { return b == id })
		if slot > 0 {
			team.Order[slot-1].Position = at
		}
	}
	if open[0] == game.Pitcher {
		slot := m.newPlace(&team)
		take(m.newPitcher(s, bench, slot), slot, game.Pitcher)
	}
	for i, slot := range team.Order {
		if len(open) > 0 && !slot.Position.IsFielder() && i != team.DH-1 {
			id, at := m.seat(slot.Player, bench, open)
			take(id, i+1, at)
		}
	}
	return subs
}

// newPitcher chooses who takes the mound when nobody stands there: from the bullpen, else anybody from the bench, else
// the man who bats in that place.
func (m *Manager) newPitcher(s *game.State, bench []game.PlayerID, slot int) game.PlayerID {
	team := &s.Teams[m.side]
	pen := m.pen(team)
	switch {
	case len(pen) > 0:
		return m.call(s, pen)
	case len(bench) == 0 && slot > 0:
		return team.Order[slot-1].Player
	case len(bench) == 0:
		return team.Pitcher
	default:
		return bench[0]
	}
}

// open returns the positions that nobody plays, the pitcher's first.
func (m *Manager) open(team *game.TeamState) []game.Position {
	var open []game.Position
	for at := game.Pitcher; at <= game.RightField; at++ {
		if team.Fielder(at) == "" {
			open = append(open, at)
		}
	}
	return open
}

// newPlace returns where a new pitcher bats: nowhere beside a designated hitter, else in the place of a pinch hitter or
// runner, the one whose turn is furthest away.
func (m *Manager) newPlace(team *game.TeamState) int {
	for n := 8; n >= 0 && team.DH == 0; n-- {
		i := (team.NextBatter + n) % 9
		if !team.Order[i].Position.IsFielder() {
			return i + 1
		}
	}
	return 0
}

// seat chooses who takes which of the open positions in a place of the order.
func (m *Manager) seat(now game.PlayerID, bench []game.PlayerID, open []game.Position) (game.PlayerID, game.Position) {
	best, where, most := now, open[0], -10.0
	for _, id := range append([]game.PlayerID{now}, bench...) {
		p := m.player(id)
		if !fields(p) && id != now {
			continue
		}
		for _, at := range open {
			if worth := batting(p, m.ratings) + fielding(p, at, m.ratings); worth > most {
				best, where, most = id, at, worth
			}
		}
	}
	return best, where
}
