package game_test

import (
	"fmt"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

func apply(t *testing.T, s game.State, events ...string) game.State {
	t.Helper()
	for _, event := range events {
		next, err := s.Apply(parse(t, &s, event))
		if err != nil {
			t.Fatalf("%s at %s: %v", event, describe(&s), err)
		}
		s = next
	}
	return s
}

// 7.01(g): a completed game accepts nothing.
func TestState_completed(t *testing.T) {
	t.Parallel()
	s := apply(t, situation(t, "9b 0 --- 4-4", game.Options{DH: true}), "HR/F7D")
	check.Require(t, s.Over(), "a walk-off home run leaves %s", describe(&s))
	_, play := s.Apply(parse(t, &s, "K"))
	_, substitution := s.Substitute(sub("h15", 1, game.PinchHitter))
	_, forfeit := s.Forfeit(game.Home)
	_, call := s.CallGame()
	for name, err := range map[string]error{
		"play": play, "substitution": substitution, "forfeit": forfeit, "call": call,
	} {
		check.That(t, refusal(t, err) == "7.01(g)", "%s after the end: %v", name, err)
	}
}

// 5.04(a)(2) and (3): the order repeats; the batter interrupted by a third out on the bases leads off with a new count.
func TestApply_battingOrder(t *testing.T) {
	t.Parallel()
	s := apply(t, newGame(t, game.Options{DH: true}), "K", "K", "S7")
	caught := parse(t, &s, "CS2(26)")
	caught.Count = game.Count{Balls: 2, Strikes: 1}
	s = check.Must(s.Apply(caught))(t)
	s = apply(t, s, "K", "K", "K")
	check.That(t, s.Batter() == "a4" && s.Count == (game.Count{}),
		"%s leads off the second with %v, want a4 with a new count", s.Batter(), s.Count)
	s = apply(t, s, "W", "W.1-2", "K", "K", "K", "HR", "K", "K", "K", "K", "W", "W.1-2", "S7.2-3;1-2")
	check.That(t, s.Batter() == "a4",
		"%s bats after the ninth, the first, the second and the third; want a4", s.Batter())
}

// 6.03(b): batting out of turn.
func TestApply_outOfTurn(t *testing.T) {
	t.Parallel()
	by := func(s *game.State, event string, batter game.PlayerID, flags game.Flags) game.Play {
		p := parse(t, s, event)
		p.Batter = batter
		p.Flags |= flags
		return p
	}
	after := func(s game.State, p game.Play) game.State { return check.Must(s.Apply(p))(t) }
	s := newGame(t, game.Options{DH: true})
	onFirst := situation(t, "1t 0 1-- 0-0", game.Options{DH: true})
	unnoticed := after(s, by(&s, "S7", "a4", game.OutOfTurn))
	early := after(s, by(&s, "W", "a2", game.OutOfTurn)) // a2 bats before a1, then a3 as due
	early = after(early, parse(t, &early, "W.1-2"))
	for _, tt := range []struct {
		name          string
		s             game.State
		event         string
		batter        game.PlayerID
		flags         game.Flags
		refused, want string // situation and the next batter
	}{
		{"improper batter without the flag", s, "S7", "a4", 0, "6.03(b)", ""},
		{"(5) without an appeal the next batter follows", s, "S7", "a4", game.OutOfTurn, "", "1t 0 1-- 0-0 a5"},
		{"(3) on appeal the proper batter is out", s, "2/BOOT", "", 0, "", "1t 1 --- 0-0 a2"},
		{"(3) no runner advances on a void play", onFirst, "2.1-2", "", game.OutForBattingOutOfTurn, "6.03(b)(3)", ""},
		{"(5) no appeal after the next pitch", unnoticed, "2/BOOT", "a1", 0, "6.03(b)", ""},
		{"a runner cannot bat", early, "K", "a2", game.OutOfTurn, "6.03(b)", ""},
		{"(7) batters on base are skipped", early, "K", "a1", game.OutOfTurn, "", "1t 1 12- 0-0 a4"},
		{"the proper batter is not out of turn", s, "S7", "", game.OutOfTurn, "6.03(b)", ""},
		{"only players of the order", s, "S7", "a15", game.OutOfTurn, "6.03(b)", ""},
	} {
		next, err := tt.s.Apply(by(&tt.s, tt.event, tt.batter, tt.flags))
		if got := refusal(t, err); got != tt.refused {
			t.Errorf("%s: %v, want refusal by %q", tt.name, err, tt.refused)
		} else if got := describe(&next) + " " + string(next.Batter()); err == nil && got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	check.Equal(t, unnoticed.RunnerOn(game.First).Player, "a4", "6.03(b)(5): is on first")
}

// 5.09(c): an appeal on a runner who left early can be the fourth out. It replaces the third and cancels that
// runner's run.
func TestApply_fourthOut(t *testing.T) {
	t.Parallel()
	s := situation(t, "1t 1 1-3 0-0", game.Options{DH: true})
	p := game.Play{
		Kind: game.BattedOut, Ball: game.BattedBall{Contact: game.FlyBall, Location: "8"},
		Outs: game.Outs{
			{Runner: game.AtBat, Kind: game.FlyOut, Fielders: "8"},
			{Runner: game.First, At: game.First, Kind: game.AppealOut, Fielders: "83"},
			{Runner: game.Third, At: game.Third, Kind: game.AppealOut, Fielders: "5"},
		},
	}
	after := check.Must(s.Apply(p))(t)
	check.Equal(t, describe(&after), "1b 0 --- 0-0", "after the side is out")
	if tally := s.Tally(p); tally.Outs != 2 || tally.Runs != 0 {
		t.Errorf("%d outs and %d runs count, want 2 and none", tally.Outs, tally.Runs)
	}
	book := game.NewScorebook(&s, clubs())
	book.RecordPlay(&s, &p, &after)
	for _, l := range book.BoxScore(&after).Teams[game.Home].Fielding {
		if want := map[game.PlayerID]int{"h3": 0, "h6": 1}; l.Player == "h3" || l.Player == "h6" {
			check.That(t, l.PutOuts == want[l.Player],
				"%s at %s has %d put-outs, want the fourth instead of the third", l.Player, l.Position, l.PutOuts)
		}
	}
	p.Outs[2].Kind = game.TagOut
	_, err := s.Apply(p)
	check.That(t, refusal(t, err) == "5.09(e)", "a fourth out without an appeal: %v", err)
}

// 7.01(b): the player before the lead-off batter starts on second and can be replaced. The runner counts as left
// on base and not as a plate appearance.
func TestApply_automaticRunner(t *testing.T) {
	t.Parallel()
	g := newScored(t, game.Options{DH: true, Innings: 3}).play("K K K K K K K K K K K K K K K K K K")
	r := g.s.RunnerOn(game.Second)
	check.Require(t, r.Player == "a9" && r.Automatic, "%v starts on second, want a9", r)
	g.play("sub:a15:9:PR")
	r = g.s.RunnerOn(game.Second)
	check.That(t, r.Player == "a15" && r.Automatic, "%v is the pinch runner, want a15", r)
	g.play("S8.2-H K K K")
	box := g.box()
	if p := g.pitcher("h10"); p.Runs != 1 || p.EarnedRuns != 0 || p.BattersFaced != 13 {
		t.Errorf("9.16: %d runs, %d earned, %d faced; want 1, 0, 13", p.Runs, p.EarnedRuns, p.BattersFaced)
	}
	if away := box.Teams[game.Away]; away.AutomaticRunners != 1 || away.LeftOnBase != 1 ||
		box.Teams[game.Home].Errors != 0 {
		t.Errorf("%d automatic, %d left on base, %d errors; want 1, 1, 0",
			away.AutomaticRunners, away.LeftOnBase, box.Teams[game.Home].Errors)
	}
}

// 7.01(c), 7.02, 7.03: a game called after enough innings stands; a forfeit is 9 to 0, and the statistics stand.
func TestState_callAndForfeit(t *testing.T) {
	t.Parallel()
	o := game.Options{DH: true}
	for in, over := range map[string]bool{
		"5t 2 --- 0-3": false, "5b 0 --- 0-3": true, "5b 1 --- 2-2": true, "5b 2 --- 4-3": false, "6t 0 --- 4-3": true,
		"6t 0 --- 2-2": true,
	} {
		s := situation(t, in, o)
		called, err := s.CallGame()
		got := refusal(t, err)
		check.That(t, (got == "") == over && (over || got == "7.01(c)"), "called at %s: %v", in, err)
		check.That(t, !over || called.End == game.CalledGame, "called at %s: %q", in, called.End)
		side, won := called.Winner()
		check.That(t, !won || s.Lead() != 0, "called at %s: the %s team won a tie", in, side)
	}
	if s := situation(t, "3t 0 --- 10-0", o); check.Must(s.CallGame())(t).End != game.CalledGame {
		t.Error("a lead of ten is not called")
	}
	s := situation(t, "3t 0 --- 5-0", o)
	lost := check.Must(s.Forfeit(game.Away))(t)
	side, won := lost.Winner()
	check.That(t, won && side == game.Home && lost.Result() == [2]int{0, 9} && lost.Score == [2]int{5, 0},
		"forfeited by away: %v won %v, result %v, score %v", side, won, lost.Result(), lost.Score)
}

// 7.01(g)(3), 9.06(f), (g): only part of a game-winning play counts.
func TestState_limitWalkOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, event string
		want      game.PlayKind
	}{
		{"9b 1 123 4-4", "D7.3-H;2-H;1-3", game.Single},
		{"9b 1 123 5-4", "D7.3-H;2-H;1-H", game.Double},
		{"9b 1 1-- 4-4", "HR8/IPHR.1-H", game.Triple},
		{"9b 1 1-- 4-4", "HR/F7D.1-H", game.HomeRun},
		{"9b 1 --- 4-4", "HR8/IPHR", game.HomeRun},
		{"9b 1 -23 4-4", "9/SF/F9.3-H;2-3", game.BattedOut},
		{"8b 1 123 4-4", "D7.3-H;2-H;1-H", game.Double},
		{"9b 1 123 6-4", "S7.3-H;2-H;1-2", game.Single},
	} {
		s := situation(t, tt.in, game.Options{DH: true})
		p := s.LimitWalkOff(parse(t, &s, tt.event))
		after, err := s.Apply(p)
		check.That(t, err == nil && p.Kind == tt.want,
			"%s at %s becomes a %s, %v; want a %s", tt.event, tt.in, p.Kind, err, tt.want)
		if margin := after.Score[1] - after.Score[0]; after.Over() && p.Kind != game.HomeRun && margin != 1 {
			t.Errorf("%s at %s is won by %d", tt.event, tt.in, margin)
		}
	}
}

