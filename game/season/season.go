// Package season is a competition of several games: a series between two managers, or a league of two to eight
// with a round robin and a play-off. It is the calendar, the results, the standings and the champion.
//
// Its one law: a competition is a value that results change, in order, and nothing else does. The same entrants
// and the same results make the same calendar, standings and champion everywhere.
package season

import (
	"errors"
	"fmt"
	"slices"
)

// The limits of a competition.
const (
	MinEntrants = 2
	MaxEntrants = 8
	MaxMeetings = 6 // of each pair in the round robin
	MaxName     = 60
)

// Errors of competitions.
var (
	ErrFormat = errors.New("not a possible competition")
	ErrOrder  = errors.New("the game is not due")
)

// A Format is the mode of a competition.
type Format struct {
	// Meetings is the number of games of each pair of a league; 0 for a series.
	Meetings int `json:"meetings,omitempty"`
	// BestOf is the most games of the series, or of a league's play-off between the first two: 1, 3, 5 or 7. A
	// league without a play-off has 0.
	BestOf int `json:"best_of,omitempty"`
}

// IsLeague reports whether there is a round robin.
func (f Format) IsLeague() bool { return f.Meetings > 0 }

// Check returns an error that wraps [ErrFormat] if as many entrants cannot play it.
func (f Format) Check(entrants int) error {
	switch {
	case entrants < MinEntrants || entrants > MaxEntrants:
		return fmt.Errorf("%w: %d entrants, expected %d to %d", ErrFormat, entrants, MinEntrants, MaxEntrants)
	case f.Meetings < 0 || f.Meetings > MaxMeetings:
		return fmt.Errorf("%w: each pair meets %d times, expected 1 to %d", ErrFormat, f.Meetings, MaxMeetings)
	case !f.IsLeague() && entrants != 2:
		return fmt.Errorf("%w: a series of %d entrants, expected 2", ErrFormat, entrants)
	case !f.IsLeague() && f.BestOf == 0:
		return fmt.Errorf("%w: a series needs a number of games", ErrFormat)
	case !slices.Contains([]int{0, 1, 3, 5, 7}, f.BestOf):
		return fmt.Errorf("%w: best of %d, expected 1, 3, 5 or 7", ErrFormat, f.BestOf)
	}
	return nil
}

// A Game is a game of the calendar. Home and Away are indexes of entrants.
type Game struct {
	Day     int     `json:"day"` // from 1; the games of a day are played before those of the next
	Away    int     `json:"away"`
	Home    int     `json:"home"`
	Playoff bool    `json:"playoff,omitempty"`
	ID      string  `json:"game,omitempty"`   // of the hosted game; "" before there is one
	Result  *Result `json:"result,omitempty"` // nil before its end
}

// A Result is the final score of a game.
type Result struct {
	Away int `json:"away"`
	Home int `json:"home"`
	// Conceded is set if the score does not decide: the other side lost.
	Conceded string `json:"conceded,omitempty"` // "away" or "home"
}

// Winner returns the entrant who won, −1 for a tie.
func (g *Game) Winner() int {
	switch r := g.Result; {
	case r == nil:
		return -1
	case r.Conceded == "away":
		return g.Home
	case r.Conceded == "home":
		return g.Away
	case r.Away > r.Home:
		return g.Away
	case r.Home > r.Away:
		return g.Home
	default:
		return -1
	}
}

// A Competition is the state of a series or a league.
type Competition struct {
	Format   Format `json:"format"`
	Entrants int    `json:"entrants"`
	Games    []Game `json:"games"`    // by day; of a play-off only those that are needed so far
	Champion int    `json:"champion"` // index of an entrant; −1 before the end
}

// New returns a competition with its calendar.
func New(f Format, entrants int) (Competition, error) {
	if err := f.Check(entrants); err != nil {
		return Competition{}, err
	}
	c := Competition{Format: f, Entrants: entrants, Champion: -1}
	if f.IsLeague() {
		c.Games = roundRobin(entrants, f.Meetings)
	} else {
		c.addSeriesGame(0, 1)
	}
	return c, nil
}

// Day returns the day that is played: the first with a game that has not ended, 0 after the end.
func (c *Competition) Day() int {
	for i := range c.Games {
		if c.Games[i].Result == nil {
			return c.Games[i].Day
		}
	}
	return 0
}

