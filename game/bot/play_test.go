package bot_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/teams"
)

// A player of one side of a game: the bot, or nil, who never decides: he swings, pitches, lets the percentages answer,
// and changes nobody.
type side = *bot.Manager

// A pairing is two clubs and who manages them.
type pairing struct {
	tb       testing.TB
	clubs    [2]game.Club
	ratings  chance.Ratings
	park     chance.ParkFactors
	lineups  [2]game.Lineup
	dh       bool
	managers [2]bool // by side: the bot
}

func season(tb testing.TB, n int) []teams.Roster {
	tb.Helper()
	clubs, err := league.Season(n)
	if err != nil {
		tb.Fatal(err)
	}
	return clubs
}

func pair(tb testing.TB, away, home teams.Roster, dh bool) *pairing {
	tb.Helper()
	p := &pairing{tb: tb, clubs: [2]game.Club{away.Club(), home.Club()}, ratings: teams.Ratings(away, home), park: home.Team.Park.Factors, dh: dh}
	for i, c := range p.clubs {
		var err error
		if p.lineups[i], err = bot.SuggestLineup(c, p.ratings, dh); err != nil {
			tb.Fatal(err)
		}
	}
	return p
}

// counts of what the bots did.
type counts map[string]int

// play plays a game to its end and returns the score.
func (p *pairing) play(n uint64, did counts) [2]int {
	p.tb.Helper()
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], n)
	table := chance.NewSimulator(seed, p.clubs, p.ratings, p.park)
	s, err := game.New(game.Options{DH: p.dh}, p.clubs, p.lineups)
	if err != nil {
		p.tb.Fatal(err)
	}
	var managers [2]side
	for i, is := range p.managers {
		if is {
			managers[i] = bot.New(game.Side(i), p.clubs[i], p.ratings, table)
		}
	}
	var at chance.Progress
	for !s.Over() {
		for _, m := range managers {
			s = p.change(s, at, m, did)
		}
		var calls chance.Tactics
		if m := managers[s.Batting()]; m != nil {
			calls.Offence = m.Offence(&s, at)
			did[string(calls.Offence)]++
		}
		if m := managers[s.Fielding()]; m != nil {
			calls.Defence = m.Defence(&s, at)
			did[fmt.Sprintf("%+v", calls.Defence)]++
		}
		turn, err := table.Resolve(&s, at, calls)
		if err != nil {
			p.tb.Fatalf("game %d: %+v: %v", n, calls, err)
		}
		play := turn.Play
		if turn.Question != chance.NoQuestion && managers[turn.Decider] != nil {
			bold := managers[turn.Decider].AnswerQuestion(&s, &turn)
			did[fmt.Sprintf("%s: %v, percentages %v", turn.Question, bold, turn.Bold)]++
			play = turn.Final(bold)
		}
		if s, err = s.Apply(play); err != nil {
			p.tb.Fatalf("game %d: %v", n, err)
		}
		at = turn.Next
	}
	return s.Score
}

// change makes a manager's substitutions until he has no more.
func (p *pairing) change(s game.State, at chance.Progress, m side, did counts) game.State {
	p.tb.Helper()
	for n := 0; m != nil; n++ {
		subs := m.Substitutions(&s, at)
		if subs == nil {
			break
		}
		next, err := s.Substitute(subs...)
		if err != nil || n > 5 {
			p.tb.Fatalf("substitution %d, %+v: %v", n, subs, err)
		}
		s = next
		for _, sub := range subs {
			did["substitution "+sub.Position.String()]++
		}
	}
	return s
}

// A contest is what a bot does against one who never decides. Each game is played twice with the same dice, the bot at
// home and away.
type contest struct {
	pairs         int
	wins, squares float64 // of pairs: games won, 0–2, and their squares
	runs          [2]float64
	did           counts
}

func (c *contest) share() float64 { return c.wins / float64(2*c.pairs) }

// err is the standard error of the share, from how far the pairs scatter.
func (c *contest) err() float64 {
	n := float64(c.pairs)
	mean := c.wins / n
	return math.Sqrt((c.squares/n-mean*mean)/n) / 2
}

// lead is by how many runs a game the bot is better.
func (c *contest) lead() float64 { return (c.runs[0] - c.runs[1]) / float64(2*c.pairs) }

// compete plays games between all clubs of a season in turn.
func compete(tb testing.TB, games int, dh bool) *contest {
	tb.Helper()
	fixtures := fixtures(tb, dh)
	c := &contest{pairs: games / 2, did: counts{}}
	for n := range c.pairs {
		p := fixtures[n%len(fixtures)]
		won := 0.0
		for is := range 2 {
			p.managers = [2]bool{is == 0, is == 1}
			score := p.play(uint64(n), c.did)
			c.runs[0] += float64(score[is])
			c.runs[1] += float64(score[1-is])
			if score[is] > score[1-is] {
				won++
			}
		}
		c.wins += won
		c.squares += won * won
	}
	return c
}

