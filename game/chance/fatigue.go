package chance

import (
	"math"

	"pressbox/game"
)

// Stamina of pitchers without a rating for it, in batters faced. Starters are relieved around the third time
// through the order, after 22 to 27 batters (2015–19), relief pitchers after about an inning and a half.
const (
	StarterStamina  = 23
	RelieverStamina = 6
)

// RecentDays is the number of days after which a pitcher is rested.
const RecentDays = 5

// RecentWork holds the pitches that each pitcher threw on the days before the game, yesterday first. A pitcher
// without an entry is rested.
//
// A nil RecentWork is unknown work: a starter who comes in as a relief pitcher counts as one between two starts.
type RecentWork map[game.PlayerID][RecentDays]int

// Tomorrow returns the work as the next day sees it, after the pitches of today.
func (w RecentWork) Tomorrow(today map[game.PlayerID]int) RecentWork {
	next := RecentWork{}
	for id, days := range w {
		copy(days[1:], days[:RecentDays-1])
		days[0] = 0
		if days != [RecentDays]int{} {
			next[id] = days
		}
	}
	for id, n := range today {
		if n > 0 {
			days := next[id]
			days[0] += n
			next[id] = days
		}
	}
	return next
}

// Tiredness returns how tired a pitcher is before the game: 0 rested, 1 after a start, or an inning and a half or
// two of relief, on the day before. Starters rest four days, as rotations of five do; a relief pitcher's 20
// pitches cost half of that, and are gone after three days (estimates, from published fatigue models of relief
// pitchers).
func (w RecentWork) Tiredness(id game.PlayerID, starter bool) float64 {
	full, left := 40., [RecentDays]float64{1, .6, .3, .1}
	if starter {
		full, left = 100, [RecentDays]float64{1, .8, .55, .25}
	}
	sum := 0.0
	for i, n := range w[id] {
		sum += float64(n) * left[i]
	}
	return sum / full
}

// RestDays returns the full days since a pitcher last threw: 0 if yesterday, [RecentDays] if not in that time.
func (w RecentWork) RestDays(id game.PlayerID) int {
	for i, n := range w[id] {
		if n > 0 {
			return i
		}
	}
	return RecentDays
}

// Effects of fatigue. Each is a change of the logarithm of a pitcher's rates of hits, walks and home
// runs, and with the opposite sign of strikeouts (estimates, apart from the times through the order).
const (
	tiredEffect     = .10 // of a Tiredness of 1
	shortRestRelief = 4   // times as much for a starter who comes in as a relief pitcher
	betweenStarts   = .5  // Tiredness of such a starter if the RecentWork is nil
	tiredStamina    = .4  // share of the stamina that a Tiredness of 1 takes
	firstBatter     = .03 // the first batter of a relief pitcher
	excessBatter    = .012
	excessSquared   = .0015
	formOfDay       = .165 // standard deviation
	pitchesPerTurn  = 3.9
)

// tiredness returns how tired the current pitcher was before the game.
func (pa *plateAppearance) tiredness() float64 {
	return pa.sim.tiredness(pa.state.Pitcher(), pa.state.Teams[pa.state.Fielding()].Relieved)
}

// tiredness returns how tired a pitcher was before the game, for a role in it: starter, or relief pitcher.
func (sim *Simulator) tiredness(id game.PlayerID, relief bool) float64 {
	starter := sim.player(id).starter
	if !starter || !relief {
		return sim.recent.Tiredness(id, starter)
	}
	if sim.recent == nil {
		return shortRestRelief * betweenStarts
	}
	return shortRestRelief * sim.recent.Tiredness(id, true)
}

// stamina returns the batters that a pitcher with this tiredness faces before tiring.
func (p *ratedPlayer) stamina(tiredness float64) float64 {
	return float64(p.Stamina) * (1 - tiredStamina*min(tiredness, 1))
}

