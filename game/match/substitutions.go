package match

import (
	"slices"
	"strings"

	"pressbox/game"
	"pressbox/game/protocol"
)

// fillField adds the ways in which the side in the field can fill its empty positions, the bot's choice first.
func (c *choices) fillField(side game.Side) {
	if subs := takeField(c.coaches[side], c.Position); subs != nil {
		c.substitution(side, subs...)
	} else {
		c.addGameAction(side, c.concedeLabel(side), protocol.Action{Verb: protocol.DoConcede})
	}
	rest := choices{engine: c.engine, Position: c.Position, sides: c.sides, hotSeat: c.hotSeat}
	rest.substitutions(side)
	for _, choice := range rest.all {
		empty := c.state.Teams[side].Fielder(choice.Action.Subs[0].Position) == ""
		if empty && len(choice.Action.Subs) == 1 && choice.Label != c.all[len(c.all)-1].Label {
			c.all = append(c.all, choice)
		}
	}
	c.valueFillings(side)
}

// substitutions adds the usual substitutions of a side: hitters for the next batter, runners for the runners on base,
// pitchers, fielders at their positions, and double switches. A client may send others too.
func (c *choices) substitutions(side game.Side) {
	team := &c.state.Teams[side]
	if side == c.state.Batting() {
		for _, id := range team.Bench {
			if c.hits(side, id) {
				c.substitution(side,
					game.Substitution{Side: side, Player: id, Slot: team.NextBatter + 1, Position: game.PinchHitter})
			}
		}
		c.runners(side)
		return
	}
	for _, id := range team.Bench {
		if p, _ := c.player(side, id); p.CanPitch() {
			c.substitution(side,
				game.Substitution{Side: side, Player: id, Slot: c.pitcherSlot(side), Position: game.Pitcher})
		}
	}
	for i, slot := range team.Order {
		c.fielders(side, i+1, slot)
	}
	c.doubleSwitches(side)
}

// runners adds the pinch runners for each runner on base.
func (c *choices) runners(side game.Side) {
	team := &c.state.Teams[side]
	for _, runner := range c.state.Bases {
		slot := slices.IndexFunc(team.Order[:],
			func(s game.Slot) bool { return runner.Player != "" && s.Player == runner.Player })
		if slot < 0 {
			continue
		}
		for _, id := range team.Bench {
			if c.hits(side, id) {
				c.substitution(side,
					game.Substitution{Side: side, Player: id, Slot: slot + 1, Position: game.PinchRunner})
			}
		}
	}
}

// fielders adds the substitutes at the position of a place in the order; for a pinch hitter or runner, the
// positions that this player, or a substitute, can take.
func (c *choices) fielders(side game.Side, place int, slot game.Slot) {
	team := &c.state.Teams[side]
	if slot.Position == game.Pitcher || slot.Position == game.DesignatedHitter {
		return
	}
	if slot.Position.IsFielder() {
		for _, id := range team.Bench {
			if c.plays(side, id, slot.Position) {
				c.substitution(side, game.Substitution{Side: side, Player: id, Slot: place, Position: slot.Position})
			}
		}
		return
	}
	for at := game.Pitcher; at <= game.RightField; at++ {
		if team.Fielder(at) != "" {
			continue
		}
		c.substitution(side, game.Substitution{Side: side, Player: slot.Player, Slot: place, Position: at})
		for _, id := range team.Bench {
			if c.plays(side, id, at) {
				c.substitution(side, game.Substitution{Side: side, Player: id, Slot: place, Position: at})
			}
		}
	}
}

