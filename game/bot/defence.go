package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// sure is by how much a way to pitch must be better before it is chosen: the model is not finer.
const sure = .02

// Defence decides for the side in the field.
func (m *Manager) Defence(s *game.State, at chance.Progress) chance.Defence {
	d := chance.Defence{Pitch: m.pitch(s, at)}
	if d.Pitch == chance.IntentionalWalk {
		return d
	}
	on := situation(s)
	decides := s.Half == game.Bottom && s.Inning >= s.Options.ScheduledInnings() && s.Lead() == 0
	if decides && on.on(3) && s.Outs < 2 { // the run on third ends the game
		d.Infield = chance.InfieldIn
	} else {
		d.PlayBehind = m.behind(s, at, d)
	}
	lead := -s.Lead()
	d.GuardLines = s.Inning >= s.Options.ScheduledInnings()-1 && lead >= 0 && lead <= 2 && runners(on) == 0
	if m.legal(s, at, d) {
		return d
	}
	return chance.Defence{}
}

func (m *Manager) legal(s *game.State, at chance.Progress, d chance.Defence) bool {
	return chance.Tactics{Defence: d}.Check(s, at) == nil
}

// pitch decides how to go after the batter: what his turn and the next man's are worth in each way.
func (m *Manager) pitch(s *game.State, at chance.Progress) chance.Pitch {
	v, now := m.scales.of(s), situation(s)
	next := m.onDeck(s, at)
	best, least := chance.PitchTo, m.swing(s, at)+m.meanRest(v, s, at, next)
	around := m.table.ExpectedRates(s, at, chance.Tactics{Defence: chance.Defence{Pitch: chance.PitchAround}})
	if worth := v.turn(now, around) + around.BB*v.gain(walked(now), next); worth < least-sure {
		best, least = chance.PitchAround, worth
	}
	if walk := v.walk(now) + v.gain(walked(now), next); walk < least-sure {
		best = chance.IntentionalWalk
	}
	return best
}

// gain is what a batter of these rates is worth above the league's in a situation.
func (v *scale) gain(at situationIndex, r chance.Rates) float64 { return v.turn(at, r) - v.worth[at] }

// meanRest is what the next man adds when this one is pitched to: a walk of this one, or else about what he adds with
// the runners where they are and one more out.
func (m *Manager) meanRest(v *scale, s *game.State, at chance.Progress, next chance.Rates) float64 {
	r, now := m.table.ExpectedRates(s, at, chance.Tactics{}), situation(s)
	rest := r.BB * v.gain(walked(now), next)
	if out := now.out(); out < over {
		rest += (r.K + r.Out()) * v.gain(out, next)
	}
	return rest
}

// walked returns the situation after a walk.
func walked(at situationIndex) situationIndex {
	for base := 1; base <= 3; base++ {
		if !at.on(base) {
			return at.add(base)
		}
	}
	return at
}

// onDeck returns the rates of the next batter against this pitcher.
func (m *Manager) onDeck(s *game.State, at chance.Progress) chance.Rates {
	next := *s
	team := &next.Teams[s.Batting()]
	team.NextBatter = (team.NextBatter + 1) % 9
	at.Pitches = chance.Pitches{}
	return m.table.ExpectedRates(&next, at, chance.Tactics{})
}

// behind reports whether the first baseman should play behind the runner: fewer singles, unless that makes the runner
// go.
func (m *Manager) behind(s *game.State, at chance.Progress, d chance.Defence) bool {
	d.PlayBehind = true
	if !m.legal(s, at, d) {
		return false
	}
	v, now := m.scales.of(s), situation(s)
	won, lost, _ := stealWorth(v, now, 1)
	safe := m.table.Odds(s, at, chance.Tactics{Offence: chance.StealSecond, Defence: d}).Chance
	return safe < breakEven(v.worth[now], won, lost)
}
