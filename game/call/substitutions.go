package call

import "pressbox/game"

// Substitutions returns the line of substitutions announced together in state before.
func (c *Commentator) Substitutions(rev uint64, before *game.State, subs []game.Substitution) Line {
	d := c.newLine(rev)
	if len(subs) == 0 {
		return d.line()
	}
	s := *before
	side := subs[0].Side
	d.shared["club"] = c.clubs[side].Name
	if doubleSwitch(before, subs) {
		d.add("double switch", nil)
	}
	for _, sub := range subs {
		d.substitution(&s.Teams[sub.Side], sub)
		if next, err := s.Substitute(sub); err == nil {
			s = next
		}
	}
	if before.Teams[side].DH != 0 && s.Teams[side].DH == 0 {
		d.add("no designated hitter", nil)
	}
	return d.line()
}

// doubleSwitch reports whether a new pitcher and a new fielder both enter the batting order.
func doubleSwitch(s *game.State, subs []game.Substitution) bool {
	pitcher, fielder := false, false
	for _, sub := range subs {
		t := &s.Teams[sub.Side]
		enters := battingPlace(t, sub.Player) == 0 && sub.Slot > 0 && t.DH == 0
		pitcher = pitcher || enters && sub.Position == game.Pitcher
		fielder = fielder || enters && sub.Position.IsFielder() && sub.Position != game.Pitcher
	}
	return pitcher && fielder
}

// battingPlace returns a player's place in the order, 1–9, 0 if the player does not bat.
func battingPlace(t *game.TeamState, id game.PlayerID) int {
	for i, slot := range t.Order {
		if slot.Player == id {
			return i + 1
		}
	}
	return 0
}

// substitution adds one substitution; t is the team before it.
func (b *lineBuilder) substitution(t *game.TeamState, sub game.Substitution) {
	more := values{"player": b.fullName(sub.Player), "at": b.phrasebook.word("places", int(sub.Position))}
	if old := replaced(t, sub); old != "" {
		more["old"] = b.Name(old)
		if sub.Injured {
			b.add("injury", more)
		}
	}
	at := battingPlace(t, sub.Player)
	if sub.Position.IsFielder() && sub.Slot > 0 && at == 0 && t.DH == 0 {
		more["place"] = b.phrasebook.ordinal(sub.Slot)
	}
	if at != 0 {
		more["from"] = b.phrasebook.word("places", int(t.Order[at-1].Position))
	}
	b.add(substitutionKey(t, sub, at), more)
}

// replaced returns the player whom a substitution replaces, "" for none.
func replaced(t *game.TeamState, sub game.Substitution) game.PlayerID {
	old := t.Pitcher
	if sub.Slot > 0 && sub.Position != game.Pitcher {
		old = t.Order[sub.Slot-1].Player
	}
	if old == sub.Player {
		return ""
	}
	return old
}

// substitutionKey returns the key of a substitution; at is the player's place in the order before it.
func substitutionKey(t *game.TeamState, sub game.Substitution, at int) string {
	switch playing := at != 0 || sub.Player == t.Pitcher; {
	case sub.Position == game.PinchHitter:
		return "pinch hitter"
	case sub.Position == game.PinchRunner:
		return "pinch runner"
	case sub.Position == game.DesignatedHitter:
		return "designated hitter"
	case sub.Position == game.Pitcher && playing && sub.Player != t.Pitcher:
		return "to the mound"
	case sub.Position == game.Pitcher:
		return "pitching"
	case !playing:
		return "fielder"
	case at != 0 &&
		(t.Order[at-1].Position == game.PinchHitter || t.Order[at-1].Position == game.PinchRunner ||
			t.Order[at-1].Position == sub.Position):
		return "stays"
	default:
		return "moves"
	}
}
