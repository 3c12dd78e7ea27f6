package bot_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/odds"
	"pressbox/packaging/check"
)

var (
	policyGames = flag.Int("policies.games", 4000, "games of each policy in BenchmarkPolicies")
	policyName  = flag.String("policies.only", "", "a part of the names of the cells that BenchmarkPolicies plays")
	policyAll   = flag.Bool("policies.all", false, "BenchmarkPolicies plays all cells")
)

// A policy is a habit: a manager who decides as the bot does, apart from it.
type policy struct {
	name    string
	offense func(h *habit, s *game.State, progress chance.Progress) (chance.Offense, bool)
	defense func(h *habit, s *game.State, progress chance.Progress) (chance.Defense, bool)
	relieve func(h *habit, s *game.State, progress chance.Progress) []game.Substitution
}

// A habit is a manager with a policy.
type habit struct {
	*bot.Manager
	policy
	side game.Side
	game *bottest.Game
	club game.Club
}

func (h *habit) Offense(turn *bot.Turn) chance.Offense {
	s, progress := &h.game.State, h.game.Progress
	if h.offense != nil {
		if call, ok := h.offense(h, s, progress); ok && (chance.Tactics{Offense: call}).Check(s, progress) == nil {
			return call
		}
	}
	return h.Manager.Offense(turn)
}

func (h *habit) Defense(turn *bot.Turn) chance.Defense {
	s, progress := &h.game.State, h.game.Progress
	if h.defense != nil {
		if call, ok := h.defense(h, s, progress); ok && (chance.Tactics{Defense: call}).Check(s, progress) == nil {
			return call
		}
	}
	return h.Manager.Defense(turn)
}

func (h *habit) Substitutions(s *game.State, progress chance.Progress) []game.Substitution {
	if h.relieve != nil && s.Fielding() == h.side && progress.Pitches == (chance.Pitches{}) {
		if subs := h.relieve(h, s, progress); subs != nil {
			if len(subs) == 0 {
				return nil
			}
			if _, err := s.Substitute(subs...); err == nil {
				return subs
			}
		}
	}
	return h.Manager.Substitutions(s, progress)
}

// odds returns the chance of success shown with a call.
func (h *habit) odds(s *game.State, progress chance.Progress, call chance.Offense) float64 {
	return h.game.Simulator.Odds(s, progress, chance.Tactics{Offense: call}).Chance
}

func always(call chance.Offense) func(*habit, *game.State, chance.Progress) (chance.Offense, bool) {
	return func(*habit, *game.State, chance.Progress) (chance.Offense, bool) { return call, true }
}

func on(s *game.State, base int) bool { return s.Bases[base-1].Player != "" }

// throwsOver throws twice to the base of every batter with a runner.
func throwsOver(_ *habit, s *game.State, progress chance.Progress) (chance.Defense, bool) {
	return chance.Defense{Pitch: chance.PickoffThrow}, s.Bases != [3]game.Runner{} && progress.PickoffThrows < 2
}

// stealsByOdds steals whenever the shown odds exceed the break-even by the run expectancy.
func stealsByOdds(h *habit, s *game.State, progress chance.Progress) (chance.Offense, bool) {
	breakEven := map[chance.Offense][3]float64{
		chance.StealSecond: {.713, .711, .718}, chance.StealThird: {.78, .69, .85}, chance.DoubleSteal: {.62, .57, .75},
		chance.StealHome: {.85, .66, .33},
	}
	for _, call := range []chance.Offense{chance.DoubleSteal, chance.StealSecond, chance.StealThird, chance.StealHome} {
		if (chance.Tactics{Offense: call}).Check(s, progress) == nil &&
			h.odds(s, progress, call) > breakEven[call][s.Outs] {
			return call, true
		}
	}
	return "", false
}

// bunts bunts for a hit with the bases empty if the shown odds exceed 38 %.
func bunts(h *habit, s *game.State, progress chance.Progress) (chance.Offense, bool) {
	return chance.BuntForHit, s.Bases == [3]game.Runner{} && h.odds(s, progress, chance.BuntForHit) > .38
}

// stealsOrBunts does both.
func stealsOrBunts(h *habit, s *game.State, progress chance.Progress) (chance.Offense, bool) {
	if call, ok := stealsByOdds(h, s, progress); ok {
		return call, true
	}
	return bunts(h, s, progress)
}

