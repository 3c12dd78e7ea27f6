package chance_test

import (
	"encoding/binary"
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// The risk of a question holds what the answers lead to: the bold choice is one of the successes as often as its chance
// says and otherwise one of the failures, and the safe choice is one of the safe results.
func TestAll_riskHoldsResults(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	type count struct{ asked, bold, expected float64 }
	counts := map[chance.Question]*count{}
	for seed := range uint64(sampleSize(30_000)) {
		s := f.at(t, int(seed%24))
		var random chance.Seed
		binary.BigEndian.PutUint64(random[:], seed)
		r := check.Must(sim.WithSeed(random).Resolve(&s, chance.Progress{}, chance.Tactics{}))(t)
		risk := sim.Risk(&s, chance.Progress{}, chance.Tactics{}, &r)
		if r.Question == chance.NoQuestion {
			check.Require(t, len(risk.Success)+len(risk.Failure)+len(risk.Safe) == 0,
				"no question, and the risk %+v", risk)
			continue
		}
		for _, results := range [][]chance.Transition{risk.Success, risk.Failure, risk.Safe} {
			sum := probability(results, nil)
			check.Require(t, math.Abs(sum-1) <= 1e-9, "%s: %+v sums to %v", r.Question, results, sum)
		}
		bold, safe := after(t, &s, r.Final(true)), after(t, &s, r.Final(false))
		succeeds, fails := probability(risk.Success, &bold), probability(risk.Failure, &bold)
		check.Require(t, succeeds+fails != 0 && probability(risk.Safe, &safe) != 0,
			"%s leads to %+v or %+v, want one of %+v", r.Question, bold, safe, risk)
		c := counts[r.Question]
		if c == nil {
			c = &count{}
			counts[r.Question] = c
		}
		if fails == 0 || succeeds == 0 { // a result that is in both proves nothing
			c.asked++
			c.expected += r.SuccessChance
			if succeeds > 0 {
				c.bold++
			}
		}
	}
	check.Equal(t, len(counts), 4, "kinds of questions")
	for q, c := range counts {
		if within := 4 * math.Sqrt(c.asked) / 2; math.Abs(c.bold-c.expected) > within || c.asked < 20 {
			t.Errorf("%s: %.0f of %.0f bold choices succeed, want %.0f ± %.0f", q, c.bold, c.asked, c.expected, within)
		}
	}
}

// after returns the transition that a play is, with probability 0.
func after(t *testing.T, s *game.State, p game.Play) chance.Transition {
	t.Helper()
	next := check.Must(s.Apply(p))(t)
	to := chance.BaseOutStates
	if next.Half == s.Half {
		to = chance.BaseOut(&next)
	}
	return chance.Transition{To: to, Runs: s.Tally(p).Runs}
}

// probability returns the sum of the probabilities, of all results or of one.
func probability(all []chance.Transition, of *chance.Transition) float64 {
	sum := 0.0
	for _, r := range all {
		if of == nil || r.To == of.To && r.Runs == of.Runs {
			sum += r.P
		}
	}
	return sum
}