// effort returns what a pitcher has done in batters: half by the batters, half by the pitches.
func (w *Workload) effort() float64 {
	return (float64(w.Batters) + float64(w.Pitches)/pitchesPerTurn) / 2
}

// Fatigue returns what the pitcher in the field has done in the game as a share of the pitcher's stamina: 0 on
// entering, 1 when tired.
func (sim *Simulator) Fatigue(s *game.State, m Progress) float64 {
	w := m.Workloads[s.Fielding()]
	if w.Pitcher != s.Pitcher() {
		return 0
	}
	p := sim.player(w.Pitcher)
	return w.effort() / p.stamina(sim.tiredness(w.Pitcher, s.Teams[s.Fielding()].Relieved))
}

// Spent returns the share of a pitcher's stamina that is used up: by the work of the days before and, of the
// pitcher in the field, in the game. 0 is rested, 1 tired, as in [Simulator.Fatigue]. Pitchers who are not in the
// field are judged as relief pitchers, before the start of the game by their positions. The form of the day does
// not show in it.
func (sim *Simulator) Spent(s *game.State, m Progress, id game.PlayerID) float64 {
	for side := range s.Teams {
		if team := &s.Teams[side]; team.Pitcher == id {
			return sim.lost(id, team.Relieved) + sim.exertion(&m.Workloads[side], id)
		}
	}
	return sim.lost(id, s.Teams[game.Away].Pitcher != "")
}

// lost returns the share of a pitcher's stamina that the work of the days before takes.
func (sim *Simulator) lost(id game.PlayerID, relief bool) float64 {
	return tiredStamina * min(sim.tiredness(id, relief), 1)
}

// exertion returns the share of the stamina that a pitcher's workload takes; 0 for another pitcher's.
func (sim *Simulator) exertion(w *Workload, id game.PlayerID) float64 {
	if w.Pitcher != id {
		return 0
	}
	return w.effort() / float64(sim.player(id).Stamina)
}

// applyFatigue applies the times through the order to starters, whose rates are averages over all innings, and
// what tires the pitcher. The sample of fourth times through the order is too selective, so that they count as
// third ones; what is beyond the pitcher's stamina costs more with each batter.
func (pa *plateAppearance) applyFatigue(w *[classes]float64) {
	if pa.pitcher.starter && !pa.state.Teams[pa.state.Fielding()].Relieved {
		times := &pa.sim.data.timesThroughOrder[min(pa.workload.Batters/9, 2)]
		for c := range w {
			w[c] *= times[c]
		}
	}
	tired := pa.tiredness()
	effect := tiredEffect*tired + pa.form + throwOverEffect*float64(pa.result.Next.PickoffThrows)
	if excess := pa.workload.effort() - pa.pitcher.stamina(tired); excess > 0 {
		effect += excessBatter*excess + excessSquared*excess*excess
	}
	if pa.workload.Batters == 0 && pa.state.Teams[pa.state.Fielding()].Relieved {
		effect += firstBatter
	}
	tire(w, math.Exp(effect))
}

// tire multiplies hits and walks by a factor, and divides strikeouts by it.
func tire(w *[classes]float64, factor float64) {
	w[strikeout] /= factor
	for _, c := range [...]class{walk, hitByPitch, single, double, triple, homeRun} {
		w[c] *= factor
	}
}

// form returns how a pitcher is disposed on the day of the game: nearly normally distributed with the deviation
// formOfDay, a change of the logarithm of the same rates as fatigue, negative for a good day. It is fixed by the
// seed and hidden: no odds include it. z is the sum of the four numbers, each the top 53 bits divided by 2⁵³, of
//
//	SHA-256(seed ‖ "form" ‖ player id)
func (s *Seed) form(id game.PlayerID) float64 {
	z := -2.0
	for _, u := range s.four("form", string(id)) {
		z += u
	}
	const deviation = .5773502691896258 // of the sum of four uniform numbers, √(4/12)
	return formOfDay * z / deviation
}