// Due returns the indexes of the games that can be played now: those of the day that have not ended.
func (c *Competition) Due() []int {
	var due []int
	day := c.Day()
	for i := range c.Games {
		if c.Games[i].Day == day && c.Games[i].Result == nil {
			due = append(due, i)
		}
	}
	return due
}

// Record returns the competition after the result of a game. It may add games: the next of a series, or a
// play-off. A game of the play-off that was tied is played again. The error wraps [ErrOrder].
func (c *Competition) Record(game int, r Result) (Competition, error) {
	if game < 0 || game >= len(c.Games) || c.Games[game].Result != nil || c.Games[game].Day != c.Day() {
		return *c, fmt.Errorf("%w: game %d", ErrOrder, game)
	}
	after := *c
	after.Games = slices.Clone(c.Games)
	after.Games[game].Result = &r
	after.advance()
	return after, nil
}

// advance adds the games that the results make necessary, and names the champion.
func (c *Competition) advance() {
	if c.Day() != 0 {
		return
	}
	if c.Format.IsLeague() && !c.Games[len(c.Games)-1].Playoff {
		table := c.Standings()
		if c.Format.BestOf == 0 {
			c.Champion = table[0].Entrant
			return
		}
		c.addSeriesGame(table[0].Entrant, table[1].Entrant)
		return
	}
	first, second := c.Finalists()
	wins := c.SeriesWins()
	switch need := c.Format.BestOf/2 + 1; {
	case wins[first] >= need:
		c.Champion = first
	case wins[second] >= need:
		c.Champion = second
	default:
		c.addSeriesGame(first, second)
	}
}

// Finalists returns the two entrants of the series or the play-off, the one who is at home first before the other;
// −1 if there is none yet.
func (c *Competition) Finalists() (first, second int) {
	for i := range c.Games {
		if g := &c.Games[i]; g.Playoff || !c.Format.IsLeague() {
			return g.Home, g.Away
		}
	}
	return -1, -1
}

// SeriesWins returns the games won in the series or the play-off, by entrant.
func (c *Competition) SeriesWins() map[int]int {
	wins := map[int]int{}
	for i := range c.Games {
		if g := &c.Games[i]; (g.Playoff || !c.Format.IsLeague()) && g.Winner() >= 0 {
			wins[g.Winner()]++
		}
	}
	return wins
}

// addSeriesGame adds the next game between two entrants. The first is at home in games 1, 2, 6 and 7 of seven; in
// 1, 2 and 5 of five; in 1 and 3 of three.
func (c *Competition) addSeriesGame(first, second int) {
	n, day := 0, 1
	for i := range c.Games {
		if g := &c.Games[i]; g.Playoff || !c.Format.IsLeague() {
			if g.Winner() >= 0 { // a tie is played again, at the same place
				n++
			}
		}
		day = c.Games[i].Day + 1
	}
	home, away := first, second
	pattern := map[int]string{1: "H", 3: "HAH", 5: "HHAAH", 7: "HHAAAHH"}[c.Format.BestOf]
	if pattern[n] == 'A' {
		home, away = second, first
	}
	c.Games = append(c.Games, Game{Day: day, Away: away, Home: home, Playoff: c.Format.IsLeague()})
}

// roundRobin returns the calendar of a league: on each day every entrant plays at most once, each pair meets so
// many times, and home games are spread evenly (the circle method: one entrant stays, the others turn by one place
// a day).
func roundRobin(entrants, meetings int) []Game {
	places := entrants + entrants%2 // a place without an entrant is a day off
	var games []Game
	day := 0
	for meeting := range meetings {
		for turn := range places - 1 {
			day++
			for i := range places / 2 {
				a, b := circle(i, turn, places), circle(places-1-i, turn, places)
				if a >= entrants || b >= entrants {
					continue
				}
				if (i == 0 && turn%2 == 1 || i%2 == 1) != (meeting%2 == 1) {
					a, b = b, a
				}
				games = append(games, Game{Day: day, Away: a, Home: b})
			}
		}
	}
	return games
}

// circle returns who sits at a place on a turn: the last place is fixed.
func circle(place, turn, places int) int {
	if place == places-1 {
		return places - 1
	}
	return (place + turn) % (places - 1)
}
