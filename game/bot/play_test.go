package bot_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/stats"
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

// A stranger's bot for the same clubs, with another seed, makes a bot's unusual calls at the same time no more often
// than by chance; a bot with the same seed always does.
func TestManager_foreseen(t *testing.T) {
	t.Parallel()
	var calls, hits, expected, variance float64
	guess := func(own, strangers bool, shares []float64) {
		p := 0.0
		for _, share := range shares[1:] {
			p += share * share
		}
		expected, variance = expected+p, variance+p*(1-p)
		if calls++; own && strangers {
			hits++
		}
	}
	for n := range 12 {
		p := fixtures(t, false)[n]
		g := p.Start(t, uint64(n), game.Options{}, [2]bool{true, true})
		stranger := p.Start(t, 1_000+uint64(n), game.Options{}, [2]bool{true, true})
		again := p.Start(t, uint64(n), game.Options{}, [2]bool{true, true})
		for !g.State.Over() {
			g.Manage()
			turn, tactics := g.Turn(), g.Tactics()
			batting, fielding := g.State.Batting(), g.State.Fielding()
			check.Equal(t, again.Managers[batting].Offense(turn), tactics.Offense, "the call of the same seed")
			offense, defense := turn.Shares()
			o, d := stranger.Managers[batting].Offense(turn), stranger.Managers[fielding].Defense(turn)
			guess(tactics.Offense != chance.SwingAway, o == tactics.Offense, offense)
			guess(tactics.Defense != (chance.Defense{}), d == tactics.Defense, defense)
			g.Play(tactics, g.Answer)
		}
	}
	z := (hits - expected) / math.Sqrt(variance)
	t.Logf("%.0f of %.0f calls foreseen, by chance %.1f", hits, calls, expected)
	check.That(t, expected > 100 && math.Abs(z) < 3.5, "%.0f foreseen, by chance %.1f (z %.1f)", hits, expected, z)
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
			found := l.Check(club, dh)
			check.Require(rt, found == nil, "%+v", found)
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

// rated returns the situation, with a DH, with other ratings: the batter's rates, and the speed of the runners, or
// of the batter if there are none.
func (at situation) rated(tb testing.TB, batting chance.Rates, speed float64) *bottest.Game {
	tb.Helper()
	p := *fixtures(tb, true)[0]
	p.Ratings = maps.Clone(p.Ratings)
	before := at.start(tb)
	batter := p.Ratings[before.State.Batter()]
	batter.Batting = batting
	if before.State.Bases == [3]game.Runner{} {
		batter.Speed = speed
	}
	p.Ratings[before.State.Batter()] = batter
	for _, r := range before.State.Bases {
		if r.Player != "" {
			runner := p.Ratings[r.Player]
			runner.Speed = speed
			p.Ratings[r.Player] = runner
		}
	}
	g := p.Start(tb, 1, game.Options{ExtraInnings: game.Standard}, [2]bool{true, true})
	g.State, g.Progress = before.State, before.Progress
	return g
}

func batters() map[string]chance.Rates {
	return map[string]chance.Rates{
		"slugger": {K: .1, BB: .2, HBP: .01, Single: .13, Double: .06, Triple: .002, HR: .1},
		"regular": chance.LeagueRates(),
	}
}

// situationOf reads "9b 2 -2- 0-0": inning, half, outs, runners, score.
func situationOf(t *testing.T, text string) (at situation) {
	t.Helper()
	var half rune
	_, err := fmt.Sscanf(text, "%d%c %d %s %d-%d", &at.inning, &half, &at.outs, &at.bases, &at.score[0], &at.score[1])
	check.NoError(t, err)
	if half == 'b' {
		at.half = game.Bottom
	}
	return at
}

// What the side in the field calls in situations that a fan agrees on.
func TestDefense_situations(t *testing.T) {
	t.Parallel()
	in := func(d chance.Defense) bool { return d.Infield == chance.InfieldIn }
	walks := func(d chance.Defense) bool { return d.Pitch == chance.IntentionalWalk || d.Pitch == chance.PitchAround }
	calls := map[string]func(chance.Defense) bool{
		"walk": walks, "in": in,
		"in or walk": func(d chance.Defense) bool { return in(d) || walks(d) },
		"in or deep": func(d chance.Defense) bool { return in(d) || d.Infield == chance.DoublePlayDepth },
	}
	for _, f := range check.Rows(`
a slugger with first open and the winning run on second | 9b 2 -2- 0-0 | slugger | walk | yes
the same slugger leads off | 9b 0 --- 0-0 | slugger | walk | no
the same slugger with the bases full | 9b 1 123 0-0 | slugger | walk | no
a regular with the bases full | 3t 2 123 0-0 | regular | walk | no
the winning run on third | 9b 1 --3 0-0 | regular | in or walk | yes
a run on third with a lead of six | 7t 0 --3 0-6 | regular | in | no
two out | 5t 2 1-- 0-0 | regular | in or deep | no
`) {
		g := situationOf(t, f[1]).rated(t, batters()[f[2]], 0)
		got := g.Managers[g.State.Fielding()].Defense(g.Turn())
		check.That(t, calls[f[3]](got) == (f[4] == "yes"), "%s: %+v", f[0], got)
	}
}

// The first baseman holds a fast runner and plays behind a slow one: what both are worth.
func TestDefense_holdsRunner(t *testing.T) {
	t.Parallel()
	for speed, holds := range map[float64]bool{3: true, -3: false} {
		g := situation{inning: 3, outs: 1, bases: "1"}.rated(t, batters()["regular"], speed)
		values := g.Turn().DefenseValues()
		behind := values[0]
		for _, v := range values {
			if v.Call == (chance.Defense{PlayBehind: true}) {
				behind = v
			}
		}
		if got := values[0].WinProbability >= behind.WinProbability; got != holds {
			t.Errorf("a runner of speed %+.0f: holding is worth %.4f, playing behind %.4f",
				speed, values[0].WinProbability, behind.WinProbability)
		}
	}
}

// Against a fast batter who hits little the corners come in sometimes, and the batter bunts sometimes: neither can be
// exploited. Against a slow one they stay.
func TestManager_bunters(t *testing.T) {
	t.Parallel()
	weak := chance.Rates{K: .2, BB: .07, HBP: .01, Single: .15, Double: .04, Triple: .004, HR: .015}
	for speed, mixes := range map[float64]bool{3: true, -3: false} {
		g := situation{inning: 3}.rated(t, weak, speed)
		in, bunts := 0, 0
		const turns = 400
		for turn := range uint64(turns) {
			g.Progress.Turns = turn
			tactics := g.Tactics()
			if tactics.Defense.Infield == chance.CornersIn {
				in++
			}
			if tactics.Offense == chance.BuntForHit {
				bunts++
			}
		}
		mixed := in > turns/20 && in < turns && bunts > 0 && bunts < turns
		check.That(t, mixed == mixes && (mixes || in+bunts == 0),
			"speed %+.0f: corners in %d times, %d bunts of %d", speed, in, bunts, turns)
	}
}

// What the side at bat calls in situations that a fan agrees on.
func TestOffense_situations(t *testing.T) {
	t.Parallel()
	for _, f := range check.Rows(`
no runner goes when six behind in the ninth | 9t 0 1-- 0-6 | regular | 0 | steal second, hit and run, sacrifice
a slow runner stays | 2t 2 1-- 0-0 | regular | -3 | steal second
a slugger does not bunt | 7t 0 1-- 0-0 | slugger | 0 | sacrifice, bunt for hit
third is not stolen with two out | 5t 2 -2- 0-0 | regular | 0 | steal third
`) {
		speed := check.Must(strconv.ParseFloat(f[3], 64))(t)
		g := situationOf(t, f[1]).rated(t, batters()[f[2]], speed)
		for turn := range uint64(40) { // of several calls that are expected, each is made sometimes
			g.Progress.Turns = turn
			got := g.Managers[g.State.Batting()].Offense(g.Turn())
			for call := range strings.SplitSeq(f[4], ", ") {
				check.That(t, string(got) != call, "%s: turn %d: %s", f[0], turn, got)
			}
		}
	}
}

// A tired pitcher is relieved, a fresh one stays; the best arm pitches in a close game, the last when it is decided.
func TestSubstitutions_pitchers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		at      situation
		relieve bool
	}{
		{"a fresh starter", situation{inning: 4, batters: 12}, false},
		{"a starter who has faced 30 batters", situation{inning: 7, batters: 30}, true},
		{"a starter who has faced two batters", situation{inning: 1, batters: 2, score: [2]int{2, 0}}, false},
		{"a starter with a shutout and a lead", situation{inning: 7, batters: 19, score: [2]int{0, 3}}, false},
	} {
		g := tt.at.start(t)
		side := g.State.Fielding()
		subs := g.Managers[side].Substitutions(&g.State, g.Progress)
		check.That(t, (subs != nil) == tt.relieve, "%s: %+v", tt.name, subs)
	}
	runs := func(score [2]int) float64 {
		g := situation{inning: 8, batters: 33, score: score}.start(t)
		subs := g.Managers[game.Home].Substitutions(&g.State, g.Progress)
		check.Require(t, len(subs) == 1, "score %v: %+v", score, subs)
		v, err := g.Bot(game.Home).SubstitutionValue(&g.State, g.Progress, subs...)
		check.NoError(t, err)
		return v.Runs
	}
	if closeGame, decided := runs([2]int{3, 4}), runs([2]int{12, 3}); closeGame >= decided {
		t.Errorf("the pitcher of a close game allows %.3f runs, that of a decided one %.3f", closeGame, decided)
	}
}

