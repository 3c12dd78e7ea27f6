package game

import "slices"

// A Substitution puts a player into a place of the order or on the mound, or moves one who is in the game.
type Substitution struct {
	Side     Side     `json:"side"`
	Player   PlayerID `json:"player_id"`
	Slot     int      `json:"slot" minimum:"0" maximum:"9"` // place in the order, 1–9; 0 for a pitcher who does not bat
	Position Position `json:"position"`                     // of the nine, DH, PH or PR
	// Lifts the minimum of 5.10(g) and of 5.11(a)(2) for the player who leaves.
	Injured bool `json:"injured,omitzero"`
	// The umpires let a player return although 5.10(d) disagrees: for replays of real games only.
	AsRuled bool `json:"-"`
}

// Substitute returns the state after substitutions that are announced together, applied in order. Until the next
// play a position may be filled twice or not at all (a double switch, 5.10(b)). An error is an [*IllegalError],
// and the state is s unchanged.
func (s State) Substitute(subs ...Substitution) (State, error) {
	next := s
	for _, sub := range subs {
		if err := next.checkSub(sub); err != nil {
			return s, err
		}
		next.substitute(sub)
	}
	return next, nil
}

func (s *State) checkSub(sub Substitution) error {
	if s.Over() {
		return illegal("7.01(g)", "the game is over")
	}
	if sub.Side > Home || sub.Slot < 0 || sub.Slot > 9 || sub.Position < Pitcher || sub.Position > PinchRunner {
		return illegal("", "unknown side, place in the order or position")
	}
	t := &s.Teams[sub.Side]
	for _, rule := range [...]func(*State, *TeamState, Substitution) error{
		(*State).checkPlayer, (*State).checkPlace, (*State).checkPinch, (*State).checkDH, (*State).checkMinimum,
	} {
		if err := rule(s, t, sub); err != nil {
			return err
		}
	}
	return nil
}

// checkPlayer checks that the player may enter the game.
func (s *State) checkPlayer(t *TeamState, sub Substitution) error {
	switch {
	case t.isPlaying(sub.Player), slices.Contains(t.Bench, sub.Player):
		return nil
	case slices.Contains(t.Removed, sub.Player) && sub.AsRuled:
		return nil
	case slices.Contains(t.Removed, sub.Player):
		return illegal("5.10(d)", "%s has left the game and may not return", sub.Player)
	default:
		return illegal("5.10(a)", "%s is not on the %s roster", sub.Player, sub.Side)
	}
}

// checkPlace checks that batters stay in their place (5.10(a)) and that only a pitcher has none.
func (s *State) checkPlace(t *TeamState, sub Substitution) error {
	at := t.orderIndex(sub.Player) + 1
	switch {
	case sub.Slot == 0 && sub.Position != Pitcher:
		return illegal("5.10(a)", "only a pitcher has no place in the order")
	case sub.Slot == 0 && t.DH == 0:
		return illegal("5.11(a)(3)", "without a designated hitter the pitcher bats")
	case sub.Slot == 0 && at == t.DH && at != 0:
		return illegal("5.11(a)(12)", "the designated hitter may pitch only from place %d in the order", at)
	case sub.Slot == 0 && at != 0:
		return illegal("5.11(a)(14)", "%s must keep place %d in the order", sub.Player, at)
	case sub.Slot != 0 && at != 0 && at != sub.Slot:
		return illegal("5.10(a)", "%s bats in place %d and cannot move to %d", sub.Player, at, sub.Slot)
	case sub.Slot != 0 && at == sub.Slot && (sub.Position == PinchHitter || sub.Position == PinchRunner):
		return illegal("5.10(e)", "%s is already in the game", sub.Player)
	}
	return nil
}

// checkPinch allows a pinch hitter only for the batter due and a pinch runner only for a runner on base (5.10(e)).
func (s *State) checkPinch(t *TeamState, sub Substitution) error {
	switch sub.Position {
	case PinchHitter:
		if sub.Side != s.Batting() || sub.Slot != t.NextBatter+1 {
			return illegal("5.10(a)", "a pinch hitter bats for the batter due")
		}
	case PinchRunner:
		if sub.Side != s.Batting() || s.baseOf(t.Order[sub.Slot-1].Player) < 0 {
			return illegal("5.10(e)", "a pinch runner runs for a runner on base")
		}
	default:
	}
	return nil
}

// checkDH checks the rules on the designated hitter (5.11(a)).
func (s *State) checkDH(t *TeamState, sub Substitution) error {
	dh := t.DH != 0 && sub.Slot == t.DH
	enters := !t.isPlaying(sub.Player)
	switch {
	case sub.Position == DesignatedHitter && !dh:
		return illegal("5.11(a)(7)", "place %d is not the designated hitter's", sub.Slot)
	case sub.Player == t.Pitcher && t.orderIndex(sub.Player) < 0 &&
		(sub.Position == PinchHitter || sub.Position == PinchRunner) && !dh:
		return illegal("5.11(a)(10)", "the pitcher may bat or run only for the designated hitter")
	case dh && enters && !t.DHBatted && !sub.Injured && !s.Teams[sub.Side.Other()].Relieved:
		return illegal("5.11(a)(2)", "the designated hitter bats once, unless the other side changes its pitcher")
	}
	return nil
}

