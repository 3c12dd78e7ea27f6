package chance_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// A released version of the rules gives the same plays for ever: a game keeps the version that it began with.
func TestSimulator_sameForever(t *testing.T) {
	t.Parallel()
	const want = "d3eef880aed5b303" // of version 2
	hash := sha256.New()
	league := builtInLeague(t)
	for n := range 8 {
		f := &league[11*n]
		rng := rand.New(rand.NewPCG(uint64(n), 21))
		sim, s := f.start(t, uint64(n), game.Options{DH: true})
		var m chance.Progress
		for !s.Over() {
			c := f.manage(sim, &s, m, rng, stealRates())
			for _, d := range chance.LegalDefense(&s, m) {
				unset := c.Defense == chance.Defense{}
				if unset && d.Pitch != chance.PickoffThrow && d.Infield != chance.CornersIn && rng.Float64() < .03 {
					c.Defense = d
				}
			}
			for _, o := range chance.LegalOffense(&s) {
				if c.Offense == chance.SwingAway && rng.Float64() < .02 {
					c.Offense = o
				}
			}
			r := check.Must(sim.Resolve(&s, m, c))(t)
			play := r.Final(rng.Float64() < .5)
			check.NoError(t, json.NewEncoder(hash).Encode(play))
			s, m = check.Must(s.Apply(play))(t), r.Next
		}
	}
	check.Equal(t, fmt.Sprintf("%.8x", hash.Sum(nil)), want, "a change needs a new version of the rules: plays' hash")
}
