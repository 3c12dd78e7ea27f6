package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// minPitchGain is the gain in runs from which on an alternative to pitching to the batter is chosen; the model is not more
// precise.
const minPitchGain = .02

// Defence returns the tactics of the side in the field.
func (m *Manager) Defence(s *game.State, progress chance.Progress) chance.Defence {
	d := chance.Defence{Pitch: m.pitch(s, progress)}
	if d.Pitch == chance.IntentionalWalk {
		return d
	}
	on := stateOf(s)
	winningRun := s.Half == game.Bottom && s.Inning >= s.Options.ScheduledInnings() && s.Lead() == 0
	if winningRun && on.isOccupied(3) && s.Outs < 2 { // the runner on third is the winning run
		d.Infield = chance.InfieldIn
	} else {
		d.PlayBehind = m.playsBehind(s, progress, d)
	}
	lead := -s.Lead()
	d.GuardLines = s.Inning >= s.Options.ScheduledInnings()-1 && lead >= 0 && lead <= 2 && runnersOn(on) == 0
	if m.legal(s, progress, d) {
		return d
	}
	return chance.Defence{}
}

func (m *Manager) legal(s *game.State, progress chance.Progress, d chance.Defence) bool {
	return chance.Tactics{Defence: d}.Check(s, progress) == nil
}

// pitch compares the kinds of pitching by the value of this and the next plate appearance.
func (m *Manager) pitch(s *game.State, progress chance.Progress) chance.Pitch {
	v, now := m.valuations.forState(s), stateOf(s)
	next := m.onDeck(s, progress)
	best, least := chance.PitchTo, m.swing(s, progress)+m.followingValue(v, s, progress, next)
	around := m.sim.ExpectedRates(s, progress, chance.Tactics{Defence: chance.Defence{Pitch: chance.PitchAround}})
	if value := v.plateAppearance(now, around) + around.BB*v.batterGain(afterWalk(now), next); value < least-4*minPitchGain {
		best, least = chance.PitchAround, value
	}
	if walk := v.walk(now) + v.batterGain(afterWalk(now), next); walk < least-m.minWalkGain(s) {
		best = chance.IntentionalWalk
	}
	return best
}

// minWalkGain returns the gain in runs from which on a batter is walked: negative with first base open and a runner in
// scoring position, where managers of 2015–19 gave up runs for a double play in order.
func (m *Manager) minWalkGain(s *game.State) float64 {
	team := &s.Teams[s.Batting()]
	on := stateOf(s)
	switch {
	case team.Order[(team.NextBatter+1)%9].Position == game.Pitcher:
		return .115
	case on.isOccupied(1) || runnersOn(on) == 0:
		return minPitchGain
	default:
		return -.05
	}
}

// batterGain returns the gain of a batter with these rates over the league's in a base-out state.
func (v *valuation) batterGain(at baseOutState, r chance.Rates) float64 {
	return v.plateAppearance(at, r) - v.value[at]
}

// followingValue returns the gain of the next batter if this one is pitched to: after a walk, or with the runners in place
// and one more out.
func (m *Manager) followingValue(v *valuation, s *game.State, progress chance.Progress, next chance.Rates) float64 {
	r, now := m.sim.ExpectedRates(s, progress, chance.Tactics{}), stateOf(s)
	rest := r.BB * v.batterGain(afterWalk(now), next)
	if out := now.addOut(); out < inningOver {
		rest += (r.K + r.Out()) * v.batterGain(out, next)
	}
	return rest
}

// afterWalk returns the base-out state after a walk.
func afterWalk(at baseOutState) baseOutState {
	for base := 1; base <= 3; base++ {
		if !at.isOccupied(base) {
			return at.addRunner(base)
		}
	}
	return at
}

// onDeck returns the rates of the next batter against this pitcher.
func (m *Manager) onDeck(s *game.State, progress chance.Progress) chance.Rates {
	next := *s
	team := &next.Teams[s.Batting()]
	team.NextBatter = (team.NextBatter + 1) % 9
	progress.Pitches = chance.Pitches{}
	return m.sim.ExpectedRates(&next, progress, chance.Tactics{})
}

// playsBehind reports whether the first baseman plays behind the runner: fewer singles, as long as a steal does not pay.
func (m *Manager) playsBehind(s *game.State, progress chance.Progress, d chance.Defence) bool {
	d.PlayBehind = true
	if !m.legal(s, progress, d) {
		return false
	}
	v, now := m.valuations.forState(s), stateOf(s)
	success, failure, _ := stealValues(v, now, 1)
	safe := m.sim.Odds(s, progress, chance.Tactics{Offence: chance.StealSecond, Defence: d}).Chance
	return safe < breakEven(v.value[now], success, failure)
}