// A play of a real game stands as it was ruled, but only where the rules leave something to judge.
func TestApply_asRuled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, event string
		stands    bool
	}{
		{"1t 2 --3 0-0", "63.3-H", true},
		{"1t 2 1-- 0-0", "13/SH/BG1.1-2", true},
		{"1t 0 1-- 0-0", "4/P4/IF", true},
		{"1t 0 12- 0-0", "SB2", false},
		{"1t 2 12- 0-0", "54(1)3/GDP", false},
	} {
		s := situation(t, tt.in, game.Options{DH: true})
		p := parse(t, &s, tt.event)
		_, err := s.Apply(p)
		check.That(t, err != nil, "%s at %s stands without the flag", tt.event, tt.in)
		p.Flags |= game.AsRuled
		if _, err := s.Apply(p); (err == nil) != tt.stands {
			t.Errorf("%s at %s, as ruled: %v", tt.event, tt.in, err)
		}
	}
}

// The mercy rule calls a game at a lead of 20, and of 10 after seven of nine innings, the third-last of shorter games.
func TestState_mercyRule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in      string // visitors' runs first
		innings int
		event   string
		ends    bool
	}{
		{"1t 0 123 18-0", 9, "W.3-H;2-3;1-2", false},
		{"1t 0 123 19-0", 9, "W.3-H;2-3;1-2", true},
		{"1b 0 123 0-19", 9, "W.3-H;2-3;1-2", true},
		{"6b 2 --- 10-0", 9, "K", false},
		{"7b 1 --- 10-0", 9, "K", false},
		{"7b 2 --- 10-0", 9, "K", true},
		{"7b 2 --- 0-10", 9, "K", true},
		{"7b 2 --- 0-9", 9, "K", false},
		{"7t 2 --- 0-10", 9, "K", true},
		{"7t 2 --- 0-9", 9, "K", false},
		{"7t 2 --- 10-0", 9, "K", false}, // the home team has its turn
		{"1b 2 --- 10-0", 3, "K", true},
	} {
		for _, mercy := range []game.Mercy{game.MercyOn, game.MercyOff, ""} {
			s := situation(t, tt.in, game.Options{DH: true, Innings: tt.innings, Mercy: mercy})
			after := apply(t, s, tt.event)
			called := after.End == game.CalledGame
			check.That(t, called == (tt.ends && mercy == game.MercyOn) && after.Over() == called,
				"%s of %d innings, %s, mercy %q: ended %q", tt.in, tt.innings, tt.event, mercy, after.End)
			if side, won := after.Winner(); after.Over() && (!won || after.Score[side] < after.Score[side.Other()]) {
				t.Errorf("%s: won by %s", tt.in, side)
			}
		}
	}
}

