package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// hopeless is how far behind, with two innings or less to go, one run is not worth an out.
const hopeless = 3

// Offence decides for the side at bat: the steal or the bunt that is worth most, if one is worth more than to swing.
//
// It does not steal home and does not bunt for a hit: their odds were measured on the few who dared when nobody expected
// it, and are not to be had every time.
func (m *Manager) Offence(s *game.State, at chance.Progress) chance.Offence {
	v, now := m.scales.of(s), situation(s)
	best, worth := chance.SwingAway, m.swing(s, at)
	late := s.Inning >= s.Options.ScheduledInnings()-1
	if late && s.Lead() <= -hopeless {
		return best
	}
	for _, call := range chance.LegalOffence(s) {
		won, lost, ok := ends(v, now, call)
		if !ok {
			continue
		}
		calls := chance.Tactics{Offence: call}
		odds := m.table.Odds(s, at, calls).Chance
		if got := odds*won + (1-odds)*lost + m.stillUp(s, at, call) - caution(call); got > worth {
			best, worth = call, got
		}
	}
	return best
}

// caution is by how many runs a call must be better than to swing. The odds of a steal were measured on those who went, at
// moments of their own choosing; a bot that took them whenever they paid would try third nearly twenty times as often as clubs did
// in 2015–19, second three times. With these it tries second as often as they, .6 times a game, third four times as often,
// and wins a game and a half of a hundred less against one who never decides.
func caution(call chance.Offence) float64 {
	switch call {
	case chance.StealThird, chance.DoubleSteal:
		return .15
	default:
		return .05
	}
}

// swing returns what swinging away is worth with who is up against who pitches.
func (m *Manager) swing(s *game.State, at chance.Progress) float64 {
	return m.scales.of(s).turn(situation(s), m.table.ExpectedRates(s, at, chance.Tactics{}))
}

// stillUp is what the batter is worth above the league's after a steal, for he bats on; a bunt uses his turn up.
func (m *Manager) stillUp(s *game.State, at chance.Progress, call chance.Offence) float64 {
	if call == chance.Sacrifice || call == chance.Squeeze {
		return 0
	}
	return m.swing(s, at) - m.scales.of(s).worth[situation(s)]
}

// ends returns what a call is worth when it succeeds and when it fails; false for a call that the bot does not make.
func ends(v *scale, at situationIndex, call chance.Offence) (won, lost float64, ok bool) {
	switch call {
	case chance.StealSecond:
		return stealWorth(v, at, 1)
	case chance.StealThird:
		return stealWorth(v, at, 2)
	case chance.DoubleSteal:
		if at.on(3) {
			return 0, 0, false
		}
		both := at.remove(1).add(3) // from first and second to second and third
		return v.after(0, both), v.after(0, at.remove(1).out()), true
	case chance.Sacrifice:
		return bunt(v, at, false)
	case chance.Squeeze:
		return bunt(v, at, true)
	default:
		return 0, 0, false
	}
}

func stealWorth(v *scale, at situationIndex, from int) (won, lost float64, ok bool) {
	next, _ := at.move(from, 1)
	return v.after(0, next), v.after(0, at.remove(from).out()), true
}

// bunt: it succeeds when the runners move up for the batter's out; when it fails the runner in front is out, and the
// batter on first. Only a squeeze sends the runner from third.
func bunt(v *scale, at situationIndex, squeeze bool) (won, lost float64, ok bool) {
	if at.on(3) != squeeze {
		return 0, 0, false
	}
	next, runs := at, 0
	for base := 3; base > 0; base-- {
		if at.on(base) {
			var scored int
			next, scored = next.move(base, 1)
			runs += scored
		}
	}
	failed := at.remove(leadRunner(at))
	if failed.on(1) {
		failed = failed.remove(1).add(2)
	}
	return v.after(runs, next.out()), v.after(0, failed.add(1).out()), true
}
