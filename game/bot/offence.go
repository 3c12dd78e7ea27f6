package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// maxLateDeficit is the deficit from which on, in the last two innings, one run is not worth an out.
const maxLateDeficit = 3

// Offence returns the tactic of the side at bat: the steal or bunt with the highest value, if it exceeds that of swinging
// away.
//
// It never steals home or bunts for a hit, because their odds were measured on the few attempts that surprised the defence.
func (m *Manager) Offence(s *game.State, progress chance.Progress) chance.Offence {
	v, now := m.valuations.forState(s), stateOf(s)
	best, value := chance.SwingAway, m.swing(s, progress)
	late := s.Inning >= s.Options.ScheduledInnings()-1
	if late && s.Lead() <= -maxLateDeficit {
		return best
	}
	for _, tactic := range chance.LegalOffence(s) {
		success, failure, ok := runsIfTried(v, now, tactic)
		if !ok {
			continue
		}
		p := m.sim.Odds(s, progress, chance.Tactics{Offence: tactic}).Chance
		if expected := p*success + (1-p)*failure + m.stillUp(s, progress, tactic) - minGain(s, tactic); expected > value {
			best, value = tactic, expected
		}
	}
	return best
}

// minGain returns the gain in runs from which on a tactic is chosen over swinging away. The odds of steals were measured on
// selected attempts; without these limits the bot would try third nearly twenty times and second three times as often as
// clubs did in 2015–19. With them it tries second as often, .6 times a game, and third four times as often, and wins 1.5 of
// a hundred games less against a manager who never decides.
func minGain(s *game.State, tactic chance.Offence) float64 {
	switch tactic {
	case chance.StealThird:
		return .17
	case chance.DoubleSteal:
		return .24
	case chance.StealSecond:
		return .003
	default:
		if s.Options.DH {
			return -.11
		}
		return -.07
	}
}

// swing returns the value of swinging away.
func (m *Manager) swing(s *game.State, progress chance.Progress) float64 {
	return m.valuations.forState(s).plateAppearance(stateOf(s), m.sim.ExpectedRates(s, progress, chance.Tactics{}))
}

// stillUp returns the gain of the batter over the league's after a steal. A bunt ends the plate appearance.
func (m *Manager) stillUp(s *game.State, progress chance.Progress, tactic chance.Offence) float64 {
	if tactic == chance.Sacrifice || tactic == chance.Squeeze {
		return 0
	}
	return m.swing(s, progress) - m.valuations.forState(s).value[stateOf(s)]
}

// runsIfTried returns the values of a tactic after success and failure. It reports false for tactics that the bot does not
// use.
func runsIfTried(v *valuation, at baseOutState, tactic chance.Offence) (success, failure float64, ok bool) {
	switch tactic {
	case chance.StealSecond:
		return stealValues(v, at, 1)
	case chance.StealThird:
		return stealValues(v, at, 2)
	case chance.DoubleSteal:
		if at.isOccupied(3) {
			return 0, 0, false
		}
		both := at.removeRunner(1).addRunner(3) // now on second and third
		return v.after(0, both), v.after(0, at.removeRunner(1).addOut()), true
	case chance.Sacrifice:
		return buntValues(v, at, false)
	case chance.Squeeze:
		return buntValues(v, at, true)
	default:
		return 0, 0, false
	}
}

func stealValues(v *valuation, at baseOutState, from int) (success, failure float64, ok bool) {
	next, _ := at.advance(from, 1)
	return v.after(0, next), v.after(0, at.removeRunner(from).addOut()), true
}

// buntValues returns the values of a bunt: on success the batter is out and the runners advance, on failure the lead runner
// is out. The runner on third goes only on a squeeze.
func buntValues(v *valuation, at baseOutState, squeeze bool) (success, failure float64, ok bool) {
	if at.isOccupied(3) != squeeze {
		return 0, 0, false
	}
	next, runs := at, 0
	for base := 3; base > 0; base-- {
		if at.isOccupied(base) {
			var scored int
			next, scored = next.advance(base, 1)
			runs += scored
		}
	}
	failed := at.removeRunner(leadRunner(at))
	if failed.isOccupied(1) {
		failed = failed.removeRunner(1).addRunner(2)
	}
	return v.after(runs, next.addOut()), v.after(0, failed.addRunner(1).addOut()), true
}