// BenchmarkManager measures all decisions of both bots in games: .2 ms in the mean, 20 ms at the 99th percentile.
func BenchmarkManager(b *testing.B) {
	all := fixtures(b, true)
	for b.Loop() {
		var times []time.Duration
		measure := func(decide func()) {
			began := time.Now()
			decide()
			times = append(times, time.Since(began))
		}
		for n := range 20 {
			g := all[n].Start(b, uint64(n), game.Options{}, [2]bool{true, true})
			for !g.State.Over() {
				for _, m := range g.Managers {
					measure(func() { m.Substitutions(&g.State, g.Progress) })
				}
				g.Manage()
				for _, side := range []game.Side{g.State.Batting(), g.State.Fielding()} {
					turn := g.Turn() // each side decides for itself, as against a person
					measure(func() {
						if side == g.State.Batting() {
							g.Managers[side].Offense(turn)
						} else {
							g.Managers[side].Defense(turn)
						}
					})
				}
				g.Play(g.Tactics(), g.Answer)
			}
		}
		sum := time.Duration(0)
		for _, t := range times {
			sum += t
		}
		slices.Sort(times)
		mean, late := sum/time.Duration(len(times)), times[len(times)*99/100]
		b.ReportMetric(float64(mean)/1e6, "mean-ms")
		b.ReportMetric(float64(late)/1e6, "p99-ms")
		fmt.Fprintf(os.Stdout, "decisions of the bot: %v in the mean, %v at the 99th percentile\n", mean, late)
	}
}

