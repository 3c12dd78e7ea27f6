package bot_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Every run checks the same properties of the same values.
var _ = flag.Set("rapid.seed", "1")

// counts counts the bots' decisions.
type counts map[string]int

// count counts a decision.
func (c counts) count(format string, args ...any) { c[fmt.Sprintf(format, args...)]++ }

// play plays game n, counts the bots' decisions, and returns the score.
func play(tb testing.TB, p *bottest.Pairing, n int, bots [2]bool, c counts) [2]int {
	tb.Helper()
	g := p.Start(tb, uint64(n), game.Options{}, bots)
	g.OnSubstitutions = func(_ *game.State, subs []game.Substitution, _ *game.State) {
		for _, sub := range subs {
			c.count("substitution %s", sub.Position)
		}
	}
	for !g.State.Over() {
		g.Manage()
		tactics := g.Tactics()
		c.count("%s", tactics.Offense)
		c.count("%+v", tactics.Defense)
		g.Play(tactics, func(r *chance.Resolution) bool {
			bold := g.Answer(r)
			c.count("%s: %v, percentages %v", r.Question, bold, r.Bold)
			return bold
		})
	}
	return g.State.Score
}

// A contest holds the results of a manager against another. Each game is played twice with the same dice, from
// both sides.
type contest struct {
	games, samples int     // a sample is what is played with the same dice
	wins, squares  float64 // of samples: the share of games won, and its square
	runs           [2]float64
	decisions      counts
}

// add adds a sample of games, of which some are won.
func (c *contest) add(games int, won float64) {
	share := won / float64(games)
	c.games += games
	c.samples++
	c.wins += share
	c.squares += share * share
}

func (c *contest) share() float64 { return c.wins / float64(c.samples) }

// err returns the standard error of the share, from the scatter of the samples.
func (c *contest) err() float64 {
	n := float64(c.samples)
	return math.Sqrt((c.squares/n - c.share()*c.share()) / n)
}

// lead returns the bot's lead in runs per game.
func (c *contest) lead() float64 { return (c.runs[0] - c.runs[1]) / float64(c.games) }

// compete plays games between all clubs of a season in turn.
func compete(tb testing.TB, games int, dh bool) *contest {
	tb.Helper()
	fixtures := fixtures(tb, dh)
	c := &contest{decisions: counts{}}
	for n := range games / 2 {
		p := fixtures[n%len(fixtures)]
		won := 0.0
		for is := range 2 { // the bot's side
			score := play(tb, p, n, [2]bool{is == 0, is == 1}, c.decisions)
			c.runs[0] += float64(score[is])
			c.runs[1] += float64(score[1-is])
			if score[is] > score[1-is] {
				won++
			}
		}
		c.add(2, won)
	}
	return c
}

func season(tb testing.TB, n int) []teams.Roster {
	tb.Helper()
	return check.Must(league.Season(n))(tb)
}

// fixtures returns all pairings of the clubs of a season.
func fixtures(tb testing.TB, dh bool) []*bottest.Pairing {
	tb.Helper()
	clubs := season(tb, 3)
	var all []*bottest.Pairing
	for i := range clubs {
		for j := range clubs {
			if i != j {
				all = append(all, bottest.Pair(tb, clubs[i], clubs[j], dh))
			}
		}
	}
	return all
}

// The bot beats a side without decisions by more than chance explains.
func TestAll_beatsIndecision(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		t.Run(fmt.Sprintf("dh %v", dh), func(t *testing.T) {
			t.Parallel()
			const games, errors = 600, 2.
			c := compete(t, games, dh)
			t.Logf("%.3f of %d games won, %+.2f runs a game (standard error %.3f)",
				c.share(), c.games, c.lead(), c.err())
			if c.share() < .5+errors*c.err() {
				t.Errorf("%.3f of %d games won, want more than .5 by %v standard errors of %.3f",
					c.share(), c.games, errors, c.err())
			}
		})
	}
}

func BenchmarkBeatsIndecision(b *testing.B) {
	for _, dh := range []bool{true, false} {
		b.Run(fmt.Sprintf("dh=%v", dh), func(b *testing.B) {
			for b.Loop() {
				c := compete(b, 6000, dh)
				b.ReportMetric(c.share(), "won")
				b.ReportMetric(c.lead(), "runs/game")
				fmt.Fprintf(os.Stdout,
					"bot against indecision, dh %v, %d games: measured %.3f won, %+.2f runs a game; target > .500; "+
						"standard error %.4f\n",
					dh, c.games, c.share(), c.lead(), c.err())
			}
		})
	}
}

// Two bots play whole games, with and without a designated hitter: every decision is legal, every position is
// filled, and the same dice give the same game.
func TestWholeGames(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		t.Run(fmt.Sprintf("dh %v", dh), func(t *testing.T) {
			t.Parallel()
			decisions, both := counts{}, [2]bool{true, true}
			for n, p := range fixtures(t, dh) {
				first, again := play(t, p, n, both, decisions), play(t, p, n, both, counts{})
				check.That(t, first == again, "game %d: %v, then %v", n, first, again)
			}
			for _, what := range []string{"substitution P", "substitution PH", "steal second"} {
				if decisions[what] == 0 {
					t.Errorf("no %s in %d games", what, len(fixtures(t, dh)))
				}
			}
		})
	}
}

// Bots beside a manager who sends any player to bat or to run fill the nine positions, and the game goes to its end.
func TestManager_anySubstitutions(t *testing.T) {
	t.Parallel()
	pairings := []*bottest.Pairing{fixtures(t, true)[0], fixtures(t, false)[17]}
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(pairings).Draw(rt, "clubs")
		seed := uint64(rapid.Byte().Draw(rt, "seed"))
		g := p.Start(rt, seed, game.Options{Innings: 5}, [2]bool{true, true})
		for !g.State.Over() {
			sendBenchPlayer(rt, g)
			g.Manage()
			g.Play(g.Tactics(), g.Answer)
		}
	})
}

