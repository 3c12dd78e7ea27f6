package odds

import (
	"fmt"
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
)

// The chance is the mean of the chances after the next plate appearance, in every state of every kind of game.
func TestModel_martingale(t *testing.T) {
	t.Parallel()
	for _, o := range []game.Options{
		{}, {ExtraInnings: game.Standard}, {HomeBatsFirst: true}, {Innings: 7}, {Innings: 5, ExtraInnings: game.Standard}, {Innings: 3}, {Innings: 1},
	} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			t.Parallel()
			m := solver{Model: New(o), options: o}
			for inning := 1; inning <= o.ScheduledInnings()+3; inning++ {
				for half := game.Top; half <= game.Bottom; half++ {
					for lead := -12; lead <= 12; lead++ {
						if half == game.Bottom && inning >= o.ScheduledInnings() && lead > 0 {
							continue
						}
						steps := m.edgeTransitions(inning-1, half, lead)
						for at := range chance.BaseOutStates {
							s := game.State{Options: o, Inning: inning, Half: half, Outs: at % 3}
							hold(&s, at/3)
							s.Score[s.Batting()], s.Score[s.Fielding()] = max(lead, 0), max(-lead, 0)
							var mean, sum float64
							for _, step := range steps[at] {
								next := afterTransition(s, step)
								mean += step.P * m.HomeWin(&next)
								sum += step.P
							}
							if math.Abs(sum-1) > 1e-12 || math.Abs(mean-m.HomeWin(&s)) > 1e-9 {
								t.Fatalf("%s of %d, base-out state %d, lead %d: %v, after transitions of total %v mean %v", half, inning, at, lead, m.HomeWin(&s), sum, mean)
							}
						}
					}
				}
			}
		})
	}
}

// hold puts runners on bases.
func hold(s *game.State, on int) {
	s.Bases = [3]game.Runner{}
	for base := range s.Bases {
		if on&(1<<base) != 0 {
			s.Bases[base].Player = "runner"
		}
	}
}

// afterTransition applies a transition by the rules, independently of game/odds.
func afterTransition(s game.State, step chance.Transition) game.State {
	s.Score[s.Batting()] += step.Runs
	late := s.Inning >= s.Options.ScheduledInnings()
	lead := s.Lead()
	switch {
	case late && s.Half == game.Bottom && lead > 0:
		s.End = game.Final
	case step.To < chance.BaseOutStates:
		hold(&s, step.To/3)
		s.Outs = step.To % 3
	case late && (s.Half == game.Top && lead < 0 || s.Half == game.Bottom && lead != 0):
		s.End = game.Final
	default:
		s.Inning += int(s.Half)
		s.Half = 1 - s.Half
		s.Outs = 0
		hold(&s, 0)
		if s.Inning > s.Options.ScheduledInnings() && s.Options.ExtraInnings != game.Standard {
			hold(&s, 2)
		}
	}
	return s
}