// A situation is a state of a game between two clubs of the built-in league.
type situation struct {
	inning  int
	half    game.Half
	outs    int
	bases   string // "1-3": runners on first and third
	score   [2]int // visitors, home
	batter  int    // place in the order, 1–9
	batters int    // that the pitcher has faced
}

// start returns the situation in a new game with a DH.
func (at situation) start(tb testing.TB) *bottest.Game {
	tb.Helper()
	g := fixtures(tb, true)[0].Start(tb, 1, game.Options{ExtraInnings: game.Standard}, [2]bool{true, true})
	s := &g.State
	s.Inning, s.Half, s.Outs, s.Score = at.inning, at.half, at.outs, at.score
	team := &s.Teams[s.Batting()]
	team.NextBatter = max(at.batter, 1) - 1
	for i, base := range at.bases {
		if base != '-' {
			s.Bases[i] = game.Runner{Player: team.Order[(team.NextBatter+6+i)%9].Player}
		}
	}
	g.Progress.Workloads[s.Fielding()] = chance.Workload{
		Pitcher: s.Pitcher(), Batters: at.batters, Pitches: 4 * at.batters,
	}
	s.Teams[s.Fielding()].BattersFaced = at.batters
	return g
}

// The first call is worth about what the position is: by the league's run expectancy and by the model of game/odds.
func TestOffenseValues_position(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at            situation
		least, most   float64 // runs
		fewest, share float64 // chance to win
	}{
		{situation{inning: 1}, .35, .7, .4, .55},
		{situation{inning: 5, bases: "123", half: game.Bottom}, 1.9, 2.6, .6, .85},
		{situation{inning: 9, bases: "123", half: game.Bottom}, 1.9, 2.6, .85, 1},
		{situation{inning: 9, outs: 2, score: [2]int{4, 0}, half: game.Bottom}, .05, .2, 0, .01},
	} {
		g := tt.at.start(t)
		v := g.Turn().OffenseValues()[0]
		check.That(t, v.Call == chance.SwingAway && v.Runs >= tt.least && v.Runs <= tt.most &&
			v.WinProbability >= tt.fewest && v.WinProbability <= tt.share,
			"%+v: %+v, want %v to %v runs and %v to %v wins", tt.at, v, tt.least, tt.most, tt.fewest, tt.share)
	}
}

