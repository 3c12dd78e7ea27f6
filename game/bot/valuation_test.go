package bot

import (
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
)

func at(mask, outs int) baseOutState { return baseOutState(3*mask + outs) }

// The break-even points of steals agree with published ones: 71 % for second, 78, 69 and 85 % for third by outs.
func TestStealValues_breakEven(t *testing.T) {
	t.Parallel()
	v := newValuations().runs
	tests := []struct {
		name string
		mask int
		want [3]float64
	}{
		{"second", 1, [3]float64{.713, .711, .718}},
		{"third", 2, [3]float64{.78, .69, .85}},
	}
	for _, tt := range tests {
		for outs, want := range tt.want {
			now := at(tt.mask, outs)
			success, failure, _ := stealValues(&v, now, tt.mask)
			if got := breakEven(v.value[now], success, failure); math.Abs(got-want) > .01 {
				t.Errorf("steal of %s with %d out: break-even %.3f, want %.3f", tt.name, outs, got, want)
			}
		}
	}
}

// A successful sacrifice costs runs: .20 with a runner on first and none out, .18 on second, .09 on first and second. The
// chance of one run falls from .422 to .406.
func TestBuntValues_sacrifice(t *testing.T) {
	t.Parallel()
	v := newValuations()
	for mask, want := range map[int]float64{1: .20, 2: .18, 3: .09} {
		now := at(mask, 0)
		won, _, ok := buntValues(&v.runs, now, false)
		if got := v.runs.value[now] - won; !ok || math.Abs(got-want) > .01 {
			t.Errorf("sacrifice with bases %03b: costs %.3f, want %.3f", mask, got, want)
		}
	}
	if won, _, _ := buntValues(&v.one, at(1, 0), false); math.Abs(won-.406) > .001 {
		t.Errorf("a sacrifice leaves %.3f for one run, want .406", won)
	}
}

// The league's batter has the value of the state, a better one more, a worse one less.
func TestValuation_plateAppearance(t *testing.T) {
	t.Parallel()
	v := newValuations()
	good, bad := chance.LeagueRates(), chance.LeagueRates()
	good.HR += .03
	bad.K += .1
	bad.BB, bad.Single = bad.BB-.03, bad.Single-.05
	for _, s := range []valuation{v.runs, v.one} {
		for i, value := range s.value {
			now := baseOutState(i)
			if got := s.plateAppearance(now, chance.LeagueRates()); math.Abs(got-value) > 1e-9 {
				t.Errorf("base-out state %d: %.3f, want %.3f", i, got, value)
			}
			if better, worse := s.plateAppearance(now, good), s.plateAppearance(now, bad); better <= value || worse >= value {
				t.Errorf("base-out state %d: %.3f, a good batter %.3f, a bad one %.3f", i, value, better, worse)
			}
			if math.Abs(s.residual[i]) > .15 {
				t.Errorf("base-out state %d: residual %.3f", i, s.residual[i])
			}
		}
	}
}

// The valuation is by one run where that wins the game, otherwise by runs.
func TestValuations_forState(t *testing.T) {
	t.Parallel()
	v := newValuations()
	for _, tt := range []struct {
		name string
		s    game.State
		one  bool
	}{
		{"tied in the bottom of the ninth", game.State{Inning: 9, Half: game.Bottom}, true},
		{"tied in the bottom of the twelfth", game.State{Inning: 12, Half: game.Bottom, Score: [2]int{3, 3}}, true},
		{"tied in the top of the ninth", game.State{Inning: 9}, false},
		{"one behind in the bottom of the ninth", game.State{Inning: 9, Half: game.Bottom, Score: [2]int{1, 0}}, false},
		{"tied in the bottom of the fifth of five", game.State{Options: game.Options{Innings: 5}, Inning: 5, Half: game.Bottom}, true},
	} {
		if got := v.forState(&tt.s).firstRunOnly; got != tt.one {
			t.Errorf("%s: one run counts: %v", tt.name, got)
		}
	}
}

// The runner on third goes with one out if safe in six of ten, not in five; with none out in nearly all, with two out in
// fewer than half.
func TestValuation_sendsRunner(t *testing.T) {
	t.Parallel()
	v := newValuations().runs
	tests := []struct {
		mask, outs int
		safe       float64
		want       bool
	}{
		{5, 0, .80, false},
		{5, 0, .95, true},
		{5, 1, .60, false},
		{5, 1, .75, true},
		{5, 2, .30, false},
		{5, 2, .50, true},
		{2, 1, .80, true},
		{2, 1, .60, false},
	}
	for _, tt := range tests {
		if got := v.sendsRunner(at(tt.mask, tt.outs), 0, tt.safe); got != tt.want {
			t.Errorf("bases %03b, %d out, safe %.2f: sends %v", tt.mask, tt.outs, tt.safe, got)
		}
	}
}