// wholeStaff brings in the best arm for the next four batters, the other starters included, after three batters.
func wholeStaff(h *habit, s *game.State, progress chance.Progress) []game.Substitution {
	return h.bestArm(s, progress, 3, true)
}

// quickHook brings in the best relief pitcher after two times through the order, and after each six batters.
func quickHook(h *habit, s *game.State, progress chance.Progress) []game.Substitution {
	faced := 18
	if s.Teams[h.side].Relieved {
		faced = 6
	}
	return h.bestArm(s, progress, faced, false)
}

// bestArm returns a change to the pitcher who is expected to allow the next four batters the least, if the current
// one has faced enough batters.
func (h *habit) bestArm(s *game.State, progress chance.Progress, faced int, starters bool) []game.Substitution {
	team := &s.Teams[h.side]
	if work := progress.Workloads[h.side]; team.BattersFaced < 3 || work.Pitcher != team.Pitcher ||
		work.Batters < faced {
		return nil
	}
	next := *s
	allowed := func(id game.PlayerID) float64 {
		next.Teams[h.side].Pitcher = id
		sum := 0.0
		for i := range 4 {
			next.Teams[h.side.Other()].NextBatter = (s.Teams[h.side.Other()].NextBatter + i) % 9
			r := h.game.Simulator.ExpectedRates(&next, progress, chance.Tactics{})
			sum += .57*(r.BB+r.HBP) + .72*r.Single + 1.02*r.Double + 1.3*r.Triple + 1.65*r.HR
		}
		return sum
	}
	best, least := team.Pitcher, allowed(team.Pitcher)
	for _, id := range team.Bench {
		p, _ := h.club.Player(id)
		if !p.CanPitch() || slices.Contains(p.Positions, "SP") && !starters {
			continue
		}
		if runs := allowed(id); runs < least {
			best, least = id, runs
		}
	}
	if best == team.Pitcher {
		return nil
	}
	slot := 0
	for i := range team.Order {
		if team.DH == 0 && team.Order[i].Position == game.Pitcher {
			slot = i + 1
		}
	}
	return []game.Substitution{{Side: h.side, Player: best, Slot: slot, Position: game.Pitcher}}
}

// changing brings in the best relief pitcher after each three batters.
func changing(h *habit, s *game.State, progress chance.Progress) []game.Substitution {
	return h.bestArm(s, progress, 3, false)
}

// stays keeps the pitcher.
func stays(h *habit, s *game.State, progress chance.Progress) []game.Substitution {
	usual := h.Manager.Substitutions(s, progress)
	if len(usual) == 1 && usual[0].Position == game.Pitcher && s.Teams[h.side].Pitcher != "" {
		return []game.Substitution{}
	}
	return usual
}

// fields calls a defense while a condition holds.
func fields(d chance.Defense, when func(s *game.State) bool) func(*habit, *game.State, chance.Progress) (
	chance.Defense, bool) {
	return func(_ *habit, s *game.State, _ chance.Progress) (chance.Defense, bool) { return d, when(s) }
}

// calls makes a call of the offense while a condition holds.
func calls(o chance.Offense, when func(s *game.State) bool) func(*habit, *game.State, chance.Progress) (
	chance.Offense, bool) {
	return func(_ *habit, s *game.State, _ chance.Progress) (chance.Offense, bool) { return o, when(s) }
}

