package bot

import (
	"cmp"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// Batters that a relief pitcher faces, and that bat in an inning.
const (
	battersPerReliever = 6
	battersPerInning   = 4.3
)

// minReliefGain is the smallest gain, in runs per plate appearance, for which a pitcher who is not tired is relieved.
const minReliefGain = .004

// relieve changes a tired pitcher, or brings in a better one for the next three batters if the bullpen suffices for the
// rest of the game.
func (m *Manager) relieve(s *game.State, progress chance.Progress) []game.Substitution {
	team := &s.Teams[m.side]
	if team.BattersFaced < 3 && !s.Options.NoThreeBatterMinimum || team.BattersFaced == 0 {
		return nil
	}
	tired, work := m.sim.Fatigue(s, progress), progress.Workloads[m.side]
	done := work.Pitches >= maxPitches && work.Pitcher == team.Pitcher
	spent := tired >= m.patience(s)
	if m.isMasterpiece(s, work) {
		done, spent = work.Pitches >= mostPitches, false
	}
	matched := m.level > Beginner && (team.Relieved && tired >= .6 || m.spendsArms(s))
	if !done && !spent && !matched {
		return nil
	}
	pen := m.bullpen(team)
	if len(pen) == 0 {
		return nil
	}
	if m.level == Expert {
		pen = m.byMatchup(s, progress, pen)
	}
	next := m.pickReliever(s, pen)
	gain := m.runsAgainst(s, progress) - m.runsAgainst(m.withPitcher(s, next), progress)
	switch {
	case done:
	case spent && gain > -m.changeLoss(team):
	case matched && gain > minReliefGain && m.spareBatters(s, pen) > 0:
	default:
		return nil
	}
	return []game.Substitution{{Side: m.side, Player: next, Slot: pitcherSlot(team), Position: game.Pitcher}}
}

// shortGame is the largest number of scheduled innings in which an Expert changes pitchers by the next batters: the
// arms suffice, and real managers, who are as the bot is in longer games, do not play so few.
const shortGame = 5

// spendsArms reports whether pitchers are changed before they tire.
func (m *Manager) spendsArms(s *game.State) bool {
	return m.level == Expert && s.Options.ScheduledInnings() <= shortGame
}

// changeLoss returns the runs per plate appearance that the next pitcher may be worse than a tired one: relief pitchers
// are changed to spare them.
func (m *Manager) changeLoss(team *game.TeamState) float64 {
	if team.Relieved {
		return 3.5 * minReliefGain
	}
	return 2 * minReliefGain
}

// maxPitches is the number of pitches after which a pitcher faces no further batter; the longest turns at bat have
// a dozen.
const maxPitches = 108

// mostPitches is maxPitches in a masterpiece.
const mostPitches = 120

// isMasterpiece reports whether a starter is in the last inning of a full game without a run and with hardly a runner,
// as in a no-hitter.
func (m *Manager) isMasterpiece(s *game.State, work chance.Workload) bool {
	innings := s.Options.ScheduledInnings()
	return innings > shortGame && s.Inning >= innings && !s.Teams[m.side].Relieved && s.Score[m.side.Other()] == 0 &&
		work.Batters <= 3*(s.Inning-1)+s.Outs+3
}

// patience returns the fatigue at which a pitcher is relieved. A starter who allows few runs may tire, one who
// allows many leaves early, as in 2015–19; relief pitchers pitch about an inning.
func (m *Manager) patience(s *game.State) float64 {
	if m.level == Beginner {
		return beginnerPatience
	}
	if s.Teams[m.side].Relieved {
		if s.Outs == 0 && chance.BaseOut(s) == 0 {
			return reliefInning
		}
		return reliefBatters
	}
	allowed := s.Score[m.side.Other()]
	switch {
	case s.Score[m.side] <= allowed:
	case allowed <= 2 && s.Inning >= s.Options.ScheduledInnings()-1:
		return completePatience
	case allowed <= 1:
		return shutoutPatience
	}
	return starterPatience - runPatience*float64(min(allowed, 8)-2)
}

// patienceAtBat returns the fatigue at which a pitcher is batted for: less than that at which one is relieved, so
// that pitchers bat twice a game, as in 2015–19, and relief pitchers hardly ever.
func (m *Manager) patienceAtBat(s *game.State) float64 {
	if s.Teams[m.side].Relieved {
		return reliefAtBat
	}
	return m.patience(s) - .2
}

// Fatigue of a starter who has allowed two runs, the part for each further run, and of relief pitchers at the
// start of an inning, within it, and at bat.
const (
	beginnerPatience = 1.6 // of any pitcher
	starterPatience  = 1.03
	runPatience      = .075
	shutoutPatience  = 1.15 // with a lead and at most one run allowed
	completePatience = 1.4  // with a lead and at most two, in the last two innings
	reliefInning     = .28
	reliefBatters    = .8
	reliefAtBat      = .5
)

// NextReliever returns the pitcher who would relieve now, "" if none is available.
func (m *Manager) NextReliever(s *game.State) game.PlayerID {
	pen := m.bullpen(&s.Teams[m.side])
	if len(pen) == 0 {
		return ""
	}
	return m.pickReliever(s, pen)
}

// pitcherSlot returns the pitcher's batting slot, 0 if the pitcher does not bat.
func pitcherSlot(team *game.TeamState) int {
	if team.DH != 0 {
		return 0
	}
	for i, slot := range team.Order {
		if slot.Position == game.Pitcher {
			return i + 1
		}
	}
	return 0
}

// bullpen returns the pitchers on the bench, best first: relief pitchers, or starters if there is no relief pitcher.
func (m *Manager) bullpen(team *game.TeamState) []game.PlayerID {
	var relief, rest []game.PlayerID
	for _, id := range team.Bench {
		switch p := m.player(id); {
		case !p.CanPitch():
		case slices.Contains(p.Positions, "SP"):
			rest = append(rest, id)
		default:
			relief = append(relief, id)
		}
	}
	if len(relief) == 0 {
		relief = rest
	}
	slices.SortStableFunc(relief, func(a, b game.PlayerID) int {
		return cmp.Compare(pitchingRuns(m.player(a), m.ratings), pitchingRuns(m.player(b), m.ratings))
	})
	return relief
}

// pickReliever picks from the bullpen by the score: the last when the game is decided, and always for a Beginner.
// Otherwise an Expert picks the best against the next batters with a lead and the third best without, so that ties
// do not last; others the best for the last innings, the middle when behind.
func (m *Manager) pickReliever(s *game.State, pen []game.PlayerID) game.PlayerID {
	lead := s.Score[m.side] - s.Score[m.side.Other()]
	left := max(s.Options.ScheduledInnings()-s.Inning, 0) // innings after this one
	last := len(pen) - 1
	switch {
	case m.level == Beginner:
		return pen[last]
	case m.level == Expert && lead > 0 && lead <= 5, m.spendsArms(s):
		return pen[0]
	case m.level == Expert && lead == 0:
		return pen[min(2, last)]
	case m.level == Expert && lead >= -3 && lead < 0:
		return pen[min(1, last)]
	case lead > 0 && lead <= 4:
		return pen[min(left, last)]
	case lead == 0:
		return pen[min(left+1, last)]
	case lead >= -3 && lead < 0:
		return pen[min(left+4, last)]
	default:
		return pen[last]
	}
}

// byMatchup sorts the bullpen by the runs expected of the next batters against each, fewest first.
func (m *Manager) byMatchup(s *game.State, progress chance.Progress, pen []game.PlayerID) []game.PlayerID {
	runs := map[game.PlayerID]float64{}
	for _, id := range pen {
		runs[id] = m.runsAgainst(m.withPitcher(s, id), progress)
	}
	slices.SortStableFunc(pen, func(a, b game.PlayerID) int { return cmp.Compare(runs[a], runs[b]) })
	return pen
}

// spareBatters returns the number of batters that the bullpen can face beyond those expected.
func (m *Manager) spareBatters(s *game.State, pen []game.PlayerID) float64 {
	left := float64(max(s.Options.ScheduledInnings()-s.Inning, 0)) + 1 - float64(s.Outs)/3
	return float64(len(pen)*battersPerReliever) - left*battersPerInning
}

func (m *Manager) withPitcher(s *game.State, id game.PlayerID) *game.State {
	next := *s
	next.Teams[m.side].Pitcher = id
	return &next
}

// runsAgainst returns the mean run value of the next three batters against the pitcher in s.
func (m *Manager) runsAgainst(s *game.State, progress chance.Progress) float64 {
	next, sum := *s, 0.0
	team := &next.Teams[s.Batting()]
	for range 3 {
		sum += runs(m.sim.ExpectedRates(&next, progress, chance.Tactics{}))
		team.NextBatter = (team.NextBatter + 1) % 9
	}
	return sum / 3
}
