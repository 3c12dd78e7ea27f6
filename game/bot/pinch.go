package bot

import (
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// Innings from the last one in which a pinch hitter may bat for a hitter, and for the pitcher.
const (
	pinchHitInnings        = 2
	pinchHitPitcherInnings = 4
)

// minPinchHitGain is the smallest gain, in runs per plate appearance, for which a pinch hitter bats.
const minPinchHitGain = .02

// pinchHit returns a pinch hitter for the next batter: late in the game, with a better chance against this pitcher, and
// with a fielder for the position afterwards.
func (m *Manager) pinchHit(s *game.State, progress chance.Progress) []game.Substitution {
	team := &s.Teams[m.side]
	slot := team.Order[team.NextBatter]
	left := s.Options.ScheduledInnings() - s.Inning
	pitcher := slot.Player == team.Pitcher && team.DH == 0
	switch {
	case pitcher && (left > pinchHitPitcherInnings || len(m.bullpen(team)) == 0 || !m.pitcherIsDone(s, progress)):
		return nil
	case !pitcher && (m.level == Beginner || left > pinchHitInnings), slot.Position == game.PinchHitter:
		return nil
	}
	best, highest := game.PlayerID(""), runs(m.sim.ExpectedRates(s, progress, chance.Tactics{}))+minPinchHitGain
	for _, id := range team.Bench {
		if !m.player(id).CanField() || !pitcher && !m.covers(team, slot.Position, id) {
			continue
		}
		next := *s
		next.Teams[m.side].Order[team.NextBatter].Player = id
		if value := runs(m.sim.ExpectedRates(&next, progress, chance.Tactics{})); value > highest {
			best, highest = id, value
		}
	}
	if best == "" {
		return nil
	}
	return []game.Substitution{{Side: m.side, Player: best, Slot: team.NextBatter + 1, Position: game.PinchHitter}}
}

// pitcherIsDone reports whether the manager's pitcher is tired, or must be batted for because the team is behind late.
func (m *Manager) pitcherIsDone(s *game.State, progress chance.Progress) bool {
	field := *s
	field.Half = 1 - field.Half
	lead := s.Score[m.side] - s.Score[m.side.Other()]
	return m.sim.Fatigue(&field, progress) > m.patienceAtBat(&field) ||
		lead < 0 && m.sim.Fatigue(&field, progress) > .75 && s.Inning >= s.Options.ScheduledInnings()-2
}

// covers reports whether a position can be filled after a pinch hitter has batted, by the pinch hitter or another
// player from the bench.
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
	return slices.ContainsFunc(m.player(id).Positions, func(r game.Role) bool { return r.Covers(at) })
}

// fillPositions fills the positions that pinch hitters and runners left open: each slot of the order without a position
// gets the open one that its player, or one from the bench, plays best. It returns nil if none is open.
func (m *Manager) fillPositions(s *game.State) []game.Substitution {
	team := s.Teams[m.side]
	open := m.unfilledPositions(&team)
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
		slot := m.newPitcherSlot(&team)
		take(m.newPitcher(s, bench, slot), slot, game.Pitcher)
	}
	for i, slot := range team.Order {
		if len(open) > 0 && !slot.Position.IsFielder() && i != team.DH-1 {
			id, at := m.bestFor(slot.Player, bench, open)
			take(id, i+1, at)
		}
	}
	return subs
}

// newPitcher returns a pitcher if there is none: from the bullpen, else from the bench, else the player in the slot.
func (m *Manager) newPitcher(s *game.State, bench []game.PlayerID, slot int) game.PlayerID {
	team := &s.Teams[m.side]
	pen := m.bullpen(team)
	switch {
	case len(pen) > 0:
		return m.pickReliever(s, pen)
	case len(bench) == 0 && slot > 0:
		return team.Order[slot-1].Player
	case len(bench) == 0:
		return team.Pitcher
	default:
		return bench[0]
	}
}

// unfilledPositions returns the positions without a player, the pitcher's first.
func (m *Manager) unfilledPositions(team *game.TeamState) []game.Position {
	var open []game.Position
	for at := game.Pitcher; at <= game.RightField; at++ {
		if team.Fielder(at) == "" {
			open = append(open, at)
		}
	}
	return open
}

// newPitcherSlot returns the batting slot of a new pitcher: 0 with a designated hitter, else the slot of the pinch
// hitter or runner whose next plate appearance is furthest away.
func (m *Manager) newPitcherSlot(team *game.TeamState) int {
	for n := 8; n >= 0 && team.DH == 0; n-- {
		i := (team.NextBatter + n) % 9
		if !team.Order[i].Position.IsFielder() {
			return i + 1
		}
	}
	return 0
}

// bestFor returns the best player for a slot and the open position that the player takes.
func (m *Manager) bestFor(
	now game.PlayerID, bench []game.PlayerID, open []game.Position,
) (game.PlayerID, game.Position) {
	best, position, highest := now, open[0], -10.0
	for _, id := range append([]game.PlayerID{now}, bench...) {
		p := m.player(id)
		if !p.CanField() && id != now {
			continue
		}
		for _, at := range open {
			if value := battingRuns(p, m.ratings) + fieldingRuns(p, at, m.ratings); value > highest {
				best, position, highest = id, at, value
			}
		}
	}
	return best, position
}
