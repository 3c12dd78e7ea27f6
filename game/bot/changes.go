package bot

import (
	"fmt"

	"pressbox/game"
	"pressbox/game/chance"
)

// Changes values the substitutions that are possible in one position.
type Changes struct {
	m        *Manager
	state    *game.State
	progress chance.Progress
	horizon  horizon
}

// Changes returns the values of substitutions in s, which must not change meanwhile.
func (m *Manager) Changes(s *game.State, progress chance.Progress) *Changes {
	c := &Changes{m: m, state: s, progress: progress}
	c.horizon.look(m.sim, s, progress, lookAhead)
	return c
}

// Value returns what the position is worth to the manager's side after substitutions, while both sides call
// nothing special: the difference from the value without substitutions is what they gain in this half-inning. A
// new pitcher counts for the next batters too, other players for this turn. The error is that of
// [game.State.Substitute].
func (c *Changes) Value(subs ...game.Substitution) (Value, error) {
	after, err := c.state.Substitute(subs...)
	if err != nil {
		return Value{}, fmt.Errorf("value substitutions: %w", err)
	}
	h := &c.horizon
	if after.Pitcher() != c.state.Pitcher() {
		h = new(horizon).look(c.m.sim, &after, c.progress, lookAhead)
	}
	v := h.of(0, chance.BaseOut(&after), 0)
	if o := c.m.sim.Outlook(&after, c.progress, chance.Tactics{}); o != (chance.Outlook{}) { // positions are filled
		v = h.turn(&o)
	}
	return v.forSide(c.m.side, c.state.Batting()), nil
}

// SubstitutionValue returns the [Changes.Value] of substitutions in s.
func (m *Manager) SubstitutionValue(s *game.State, progress chance.Progress, subs ...game.Substitution) (Value, error) {
	return m.Changes(s, progress).Value(subs...)
}
