package bot

import (
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// The lead runner goes with one out if safe in seven of ten, not in five; with none out only if nearly sure, with
// two out also if not; as the winning run from third sooner.
func TestRisk_pays(t *testing.T) {
	t.Parallel()
	sim := chance.NewSimulator(chance.Setup{})
	early := game.State{Inning: 3}
	for _, tt := range []struct {
		state      game.State
		mask, outs int
		safe       float64
		want       bool
	}{
		{early, 5, 0, .75, false},
		{early, 5, 0, .95, true},
		{early, 5, 1, .55, false},
		{early, 5, 1, .8, true},
		{early, 5, 2, .25, false},
		{early, 5, 2, .5, true},
		{early, 2, 1, .85, true},
		{early, 2, 1, .5, false},
		{game.State{Inning: 9, Half: game.Bottom}, 4, 2, .35, true},
		{game.State{Inning: 9, Half: game.Bottom, Score: [2]int{3, 0}}, 4, 0, .9, false},
	} {
		r := risk{at: 3*tt.mask + tt.outs, safe: tt.safe}
		got := r.pays(new(horizon).look(sim, &tt.state, chance.Progress{}, 0))
		check.That(t, got == tt.want,
			"inning %d, bases %03b, %d out, safe %.2f: sends %v", tt.state.Inning, tt.mask, tt.outs, tt.safe, got)
	}
}
