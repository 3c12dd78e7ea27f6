package chance

import "pressbox/game"

// RunExpectancy returns the entry of [RunExpectancies] for a state.
func RunExpectancy(s *game.State) float64 { return measuredData().runExpectancy[BaseOut(s)] }

// Runs returns the expected runs of the side at bat in the rest of the half-inning, with the [RunExpectancies] of
// the state afterwards.
func (o *Outlook) Runs() float64 {
	runs := 0.0
	o.Each(func(r Result) { runs += r.P * r.ExpectedRuns() })
	return runs
}
