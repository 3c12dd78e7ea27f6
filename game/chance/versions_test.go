package chance_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// A released version of the rules gives the same plays forever: a game keeps the version that it began with.
func TestSimulator_releasedVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]string{
		1: "24e2f9f0b4d64ce3",
	} {
		hash := sha256.New()
		league := builtInLeague(t)
		for n := range 8 {
			f := &league[11*n]
			rng := rand.New(rand.NewPCG(uint64(n), 21))
			sim, s := f.startVersion(t, version, uint64(n), game.Options{DH: true})
			var m chance.Progress
			for !s.Over() {
				c := f.manage(sim, &s, m, rng, stealRates())
				for _, d := range chance.LegalDefense(&s, m) {
					if c.Defense == (chance.Defense{}) && d.Pitch != chance.PickoffThrow && d.Infield != chance.CornersIn && rng.Float64() < .03 {
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
		if got := hex.EncodeToString(hash.Sum(nil))[:16]; got != want {
			t.Errorf("version %d gives plays with the hash %s, want %s", version, got, want)
		}
	}
}
