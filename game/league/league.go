// Package league is the built-in league: eight clubs of 26 players in three seasons, for those who have no league of
// their own.
//
// Its one law: it is made, not kept. The same season is the same league on every machine and in every version, down to
// the last rate, because all of it is drawn from one fixed seed by game/chance's dice. Players keep their ids as they
// age, move and retire.
//
// Nobody in it exists. Surnames are put together from syllables of ours; talent is spread as it was measured among the
// players of 2015–17 and 2019.
package league

import (
	"fmt"

	"pressbox/game"
	"pressbox/game/chance"
)

// LastSeason is the latest season; the first is 1.
const LastSeason = 3

// A Club is a team in one season. Its JSON is the team without its players.
type Club struct {
	ID       string   `json:"id"` // three letters, the same in all seasons
	Season   int      `json:"season"`
	Abbrev   string   `json:"abbrev"`
	Name     string   `json:"name"`       // city and nickname
	City     string   `json:"city"`       // nowhere on any map of ours
	Nickname string   `json:"short_name"` // "Larks"
	Color    string   `json:"color"`      // #rrggbb
	Text     string   `json:"text_color"` // on Color, readable: contrast 4.5 or more
	Park     Park     `json:"park"`
	Players  []Player `json:"-"` // 13 who hit, 5 who start, 8 who relieve
}

// A Park is where a club plays at home.
type Park struct {
	Name    string             `json:"name"`
	Factors chance.ParkFactors `json:"factors"`
}

// A Player is a player in one season. His JSON is the roster's line.
type Player struct {
	game.Player
	Age     int           `json:"age"`
	Ratings chance.Rating `json:"-"`
}

// Season returns the clubs of a season, by city.
func Season(n int) ([]Club, error) {
	if n < 1 || n > LastSeason {
		return nil, fmt.Errorf("season %d: the built-in league has seasons 1 to %d", n, LastSeason)
	}
	m := newMaker()
	for range n - 1 {
		m.winter()
	}
	return m.clubs(n), nil
}

// Game returns the club as the rules know it.
func (c *Club) Game() game.Club {
	g := game.Club{ID: c.ID, Abbrev: c.Abbrev, Name: c.Name, Players: make([]game.Player, len(c.Players))}
	for i := range c.Players {
		g.Players[i] = c.Players[i].Player
	}
	return g
}

// Ratings returns how good everybody in the clubs is.
func Ratings(clubs ...Club) chance.Ratings {
	r := chance.Ratings{}
	for _, c := range clubs {
		for _, p := range c.Players {
			r[p.ID] = p.Ratings
		}
	}
	return r
}