// policies returns the habits that won against an older bot, and others.
func policies() []policy {
	return []policy{
		{name: "pick-off throws", defense: throwsOver},
		{name: "steals by the shown odds", offense: stealsByOdds},
		{name: "bunts for a hit", offense: bunts},
		{name: "steals and bunts", offense: stealsOrBunts},
		{name: "steals, bunts and throws", offense: stealsOrBunts, defense: throwsOver},
		{name: "thirteen-man staff", relieve: wholeStaff},
		{name: "all of these", offense: stealsOrBunts, defense: throwsOver, relieve: wholeStaff},
		{name: "quick hook", relieve: quickHook},
		{name: "never sacrifices", offense: func(h *habit, _ *game.State, _ chance.Progress) (chance.Offense, bool) {
			return chance.SwingAway, h.Manager.Offense(h.game.Turn()) == chance.Sacrifice
		}},
		{name: "squeezes", offense: always(chance.Squeeze)},
		{name: "hit and run", offense: always(chance.HitAndRun)},
		{
			name: "walks with first open",
			defense: func(_ *habit, s *game.State, _ chance.Progress) (chance.Defense, bool) {
				return chance.Defense{Pitch: chance.IntentionalWalk}, !on(s, 1) && on(s, 2) && s.Outs == 2
			},
		},
		{name: "changes each three batters", relieve: changing},
		{name: "changes, steals and throws", relieve: changing, offense: stealsByOdds, defense: throwsOver},
		{name: "starter stays", relieve: stays},
		{name: "runs at once", offense: calls(chance.StealSecond, func(s *game.State) bool { return true })},
		{name: "sacrifices early", offense: calls(chance.Sacrifice, func(s *game.State) bool { return s.Outs == 0 })},
		{name: "takes with the bases full", offense: calls(chance.Take,
			func(s *game.State) bool { return on(s, 1) && on(s, 2) && on(s, 3) })},
		{name: "infield in", defense: fields(chance.Defense{Infield: chance.InfieldIn},
			func(s *game.State) bool { return on(s, 3) && s.Outs < 2 })},
		{name: "double-play depth", defense: fields(chance.Defense{Infield: chance.DoublePlayDepth},
			func(s *game.State) bool { return on(s, 1) && s.Outs < 2 })},
		{name: "lines late", defense: fields(chance.Defense{GuardLines: true},
			func(s *game.State) bool { return s.Inning >= s.Options.ScheduledInnings()-1 })},
		{name: "pitches around with first open", defense: fields(chance.Defense{Pitch: chance.PitchAround},
			func(s *game.State) bool { return !on(s, 1) && (on(s, 2) || on(s, 3)) })},
		{name: "pitch-outs", defense: fields(chance.Defense{Pitch: chance.PitchOut},
			func(s *game.State) bool { return on(s, 1) && !on(s, 2) })},
		{name: "shallow", defense: fields(chance.Defense{Outfield: chance.Shallow},
			func(s *game.State) bool { return on(s, 2) })},
		{
			name: "deep and behind the runner",
			defense: func(_ *habit, s *game.State, _ chance.Progress) (chance.Defense, bool) {
				return chance.Defense{Outfield: chance.Deep, PlayBehind: on(s, 1) && !on(s, 2)}, true
			},
		},
	}
}

// seriesGames is the number of games that two clubs play in a row, with rotations of starters and relief pitchers
// who tire.
const seriesGames = 10

// playSeries plays a series, the manager with the policy on one side, and returns the games that it wins.
func playSeries(tb testing.TB, p *bottest.Pairing, n int, side game.Side, with policy) (won float64) {
	tb.Helper()
	work := chance.RecentWork{}
	for day := range seriesGames {
		today := p.WithStarters(day, day)
		today.Recent = work
		g := today.Start(tb, uint64(n*seriesGames+day), game.Options{}, [2]bool{true, true})
		g.Managers[side] = &habit{g.Bot(side), with, side, g, p.Clubs[side]}
		g.Finish()
		if winner, ok := g.State.Winner(); ok && winner == side {
			won++
		}
		work = work.Tomorrow(g.Pitches)
	}
	return won
}

// A setting is the kind of games in which a policy is tried.
type setting struct {
	innings int
	single  bool // with a day before that is drawn, instead of ten games in a row
	dh      bool
}

func (k setting) String() string {
	return fmt.Sprintf("%d innings, %s, %s", k.innings, map[bool]string{true: "single", false: "series"}[k.single],
		map[bool]string{true: "DH", false: "no DH"}[k.dh])
}

// settings returns all of them: short games are single ones.
func settings() (all []setting) {
	for _, dh := range []bool{true, false} {
		all = append(all, setting{9, false, dh}, setting{9, true, dh}, setting{3, true, dh})
	}
	return all
}

// playSingle plays one game with rest that is drawn, and returns 1 if the manager with the policy wins.
func (k setting) playSingle(tb testing.TB, p *bottest.Pairing, n int, side game.Side, with policy) (won float64) {
	tb.Helper()
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], uint64(n))
	today := *p
	today.Recent = seed.Rest(p.Clubs[0])
	maps.Copy(today.Recent, seed.Rest(p.Clubs[1]))
	for i, c := range p.Clubs {
		today.Lineups[i] = check.Must(bot.SuggestLineup(c, p.Ratings, today.Recent, k.dh))(tb)
	}
	g := today.Start(tb, uint64(n), game.Options{Innings: k.innings}, [2]bool{true, true})
	g.Managers[side] = &habit{g.Bot(side), with, side, g, p.Clubs[side]}
	g.Finish()
	if winner, ok := g.State.Winner(); ok && winner == side {
		return 1
	}
	return 0
}