// sendBenchPlayer sends a random player from the bench to bat or run in some of its calls.
func sendBenchPlayer(rt *rapid.T, g *bottest.Game) {
	side := g.State.Batting()
	team := &g.State.Teams[side]
	if len(team.Bench) == 0 || rapid.IntRange(0, 7).Draw(rt, "send") > 0 {
		return
	}
	sub := game.Substitution{
		Side: side, Player: rapid.SampledFrom(team.Bench).Draw(rt, "player"),
		Slot:     rapid.IntRange(1, 9).Draw(rt, "slot"),
		Position: rapid.SampledFrom([]game.Position{game.PinchHitter, game.PinchRunner}).Draw(rt, "position"),
	}
	if _, err := g.State.Substitute(sub); err != nil {
		sub.Slot, sub.Position = team.NextBatter+1, game.PinchHitter
	}
	if _, err := g.State.Substitute(sub); err == nil {
		g.Substitute([]game.Substitution{sub})
	}
}

// Every club of the built-in league has a line-up with all players at positions of theirs.
func TestSuggestLineup_builtInLeague(t *testing.T) {
	t.Parallel()
	for n := 1; n <= league.LastSeason; n++ {
		for _, c := range season(t, n) {
			club := c.Club()
			for _, dh := range []bool{true, false} {
				l := check.Must(bot.SuggestLineup(club, teams.Ratings(c), nil, dh))(t)
				for _, slot := range l.Order {
					p, _ := club.Player(slot.Player)
					if !has(p, slot.Position) {
						t.Errorf("season %d, %s: %s with positions %v is at %s",
							n, club.Abbrev, p.Name, p.Positions, slot.Position)
					}
				}
			}
		}
	}
}

func has(p game.Player, at game.Position) bool {
	return at == game.DesignatedHitter || at == game.Pitcher && p.CanPitch() ||
		slices.Contains(p.Positions, game.Role(at.String()))
}

// Any roster gives a line-up without violations, or the violations.
func TestSuggestLineup_anyRoster(t *testing.T) {
	t.Parallel()
	roles := []game.Role{"SP", "RP", "P", "C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH", "OF", "IF", "?"}
	rapid.Check(t, func(rt *rapid.T) {
		club := game.Club{Abbrev: "ANY"}
		ratings := chance.Ratings{}
		for i := range rapid.IntRange(0, 26).Draw(rt, "players") {
			p := game.Player{
				ID:        game.PlayerID(fmt.Sprint(i)),
				Positions: rapid.SliceOfN(rapid.SampledFrom(roles), 0, 3).Draw(rt, "roles"),
			}
			club.Players = append(club.Players, p)
			if rapid.Bool().Draw(rt, "rated") {
				ratings[p.ID] = chance.Rating{
					Batting: chance.LeagueRates(), Range: rapid.Float64Range(-3, 3).Draw(rt, "range"),
				}
			}
		}
		dh := rapid.Bool().Draw(rt, "dh")
		l, err := bot.SuggestLineup(club, ratings, nil, dh)
		var invalid *game.LineupError
		switch {
		case err == nil:
			if found := l.Check(club, dh); found != nil {
				rt.Fatalf("%+v", found)
			}
		case !errors.As(err, &invalid) || len(invalid.Violations) == 0:
			rt.Fatalf("%v, want a LineupError", err)
		case enough(club, dh):
			rt.Fatalf("%d players: %v", len(club.Players), err)
		}
	})
}

// enough reports whether a club has a pitcher and enough other players.
func enough(c game.Club, dh bool) bool {
	least := 9
	if dh {
		least = 10
	}
	return len(c.Players) >= least && slices.ContainsFunc(c.Players, game.Player.CanPitch)
}

// A better batter replaces a worse one at the position and bats early.
func TestSuggestLineup_betterBatter(t *testing.T) {
	t.Parallel()
	c := season(t, 1)[0]
	club, ratings := c.Club(), teams.Ratings(c)
	great := chance.LeagueRates()
	great.HR, great.BB = .09, .15
	star := game.Player{ID: "star", Name: "A Star", Bats: "L", Throws: "R", Positions: []game.Role{"SS"}}
	club.Players = append(club.Players, star)
	ratings[star.ID] = chance.Rating{Batting: great}
	l := check.Must(bot.SuggestLineup(club, ratings, nil, true))(t)
	for i, slot := range l.Order {
		if slot.Player == star.ID {
			check.That(t, slot.Position == game.Shortstop && i <= 3, "the star bats %d at %s", i+1, slot.Position)
			return
		}
	}
	t.Errorf("the star does not play: %+v", l)
}

// In games on consecutive days the five starters take turns, the best first; each has four days of rest.
func TestSuggestLineup_rotation(t *testing.T) {
	t.Parallel()
	c := season(t, 1)[0]
	club, ratings := c.Club(), teams.Ratings(c)
	var recent chance.RecentWork
	var starters []game.PlayerID
	for day := range 12 {
		starter := check.Must(bot.SuggestLineup(club, ratings, recent, true))(t).Pitcher
		p, _ := club.Player(starter)
		check.That(t, slices.Contains(p.Positions, "SP"), "day %d: %s starts, who is no starter", day, p.Name)
		check.That(t, day < 5 || starter == starters[day-5],
			"day %d: %s starts, want who is rested again of %v", day, starter, starters)
		starters = append(starters, starter)
		recent = recent.Tomorrow(map[game.PlayerID]int{starter: 95})
	}
}
