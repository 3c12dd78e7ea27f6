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
		m.add(side, Choice{Action: Action{Verb: doConcede}, Label: m.concedeLabel(side), Group: groupGame})
	}
	rest := menu{dugout: m.dugout, position: m.position, sides: m.sides, hotSeat: m.hotSeat}
	rest.substitutions(side)
	for _, c := range rest.all {
		open := m.state.Teams[side].Fielder(c.Action.Subs[0].Position) == ""
		if open && len(c.Action.Subs) == 1 && c.Label != m.all[len(m.all)-1].Label {
			m.all = append(m.all, c)
		}
	}
}

// substitutions lists the changes that a side may make: hitters for who is due, runners for who is on base, pitchers,
// fielders where they play, and double switches. Others, and others at once, may be sent all the same.
func (m *menu) substitutions(side game.Side) {
	team := &m.state.Teams[side]
	if side == m.state.Batting() {
		for _, id := range team.Bench {
			if m.hits(side, id) {
				m.substitution(side, game.Substitution{Side: side, Player: id, Slot: team.NextBatter + 1, Position: game.PinchHitter})
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
	m.doubleSwitches(side)
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
	if slot.Position.IsFielder() {
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

// doubleSwitches lists the changes of two players at once by which the pitcher's place comes up later (5.10(b)): the new
// pitcher bats where a fielder did, and who takes that position bats where the pitcher did. Who has batted for the
// pitcher may stay in the game so, whenever his place comes up. Each is listed once, with the pitcher whom the bot would
// call; any other may come in his stead. What brings the pitcher up last stands first.
func (m *menu) doubleSwitches(side game.Side) {
	team := &m.state.Teams[side]
	mound, pitcher := m.mound(side), m.managers[side].NextReliever(&m.state)
	if mound == 0 || pitcher == "" {
		return
	}
	due := (mound - 1 - team.NextBatter + len(team.Order)) % len(team.Order)
	for ahead := len(team.Order) - 1; ahead >= 0; ahead-- {
		place := (team.NextBatter+ahead)%len(team.Order) + 1
		at := team.Order[place-1].Position
		if !at.IsFielder() || place == mound {
			continue
		}
		var in []game.PlayerID
		if batted := team.Order[mound-1]; !batted.Position.IsFielder() {
			in = append(in, batted.Player)
		}
		if ahead > due {
			in = append(in, team.Bench...)
		}
		for _, id := range in {
			if id != pitcher && m.plays(side, id, at) {
				m.doubleSwitch(side, game.Substitution{Side: side, Player: pitcher, Slot: place, Position: game.Pitcher},
					game.Substitution{Side: side, Player: id, Slot: mound, Position: at})
			}
		}
	}
}

// doubleSwitch lists the change of a pitcher and a fielder.
func (m *menu) doubleSwitch(side game.Side, pitcher, fielder game.Substitution) {
	order := &m.state.Teams[side].Order
	label := "Double switch: " + m.name(side, pitcher.Player) + " pitches, bats " + nth(pitcher.Slot) + " for " +
		m.name(side, order[pitcher.Slot-1].Player) + "; " + m.name(side, fielder.Player) + " plays " + fielder.Position.String()
	if old := order[fielder.Slot-1].Player; old != fielder.Player {
		label += ", bats " + nth(fielder.Slot) + " for " + m.name(side, old)
	}
	m.change(side, label, pitcher, fielder)
}

// nth writes a place in the order.
func nth(place int) string {
	return [...]string{"0th", "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th"}[place]
}

// substitution lists a change if it is legal.
func (m *menu) substitution(side game.Side, subs ...game.Substitution) {
	var said []string
	for _, sub := range subs {
		said = append(said, m.subLabel(side, sub))
	}
	m.change(side, capital(strings.Join(said, "; ")), subs...)
}

// change lists a change, under these words, if it is legal.
func (m *menu) change(side game.Side, label string, subs ...game.Substitution) {
	if _, err := m.state.Substitute(subs...); err != nil {
		return
	}
	c := Choice{Action: Action{Verb: doSubstitute, Decision: m.decision}, Label: label, Group: groupSubstitution}
	for _, sub := range subs {
		c.Action.Subs = append(c.Action.Subs, Sub{Player: sub.Player, Slot: sub.Slot, Position: sub.Position})
	}
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
		if !slot.Position.IsFielder() {
			return i + 1
		}
	}
	return 0
}