// ruleCases has a line for each case: the rule and what it says; a situation; the event that is played in it; the
// situation after it, or "refused" by the rule; and the options, if they are not the standard ones.
const ruleCases = `
7.01(g)(1) no bottom of the last inning with the home team ahead | 9t 2 --- 3-4 | K | 9t 3 --- 3-4 over
7.01(g)(1) the home team bats when it trails | 9t 2 --- 5-4 | K | 9b 0 --- 5-4
7.01(g)(2) the visitors win when the last half-inning ends | 9b 2 --- 5-4 | K | 9b 3 --- 5-4 over
7.01(a) a tie is played on | 9b 2 --- 4-4 | K | 10t 0 --- 4-4
7.01(a) a game of seven innings ends after seven | 7t 2 --- 3-4 | K | 7t 3 --- 3-4 over | seven
7.01(a) the eighth of nine innings is not the last | 8b 2 --- 5-4 | K | 9t 0 --- 5-4
7.01(g)(3) the game ends with the winning run | 9b 1 -2- 4-4 | S8.2-H | 9b 1 1-- 4-5 over
7.01(g)(3) in extra innings too | 11b 0 --3 6-6 | WP.3-H | 11b 0 --- 6-7 over
7.01(g)(3) no run after the winning one | 9b 1 -23 4-4 | S8.3-H;2-H | refused
7.01(g)(3) two runs win when one behind | 9b 1 -23 5-4 | S8.3-H;2-H | 9b 1 1-- 5-6 over
9.06(g) a home run over the fence counts whole | 9b 1 123 4-4 | HR/F7D | 9b 1 --- 4-8 over
7.01(g)(3) a home run inside the park does not | 9b 1 --3 4-4 | HR8/IPHR | refused
9.06(f) a double with the winning run on third is a single | 9b 1 --3 4-4 | D7.3-H | refused
9.06(f) a double with the winning run on second is one | 9b 1 -2- 4-4 | D7.2-H | 9b 1 -2- 4-5 over
9.06(f) a double with the winning run on first is one | 9b 1 1-- 4-4 | D7.1-H | 9b 1 -2- 4-5 over
5.08(b) a walk forces the winning run in | 9b 2 123 4-4 | W.3-H;2-3;1-2 | 9b 2 123 4-5 over
5.08(b) a hit batter does | 9b 2 123 4-4 | HP.3-H;2-3;1-2 | 9b 2 123 4-5 over
7.01(b) extra innings begin with a runner on second | 9b 2 --- 4-4 | K | 10t 0 -2- 4-4 | runner
7.01(b) in both halves | 10t 2 -2- 4-4 | K | 10b 0 -2- 4-4 | runner
7.01(b) not before the last scheduled inning is over | 8b 2 --- 4-4 | K | 9t 0 --- 4-4 | runner

5.08(a)(1) no run when the batter is the third out before first | 1t 2 --3 0-0 | 63.3-H | refused
5.08(a)(1) nor on a caught fly | 1t 2 --3 0-0 | 8/F8.3-H | refused
5.08(a)(1) nor on a third strike | 1t 2 --3 0-0 | K+WP.3-H | refused
5.08(a)(2) no run when the third out is a force | 1t 2 1-3 0-0 | 64(1)/FO.3-H | refused
5.08(a)(2) nor on a double play that ends with one | 1t 1 123 0-0 | 52(3)5(2)/DP.1-2;B-1 | 1b 0 --- 0-0
5.08(a) the force is off when the batter is out first: the run counts | 1t 1 1-3 0-0 | 3(B)36(1)/DP.3-H | 1b 0 --- 1-0
5.08(a) a run before a tag for the third out counts | 1t 2 -2- 0-0 | S8.2-H;BX2(84) | 1b 0 --- 1-0
5.08(a) a run before a steal fails for the third out counts | 1t 2 1-3 0-0 | CS2(24).3-H | 1b 0 --- 1-0
5.08(a)(3) no run behind a runner who is the third out on appeal | 1t 2 123 0-0 | D8/AP.3XH(82);2-H;1-H | refused
5.08(a)(3) a run ahead of that runner counts | 1t 1 1-3 0-0 | 9/AP/DP/F9.3-H;1X1(93) | 1b 0 --- 1-0
5.09(e) a triple play | 1t 0 12- 0-0 | 4(B)6(2)3(1)/LTP/L4 | 1b 0 --- 0-0
5.09(e) three outs, not four | 1t 2 12- 0-0 | 54(1)3/GDP | refused

5.09(a)(5) infield fly with first and second occupied | 1t 0 12- 0-0 | 4/P4/IF | 1t 1 12- 0-0
5.09(a)(5) with the bases full | 1t 1 123 0-0 | 6/P6/IF | 1t 2 123 0-0
5.09(a)(5) not with first only | 1t 0 1-- 0-0 | 4/P4/IF | refused
5.09(a)(5) not with two out | 1t 2 12- 0-0 | 4/P4/IF | refused
5.09(a)(12) a fly dropped on purpose: the batter is out, no runner is forced | 1t 0 1-- 0-0 | 6/P6 | 1t 1 1-- 0-0
5.05(a)(2) a third strike not caught, first open | 1t 0 -2- 0-0 | K+WP.2-3;B-1 | 1t 0 1-3 0-0
5.05(a)(2) with a runner on first and two out | 1t 2 1-- 0-0 | K+WP.1-2;B-1 | 1t 2 12- 0-0
5.05(a)(2) not with a runner on first and less than two out | 1t 1 1-- 0-0 | K+WP.1-2;B-1 | refused
5.09(a)(3) the catcher throws the batter out | 1t 0 --- 0-0 | K23 | 1t 1 --- 0-0
5.04(a)(3) an out on the bases ends the inning | 1t 2 1-- 0-0 | CS2(26) | 1b 0 --- 0-0

5.06(a)(2) one runner to a base | 1t 0 1-- 0-0 | OA.1-1 | 1t 0 1-- 0-0
5.06(a)(2) two runners on second | 1t 0 12- 0-0 | SB2 | refused
5.09(b)(9) no runner passes another | 1t 0 12- 0-0 | S8.1-3 | refused
5.09(b)(9) nor scores past one | 1t 0 12- 0-0 | D8.1-H;2-3 | refused
5.06(b)(1) no runner goes back on a batted ball | 1t 0 -2- 0-0 | 63.2-1 | refused
5.09(b)(6) a force-out | 1t 0 1-- 0-0 | 64(1)/FO | 1t 1 1-- 0-0
9.05(b)(1) no hit with a force-out | 1t 0 1-- 0-0 | S8.1X2(84) | 1t 1 1-- 0-0
6.02(a) a balk moves the runners | 1t 0 1-3 0-0 | BK.3-H;1-2 | 1t 0 -2- 1-0
6.02(a) no balk with the bases empty | 1t 0 --- 0-0 | BK | refused
6.01(c) catcher's interference gives first | 1t 0 1-- 0-0 | C/E2.1-2 | 1t 0 12- 0-0
6.01(a)(6) a runner interferes and is out | 1t 0 1-- 0-0 | 6(1)/RINT/G6 | 1t 1 1-- 0-0
6.03(a) the batter interferes and is out | 1t 0 1-- 0-0 | 2/BINT | 1t 1 1-- 0-0

9.07(a) a steal | 1t 0 1-- 0-0 | SB2 | 1t 0 -2- 0-0
9.07(d) no steal beside a runner caught | 1t 0 12- 0-0 | SB2;CS3(25) | refused
9.07(d) the other runner just advances | 1t 0 12- 0-0 | CS3(25).1-2 | 1t 1 -2- 0-0
9.07(g) indifference | 9t 2 1-- 0-5 | DI.1-2 | 9t 2 -2- 0-5
9.07(h) caught, but safe on an error | 1t 0 1-- 0-0 | CS2(2E4) | 1t 0 -2- 0-0
9.08(a) a sacrifice bunt | 1t 0 1-- 0-0 | 13/SH/BG1.1-2 | 1t 1 -2- 0-0
9.08(a) not with two out | 1t 2 1-- 0-0 | 13/SH/BG1.1-2 | refused
9.08(a) not with the bases empty | 1t 0 --- 0-0 | 13/SH/BG1 | refused
9.08(c) not when a runner is thrown out | 1t 0 1-- 0-0 | 14(1)/SH/BG1 | refused
9.08(d) a sacrifice fly | 1t 1 --3 0-0 | 8/SF/F8.3-H | 1t 2 --- 1-0
9.08(d) not with two out | 1t 2 --3 0-0 | E8/SF/F8.3-H | refused
9.08(d) not without a run | 1t 1 -2- 0-0 | 8/SF/F8.2-3 | refused
9.08(d) not on a ground ball | 1t 1 --3 0-0 | 63/SF/G6.3-H | refused
9.02(a)(17) no double play with two out | 1t 2 1-- 0-0 | 6(1)/GDP/G6 | refused
`

