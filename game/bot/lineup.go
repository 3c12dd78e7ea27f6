package bot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pressbox/game"
	"pressbox/game/chance"
)

// The run values of what a batter does, against an average turn: from the run expectancies of 2015–17 and 2019.
const (
	outRuns    = -.26
	walkRuns   = .31
	hitByRuns  = .34
	singleRuns = .46
	doubleRuns = .76
	tripleRuns = 1.04
	homeRuns   = 1.39
)

// runs returns how many runs a turn that ends with these rates is worth, 0 being about the league's.
func runs(r chance.Rates) float64 {
	return outRuns*(r.K+r.Out()) + walkRuns*r.BB + hitByRuns*r.HBP + singleRuns*r.Single + doubleRuns*r.Double +
		tripleRuns*r.Triple + homeRuns*r.HR
}

// The worth of a standard deviation in the field, in runs a turn at bat, four and a bit a game: of chance's ten plays a
// season and man, and of its errors and arms (estimates there).
const (
	rangeRuns = .012
	handsRuns = .003
	armRuns   = .003
	// What a man is worth less at a position that he does not play, and at each that he plays less well than another.
	strange = .5
	second  = .002
)

// batting returns what a player's turn at bat is worth.
func batting(p game.Player, ratings chance.Ratings) float64 {
	r := ratings[p.ID].Batting
	if r == (chance.Rates{}) {
		if !fields(p) {
			return -strange // a pitcher at bat
		}
		r = chance.LeagueRates()
	}
	return runs(r)
}

// pitching returns what a batter's turn against a player is worth to the batter's side.
func pitching(p game.Player, ratings chance.Ratings) float64 {
	r := ratings[p.ID].Pitching
	if r == (chance.Rates{}) {
		r = chance.LeagueRates()
	}
	return runs(r)
}

// fields reports whether a player plays anything but the mound.
func fields(p game.Player) bool {
	return slices.ContainsFunc(p.Positions, func(r game.Role) bool { return !pitchesAs(r) })
}

func pitchesAs(r game.Role) bool { return r == "P" || r == "SP" || r == "RP" || r == "CP" }

// fielding returns what a player is worth at a position, of the nine or DH.
func fielding(p game.Player, at game.Position, ratings chance.Ratings) float64 {
	if at == game.DesignatedHitter {
		return 0
	}
	r := ratings[p.ID]
	worth := rangeRuns*r.Range + handsRuns*r.Hands
	if at == game.Catcher || at >= game.LeftField {
		worth += armRuns * r.Arm
	}
	for i, role := range p.Positions {
		if plays(role, at) {
			return worth - second*float64(i)
		}
	}
	return worth - strange
}

// plays reports whether a roster's word covers a position: its abbreviation, IF or OF.
func plays(r game.Role, at game.Position) bool {
	switch {
	case string(r) == at.String():
		return true
	case r == "OF":
		return at >= game.LeftField && at <= game.RightField
	case r == "IF":
		return at >= game.FirstBase && at <= game.Shortstop
	default:
		return false
	}
}

// SuggestLineup returns the line-up of a club that is worth most runs, bats and gloves together: the best starting pitcher, the
// best nine with everybody where he plays, and an order with the best on base in front and the most power fourth. With
// dh a designated hitter bats for the pitcher, else the pitcher bats ninth. Who is unknown to
// the ratings counts as average.
//
// The error is a [*game.LineupError] when the club has no pitcher or too few players.
func SuggestLineup(club game.Club, ratings chance.Ratings, dh bool) (game.Lineup, error) {
	l := game.Lineup{Pitcher: starter(club, ratings)}
	positions := []game.Position{
		game.Catcher, game.FirstBase, game.SecondBase, game.ThirdBase, game.Shortstop, game.LeftField, game.CenterField, game.RightField,
	}
	if dh {
		positions = append(positions, game.DesignatedHitter)
	}
	var players []game.Player
	for _, p := range club.Players {
		if p.ID != l.Pitcher {
			players = append(players, p)
		}
	}
	l.Order = order(assign(players, positions, ratings), players, ratings)
	if !dh {
		l.Order = append(l.Order, game.Slot{Player: l.Pitcher, Position: game.Pitcher})
	}
	if found := l.Check(club, dh); found != nil {
		return game.Lineup{}, fmt.Errorf("suggest a line-up for %s: %w", club.Abbrev, &game.LineupError{Violations: found})
	}
	return l, nil
}

