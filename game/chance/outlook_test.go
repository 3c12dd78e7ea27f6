package chance_test

import (
	"encoding/binary"
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// cell is a result without its probability.
type cell struct {
	over     bool
	to, runs int
}

func cells(o *chance.Outlook) map[cell]float64 {
	found := map[cell]float64{}
	o.Each(func(r chance.Result) { found[cell{r.TurnOver, r.To, r.Runs}] = r.P })
	return found
}

// tacticPairs returns each tactic of either side alone, and pairs of which one changes what the other does.
func tacticPairs(s *game.State) []chance.Tactics {
	var all []chance.Tactics
	for _, o := range chance.LegalOffense(s) {
		all = append(all, chance.Tactics{Offense: o})
		for _, d := range []chance.Defense{
			{Pitch: chance.PickoffThrow}, {Pitch: chance.PitchOut}, {Infield: chance.CornersIn}, {PlayBehind: true},
		} {
			if c := (chance.Tactics{Offense: o, Defense: d}); o != chance.SwingAway &&
				c.Check(s, chance.Progress{}) == nil {
				all = append(all, c)
			}
		}
	}
	for _, d := range chance.LegalDefense(s, chance.Progress{})[1:] {
		all = append(all, chance.Tactics{Defense: d})
	}
	return all
}

// The outlook sums to one, and simulated turns have each result as often, for all tactics in every base-out state.
func TestAll_outlookAgreesWithDice(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	seed, compared := uint64(0), 0
	for at := range 24 {
		s := f.at(t, at)
		s.Inning, s.Score[game.Home] = 8, 5 // defensive indifference is possible
		for _, c := range tacticPairs(&s) {
			turns := sampleSize(1500)
			if c == (chance.Tactics{}) {
				turns *= 5
			}
			outlook := sim.Outlook(&s, chance.Progress{}, c)
			want := cells(&outlook)
			sum := 0.0
			for _, p := range want {
				sum += p
			}
			check.That(t, math.Abs(sum-1) <= 1e-9, "base-out state %d, %+v: the outlook sums to %v", at, c, sum)
			got := map[cell]float64{}
			for range turns {
				seed++
				var random chance.Seed
				binary.BigEndian.PutUint64(random[:], seed)
				r := check.Must(sim.WithSeed(random).Resolve(&s, chance.Progress{}, c))(t)
				tally, after := s.Tally(r.Play), check.Must(s.Apply(r.Play))(t)
				to := chance.BaseOutStates
				if after.Half == s.Half {
					to = chance.BaseOut(&after)
				}
				got[cell{r.Play.Kind.EndsPlateAppearance(), to, tally.Runs}] += 1 / float64(turns)
			}
			for k, p := range got {
				check.That(t, want[k] != 0,
					"base-out state %d, %+v: %+v happens in %.4f of turns, the outlook has none", at, c, k, p)
			}
			for k, p := range want {
				compared++
				if within := 5*math.Sqrt(p*(1-p)/float64(turns)) + 2/float64(turns); math.Abs(got[k]-p) > within {
					t.Errorf("base-out state %d, %+v: %+v happens in %.4f of turns, the outlook has %.4f ± %.4f",
						at, c, k, got[k], p, within)
				}
			}
		}
	}
	check.That(t, compared >= 3000, "%d results compared", compared)
}

// The outlook of swinging away from each state on has about the measured run expectancy.
func TestOutlook_runs(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	for at := range 24 {
		s := f.at(t, at)
		o := sim.Outlook(&s, chance.Progress{}, chance.Tactics{})
		got, want := o.Runs(), chance.RunExpectancy(&s)
		check.That(t, math.Abs(got-want) <= .05+.04*want, "base-out state %d: %.3f runs, measured %.3f", at, got, want)
	}
	s := f.at(t, 0)
	o := sim.Outlook(&s, chance.Progress{}, chance.Tactics{Offense: chance.Squeeze})
	check.That(t, o == (chance.Outlook{}), "illegal tactics have an outlook")
}
