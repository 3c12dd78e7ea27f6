package chance

import "pressbox/game"

// RunExpectancy returns the entry of [RunExpectancies] for a state.
func RunExpectancy(s *game.State) float64 { return measuredData().runExpectancy[3*occupied(s)+s.Outs] }
