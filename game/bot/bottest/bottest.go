// Package bottest plays games between bots for the tests of other packages.
package bottest

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/teams"
)

// Seeds returns a source of seeds that are the same in each run of a test.
func Seeds() func() chance.Seed {
	var n atomic.Uint64
	return func() (s chance.Seed) {
		binary.BigEndian.PutUint64(s[:], n.Add(1))
		return s
	}
}

// TB has the methods of testing.TB and rapid.T that a game needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A Pairing holds two clubs with their line-ups.
type Pairing struct {
	Clubs   [2]game.Club
	Ratings chance.Ratings
	Park    chance.ParkFactors
	Lineups [2]game.Lineup
	DH      bool
	Levels  [2]bot.Level // of the bots; 0: Expert
	Recent  chance.RecentWork
}

// Pair returns a pairing with suggested line-ups.
func Pair(tb TB, away, home teams.Roster, dh bool) *Pairing {
	tb.Helper()
	p := &Pairing{
		Clubs: [2]game.Club{away.Club(), home.Club()}, Ratings: teams.Ratings(away, home),
		Park: home.Team.Park.Factors, DH: dh,
	}
	for i, c := range p.Clubs {
		var err error
		if p.Lineups[i], err = bot.SuggestLineup(c, p.Ratings, nil, dh); err != nil {
			tb.Fatalf("line-up of %s: %v", c.ID, err)
		}
	}
	return p
}

// WithStarters returns the pairing with the n-th starting pitchers of both clubs.
func (p *Pairing) WithStarters(n ...int) *Pairing {
	next := *p
	for side := range next.Lineups {
		var rotation []game.PlayerID
		for _, player := range p.Clubs[side].Players {
			if slices.Contains(player.Positions, "SP") {
				rotation = append(rotation, player.ID)
			}
		}
		l := &next.Lineups[side]
		l.Order = slices.Clone(l.Order)
		starter := rotation[n[side]%len(rotation)]
		for i := range l.Order {
			if l.Order[i].Player == l.Pitcher {
				l.Order[i].Player = starter
			}
		}
		l.Pitcher = starter
	}
	return &next
}

// A Game is a game in progress.
type Game struct {
	State     game.State
	Progress  chance.Progress
	Simulator *chance.Simulator
	Managers  [2]Manager            // nil for a side that decides nothing
	Pitches   map[game.PlayerID]int // thrown, by pitcher

	// OnSubstitutions and OnPlay, if set, are called after each move with the states before and after it.
	OnSubstitutions func(before *game.State, subs []game.Substitution, after *game.State)
	OnPlay          func(before *game.State, r *chance.Resolution, p *game.Play, after *game.State)

	pairing *Pairing
	tb      TB
}

// A Manager decides for one side, as [bot.Manager] does.
type Manager interface {
	Substitutions(s *game.State, progress chance.Progress) []game.Substitution
	Offense(turn *bot.Turn) chance.Offense
	Defense(turn *bot.Turn) chance.Defense
	AnswerQuestion(s *game.State, turn *chance.Resolution) bool
}

// Bot returns a bot for a side.
func (g *Game) Bot(side game.Side) *bot.Manager {
	return bot.New(side, g.pairing.Clubs[side], g.pairing.Ratings, g.Simulator,
		cmp.Or(g.pairing.Levels[side], bot.Expert))
}

// Start starts game n of a pairing, with bots for the sides that have one. The pairing decides on the designated
// hitter.
func (p *Pairing) Start(tb TB, n uint64, o game.Options, bots [2]bool) *Game {
	tb.Helper()
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], n)
	g := &Game{Simulator: chance.NewSimulator(chance.Setup{
		Seed: seed, Clubs: p.Clubs, Ratings: p.Ratings, Park: p.Park, Recent: p.Recent,
	}), Pitches: map[game.PlayerID]int{}, pairing: p, tb: tb}
	for side, is := range bots {
		if is {
			g.Managers[side] = g.Bot(game.Side(side))
		}
	}
	o.DH = p.DH
	var err error
	if g.State, err = game.New(o, p.Clubs, p.Lineups); err != nil {
		tb.Fatalf("game %d: %v", n, err)
	}
	return g
}

// Finish plays until the end of the game.
func (g *Game) Finish() {
	for !g.State.Over() {
		g.Manage()
		g.Play(g.Tactics(), g.Answer)
	}
}

// Substitute applies substitutions.
func (g *Game) Substitute(subs []game.Substitution) {
	before := g.State
	after, err := before.Substitute(subs...)
	if err != nil {
		g.tb.Fatalf("%+v: %v", subs, err)
	}
	g.State = after
	if g.OnSubstitutions != nil {
		g.OnSubstitutions(&before, subs, &after)
	}
}

// Manage makes the bots' substitutions.
func (g *Game) Manage() {
	for _, m := range g.Managers {
		for n := 0; m != nil; n++ {
			subs := m.Substitutions(&g.State, g.Progress)
			if subs == nil {
				break
			}
			if n > 5 {
				g.tb.Fatalf("substitution %d: %+v", n, subs)
			}
			g.Substitute(subs)
		}
	}
}

// Turn returns the turn that follows.
func (g *Game) Turn() *bot.Turn { return bot.NewTurn(g.Simulator, &g.State, g.Progress) }

// Tactics returns the bots' tactics.
func (g *Game) Tactics() chance.Tactics {
	turn := g.Turn()
	var t chance.Tactics
	if m := g.Managers[g.State.Batting()]; m != nil {
		t.Offense = m.Offense(turn)
	}
	if m := g.Managers[g.State.Fielding()]; m != nil {
		t.Defense = m.Defense(turn)
	}
	return t
}

// Answer returns the answer of a bot, or of the percentages for a side without one.
func (g *Game) Answer(r *chance.Resolution) bool {
	if m := g.Managers[r.Decider]; m != nil {
		return m.AnswerQuestion(&g.State, r)
	}
	return r.Bold
}

// thrown returns the pitches that the workload has of a side's pitcher.
func (g *Game) thrown(side game.Side, id game.PlayerID) int {
	if w := g.Progress.Workloads[side]; w.Pitcher == id {
		return w.Pitches
	}
	return 0
}

// Play resolves and applies one play. Answer decides a question that it raises.
func (g *Game) Play(t chance.Tactics, answer func(*chance.Resolution) bool) {
	before := g.State
	r, err := g.Simulator.Resolve(&before, g.Progress, t)
	if err != nil {
		g.tb.Fatalf("%+v: %v", t, err)
	}
	play := r.Final(r.Bold)
	if r.Question != chance.NoQuestion {
		play = r.Final(answer(&r))
	}
	after, err := before.Apply(play)
	if err != nil {
		g.tb.Fatalf("%+v: %v", play, err)
	}
	fielding := before.Fielding()
	g.Pitches[before.Pitcher()] += r.Next.Workloads[fielding].Pitches - g.thrown(fielding, before.Pitcher())
	g.State, g.Progress = after, r.Next
	if g.OnPlay != nil {
		g.OnPlay(&before, &r, &play, &after)
	}
}
