package season_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pressbox/game/season"
	"pressbox/packaging/check"
)

// Every calendar is complete and fair: each pair meets as often as it should, no entrant plays twice on a day, and
// each is at home in half of the games, or one more or less; over an even number of meetings each pair is at home
// equally often.
func TestNew_calendar(t *testing.T) {
	t.Parallel()
	for entrants := season.MinEntrants; entrants <= season.MaxEntrants; entrants++ {
		for meetings := 1; meetings <= season.MaxMeetings; meetings++ {
			c := check.Must(season.New(season.Format{Meetings: meetings}, entrants))(t)
			pairs, home, played := map[[2]int]int{}, make([]int, entrants), map[[2]int]bool{}
			for _, g := range c.Games {
				pairs[[2]int{g.Away, g.Home}]++
				home[g.Home]++
				home[g.Away]--
				for _, e := range []int{g.Away, g.Home} {
					check.That(t, !played[[2]int{g.Day, e}],
						"%d entrants, %d meetings: %d plays twice on day %d", entrants, meetings, e, g.Day)
					played[[2]int{g.Day, e}] = true
				}
			}
			for a := range entrants {
				for b := range a {
					at, away := pairs[[2]int{a, b}], pairs[[2]int{b, a}]
					check.That(t, at+away == meetings && (meetings%2 != 0 || at == away),
						"%d entrants, %d meetings: %d and %d meet %d and %d times", entrants, meetings, a, b, at, away)
				}
				if home[a] < -1 || home[a] > 1 {
					t.Errorf("%d entrants, %d meetings: home games of %d exceed the others by %d",
						entrants, meetings, a, home[a])
				}
			}
		}
	}
}

func TestFormat_limits(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{ // meetings, best of, entrants
		"0 1 2": true, "0 7 2": true, "0 9 2": false, "0 2 2": false, "0 -1 2": false, "0 0 2": false, "0 7 3": false,
		"1 0 1": false, "1 0 2": true, "1 3 8": true, "1 0 9": false, "6 0 8": true, "7 0 8": false, "-1 0 8": false,
	} {
		var f season.Format
		var entrants int
		check.Must(fmt.Sscan(text, &f.Meetings, &f.BestOf, &entrants))(t)
		_, err := season.New(f, entrants)
		check.That(t, (err == nil) == ok && (ok || errors.Is(err, season.ErrFormat)),
			"%+v with %d entrants: %v", f, entrants, err)
	}
}

// A series ends as soon as it is decided, and is played at both places in the usual order.
func TestRecord_series(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bestOf   int
		winners  []int // of each game
		homes    []int
		champion int
	}{
		{1, []int{1}, []int{0}, 1},
		{3, []int{0, 1, 1}, []int{0, 1, 0}, 1},
		{3, []int{0, 0}, []int{0, 1}, 0},
		{5, []int{0, 1, 0, 1, 0}, []int{0, 0, 1, 1, 0}, 0},
		{7, []int{0, 1, 0, 1, 0, 1, 1}, []int{0, 0, 1, 1, 1, 0, 0}, 1},
		{7, []int{1, 1, 1, 1}, []int{0, 0, 1, 1}, 1},
		{3, []int{0, -1, 0}, []int{0, 1, 1}, 0}, // a tie is played again
	} {
		s := check.Must(season.New(season.Format{BestOf: c.bestOf}, 2))(t)
		for i, winner := range c.winners {
			if due := s.Due(); len(due) != 1 || due[0] != i || s.Games[i].Home != c.homes[i] || s.Champion != -1 {
				t.Fatalf("best of %d, game %d: due %v, %+v", c.bestOf, i, due, s.Games)
			}
			s = check.Must(s.Record(i, won(&s.Games[i], winner)))(t)
		}
		check.That(t, s.Champion == c.champion && s.Day() == 0 && len(s.Games) == len(c.winners),
			"best of %d: champion %d after %d games", c.bestOf, s.Champion, len(s.Games))
	}
}

