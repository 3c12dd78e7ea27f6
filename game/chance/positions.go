package chance

import "pressbox/game"

// Effective returns a player's rating with what a [Simulator] takes for what it lacks: the league's rates for a
// batter and a pitcher, those of pitchers for a player who only pitches, worse ones for a position player who
// pitches.
func Effective(p game.Player, r Rating) Rating { return measuredData().effective(p, r) }

func (d *measurements) effective(p game.Player, r Rating) Rating {
	if r.Stamina == 0 {
		r.Stamina = RelieverStamina
		if isStarter(p) {
			r.Stamina = StarterStamina
		}
	}
	if r.Batting == (Rates{}) {
		r.Batting = d.leagueRates
		if p.CanPitch() && !p.CanField() {
			r.Batting = d.pitcherBatting
		}
	}
	if r.Pitching == (Rates{}) {
		r.Pitching = d.leagueRates
		if !p.CanPitch() {
			r.Pitching = d.positionPlayerPitching()
		}
	}
	return r
}

// positionAverages returns what the regulars at each position batted in 2020 as factors on the average of all
// positions, and their speed (Retrosheet, by package history's ratings; 30 players at each).
func positionAverages() map[game.Role]Rating {
	return map[game.Role]Rating{
		"C": {Batting: Rates{K: 1.15, BB: 1.02, HBP: 1, Single: .95, Double: .81, Triple: .60, HR: 1.03}, Speed: -.48},
		"1B": {
			Batting: Rates{K: 1.00, BB: 1.06, HBP: 1, Single: .92, Double: 1.00, Triple: .66, HR: 1.27}, Speed: -.63,
		},
		"2B": {Batting: Rates{K: .86, BB: .90, HBP: 1, Single: 1.14, Double: 1.00, Triple: .85, HR: .77}, Speed: -.10},
		"3B": {
			Batting: Rates{K: .91, BB: 1.01, HBP: 1, Single: 1.03, Double: 1.03, Triple: 1.14, HR: .91}, Speed: -.41,
		},
		"SS": {Batting: Rates{K: .92, BB: .86, HBP: 1, Single: 1.11, Double: 1.07, Triple: 1.24, HR: .78}, Speed: .64},
		"LF": {Batting: Rates{K: .97, BB: .99, HBP: 1, Single: 1.00, Double: 1.04, Triple: .68, HR: 1.06}, Speed: .07},
		"CF": {Batting: Rates{K: 1.09, BB: 1.08, HBP: 1, Single: .95, Double: .92, Triple: 1.75, HR: .96}, Speed: .56},
		"RF": {
			Batting: Rates{K: 1.04, BB: 1.01, HBP: 1, Single: .92, Double: 1.03, Triple: 1.26, HR: 1.12}, Speed: .26,
		},
		"DH": {
			Batting: Rates{K: 1.05, BB: 1.08, HBP: 1, Single: .98, Double: 1.10, Triple: .81, HR: 1.09}, Speed: -.42,
		},
	}
}

// PositionAverage returns the average rating of a player at the first of the positions, best first, for players of whom
// nothing else is known. Pitchers differ only in [Effective]'s stamina.
func PositionAverage(positions []game.Role) Rating {
	if len(positions) == 0 {
		return Rating{}
	}
	r, ok := positionAverages()[positions[0]]
	if !ok {
		return Rating{}
	}
	r.Batting = LeagueRates().times(r.Batting)
	return r
}