// Each case plays one event in a situation: a rule refuses it, which changes nothing, or it leads to another situation.
func TestApply_rules(t *testing.T) {
	t.Parallel()
	options := map[string]game.Options{
		"": {DH: true, ExtraInnings: game.Standard}, "runner": {DH: true}, "seven": {DH: true, Innings: 7},
	}
	for _, f := range check.Rows(ruleCases) {
		t.Run(f[0], func(t *testing.T) {
			t.Parallel()
			in, event, want := f[1], f[2], f[3]
			rule := ""
			if want == "refused" {
				rule, _, _ = strings.Cut(f[0], " ")
				want = in
			}
			s := situation(t, in, options[f[4]])
			after, err := s.Apply(parse(t, &s, event))
			got := refusal(t, err)
			check.Require(t, got == rule, "%v, want refusal by %q", err, rule)
			got = describe(&after)
			check.That(t, got == want, "%s, want %s", got, want)
		})
	}
}

// When the ball is dead, runners advance as the umpire awards bases; a scorer's record may say otherwise.
func TestApply_awards(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, event string
		legal     bool
	}{
		{"1t 0 1-- 0-0", "DGR/F7.1-3", true},
		{"1t 0 1-- 0-0", "DGR/F7.1-H", false},
		{"1t 0 12- 0-0", "DGR/F7.2-H;1-3", true},
		{"1t 0 -2- 0-0", "DGR/F7.2-3", false},
		{"1t 0 1-- 0-0", "HP.1-2", true},
		{"1t 0 -2- 0-0", "HP.2-3", false},
		{"1t 0 1-3 0-0", "HP.1-2;3-H", false},
		{"1t 0 123 0-0", "HP.3-H;2-3;1-2", true},
		{"1t 0 -2- 0-0", "IW.2-3", false},
		{"1t 0 -2- 0-0", "IW+PB.2-3", true},
		{"1t 0 -2- 0-0", "C/E2.2-3", false},
		{"1t 0 1-- 0-0", "C/E2.1-2", true},
	} {
		s := situation(t, tt.in, game.Options{DH: true})
		p := parse(t, &s, tt.event)
		_, err := s.Apply(p)
		check.Equal(t, err == nil, tt.legal, "%s at %s: %v", tt.event, tt.in, err)
		p.Flags |= game.AsRuled
		_, err = s.Apply(p)
		check.That(t, err == nil, "%s at %s, as ruled: %v", tt.event, tt.in, err)
	}
}

// Of an out more than three the fourth takes the place of the third: three outs are no triple play then, but a double
// play.
func TestTally_fourthOut(t *testing.T) {
	t.Parallel()
	for outs, want := range []bool{true, false} {
		s := situation(t, fmt.Sprintf("1t %d 12- 0-0", outs), game.Options{DH: true})
		p := game.Play{Kind: game.BattedOut, Outs: [4]game.Out{
			{Runner: game.AtBat, Kind: game.FlyOut, Fielders: "8"},
			{Runner: game.Second, At: game.Second, Kind: game.AppealOut, Fielders: "84"},
			{Runner: game.First, At: game.First, Kind: game.AppealOut, Fielders: "43"},
		}}
		check.Must(s.Apply(p))(t)
		got := s.Tally(p)
		check.That(t, got.TriplePlay == want && got.DoublePlay != want, "with %d out: %+v", outs, got)
	}
}
