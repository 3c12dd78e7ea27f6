package odds

import (
	"fmt"
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// kinds returns all options that change the odds.
func kinds() []game.Options {
	var all []game.Options
	for _, innings := range []int{0, 3, 5, 7, 9} {
		for _, extra := range []game.ExtraInnings{game.AutomaticRunner, game.Standard} {
			for _, first := range []bool{false, true} {
				all = append(all, game.Options{Innings: innings, ExtraInnings: extra, HomeBatsFirst: first})
			}
		}
	}
	return all
}

func name(o game.Options) string {
	return fmt.Sprintf("%d innings, %s, home first %v", o.ScheduledInnings(), o.ExtraInnings, o.HomeBatsFirst)
}

// at returns a state with a base-out state and the lead of the side at bat.
func at(o game.Options, inning int, half game.Half, baseOut, lead int) game.State {
	s := game.State{Options: o, Inning: inning, Half: half, Outs: baseOut % 3}
	hold(&s, baseOut/3)
	s.Score[s.Batting()], s.Score[s.Fielding()] = max(lead, 0), max(-lead, 0)
	return s
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

// The home team wins as often as in 2010–17 and 2019, from the start of a half-inning.
func TestModel_spotValues(t *testing.T) {
	t.Parallel()
	table := New(game.Options{ExtraInnings: game.Standard})
	for _, tt := range []struct {
		inning int
		half   game.Half
		first  int       // home team's lead for the first value
		want   []float64 // by lead
	}{
		{1, game.Top, 0, []float64{.536}},
		{5, game.Top, -3, []float64{.152, .236, .363, .524, .689, .796, .873}},
		{7, game.Top, -3, []float64{.076, .161, .289, .529, .734, .858, .924}},
		{9, game.Top, -3, []float64{.025, .056, .145, .517, .877, .945, .977}},
		{9, game.Bottom, -2, []float64{.070, .171, .653}},
	} {
		for i, want := range tt.want {
			lead := tt.first + i
			s := at(game.Options{ExtraInnings: game.Standard}, tt.inning, tt.half, 0, lead)
			if tt.half == game.Top {
				s = at(game.Options{ExtraInnings: game.Standard}, tt.inning, tt.half, 0, -lead)
			}
			if got := table.HomeWin(&s); math.Abs(got-want) > .02 {
				t.Errorf("%s of %d, home team ahead by %d: %.3f, want %.3f ± .02", tt.half, tt.inning, lead, got, want)
			}
		}
	}
}

// A game that is over has the chance 1 or 0, a called tie .5.
func TestModel_gameOver(t *testing.T) {
	t.Parallel()
	table := New(game.Options{})
	for _, tt := range []struct {
		end   game.End
		score [2]int
		want  float64
	}{
		{game.Final, [2]int{3, 4}, 1},
		{game.Final, [2]int{4, 3}, 0},
		{game.CalledGame, [2]int{2, 2}, .5},
		{game.CalledGame, [2]int{1, 2}, 1},
		{game.HomeForfeit, [2]int{0, 5}, 0},
		{game.AwayForfeit, [2]int{5, 0}, 1},
	} {
		s := game.State{Inning: 9, Half: game.Bottom, Score: tt.score, End: tt.end}
		check.Equal(t, table.HomeWin(&s), tt.want, "%s at %v", tt.end, tt.score)
	}
}

// each calls do for each possible state of a kind of game with leads up to twelve.
func each(o game.Options, do func(inning int, half game.Half, baseOut, lead int)) {
	for inning := 1; inning <= o.ScheduledInnings()+2; inning++ {
		for _, half := range []game.Half{game.Top, game.Bottom} {
			for lead := -12; lead <= 12; lead++ {
				if half == game.Bottom && inning >= o.ScheduledInnings() && lead > 0 ||
					half == game.Top && inning > o.ScheduledInnings() && lead < 0 {
					continue
				}
				for baseOut := range chance.BaseOutStates {
					do(inning, half, baseOut, lead)
				}
			}
		}
	}
}

// In every state of every kind of game the chance is the mean of the chances after the next plate appearance, a
// further run is never worse, a further out never better, and nothing is certain before the end.
func TestModel_everyState(t *testing.T) {
	t.Parallel()
	for _, o := range append(kinds(), game.Options{Innings: 1}) {
		t.Run(name(o), func(t *testing.T) {
			t.Parallel()
			sv := solver{Model: New(o), options: o}
			each(o, func(inning int, half game.Half, baseOut, lead int) {
				where := func() string {
					return fmt.Sprintf("%s of %d, base-out state %d, lead %d", half, inning, baseOut, lead)
				}
				s := at(o, inning, half, baseOut, lead)
				var mean, sum float64
				for _, step := range sv.edgeTransitions(inning-1, half, lead)[baseOut] {
					next := afterTransition(s, step)
					mean += step.P * sv.HomeWin(&next)
					sum += step.P
				}
				if math.Abs(sum-1) > 1e-12 || math.Abs(mean-sv.HomeWin(&s)) > 1e-9 {
					t.Fatalf("%s: %v, after transitions of total %v mean %v", where(), sv.HomeWin(&s), sum, mean)
				}
				p := sv.battingWin(o, inning, half, baseOut, lead)
				if p <= 0 || p >= 1 {
					t.Errorf("%s: %v is certain", where(), p)
				}
				if worse := sv.battingWin(o, inning, half, baseOut, lead-1); worse > p {
					t.Errorf("%s: %v, with a run less %v", where(), p, worse)
				}
				if baseOut%3 == 2 {
					return
				}
				if worse := sv.battingWin(o, inning, half, baseOut+1, lead); worse > p {
					t.Errorf("%s: %v, with an out more %v", where(), p, worse)
				}
			})
		})
	}
}

// battingWin returns the chance of the side at bat.
func (m *Model) battingWin(o game.Options, inning int, half game.Half, baseOut, lead int) float64 {
	s := at(o, inning, half, baseOut, lead)
	if s.Batting() == game.Away {
		return 1 - m.HomeWin(&s)
	}
	return m.HomeWin(&s)
}

// The home team's chance is nearly the same whether it bats first or last.
func TestModel_homeBatsFirst(t *testing.T) {
	t.Parallel()
	last, first := New(game.Options{}), New(game.Options{HomeBatsFirst: true})
	a, b := game.State{Inning: 1}, game.State{Inning: 1, Options: game.Options{HomeBatsFirst: true}}
	if p, q := last.HomeWin(&a), first.HomeWin(&b); math.Abs(p-q) > .02 || p < .51 || q < .51 {
		t.Errorf("the home team wins %.3f when it bats last, %.3f when it bats first", p, q)
	}
}