// won returns a result in which an entrant won, a tie for −1.
func won(g *season.Game, winner int) season.Result {
	switch winner {
	case g.Home:
		return season.Result{Home: 5, Away: 3}
	case g.Away:
		return season.Result{Home: 3, Away: 5}
	default:
		return season.Result{Home: 4, Away: 4}
	}
}

// Only games of the day can be recorded, each once; the value before stays as it was.
func TestRecord_order(t *testing.T) {
	t.Parallel()
	c := check.Must(season.New(season.Format{Meetings: 1}, 4))(t)
	before := check.Must(season.New(season.Format{Meetings: 1}, 4))(t)
	after := check.Must(c.Record(1, season.Result{Home: 1}))(t)
	check.That(t, reflect.DeepEqual(c, before), "recording a result changed the competition before it")
	for _, game := range []int{-1, 1, 2, len(c.Games)} {
		_, err := after.Record(game, season.Result{Home: 1})
		check.That(t, errors.Is(err, season.ErrOrder), "game %d: %v", game, err)
	}
}

// Each tie-break decides where those before it do not.
func TestStandings_ties(t *testing.T) {
	t.Parallel()
	for _, f := range check.Rows(`
percentage | 1-0 2:1, 1-2 2:1, 2-0 2:1 | 1 2 0 |
head to head | 1-2 2:1, 1-0 1:9, 2-0 9:1, 0-1 1:2, 2-0 9:2 | 1 2 0 | head to head
run difference | 0-1 3:2, 1-2 9:2, 2-0 3:2 | 1 0 2 | run difference
runs scored | 0-1 3:2, 1-0 3:2, 2-0 9:8, 0-2 9:8, 1-2 5:4, 2-1 5:4 | 2 0 1 | runs scored
draw | 0-1 3:2, 1-0 3:2 | 0 1 2 | any
conceded | 0-1 5:1 away | 1 2 0 |
`) {
		s := season.Competition{Format: season.Format{Meetings: 2}, Entrants: 3, Champion: -1}
		for text := range strings.SplitSeq(f[1], ", ") {
			r := &season.Result{}
			g := season.Game{Day: 1, Result: r}
			check.Must(fmt.Sscanf(text+" .", "%d-%d %d:%d %s", &g.Away, &g.Home, &r.Away, &r.Home, &r.Conceded))(t)
			r.Conceded = strings.Trim(r.Conceded, ".")
			s.Games = append(s.Games, g)
		}
		table := s.Standings()
		check.Equal(t, fmt.Sprint(table[0].Entrant, table[1].Entrant, table[2].Entrant), f[2], "%s: order", f[0])
		check.That(t, table[1].TieBreak == f[3] || f[3] == "any", "%s: the second is by %q", f[0], table[1].TieBreak)
	}
}

// Random results always lead to a champion, within the longest calendar; wins and losses balance, and games behind
// grow.
func TestRecord_random(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		f := season.Format{Meetings: random.IntN(4), BestOf: []int{0, 1, 3, 5, 7}[random.IntN(5)]}
		entrants := 2 + random.IntN(7)
		c, err := season.New(f, entrants)
		if err != nil {
			continue
		}
		for n := 0; c.Champion < 0; n++ {
			check.Require(t, n <= 28*season.MaxMeetings+40, "%+v with %d entrants does not end", f, entrants)
			due := c.Due()
			g := due[random.IntN(len(due))]
			r := season.Result{Home: random.IntN(9), Away: random.IntN(9)}
			c = check.Must(c.Record(g, r))(t)
		}
		table, sum := c.Standings(), 0
		for i, s := range table {
			sum += s.Wins - s.Losses
			grows := i == 0 || s.GamesBehind >= table[i-1].GamesBehind || s.Games != table[i-1].Games
			check.That(t, s.Games == s.Wins+s.Losses+s.Ties && grows, "%+v", table)
		}
		check.That(t, sum == 0 && len(c.Due()) == 0, "wins and losses differ by %d; due %v", sum, c.Due())
		check.That(t, !f.IsLeague() || f.BestOf != 0 || c.Champion == table[0].Entrant,
			"champion %d, first %d", c.Champion, table[0].Entrant)
	}
}