// contend plays games of a policy against the bot, each game or series from both sides.
func contend(tb testing.TB, games int, k setting, with policy) *contest {
	tb.Helper()
	all, each := fixtures(tb, k.dh), seriesGames
	if k.single {
		each = 1
	}
	c := &contest{}
	for n := range games / (2 * each) {
		won := 0.0
		for _, side := range game.Sides() {
			if k.single {
				won += k.playSingle(tb, all[n%len(all)], n, side, with)
			} else {
				won += playSeries(tb, all[n%len(all)], n, side, with)
			}
		}
		c.add(2*each, won)
	}
	return c
}

// strongest holds the cells that came closest to winning when all were played.
func strongest() []string {
	var all []string
	for cell, policies := range map[string][]string{
		"9 innings, series, DH":    {"thirteen-man staff", "steals by the shown odds"},
		"9 innings, single, DH":    {"thirteen-man staff", "changes each three batters"},
		"9 innings, single, no DH": {"thirteen-man staff", "changes each three batters"},
		"3 innings, single, DH": {
			"thirteen-man staff", "changes each three batters", "steals and bunts", "never sacrifices",
			"steals by the shown odds",
		},
		"3 innings, single, no DH": {"thirteen-man staff"},
	} {
		for _, policy := range policies {
			all = append(all, cell+": "+policy)
		}
	}
	return all
}

// BenchmarkPolicies plays policies against the best level of the bot, which is the default: the strongest cells, or
// with -policies.all all of them. None wins more than .505.
func BenchmarkPolicies(b *testing.B) {
	for b.Loop() {
		most := 0.0
		for _, k := range settings() {
			for _, p := range policies() {
				cell := k.String() + ": " + p.name
				if !*policyAll && !slices.Contains(strongest(), cell) || !strings.Contains(cell, *policyName) {
					continue
				}
				c := contend(b, *policyGames, k, p)
				if *policyAll && c.share()+2*c.err() > .505 {
					c = contend(b, 5**policyGames, k, p)
				}
				fmt.Fprintf(os.Stdout, "%-60s won %.4f of %d games, want at most .505; standard error %.4f\n",
					cell, c.share(), c.games, c.err())
				most = max(most, c.share()-2*c.err())
			}
		}
		b.ReportMetric(most, "won-2se")
	}
}

var ceilingGames = flag.Int("ceiling.games", 200,
	"games that the search of BenchmarkCeiling plays; the bot plays twenty times as many")

// gains holds the win probability gained by decisions that are not the bot's: calls of the offense and of the
// defense, pitchers, pinch hitters.
type gains [4]float64

// A searcher decides better than the bot against a side that decides nothing, at any cost. Its calls are the best
// against none, by the exact distribution of the turn. Each change that it considers is played on, many times with
// the same dice as what the bot would do; a second set of dice shows what it is worth.
type searcher struct {
	*bot.Manager
	game   *bottest.Game
	side   game.Side
	tb     testing.TB
	gained gains
}

func (m *searcher) Offense(turn *bot.Turn) chance.Offense {
	best, _ := turn.AgainstNothing()
	m.gained[0] += turn.WinProbability(best, chance.Defense{}) - turn.WinProbability(m.Manager.Offense(turn),
		chance.Defense{})
	return best
}

func (m *searcher) Defense(turn *bot.Turn) chance.Defense {
	_, best := turn.AgainstNothing()
	m.gained[1] += turn.WinProbability(chance.SwingAway,
		m.Manager.Defense(turn)) - turn.WinProbability(chance.SwingAway, best)
	return best
}

// Rollouts of a change: those that decide, and those that show what it is worth.
const (
	deciding = 48
	showing  = 32
)

func (m *searcher) Substitutions(s *game.State, progress chance.Progress) []game.Substitution {
	usual := m.Manager.Substitutions(s, progress)
	best, most, base := usual, 0.0, []float64(nil)
	for _, choice := range m.candidates(s, progress, usual) {
		if _, err := s.Substitute(choice...); err != nil {
			continue
		}
		if base == nil {
			base = m.play(s, progress, usual, 0, deciding)
		}
		gain, err := compare(m.play(s, progress, choice, 0, deciding), base)
		if gain > 1.5*err && gain > most {
			best, most = choice, gain
		}
	}
	if most > 0 {
		gain, _ := compare(m.play(s, progress, best, deciding, showing), m.play(s, progress, usual, deciding, showing))
		if s.Fielding() == m.side {
			m.gained[2] += gain
		} else {
			m.gained[3] += gain
		}
	}
	return best
}