// starter returns who should start: the best of the starting pitchers, of all pitchers if there is none.
func starter(club game.Club, ratings chance.Ratings) game.PlayerID {
	var found game.PlayerID
	var least float64
	for _, p := range club.Players {
		if !p.CanPitch() {
			continue
		}
		worth := pitching(p, ratings)
		if !slices.Contains(p.Positions, "SP") {
			worth += strange
		}
		if fields(p) {
			worth += second // an everyday player is needed elsewhere
		}
		if found == "" || worth < least {
			found, least = p.ID, worth
		}
	}
	return found
}

// A seating is the best way found to fill a set of positions: an index of players for each of them.
type seating struct {
	worth float64
	at    [9]int
	sits  bool // there is such an assignment
}

// assign puts players at positions, for the most runs: for every set of positions the best way to fill it with the
// players seen so far.
func assign(players []game.Player, positions []game.Position, ratings chance.Ratings) []game.Slot {
	best := make([]seating, 1<<len(positions))
	best[0].sits = true
	for i, p := range players {
		var worth [9]float64
		for j, at := range positions {
			worth[j] = batting(p, ratings) + fielding(p, at, ratings)
		}
		for set, from := range slices.Backward(best) {
			if !from.sits {
				continue
			}
			for j := range positions {
				if to := &best[set|1<<j]; set&(1<<j) == 0 && (!to.sits || from.worth+worth[j] > to.worth) {
					*to = from
					to.worth += worth[j]
					to.at[j] = i
				}
			}
		}
	}
	full := best[len(best)-1]
	if !full.sits {
		return nil
	}
	slots := make([]game.Slot, len(positions))
	for j, at := range positions {
		slots[j] = game.Slot{Player: players[full.at[j]].ID, Position: at}
	}
	return slots
}

// order puts the batters in order. Of the best three one bats first, who is on base most, one fourth, who has the most
// power, and one second; then the next best fifth and third, and the rest as good as they are.
func order(slots []game.Slot, players []game.Player, ratings chance.Ratings) []game.Slot {
	if len(slots) < 8 {
		return slots
	}
	bats := map[game.PlayerID]chance.Rates{}
	worth := map[game.PlayerID]float64{}
	for _, p := range players {
		if bats[p.ID] = ratings[p.ID].Batting; bats[p.ID] == (chance.Rates{}) {
			bats[p.ID] = chance.LeagueRates()
		}
		worth[p.ID] = batting(p, ratings)
	}
	slices.SortStableFunc(slots, func(a, b game.Slot) int {
		return cmp.Or(cmp.Compare(worth[b.Player], worth[a.Player]), strings.Compare(string(a.Player), string(b.Player)))
	})
	top := slots[:3]
	slices.SortStableFunc(top, func(a, b game.Slot) int {
		return cmp.Compare(onBase(bats[b.Player]), onBase(bats[a.Player]))
	})
	if power(bats[top[1].Player]) > power(bats[top[2].Player]) {
		top[1], top[2] = top[2], top[1]
	}
	front := []game.Slot{top[0], top[1], slots[4], top[2], slots[3]}
	return append(front, slots[5:]...)
}

func onBase(r chance.Rates) float64 { return 1 - r.K - r.Out() }

// power is extra bases a turn.
func power(r chance.Rates) float64 { return r.Double + 2*r.Triple + 3*r.HR }