// doubleSwitches adds the changes of two players at once by which the pitcher's place comes up later (5.10(b)):
// the new pitcher takes a fielder's place in the order, and that position's new player the pitcher's. A player who
// batted for the pitcher may stay in the game that way, whenever the place comes up. Each change is offered once,
// with the reliever that the bot prefers; a client may send another. The change that brings the pitcher up last
// comes first.
func (c *choices) doubleSwitches(side game.Side) {
	team := &c.state.Teams[side]
	slot, pitcher := c.pitcherSlot(side), c.coaches[side].NextReliever(&c.state)
	if slot == 0 || pitcher == "" {
		return
	}
	due := (slot - 1 - team.NextBatter + len(team.Order)) % len(team.Order)
	for ahead := len(team.Order) - 1; ahead >= 0; ahead-- {
		place := (team.NextBatter+ahead)%len(team.Order) + 1
		at := team.Order[place-1].Position
		if !at.IsFielder() || place == slot {
			continue
		}
		var in []game.PlayerID
		if batted := team.Order[slot-1]; !batted.Position.IsFielder() {
			in = append(in, batted.Player)
		}
		if ahead > due {
			in = append(in, team.Bench...)
		}
		for _, id := range in {
			if id != pitcher && c.plays(side, id, at) {
				c.doubleSwitch(side,
					game.Substitution{Side: side, Player: pitcher, Slot: place, Position: game.Pitcher},
					game.Substitution{Side: side, Player: id, Slot: slot, Position: at})
			}
		}
	}
}

// doubleSwitch adds the change of a pitcher and a fielder.
func (c *choices) doubleSwitch(side game.Side, pitcher, fielder game.Substitution) {
	order := &c.state.Teams[side].Order
	label := "Double switch: " + c.name(side, pitcher.Player) + " pitches, bats " + nth(pitcher.Slot) + " for " +
		c.name(side, order[pitcher.Slot-1].Player) + "; " + c.name(side, fielder.Player) + " plays " +
		fielder.Position.String()
	if old := order[fielder.Slot-1].Player; old != fielder.Player {
		label += ", bats " + nth(fielder.Slot) + " for " + c.name(side, old)
	}
	c.change(side, label, pitcher, fielder)
}

// nth returns a place in the order as an ordinal.
func nth(place int) string {
	return [...]string{"0th", "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th"}[place]
}

// substitution adds a change if it is legal.
func (c *choices) substitution(side game.Side, subs ...game.Substitution) {
	var parts []string
	for _, sub := range subs {
		parts = append(parts, c.subLabel(side, sub))
	}
	c.change(side, capitalize(strings.Join(parts, "; ")), subs...)
}

// change adds a change with this label if it is legal.
func (c *choices) change(side game.Side, label string, subs ...game.Substitution) {
	if _, err := c.state.Substitute(subs...); err != nil {
		return
	}
	choice := protocol.Choice{
		Action: protocol.Action{Verb: protocol.DoSubstitute, Decision: c.Decision}, Label: label,
		Group: groupSubstitution,
	}
	for _, sub := range subs {
		choice.Action.Subs = append(choice.Action.Subs,
			protocol.Sub{Player: sub.Player, Slot: sub.Slot, Position: sub.Position})
	}
	c.add(side, choice)
}

// subLabel returns what a substitution does, in words.
func (c *choices) subLabel(side game.Side, sub game.Substitution) string {
	team := &c.state.Teams[side]
	p, _ := c.player(side, sub.Player)
	old := ""
	if sub.Position == game.Pitcher {
		old = c.name(side, team.Pitcher)
	} else if sub.Slot > 0 {
		old = c.name(side, team.Order[sub.Slot-1].Player)
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

func (c *choices) player(side game.Side, id game.PlayerID) (game.Player, bool) {
	return c.Origin.Clubs[side].Player(id)
}

func (c *choices) name(side game.Side, id game.PlayerID) string {
	p, _ := c.player(side, id)
	return p.Name
}

// hits reports whether a player has another role than pitcher.
func (c *choices) hits(side game.Side, id game.PlayerID) bool {
	p, _ := c.player(side, id)
	return p.CanField()
}

// plays reports whether a player's roles include a position.
func (c *choices) plays(side game.Side, id game.PlayerID, at game.Position) bool {
	p, _ := c.player(side, id)
	return at == game.Pitcher && p.CanPitch() ||
		slices.ContainsFunc(p.Positions, func(r game.Role) bool { return r.Covers(at) })
}

// pitcherSlot returns the pitcher's place in the order; 0 if the pitcher does not bat.
func (c *choices) pitcherSlot(side game.Side) int {
	team := &c.state.Teams[side]
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