// fixtures are all pairs of clubs of a season.
func fixtures(tb testing.TB, dh bool) []*pairing {
	tb.Helper()
	clubs := season(tb, 3)
	var all []*pairing
	for i := range clubs {
		for j := range clubs {
			if i != j {
				all = append(all, pair(tb, clubs[i], clubs[j], dh))
			}
		}
	}
	return all
}

// The bot beats one who never decides by more than luck explains.
func TestBeatsIndecision(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		t.Run(fmt.Sprintf("dh %v", dh), func(t *testing.T) {
			t.Parallel()
			c := compete(t, 2000, dh)
			t.Logf("%.3f of %d games won, %+.2f runs a game (standard error %.3f)", c.share(), 2*c.pairs, c.lead(), c.err())
			if c.share() < .5+2*c.err() {
				t.Errorf("%.3f of %d games won, want more than .5 by two standard errors of %.3f", c.share(), 2*c.pairs, c.err())
			}
		})
	}
}

func BenchmarkBeatsIndecision(b *testing.B) {
	for _, dh := range []bool{true, false} {
		b.Run(fmt.Sprintf("dh=%v", dh), func(b *testing.B) {
			for b.Loop() {
				c := compete(b, 20000, dh)
				b.ReportMetric(c.share(), "won")
				b.ReportMetric(c.lead(), "runs/game")
				fmt.Fprintf(os.Stdout, "bot against indecision, dh %v, %d games: measured %.3f won, %+.2f runs a game; target > .500; standard error %.4f\n",
					dh, 2*c.pairs, c.share(), c.lead(), c.err())
			}
		})
	}
}

// Two bots play whole games, with and without a designated hitter: every decision is legal, somebody plays every
// position, and the same game comes out again.
func TestWholeGames(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		t.Run(fmt.Sprintf("dh %v", dh), func(t *testing.T) {
			t.Parallel()
			did := counts{}
			for n, p := range fixtures(t, dh) {
				p.managers = [2]bool{true, true}
				seed := uint64(n)
				if first, again := p.play(seed, did), p.play(seed, counts{}); first != again {
					t.Errorf("game %d: %v, then %v", n, first, again)
				}
			}
			for _, what := range []string{"substitution P", "substitution PH", "steal second"} {
				if did[what] == 0 {
					t.Errorf("no %s in %d games", what, len(fixtures(t, dh)))
				}
			}
		})
	}
}

// A bot takes a side over from people who send anybody up to bat or to run: whatever they have done, it puts nine men in
// the field, and the game goes on to its end.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	clubs := season(t, 2)
	fixtures := []*pairing{pair(t, clubs[0], clubs[1], true), pair(t, clubs[2], clubs[3], false)}
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(fixtures).Draw(rt, "clubs")
		var seed chance.Seed
		seed[0] = rapid.Byte().Draw(rt, "seed")
		table := chance.NewSimulator(seed, p.clubs, p.ratings, p.park)
		s, err := game.New(game.Options{DH: p.dh, Innings: 5}, p.clubs, p.lineups)
		if err != nil {
			rt.Fatal(err)
		}
		managers := [2]side{bot.New(game.Away, p.clubs[0], p.ratings, table), bot.New(game.Home, p.clubs[1], p.ratings, table)}
		var at chance.Progress
		for !s.Over() {
			s = meddle(rt, s)
			m := managers[s.Fielding()]
			for subs := m.Substitutions(&s, at); subs != nil; subs = m.Substitutions(&s, at) {
				if s, err = s.Substitute(subs...); err != nil {
					rt.Fatalf("%+v: %v", subs, err)
				}
			}
			calls := chance.Tactics{Offence: managers[s.Batting()].Offence(&s, at), Defence: m.Defence(&s, at)}
			turn, err := table.Resolve(&s, at, calls)
			if err != nil {
				rt.Fatalf("%+v: %v", s.Teams[s.Fielding()], err)
			}
			if s, err = s.Apply(turn.Play); err != nil {
				rt.Fatal(err)
			}
			at = turn.Next
		}
	})
}

// meddle is a person at bat who now and then sends somebody from the bench, whoever that is.
func meddle(rt *rapid.T, s game.State) game.State {
	side := s.Batting()
	team := &s.Teams[side]
	if len(team.Bench) == 0 || rapid.IntRange(0, 7).Draw(rt, "meddles") > 0 {
		return s
	}
	sub := game.Substitution{
		Side: side, Player: rapid.SampledFrom(team.Bench).Draw(rt, "who"),
		Slot: rapid.IntRange(1, 9).Draw(rt, "for"), Position: rapid.SampledFrom([]game.Position{game.PinchHitter, game.PinchRunner}).Draw(rt, "as"),
	}
	if next, err := s.Substitute(sub); err == nil {
		return next
	}
	sub.Slot, sub.Position = team.NextBatter+1, game.PinchHitter
	if next, err := s.Substitute(sub); err == nil {
		return next
	}
	return s
}