// candidates returns the changes that are worth a search: another pitcher, or none, at the start of a half-inning and
// where the bot changes the pitcher; a hitter from the sixth inning on who hits better than the one whose turn it is.
func (m *searcher) candidates(
	s *game.State, progress chance.Progress, usual []game.Substitution,
) (all [][]game.Substitution) {
	team := &s.Teams[m.side]
	if progress.Pitches != (chance.Pitches{}) || len(usual) > 1 || s.Over() {
		return nil
	}
	if s.Fielding() == m.side {
		starts := s.Outs == 0 && s.Bases == [3]game.Runner{}
		if team.Pitcher == "" || team.BattersFaced < 3 || s.Inning < 4 || len(usual) == 0 && !starts {
			return nil
		}
		if len(usual) == 1 {
			all = append(all, nil)
		}
		if in := m.NextReliever(s); in != "" && (len(usual) == 0 || usual[0].Player != in) {
			all = append(all, []game.Substitution{{Side: m.side, Player: in, Position: game.Pitcher}})
		}
		return all
	}
	if len(usual) == 1 {
		return [][]game.Substitution{nil}
	}
	if in := m.bestHitter(s, progress); s.Inning >= 6 && in != "" {
		all = append(all,
			[]game.Substitution{{Side: m.side, Player: in, Slot: team.NextBatter + 1, Position: game.PinchHitter}})
	}
	return all
}

// bestHitter returns the player on the bench who reaches base most often, "" if that is the batter whose turn it is.
func (m *searcher) bestHitter(s *game.State, progress chance.Progress) (best game.PlayerID) {
	team := &s.Teams[m.side]
	next, most := *s, 0.0
	for _, id := range append([]game.PlayerID{s.Batter()}, team.Bench...) {
		next.Teams[m.side].Order[team.NextBatter].Player = id
		if r := m.game.Simulator.ExpectedRates(&next, progress, chance.Tactics{}); 1-r.K-r.Out() > most+.01 {
			best, most = id, 1-r.K-r.Out()
		}
	}
	if best == s.Batter() {
		return ""
	}
	return best
}

// compare returns the mean difference of two samples with the same dice, and its standard error.
func compare(a, b []float64) (mean, err float64) {
	sum, squares, n := 0.0, 0.0, float64(len(a))
	for i := range a {
		sum += a[i] - b[i]
		squares += (a[i] - b[i]) * (a[i] - b[i])
	}
	mean = sum / n
	return mean, math.Sqrt((squares/n - mean*mean) / n)
}

// horizonHalves is the number of half-innings that a rollout plays; then the model of game/odds gives the chance
// to win.
const horizonHalves = 5

// play plays on after substitutions with n sets of dice from the first one on, and returns the chances to win.
func (m *searcher) play(s *game.State, progress chance.Progress, subs []game.Substitution, first, n int) []float64 {
	after, err := s.Substitute(subs...)
	check.Require(m.tb, err == nil, "%+v: %v", subs, err)
	model, won := odds.For(s.Options), make([]float64, n)
	for i := range won {
		var seed chance.Seed
		binary.BigEndian.PutUint64(seed[8:], uint64(first+i)+1) // the dice of the game are unknown
		g := *m.game
		g.State, g.Progress, g.Simulator, g.Pitches = after, progress, m.game.Simulator.WithSeed(seed),
			map[game.PlayerID]int{}
		g.Managers = [2]bottest.Manager{}
		g.Managers[m.side] = &hasty{g.Bot(m.side)}
		for half, halves := s.Half, 0; halves < horizonHalves && !g.State.Over(); {
			g.Manage()
			g.Play(chance.Tactics{}, g.Answer)
			if g.State.Half != half {
				half = g.State.Half
				halves++
			}
		}
		won[i] = model.HomeWin(&g.State)
		if m.side == game.Away {
			won[i] = 1 - won[i]
		}
	}
	return won
}

// A hasty manager substitutes as the bot does and calls nothing.
type hasty struct{ *bot.Manager }

