package live

import (
	"slices"
	"strings"

	"pressbox/game"
)

// fillField lists how the side in the field can fill the positions that nobody plays: what the bot would do first.
func (m *menu) fillField(side game.Side) {
	if subs := takeField(m.managers[side], m.position); subs != nil {
		m.substitution(side, subs...)
	} else {
		m.add(side, Choice{Action: Action{A: doConcede}, Label: m.concedeLabel(side), Group: groupGame})
	}
	rest := menu{dugout: m.dugout, position: m.position, sides: m.sides, hotSeat: m.hotSeat}
	rest.substitutions(side)
	for _, c := range rest.all {
		if m.state.Teams[side].Fielder(c.Action.Subs[0].Position) == "" && c.Label != m.all[len(m.all)-1].Label {
			m.all = append(m.all, c)
		}
	}
}

// substitutions lists the changes of one player that a side may make: hitters for who is due, runners for who is on
// base, pitchers, and fielders where they play. Others, and several at once, may be sent all the same.
func (m *menu) substitutions(side game.Side) {
	team := &m.state.Teams[side]
	if side == m.state.Batting() {
		for _, id := range team.Bench {
			if m.hits(side, id) {
				m.substitution(side, game.Substitution{Side: side, Player: id, Slot: team.Next + 1, Position: game.PinchHitter})
			}
		}
		m.runners(side)
		return
	}
	for _, id := range team.Bench {
		if p, _ := m.player(side, id); p.CanPitch() {
			m.substitution(side, game.Substitution{Side: side, Player: id, Slot: m.mound(side), Position: game.Pitcher})
		}
	}
	for i, slot := range team.Order {
		m.fielders(side, i+1, slot)
	}
}

// runners lists who could run for those on base.
func (m *menu) runners(side game.Side) {
	team := &m.state.Teams[side]
	for _, runner := range m.state.Bases {
		slot := slices.IndexFunc(team.Order[:], func(s game.Slot) bool { return runner.Player != "" && s.Player == runner.Player })
		if slot < 0 {
			continue
		}
		for _, id := range team.Bench {
			if m.hits(side, id) {
				m.substitution(side, game.Substitution{Side: side, Player: id, Slot: slot + 1, Position: game.PinchRunner})
			}
		}
	}
}

// fielders lists who could play a place in the order's position, or, if he only batted or ran, which position its player
// could take.
func (m *menu) fielders(side game.Side, place int, slot game.Slot) {
	team := &m.state.Teams[side]
	if slot.Position == game.Pitcher || slot.Position == game.DesignatedHitter {
		return
	}
	if slot.Position.Fields() {
		for _, id := range team.Bench {
			if m.plays(side, id, slot.Position) {
				m.substitution(side, game.Substitution{Side: side, Player: id, Slot: place, Position: slot.Position})
			}
		}
		return
	}
	for at := game.Pitcher; at <= game.RightField; at++ {
		if team.Fielder(at) != "" {
			continue
		}
		m.substitution(side, game.Substitution{Side: side, Player: slot.Player, Slot: place, Position: at})
		for _, id := range team.Bench {
			if m.plays(side, id, at) {
				m.substitution(side, game.Substitution{Side: side, Player: id, Slot: place, Position: at})
			}
		}
	}
}

// substitution lists a change if it is legal.
func (m *menu) substitution(side game.Side, subs ...game.Substitution) {
	if _, err := m.state.Substitute(subs...); err != nil {
		return
	}
	c := Choice{Action: Action{A: doSubstitute, D: m.decision}, Group: groupSubstitution}
	var said []string
	for _, sub := range subs {
		c.Action.Subs = append(c.Action.Subs, Sub{Player: sub.Player, Slot: sub.Slot, Position: sub.Position})
		said = append(said, m.subLabel(side, sub))
	}
	c.Label = capital(strings.Join(said, "; "))
	m.add(side, c)
}

// subLabel says what a substitution does.
func (m *menu) subLabel(side game.Side, sub game.Substitution) string {
	team := &m.state.Teams[side]
	p, _ := m.player(side, sub.Player)
	old := ""
	if sub.Position == game.Pitcher {
		old = m.name(side, team.Pitcher)
	} else if sub.Slot > 0 {
		old = m.name(side, team.Order[sub.Slot-1].Player)
	}
	switch {
	case sub.Position == game.PinchHitter:
		return p.Name + " bats for " + old
	case sub.Position == game.PinchRunner:
		return p.Name + " runs for " + old
	case sub.Position == game.Pitcher && old != "" && old != p.Name:
		return p.Name + " pitches for " + old
	case old == p.Name || old == "":
		return p.Name + " plays " + sub.Position.String()
	default:
		return p.Name + " plays " + sub.Position.String() + " for " + old
	}
}

func (m *menu) player(side game.Side, id game.PlayerID) (game.Player, bool) {
	return m.origin.Clubs[side].Player(id)
}

func (m *menu) name(side game.Side, id game.PlayerID) string {
	p, _ := m.player(side, id)
	return p.Name
}

// hits reports whether a player is more than a pitcher.
func (m *menu) hits(side game.Side, id game.PlayerID) bool {
	p, _ := m.player(side, id)
	return slices.ContainsFunc(p.Positions, func(r game.Role) bool { return r != "SP" && r != "RP" && r != "CP" && r != "P" })
}

// plays reports whether a position is among those of a player's roster line.
func (m *menu) plays(side game.Side, id game.PlayerID, at game.Position) bool {
	p, _ := m.player(side, id)
	return slices.ContainsFunc(p.Positions, func(r game.Role) bool {
		switch {
		case string(r) == at.String():
			return true
		case r == "OF":
			return at >= game.LeftField && at <= game.RightField
		case r == "IF":
			return at >= game.FirstBase && at <= game.Shortstop
		default:
			return at == game.Pitcher && p.CanPitch()
		}
	})
}

// mound returns the pitcher's place in the order, 0 if he does not bat.
func (m *menu) mound(side game.Side) int {
	team := &m.state.Teams[side]
	if team.DH != 0 {
		return 0
	}
	for i, slot := range team.Order {
		if slot.Position == game.Pitcher || slot.Player == team.Pitcher {
			return i + 1
		}
	}
	for i, slot := range team.Order { // the pitcher was batted for
		if !slot.Position.Fields() {
			return i + 1
		}
	}
	return 0
}
