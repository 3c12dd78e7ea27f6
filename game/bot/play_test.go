package bot_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"testing"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/league"
)

// A player of one side of a game: the bot, or nil, who never decides: he swings, pitches, lets the percentages answer,
// and changes nobody.
type side = *bot.Manager

// A pairing is two clubs and who manages them.
type pairing struct {
	tb       testing.TB
	clubs    [2]game.Club
	ratings  chance.Ratings
	park     chance.Park
	lineups  [2]game.Lineup
	dh       bool
	managers [2]bool // by side: the bot
}

func season(tb testing.TB, n int) []league.Club {
	tb.Helper()
	clubs, err := league.Season(n)
	if err != nil {
		tb.Fatal(err)
	}
	return clubs
}

func pair(tb testing.TB, away, home league.Club, dh bool) *pairing {
	tb.Helper()
	p := &pairing{tb: tb, clubs: [2]game.Club{away.Game(), home.Game()}, ratings: league.Ratings(away, home), park: home.Park.Factors, dh: dh}
	for i, c := range p.clubs {
		var err error
		if p.lineups[i], err = bot.Suggest(c, p.ratings, dh); err != nil {
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
	table := chance.NewTable(seed, p.clubs, p.ratings, p.park)
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
	var at chance.Moment
	for !s.Over() {
		for _, m := range managers {
			s = p.change(s, at, m, did)
		}
		var calls chance.Calls
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
		if turn.Ask != chance.NoQuestion && managers[turn.Asker] != nil {
			bold := managers[turn.Asker].Choose(&s, &turn)
			did[fmt.Sprintf("%s: %v, percentages %v", turn.Ask, bold, turn.Bold)]++
			play = turn.Finish(bold)
		}
		if s, err = s.Apply(play); err != nil {
			p.tb.Fatalf("game %d: %v", n, err)
		}
		at = turn.Next
	}
	return s.Score
}

// change makes a manager's substitutions until he has no more.
func (p *pairing) change(s game.State, at chance.Moment, m side, did counts) game.State {
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

// A contest is what a bot does against one who never decides.
type contest struct {
	games, wins int
	runs        [2]float64 // of the bot and of the other, together
	did         counts
}

func (c *contest) share() float64 { return float64(c.wins) / float64(c.games) }

// err is the standard error of the share.
func (c *contest) err() float64 { return math.Sqrt(.25 / float64(c.games)) }

// compete plays games of all pairs of clubs of a season, the bot at home and away in turn with the same dice.
func compete(tb testing.TB, games int, dh bool) *contest {
	tb.Helper()
	clubs := season(tb, 3)
	c := &contest{did: counts{}}
	for n := 0; n < games; {
		for i := range clubs {
			for j := range clubs {
				if i == j || n >= games {
					continue
				}
				p := pair(tb, clubs[i], clubs[j], dh)
				for is := range 2 {
					p.managers = [2]bool{is == 0, is == 1}
					score := p.play(uint64(n/2), c.did) //nolint:gosec // positive
					c.games++
					c.runs[0] += float64(score[is])
					c.runs[1] += float64(score[1-is])
					if score[is] > score[1-is] {
						c.wins++
					}
					n++
				}
			}
		}
	}
	return c
}

// The bot beats one who never decides by more than luck explains.
func TestBeatsIndecision(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		c := compete(t, 1600, dh)
		t.Logf("dh %v: %.3f of %d games won (± %.3f), %.2f to %.2f runs a game", dh, c.share(), c.games, c.err(),
			c.runs[0]/float64(c.games), c.runs[1]/float64(c.games))
		if c.share() < .5+3*c.err() {
			t.Errorf("dh %v: %.3f of %d games won, want more than .5 by three standard errors of %.3f", dh, c.share(), c.games, c.err())
		}
	}
}

func BenchmarkBeatsIndecision(b *testing.B) {
	for b.Loop() {
		c := compete(b, 20000, true)
		b.ReportMetric(c.share(), "won")
		b.ReportMetric((c.runs[0]-c.runs[1])/float64(c.games), "runs/game")
		fmt.Fprintf(os.Stdout, "bot against indecision, %d games  measured %.3f won (%+.2f runs a game)  target > .500  standard error %.4f\n",
			c.games, c.share(), (c.runs[0]-c.runs[1])/float64(c.games), c.err())
	}
}
