package bot_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
)

var (
	policyGames = flag.Int("policies.games", 4000, "games of each policy in BenchmarkPolicies")
	policyName  = flag.String("policies.only", "", "the only policy that BenchmarkPolicies plays")
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

// contend plays games of a policy against the bot, each series from both sides.
func contend(tb testing.TB, games int, dh bool, with policy) *contest {
	tb.Helper()
	all := fixtures(tb, dh)
	c := &contest{}
	for n := range games / (2 * seriesGames) {
		c.add(2*seriesGames,
			playSeries(tb, all[n%len(all)], n, game.Away, with)+playSeries(tb, all[n%len(all)], n, game.Home, with))
	}
	return c
}

// BenchmarkPolicies plays each policy against the best level of the bot, which is the default. None wins more than
// .505.
func BenchmarkPolicies(b *testing.B) {
	for b.Loop() {
		most := 0.0
		for _, p := range policies() {
			if *policyName != "" && *policyName != p.name {
				continue
			}
			c := contend(b, *policyGames, true, p)
			fmt.Fprintf(os.Stdout, "%-28s won %.4f of %d games, want at most .505; standard error %.4f\n",
				p.name, c.share(), c.games, c.err())
			most = max(most, c.share()-2*c.err())
		}
		b.ReportMetric(most, "won-2se")
	}
}
