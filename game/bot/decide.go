package bot

import (
	"math/bits"

	"pressbox/game"
	"pressbox/game/chance"
)

// Offense returns the call of the side at bat.
func (m *Manager) Offense(turn *Turn) chance.Offense {
	if m.level == Beginner {
		return beginnersOffense(&turn.state)
	}
	t := turn.table(m.level)
	return t.offense[m.draw(turn, t.offenseMix)]
}

// Defense returns the call of the side in the field. A Beginner calls nothing special.
func (m *Manager) Defense(turn *Turn) chance.Defense {
	if m.level == Beginner {
		return chance.Defense{}
	}
	t := turn.table(m.level)
	return t.defense[m.draw(turn, t.defenseMix)]
}

// beginnersOffense returns a sacrifice if the pitcher bats with a runner to advance, or any batter with none out
// in a close game.
func beginnersOffense(s *game.State) chance.Offense {
	runners := (s.Bases[0].Player != "" || s.Bases[1].Player != "") && s.Bases[2].Player == "" && s.Outs < 2
	pitcher, closeGame := s.Batter() == s.Teams[s.Batting()].Pitcher, s.Outs == 0 && s.Lead() >= -1 && s.Lead() <= 1
	if runners && (pitcher || closeGame) {
		return chance.Sacrifice
	}
	return chance.SwingAway
}

// answerUsual sets the best calls against the usual one of the other side.
func (t *callTable) answerUsual() {
	t.offenseMix[0], t.defenseMix[0] = 1, 1
	row, gained := t.bestOffense()
	column, saved := t.bestDefense()
	if gained >= minGain {
		t.offenseMix[0], t.offenseMix[row] = 0, 1
	}
	if saved >= minGain {
		t.defenseMix[0], t.defenseMix[column] = 0, 1
	}
}

// draw returns the index of one of several shares, which only who knows the seed of the game can foresee.
func (m *Manager) draw(turn *Turn, mix []float64) int {
	left := m.sim.Judgment(m.side, turn.progress.Turns)
	for i, share := range mix {
		if left -= share; left < 0 {
			return i
		}
	}
	return 0
}

// Habits of managers of 2015–19: what they gave up for a call, or asked of it (game/realismtest), in runs unless
// said. Without them the bot would sacrifice and walk less, and steal and throw over more.
const (
	sacrificeHabit = .068
	pitcherHabit   = .03 // instead, if the pitcher bats
	walkHabit      = .0235
	pitcherOnDeck  = -.32 // instead, if the pitcher bats next
	caution        = .11  // what a runner who goes must gain, as a share of what an out costs
	composure      = .065 // what a throw or a pitch-out against one must save
	pride          = .015 // what pitching around a batter must save
)

// setHabits sets the habits, in utility.
func (t *callTable) setHabits() {
	at := chance.BaseOut(&t.state)
	run := t.horizon.of(0, at, 1).utility() - t.horizon.of(0, at, 0).utility()
	for i, call := range t.offense {
		switch call {
		case chance.Sacrifice:
			t.offenseHabit[i] = sacrificeHabit * run
			if t.pitcherBats(0) {
				t.offenseHabit[i] = pitcherHabit * run
			}
		case chance.StealSecond, chance.StealThird, chance.DoubleSteal, chance.HitAndRun, chance.Squeeze:
			t.offenseHabit[i] = -caution * t.outCosts()
		default:
		}
	}
	for j, call := range t.defense {
		switch call.Pitch {
		case chance.IntentionalWalk:
			t.defenseHabit[j] = walkHabit * run
			if t.pitcherBats(1) {
				t.defenseHabit[j] = pitcherOnDeck * run
			}
		case chance.PitchAround:
			t.defenseHabit[j] = -pride * run
		case chance.PickoffThrow, chance.PitchOut:
			t.defenseHabit[j] = -composure * run
		default:
		}
	}
}

// outCosts returns what it costs in utility if the lead runner is put out.
func (t *callTable) outCosts() float64 {
	at := chance.BaseOut(&t.state)
	after := sideOut
	if at%3 < 2 {
		lead := 1 << (bits.Len(uint(at/3)) - 1)
		after = at - 3*lead + 1
	}
	return t.horizon.of(0, at, 0).utility() - t.horizon.of(0, after, 0).utility()
}

// pitcherBats reports whether the batter n from now is the pitcher.
func (t *callTable) pitcherBats(n int) bool {
	team := &t.state.Teams[t.state.Batting()]
	return team.Order[(team.NextBatter+n)%9].Position == game.Pitcher
}
