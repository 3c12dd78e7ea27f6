package chance_test

import (
	"maps"
	"slices"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/packaging/check"
)

// Of each club one starter has rested, the others pitched on the days before, one a day; three of eight relief pitchers
// pitched yesterday.
func TestSeed_rest(t *testing.T) {
	t.Parallel()
	rosters := check.Must(league.Season(1))(t)
	seeds := bottest.Seeds()
	yesterday, all := 0, 0
	rested := map[game.PlayerID]int{}
	for range 300 {
		seed := seeds()
		club := rosters[0].Club()
		work := seed.Rest(club)
		var days [chance.RecentDays]int
		ready := 0
		for _, p := range club.Players {
			switch {
			case slices.Contains(p.Positions, "SP") && work.Tiredness(p.ID, true) < .2:
				rested[p.ID]++
				ready++
			case slices.Contains(p.Positions, "SP"):
				days[work.RestDays(p.ID)]++
			case p.CanPitch():
				all++
				if work.RestDays(p.ID) == 0 {
					yesterday++
				}
			}
		}
		check.Require(t, ready == 1 && days == [chance.RecentDays]int{1, 1, 1, 1}, // of five starters
			"%d starters are ready, of the others pitched %v, %v", ready, days, work)
		check.That(t, maps.Equal(work, seed.Rest(club)), "drawn again: another work")
	}
	share := float64(yesterday) / float64(all)
	check.That(t, share > .32 && share < .38, "%.3f of the relief pitchers pitched yesterday", share)
	for id, n := range rested {
		check.That(t, n > 35 && n < 90, "%s is ready in %d of 300 games", id, n)
	}
}
