package game_test

import (
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

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
