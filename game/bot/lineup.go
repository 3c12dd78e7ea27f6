package bot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pressbox/game"
	"pressbox/game/chance"
)

// Run values of batting events relative to an average plate appearance, from the run expectancies of 2015–17 and 2019.
const (
	outRuns    = -.26
	walkRuns   = .31
	hitByRuns  = .34
	singleRuns = .46
	doubleRuns = .76
	tripleRuns = 1.04
	homeRuns   = 1.39
)

// runs returns the run value of a plate appearance with these rates, about 0 for the league's.
func runs(r chance.Rates) float64 {
	return outRuns*(r.K+r.Out()) + walkRuns*r.BB + hitByRuns*r.HBP + singleRuns*r.Single + doubleRuns*r.Double +
		tripleRuns*r.Triple + homeRuns*r.HR
}

// Run values of a standard deviation of fielding skills per plate appearance, of which there are 4.3 a game,
// derived from game/chance's estimates of plays and errors per season.
const (
	rangeRuns = .012
	handsRuns = .003
	armRuns   = .003
	// Cost of playing out of position, and of each position listed before the one played.
	outOfPositionRuns     = .5
	secondaryPositionRuns = .002
)

// battingRuns returns the run value of a player's plate appearance.
func battingRuns(p game.Player, ratings chance.Ratings) float64 {
	r := ratings[p.ID].Batting
	if r == (chance.Rates{}) {
		if !p.CanField() {
			return -outOfPositionRuns // a pitcher at bat
		}
		r = chance.LeagueRates()
	}
	return runs(r)
}

// pitchingRuns returns the run value of a plate appearance against a player, to the batting side.
func pitchingRuns(p game.Player, ratings chance.Ratings) float64 {
	r := ratings[p.ID].Pitching
	if r == (chance.Rates{}) {
		r = chance.LeagueRates()
	}
	return runs(r)
}

// fieldingRuns returns the run value of a player at a position of the nine or DH.
func fieldingRuns(p game.Player, at game.Position, ratings chance.Ratings) float64 {
	if at == game.DesignatedHitter {
		return 0
	}
	r := ratings[p.ID]
	value := rangeRuns*r.Range + handsRuns*r.Hands
	if at == game.Catcher || at >= game.LeftField {
		value += armRuns * r.Arm
	}
	for i, role := range p.Positions {
		if role.Covers(at) {
			return value - secondaryPositionRuns*float64(i)
		}
	}
	return value - outOfPositionRuns
}

// SuggestLineup returns the line-up with the highest run value: the best starting pitcher of those who are rested,
// the best nine at positions that they play, and an order with on-base first and power fourth. With dh a
// designated hitter bats for the pitcher, otherwise the pitcher bats ninth. Players without a rating count as
// average; with a nil recent all are rested.
//
// The error is a [*game.LineupError] if the club has no pitcher or too few players.
func SuggestLineup(club game.Club, ratings chance.Ratings, recent chance.RecentWork, dh bool) (game.Lineup, error) {
	l := game.Lineup{Pitcher: bestStarter(club, ratings, recent)}
	positions := []game.Position{
		game.Catcher, game.FirstBase, game.SecondBase, game.ThirdBase, game.Shortstop, game.LeftField, game.CenterField,
		game.RightField,
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
	l.Order = battingOrder(assign(players, positions, ratings), players, ratings)
	if !dh {
		l.Order = append(l.Order, game.Slot{Player: l.Pitcher, Position: game.Pitcher})
	}
	if found := l.Check(club, dh); found != nil {
		return game.Lineup{},
			fmt.Errorf("suggest line-up for %s: %w", club.Abbrev, &game.LineupError{Violations: found})
	}
	return l, nil
}

// restedBelow is the tiredness below which a starter is rested: a start of usual length costs more than that for
// four days.
const restedBelow = .2

// tiredRuns is the cost of starting a pitcher who is as tired as on the day after a start: more than any
// difference between two pitchers of a club, so that the least tired one starts if none is rested.
const tiredRuns = 2 * outOfPositionRuns

// bestStarter returns the best of the starting pitchers who are rested, of all pitchers if there is none.
func bestStarter(club game.Club, ratings chance.Ratings, recent chance.RecentWork) game.PlayerID {
	var found game.PlayerID
	var least float64
	for _, p := range club.Players {
		if !p.CanPitch() {
			continue
		}
		value := pitchingRuns(p, ratings)
		if !slices.Contains(p.Positions, "SP") {
			value += outOfPositionRuns
		}
		if p.CanField() {
			value += secondaryPositionRuns // a two-way player also bats
		}
		if tired := recent.Tiredness(p.ID, true); tired >= restedBelow {
			value += tiredRuns * tired
		}
		if found == "" || value < least {
			found, least = p.ID, value
		}
	}
	return found
}

// An assignment assigns a player, by index, to each of a set of positions.
type assignment struct {
	runs    float64
	players [9]int
	valid   bool
}

// assign assigns players to positions with the highest run value, by dynamic programming over sets of positions.
func assign(players []game.Player, positions []game.Position, ratings chance.Ratings) []game.Slot {
	best := make([]assignment, 1<<len(positions))
	best[0].valid = true
	for i, p := range players {
		var value [9]float64
		for j, at := range positions {
			value[j] = battingRuns(p, ratings) + fieldingRuns(p, at, ratings)
		}
		for set, from := range slices.Backward(best) {
			if !from.valid {
				continue
			}
			for j := range positions {
				if to := &best[set|1<<j]; set&(1<<j) == 0 && (!to.valid || from.runs+value[j] > to.runs) {
					*to = from
					to.runs += value[j]
					to.players[j] = i
				}
			}
		}
	}
	full := best[len(best)-1]
	if !full.valid {
		return nil
	}
	slots := make([]game.Slot, len(positions))
	for j, at := range positions {
		slots[j] = game.Slot{Player: players[full.players[j]].ID, Position: at}
	}
	return slots
}

// battingOrder sorts the batters. Of the three best, the one with the highest on-base average bats first, the one
// with the most power fourth, the other second. The next two bat fifth and third, and the others in order of
// value.
func battingOrder(slots []game.Slot, players []game.Player, ratings chance.Ratings) []game.Slot {
	if len(slots) < 8 {
		return slots
	}
	bats := map[game.PlayerID]chance.Rates{}
	value := map[game.PlayerID]float64{}
	for _, p := range players {
		if bats[p.ID] = ratings[p.ID].Batting; bats[p.ID] == (chance.Rates{}) {
			bats[p.ID] = chance.LeagueRates()
		}
		value[p.ID] = battingRuns(p, ratings)
	}
	slices.SortStableFunc(slots, func(a, b game.Slot) int {
		return cmp.Or(cmp.Compare(value[b.Player], value[a.Player]),
			strings.Compare(string(a.Player), string(b.Player)))
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

// power returns extra bases per plate appearance.
func power(r chance.Rates) float64 { return r.Double + 2*r.Triple + 3*r.HR }
