package chance_test

import (
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/league"
	"pressbox/game/teams"
)

// averageClubs are two clubs of league-average players with the hands of the league: 42 % of turns at bat are left-handed,
// 27 % of pitchers. Players 1–9 bat, 10–14 start, 15–22 relieve, 23–26 sit.
func averageClubs() [2]game.Club {
	var both [2]game.Club
	places := gametest.Positions()
	for side, prefix := range []string{"a", "h"} {
		c := &both[side]
		c.ID = prefix
		for i := 1; i <= 26; i++ {
			p := game.Player{ID: game.PlayerID(fmt.Sprintf("%s%d", prefix, i)), Bats: game.Right, Throws: game.Right}
			switch {
			case i <= 9:
				p.Positions = []game.Role{game.Role(places[i-1].String())}
				if i%2 == 0 {
					p.Bats = game.Left
				}
			case i <= 14:
				p.Positions = []game.Role{"SP"}
			case i <= 22:
				p.Positions = []game.Role{"RP"}
			default:
				p.Positions = []game.Role{"LF", "2B", "C"}
			}
			if i >= 10 && i%4 == 2 {
				p.Throws = game.Left
			}
			c.Players = append(c.Players, p)
		}
	}
	return both
}

// card is the line-up of one of the averageClubs, with its n-th starter.
func card(c game.Club, n int) game.Lineup {
	l := gametest.Lineup(c, true)
	l.Pitcher = c.Players[9+n%5].ID
	return l
}

// A fixture is who plays the acceptance games.
type fixture struct {
	clubs     [2]game.Club
	cards     [2]game.Lineup
	ratings   chance.Ratings
	park      chance.ParkFactors
	relievers map[game.PlayerID]bool
}

func averageFixture(n int) fixture {
	clubs := averageClubs()
	f := fixture{clubs: clubs, cards: [2]game.Lineup{card(clubs[0], n), card(clubs[1], n+2)}}
	f.findRelievers()
	return f
}

func (f *fixture) findRelievers() {
	f.relievers = map[game.PlayerID]bool{}
	for _, c := range f.clubs {
		for _, p := range c.Players {
			f.relievers[p.ID] = p.Positions[0] == "RP"
		}
	}
}

// builtIn are all pairs of clubs of the built-in league's last season, at the park of each, with each starter.
func builtIn(tb testing.TB) []fixture {
	tb.Helper()
	clubs, err := league.Season(league.LastSeason)
	if err != nil {
		tb.Fatal(err)
	}
	var all []fixture
	for n := range 5 {
		for h := range clubs {
			for a := range clubs {
				if a == h {
					continue
				}
				f := fixture{
					clubs:   [2]game.Club{clubs[a].Club(), clubs[h].Club()},
					ratings: teams.Ratings(clubs[a], clubs[h]),
					park:    clubs[h].Team.Park.Factors,
				}
				for side := range f.clubs {
					f.cards[side] = firstNine(f.clubs[side], n)
				}
				f.findRelievers()
				all = append(all, f)
			}
		}
	}
	return all
}

// firstNine is the line-up of the first nine of a club of the built-in league at the best position of each.
func firstNine(c game.Club, starter int) game.Lineup {
	l := game.Lineup{Pitcher: c.Players[13+starter].ID}
	for _, p := range c.Players[:9] {
		var at game.Position
		_ = at.UnmarshalText([]byte(p.Positions[0])) // an unknown one is refused with the line-up
		l.Order = append(l.Order, game.Slot{Player: p.ID, Position: at})
	}
	return l
}
