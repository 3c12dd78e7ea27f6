package call

import "pressbox/game"

// Substitutions calls substitutions that were announced together in the state before them.
func (c *Commentator) Substitutions(rev uint64, before *game.State, subs []game.Substitution) Line {
	d := c.draft(rev)
	if len(subs) == 0 {
		return d.line()
	}
	s := *before
	side := subs[0].Side
	d.gaps["club"] = c.clubs[side].Name
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

// doubleSwitch reports whether a new pitcher comes in together with a fielder, each into the order.
func doubleSwitch(s *game.State, subs []game.Substitution) bool {
	pitcher, fielder := false, false
	for _, sub := range subs {
		t := &s.Teams[sub.Side]
		enters := place(t, sub.Player) == 0 && sub.Slot > 0 && t.DH == 0
		pitcher = pitcher || enters && sub.Position == game.Pitcher
		fielder = fielder || enters && sub.Position.IsFielder() && sub.Position != game.Pitcher
	}
	return pitcher && fielder
}

// place returns a player's place in the order, 1–9; 0 if he does not bat.
func place(t *game.TeamState, id game.PlayerID) int {
	for i, slot := range t.Order {
		if slot.Player == id {
			return i + 1
		}
	}
	return 0
}

// substitution tells one of them, t being the team as it was.
func (d *draft) substitution(t *game.TeamState, sub game.Substitution) {
	more := gaps{"player": d.fullName(sub.Player), "at": d.book.word("places", int(sub.Position))}
	if old := leaves(t, sub); old != "" {
		more["old"] = d.Name(old)
		if sub.Injured {
			d.add("injury", more)
		}
	}
	at := place(t, sub.Player)
	if sub.Position.IsFielder() && sub.Slot > 0 && at == 0 && t.DH == 0 {
		more["place"] = d.book.ordinal(sub.Slot)
	}
	if at != 0 {
		more["from"] = d.book.word("places", int(t.Order[at-1].Position))
	}
	d.add(substitutionKey(t, sub, at), more)
}

// leaves returns whom a substitution replaces, "" if nobody.
func leaves(t *game.TeamState, sub game.Substitution) game.PlayerID {
	old := t.Pitcher
	if sub.Slot > 0 && sub.Position != game.Pitcher {
		old = t.Order[sub.Slot-1].Player
	}
	if old == sub.Player {
		return ""
	}
	return old
}

// substitutionKey says what a player comes in as; at is his place in the order so far.
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
	case at != 0 && (t.Order[at-1].Position == game.PinchHitter || t.Order[at-1].Position == game.PinchRunner || t.Order[at-1].Position == sub.Position):
		return "stays"
	default:
		return "moves"
	}
}