func (h *hasty) Offense(*bot.Turn) chance.Offense { return chance.SwingAway }
func (h *hasty) Defense(*bot.Turn) chance.Defense { return chance.Defense{} }

// search plays a game of a searcher against a side that decides nothing, and returns what its decisions gained
// over the bot's.
func search(tb testing.TB, p *bottest.Pairing, n int, side game.Side) gains {
	tb.Helper()
	g := p.Start(tb, uint64(n), game.Options{}, [2]bool{})
	m := &searcher{Manager: g.Bot(side), game: g, side: side, tb: tb}
	g.Managers[side] = m
	g.Finish()
	return m.gained
}

// BenchmarkCeiling compares the bot with a search, both against a side that decides nothing. What the search wins
// more is the sum of what its decisions gain: to count its wins would take a hundred times as many games. The bot
// reaches .8 of its margin, and .53.
func BenchmarkCeiling(b *testing.B) {
	for b.Loop() {
		bots := compete(b, 20**ceilingGames, true)
		all, won, by := fixtures(b, true), make([]float64, *ceilingGames), gains{}
		for n := range won {
			g := search(b, all[n%len(all)], n, game.Side(n/len(all)%2))
			for i := range g {
				won[n] += g[i]
				by[i] += g[i] / float64(len(won))
			}
		}
		gain, err := compare(won, make([]float64, len(won)))
		fmt.Fprintf(os.Stdout,
			"against no decisions: the bot won %.4f of %d games, standard error %.4f; the search %.4f more in %d, "+
				"standard error %.4f (offense %.4f, defense %.4f, pitchers %.4f, pinch hitters %.4f)\n",
			bots.share(), bots.games, bots.err(), gain, len(won), err, by[0], by[1], by[2], by[3])
		margin := bots.share() - .5
		b.ReportMetric(bots.share()+2*bots.err(), "won+2se")
		b.ReportMetric(margin/(margin+gain), "x-ceiling")
	}
}

var levelGames = flag.Int("levels.games", 4000, "games of each pair of levels in BenchmarkLevels")

// versus plays games of a level of the bot against another one.
func versus(tb testing.TB, games int, dh bool, level, other bot.Level) *contest {
	tb.Helper()
	c := &contest{}
	all := fixtures(tb, dh)
	for n := range games / 2 {
		p := *all[n%len(all)]
		won := 0.0
		for side := range 2 {
			p.Levels[side], p.Levels[1-side] = level, other
			g := p.Start(tb, uint64(n), game.Options{}, [2]bool{true, true})
			g.Finish()
			if winner, ok := g.State.Winner(); ok && winner == game.Side(side) {
				won++
			}
		}
		c.add(2, won)
	}
	return c
}

// BenchmarkLevels plays each level against the next lower one. It wins at least .515.
func BenchmarkLevels(b *testing.B) {
	for b.Loop() {
		least := 1.0
		for level := bot.Expert; level > bot.Beginner; level-- {
			c := versus(b, *levelGames, true, level, level-1)
			fmt.Fprintf(os.Stdout, "level %d against %d: won %.4f of %d games, want .515; standard error %.4f\n",
				level, level-1, c.share(), c.games, c.err())
			least = min(least, c.share()+2*c.err())
		}
		b.ReportMetric(least, "won+2se")
	}
}

// A beginner calls nothing but sacrifices; an expert also steals.
func TestLevels_calls(t *testing.T) {
	t.Parallel()
	for level, want := range map[bot.Level][]chance.Offense{
		bot.Beginner: {chance.SwingAway, chance.Sacrifice},
		bot.Expert:   {chance.SwingAway, chance.Sacrifice, chance.StealSecond},
	} {
		p := *fixtures(t, false)[3]
		p.Levels = [2]bot.Level{level, level}
		called := map[chance.Offense]int{}
		for n := range 6 {
			g := p.Start(t, uint64(n), game.Options{}, [2]bool{true, true})
			for !g.State.Over() {
				g.Manage()
				tactics := g.Tactics()
				called[tactics.Offense]++
				check.That(t, level != bot.Beginner || tactics.Defense == (chance.Defense{}),
					"a beginner calls %+v", tactics.Defense)
				g.Play(tactics, g.Answer)
			}
		}
		for _, call := range want {
			check.That(t, called[call] != 0, "level %d: no %q in %v", level, call, called)
		}
		check.That(t, level != bot.Beginner || len(called) <= len(want), "a beginner calls %v", called)
	}
}