// What both sides expect is an equilibrium: the best call of each is worth the same.
func TestValues_equilibrium(t *testing.T) {
	t.Parallel()
	for _, bases := range []string{"", "1", "-2", "12", "1-3", "--3"} {
		for outs := range 3 {
			g := situation{inning: 6, bases: bases, outs: outs, half: game.Bottom, batters: 12}.start(t)
			turn := g.Turn()
			most, least := 0.0, 1.0
			for _, v := range turn.OffenseValues() {
				most = max(most, v.WinProbability)
			}
			for _, v := range turn.DefenseValues() {
				least = min(least, 1-v.WinProbability)
			}
			check.That(t, math.Abs(most-least) <= .015,
				"bases %q, %d out: the side at bat expects %.4f, the side in the field %.4f", bases, outs, most, least)
		}
	}
}

// A fresh pitcher is worth more than one who is exhausted, and a substitution that the rules forbid nothing.
func TestSubstitutionValue_freshPitcher(t *testing.T) {
	t.Parallel()
	g := situation{inning: 7, batters: 33}.start(t)
	m, s := g.Bot(game.Home), &g.State
	in := game.Substitution{Side: game.Home, Player: m.NextReliever(s), Position: game.Pitcher}
	stay := check.Must(m.SubstitutionValue(s, g.Progress))(t)
	change := check.Must(m.SubstitutionValue(s, g.Progress, in))(t)
	check.That(t, change.WinProbability >= stay.WinProbability+.01 && change.Runs <= stay.Runs-.1,
		"stay %+v, change %+v", stay, change)
	in.Side = game.Away
	v, err := m.SubstitutionValue(s, g.Progress, in)
	check.That(t, err != nil, "another club's pitcher: %+v", v)
}

// After 500 games of the three levels against each other, with all clubs, the ladder has them in order. They are about
// 30 apart and the errors 19, so that other dice would have five samples of six in order.
func TestAll_levelsOnLadder(t *testing.T) {
	t.Parallel()
	all := fixtures(t, true)
	var ladder stats.Ladder
	pairs := [][2]bot.Level{{1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 1}, {1, 3}}
	for n := range 500 { // each with the same clubs and dice from both sides
		p := *all[n/2%len(all)]
		p.Levels = pairs[n%len(pairs)]
		g := p.Start(t, uint64(n/2), game.Options{}, [2]bool{true, true})
		g.Finish()
		m := stats.ManagedGame{Score: g.State.Score, Innings: 9}
		for side := range m.Managers {
			m.Managers[side] = stats.Manager{Bot: true, Level: int(p.Levels[side])}
			m.Clubs[side] = p.Clubs[side].ID
		}
		ladder.Add(m)
	}
	for i, r := range ladder.Managers() {
		t.Logf("level %d: %d ± %d", r.Manager.Level, r.Rating, r.Error)
		check.Equal(t, r.Manager.Level, 3-i, "level")
	}
}
