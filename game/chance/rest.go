package chance

import "pressbox/game"

// What relief pitchers have done on each of the days before a single game, and starters on the day of their last start:
// about three of eight relief pitchers appear in a game, with 8 to 28 pitches, and starters throw 80 to 105 (2015–19).
const (
	relieves                     = .35
	reliefPitches, reliefSpread  = 8, 20
	starterPitches, startsSpread = 80, 25
)

// Rest draws what the pitchers of a club have done on the days before a single game. Its starters pitch in turn, one a
// day, in the order of the roster: one has rested, those before pitched on the last days. The draws are uniform numbers
// in [0, 1), each the top 53 bits divided by 2⁵³ of one of the four 8-byte groups of
//
//	SHA-256(seed ‖ "rest" ‖ id)
//
// with the id of the club whose first number selects the rested starter, and with that of each pitcher: of a starter
// the first number is that of the pitches, of a relief pitcher they are those of the last three days.
func (s *Seed) Rest(c game.Club) RecentWork {
	work := RecentWork{}
	var starters, relievers []game.PlayerID
	for _, p := range c.Players {
		switch {
		case isStarter(p):
			starters = append(starters, p.ID)
		case p.CanPitch():
			relievers = append(relievers, p.ID)
		}
	}
	turn := int(s.four("rest", c.ID)[0] * float64(len(starters)))
	for i, id := range starters {
		if ago := (turn - i + len(starters)) % len(starters); ago > 0 && ago <= RecentDays {
			var days [RecentDays]int
			pitches := starterPitches + int(startsSpread*s.four("rest", string(id))[0])
			days[ago-1] = pitches //nolint:gosec // 1 to RecentDays
			work[id] = days
		}
	}
	for _, id := range relievers {
		var days [RecentDays]int
		for day, u := range s.four("rest", string(id)) {
			if day < 3 && u < relieves {
				days[day] = reliefPitches + int(reliefSpread*u/relieves)
			}
		}
		if days != [RecentDays]int{} {
			work[id] = days
		}
	}
	return work
}