// checkMinimum checks that a pitcher has faced three batters (5.10(g)), the starter at least one (5.10(f)).
func (s *State) checkMinimum(t *TeamState, sub Substitution) error {
	leaves := sub.Player != t.Pitcher && t.Pitcher != "" &&
		(sub.Position == Pitcher || sub.Slot != 0 && t.DH == 0 && t.Order[sub.Slot-1].Player == t.Pitcher)
	moves := sub.Player == t.Pitcher && sub.Position.IsFielder() && sub.Position != Pitcher
	switch {
	case !leaves && !moves, sub.Injured, sub.Side != s.Fielding(), t.BattersFaced >= 3:
		return nil
	case t.BattersFaced == 0:
		return illegal("5.10(f)", "%s pitches until the first batter is out or on base", t.Pitcher)
	case !s.Options.NoThreeBatterMinimum:
		return illegal("5.10(g)", "%s has faced %d of three batters", t.Pitcher, t.BattersFaced)
	}
	return nil
}

// baseOf returns the index in Bases of a player, -1 for none.
func (s *State) baseOf(id PlayerID) int {
	for i := range s.Bases {
		if id != "" && s.Bases[i].Player == id {
			return i
		}
	}
	return -1
}

func (s *State) substitute(sub Substitution) {
	t := &s.Teams[sub.Side]
	before := [2]PlayerID{t.Pitcher, ""}
	pitched := t.Pitcher
	if sub.Slot > 0 {
		slot := &t.Order[sub.Slot-1]
		before[1] = slot.Player
		if b := s.baseOf(slot.Player); b >= 0 && sub.Side == s.Batting() {
			s.Bases[b].Player = sub.Player
		}
		if slot.Player == t.Pitcher && sub.Player != t.Pitcher && slot.Position != DesignatedHitter {
			t.Pitcher = ""
		}
		*slot = Slot{Player: sub.Player, Position: sub.Position}
		if sub.Slot == t.DH && !sub.Position.IsFielder() && sub.Player != t.Pitcher {
			slot.Position = DesignatedHitter // a batter or runner for the DH becomes the DH, 5.11(a)(4) and (6)
		}
	}
	switch {
	case sub.Position == Pitcher:
		t.Pitcher = sub.Player
	case sub.Player == t.Pitcher && sub.Position.IsFielder():
		t.Pitcher = ""
	}
	if t.DH != 0 && (t.Order[t.DH-1].Position.IsFielder() || t.pitcherBats()) {
		t.DH = 0
	}
	if t.Pitcher != pitched {
		t.BattersFaced, t.Relieved = 0, true
	}
	t.Bench, t.Removed = remove(t.Bench, sub.Player), remove(t.Removed, sub.Player)
	for _, id := range before {
		if id != "" && !t.isPlaying(id) {
			t.Removed = append(slices.Clip(t.Removed), id)
		}
	}
}

// pitcherBats reports whether the pitcher has a place in the order other than as DH.
func (t *TeamState) pitcherBats() bool {
	for i, s := range t.Order {
		if s.Position == Pitcher || s.Player == t.Pitcher && i != t.DH-1 {
			return true
		}
	}
	at := t.Order[t.DH-1]
	return at.Player == t.Pitcher && at.Position != DesignatedHitter
}

func remove(ids []PlayerID, id PlayerID) []PlayerID {
	i := slices.Index(ids, id)
	if i < 0 {
		return ids
	}
	return slices.Concat(ids[:i:i], ids[i+1:])
}

// CallGame ends a game that the umpire stops, as it stands (7.01(c)): after five innings, or four and a half with the
// home team ahead, or by the mercy rule of a league, with a lead of ten runs.
func (s State) CallGame() (State, error) {
	first := s.Half == Top
	played := s.Inning - 1 // innings completed
	switch {
	case s.Over():
		return s, illegal("7.01(g)", "the game is over")
	case played >= 5, played == 4 && !first && s.Lead() >= 0, max(s.Lead(), -s.Lead()) >= mercyLeadLate:
		s.End = CalledGame
		return s, nil
	}
	return s, illegal("7.01(c)", "only %d innings are complete, want five", played)
}

// Forfeit ends the game in favor of the other side (7.03). The statistics stand, the record is 9 to 0.
func (s State) Forfeit(by Side) (State, error) {
	if s.Over() {
		return s, illegal("7.01(g)", "the game is over")
	}
	s.End = AwayForfeit
	if by == Home {
		s.End = HomeForfeit
	}
	return s, nil
}

// Result returns the runs of both sides for the standings: 9 to 0 for a forfeit.
func (s *State) Result() [2]int {
	switch s.End {
	case AwayForfeit:
		return [2]int{0, 9}
	case HomeForfeit:
		return [2]int{9, 0}
	default:
		return s.Score
	}
}
