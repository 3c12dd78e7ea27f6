package call_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/retro"
	"pressbox/game/teams"
)

// TestLive calls games as they are played here, two bots against each other: what holds for the season holds for them.
func TestLive(t *testing.T) {
	t.Parallel()
	clubs, err := league.Season(3)
	if err != nil {
		t.Fatal(err)
	}
	book, all := call.English(), claims()
	for n := range 24 {
		callLive(t, book, all, live(t, n, clubs[n%8], clubs[(n+1+n/8)%8]))
	}
}

// A liveGame is a game that is played with chance.
type liveGame struct {
	clubs    [2]game.Club
	state    game.State
	table    *chance.Simulator
	managers [2]*bot.Manager
}

func live(t *testing.T, n int, away, home teams.Roster) *liveGame {
	t.Helper()
	g := &liveGame{clubs: [2]game.Club{away.Club(), home.Club()}}
	ratings := teams.Ratings(away, home)
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], uint64(n))
	var lineups [2]game.Lineup
	g.table = chance.NewSimulator(seed, g.clubs, ratings, home.Team.Park.Factors)
	for side := range g.clubs {
		var err error
		if lineups[side], err = bot.SuggestLineup(g.clubs[side], ratings, n%2 == 0); err != nil {
			t.Fatal(err)
		}
		g.managers[side] = bot.New(game.Side(side), g.clubs[side], ratings, g.table)
		for i := range g.clubs[side].Players {
			p := &g.clubs[side].Players[i]
			p.Name = mark(p.ID)
		}
	}
	var err error
	if g.state, err = game.New(game.Options{DH: n%2 == 0}, g.clubs, lineups); err != nil {
		t.Fatal(err)
	}
	return g
}

func callLive(t *testing.T, book *call.Phrasebook, all []claim, g *liveGame) {
	t.Helper()
	c := call.New(book, g.clubs, "live")
	var at chance.Progress
	s := g.state
	for rev := uint64(0); !s.Over(); rev++ {
		for _, m := range g.managers {
			for subs := m.Substitutions(&s, at); subs != nil; subs = m.Substitutions(&s, at) {
				checkWords(t, &retro.Step{}, c.Substitutions(rev, &s, subs))
				next, err := s.Substitute(subs...)
				if err != nil {
					t.Fatal(err)
				}
				s = next
			}
		}
		calls := chance.Tactics{Offence: g.managers[s.Batting()].Offence(&s, at), Defence: g.managers[s.Fielding()].Defence(&s, at)}
		turn, err := g.table.Resolve(&s, at, calls)
		if err != nil {
			t.Fatal(err)
		}
		step := &retro.Step{Before: s, Play: turn.Final(turn.Bold)}
		step.Event = fmt.Sprintf("%+v", step.Play)
		if step.After, err = s.Apply(step.Play); err != nil {
			t.Fatal(err)
		}
		l := c.Play(rev, &s, &step.Play, &step.After)
		checkWords(t, step, l)
		checkNames(t, step, l)
		checkClaims(t, all, step, l)
		s, at = step.After, turn.Next
	}
}
