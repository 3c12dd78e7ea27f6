package game

import "fmt"

// New returns the state at the start of a game between the visitors and the home team, with their line-ups. A line-up
// with violations gives a [*LineupError].
func New(o Options, clubs [2]Club, lineups [2]Lineup) (State, error) {
	s := State{Options: o, Inning: 1}
	if o.Innings < 0 {
		return State{}, fmt.Errorf("a game of %d innings, want 1 or more, or 0 for nine", o.Innings)
	}
	for side := Away; side <= Home; side++ {
		if found := lineups[side].Check(clubs[side], o.DH); found != nil {
			return State{}, &LineupError{Side: side, Violations: found}
		}
		s.Teams[side] = newTeam(clubs[side], lineups[side])
	}
	return s, nil
}

func newTeam(c Club, l Lineup) TeamState {
	t := TeamState{Pitcher: l.Pitcher, Bench: []PlayerID{}, Removed: []PlayerID{}}
	copy(t.Order[:], l.Order)
	for i, s := range t.Order {
		if s.Position == DesignatedHitter {
			t.DH = i + 1
		}
	}
	for _, p := range c.Players {
		if !t.isPlaying(p.ID) {
			t.Bench = append(t.Bench, p.ID)
		}
	}
	return t
}

func (t *TeamState) isPlaying(id PlayerID) bool { return id == t.Pitcher || t.orderIndex(id) >= 0 }
