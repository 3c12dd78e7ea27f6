package game_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

// 9.04: runs batted in.
func TestTally_runsBattedIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, event string
		want      int
	}{
		{"1t 0 --3 0-0", "S7.3-H", 1},
		{"1t 0 123 0-0", "HR/F7D", 4},
		{"1t 0 --3 0-0", "63.3-H", 1},
		{"1t 0 123 0-0", "W.3-H;2-3;1-2", 1},
		{"1t 0 123 0-0", "C/E2.3-H;2-3;1-2;B-1", 1},
		{"1t 0 1-3 0-0", "64(1)3/GDP/G6.3-H", 0}, // 9.04(b)(1)
		{"1t 0 1-3 0-0", "64(1)3/DP/L6.3-H", 1},  // no ground ball
		{"1t 1 --3 0-0", "E6.3-H;B-1", 1},        // 9.04(a)(3): the run would have scored anyway
		{"1t 2 --3 0-0", "E6.3-H;B-1", 0},        // 9.04(a)(3): not with two out
		{"1t 0 -2- 0-0", "E6.2-H;B-1", 0},        // nor from second
		{"1t 0 -2- 0-0", "S7.2-H(NR)", 0},        // the scorer rules otherwise
		{"1t 0 --3 0-0", "WP.3-H", 0},
		{"1t 0 --3 0-0", "PB.3-H", 0},
		{"1t 0 --3 0-0", "BK.3-H", 0},
		{"1t 0 --3 0-0", "SBH", 0},
		{"1t 0 --3 0-0", "W+WP.3-H", 0},
		{"1t 0 --3 0-0", "FC6.3-H", 1},
		{"1t 1 --3 0-0", "8/SF/F8.3-H", 1},
		{"1t 1 --3 0-0", "13/SH/BG1.3-H", 1},
		{"1t 0 1-- 0-0", "S9.1-H(E9)", 0},      // 9.04(a)(1): aided by an error
		{"1t 0 -2- 0-0", "S9.2XH(9E2)", 0},     // nor when the throw beat the runner
		{"1t 0 -2- 0-0", "S9.2-H(E9)(RBI)", 1}, // unless the scorer rules otherwise
		{"1t 0 1-- 0-0", "D9.1-H(E9);B-H", 0},  // who scores behind that runner scores on the same error
		{"1t 0 -23 0-0", "S9.3-H;2-H(E9)", 1},  // who scores ahead does not
		{"1t 0 -23 0-0", "FC5.3-H(E5);2-H", 0},
		{"1t 0 123 0-0", "64(1)/FO.3-H;2-H(E4);B-1", 1},
		{"1t 0 1-3 0-0", "FC4/GDP.3-H;1X2(46);BX1(463)", 0}, // 9.04(b)(1)
		{"1t 0 1-3 0-0", "E3/GDP.3-H;1-2;B-1", 0},           // 9.04(b)(2)
		{"1t 0 1-3 0-0", "6E3.3-H;1-2;B-1", 1},              // an out that was missed
		{"1t 0 1-3 0-0", "6E3/GDP.3-H;1-2;B-1", 0},
		{"1t 0 1-3 0-0", "6E3.3-H(E2);1-2;B-1", 0},
		{"1t 0 -23 0-0", "6E3.3-H(E2);2-H;B-1", 0},
		{"1t 0 -23 0-0", "6E3.3-H;2-H(E2);B-1", 1},
	} {
		s := situation(t, tt.in, game.Options{DH: true})
		got := s.Tally(parse(t, &s, tt.event)).RBI
		check.That(t, got == tt.want, "9.04: %s at %s bats %d in, want %d", tt.event, tt.in, got, tt.want)
	}
}

// 9.02(a)(1): at-bats, and 9.05: hits.
func TestTally_atBats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		event         string
		turn, atBat   bool
		hit, outs, er int
	}{
		{"S7", true, true, 1, 0, 0},
		{"D7", true, true, 2, 0, 0},
		{"T7", true, true, 3, 0, 0},
		{"HR/F7D.1-H", true, true, 4, 0, 0},
		{"63", true, true, 0, 1, 0},
		{"K", true, true, 0, 1, 0},
		{"E6.B-1;1-2", true, true, 0, 0, 1},
		{"FC6.B-1;1-2", true, true, 0, 0, 0},
		{"64(1)3/GDP", true, true, 0, 2, 0},
		{"W.1-2", true, false, 0, 0, 0},
		{"IW.1-2", true, false, 0, 0, 0},
		{"HP.1-2", true, false, 0, 0, 0},
		{"C/E2.1-2", true, false, 0, 0, 1},
		{"13/SH/BG1.1-2", true, false, 0, 1, 0},
		{"E1/SH/BG1.1-2;B-1", true, false, 0, 0, 1},
		{"SB2", false, false, 0, 0, 0},
		{"CS2(26)", false, false, 0, 1, 0},
		{"PO1(13)", false, false, 0, 1, 0},
		{"FLE5/P5F", false, false, 0, 0, 1},
		{"BK.1-2", false, false, 0, 0, 0},
		{"K+CS2(26)/DP", true, true, 0, 2, 0},
	} {
		s := situation(t, "1t 0 1-- 0-0", game.Options{DH: true})
		got := s.Tally(parse(t, &s, tt.event))
		check.That(t, got.PlateAppearance == tt.turn && got.AtBat == tt.atBat && got.HitBases == tt.hit &&
			got.Outs == tt.outs && got.Errors == tt.er, "%s: %+v, want %+v", tt.event, got, tt)
	}
}

// 9.16: earned runs. Each case is the visitors' first inning; h10 pitches.
func TestScorebook_earnedRuns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, plays  string
		runs, earned int
	}{
		{"(a) hits, walks, steals, wild pitches and balks earn", "W SB2 WP.2-3 BK.3-H K K K", 1, 1},
		{"(a) a sacrifice fly earns", "T7 8/SF/F8.3-H K K", 1, 1},
		{"(b)(1) after the third chance for an out none is earned", "E6 K K S7.1-2 HR.2-H;1-H K", 3, 0},
		{"(b)(1) a dropped foul fly is a chance", "K K FLE5 S7 HR.1-H K", 2, 0},
		{"(b)(2) a batter who reached on an error is unearned", "E6 HR.1-H K K K", 2, 1},
		{"(b)(2) and the one who replaced that runner on a fielder's choice", "E6 64(1)/FO HR.1-H K K", 2, 1},
		{"(b)(3) and a runner whose out stealing was missed", "S7 CS2(2E4) HR.2-H K K K", 2, 1},
		{"(c) an error that only advances does not matter if a hit follows", "S7 SB2.1-3(E2) HR.3-H K K K", 2, 2},
		{"(c) not when nothing does", "S7 SB2.1-3(E2) 63.3-H K K", 1, 0},
		{"(c) a run that scores on a passed ball", "T7 PB.3-H K K K", 1, 0},
		{"(c) unless a later hit would have brought it in", "T7 PB.3-H S7 K K K", 1, 1},
		{"(d) a walk pushes the runners of the errorless inning", "S7 PB.1-2 W W.2-3;1-2 63.3-H;2-3;1-2 K K", 1, 1},
		{"(e) interference is unearned", "C/E2.B-1 HR.1-H K K K", 2, 1},
		{"(e) a third strike that got away on a passed ball", "K+PB.B-1 HR.1-H K K K", 2, 1},
		{"(e) on a wild pitch it earns", "K+WP.B-1 HR.1-H K K K", 2, 2},
		{"(c) who scores behind a runner helped by an error scores on it too", "S7 D9.1-H(E9);B-H K K K", 2, 0},
		{"(c) who scores ahead of that runner does not", "S7 S7.1-2 D9.2-H;1-H(E9) K K K", 2, 1},
		{"(c) also after a fielder's choice", "S7 S7.1-2 SB3;SB2 FC5.3-H(E5);2-H K K K", 2, 0},
		{
			"(b) an error and a double play after it are two outs, not three",
			"E6 64(1)3/GDP S7 S7.1-2 HR.2-H;1-H K", 3, 3,
		},
	} {
		g := newScored(t, game.Options{DH: true}).play(tt.plays)
		if g.s.Half != game.Bottom {
			t.Fatalf("%s: %s", tt.name, describe(&g.s))
		}
		if p := g.pitcher("h10"); p.Runs != tt.runs || p.EarnedRuns != tt.earned {
			t.Errorf("9.16%s: %d runs, %d earned; want %d, %d", tt.name, p.Runs, p.EarnedRuns, tt.runs, tt.earned)
		}
	}
}

// 9.16(g), (h), (i): runs charged to a relief pitcher. A line has the runs and the earned runs of h10 and of h11, and
// how many runners h11 inherited and let in.
func TestScorebook_reliefPitchers(t *testing.T) {
	t.Parallel()
	for _, f := range check.Rows(`
(g) runners left on base are charged to the pitcher who left them | S7 S7.1-2 @h11 HR.2-H;1-H K K K | 2 2 1 1 2 2
(g) a number of runners: the force leaves the run charged | W @h11 64(1)/FO S7.1-2 S7.2-H;1-2 K K | 1 1 0 0 1 1
(g) the one in front is forced: charges move up | W W.1-2 @h11 65(2)/FO.1-2;B-1 S7.2-H;1-2 63.2-3;1-2 K | 1 1 0 0 2 1
(g) a double play from home, the others move up | W W.1-2 @h11 W.2-3;1-2 42(3)3/GDP.2-3;1-2 S7.3-H;2-H K | 2 2 0 0 2 2
(g) a double play from third, the runner behind moves up | W @h11 W.1-2 5(2)3/GDP.1-2 S7.2-H K | 1 1 0 0 1 1
(g) a double play by way of second, no one is behind | W @h11 S7.1-3 64(1)3/GDP.3-H K | 1 1 0 0 1 1
(g) two forced out, the batter safe: twice | W W.1-2 @h11 W.2-3;1-2 2(3)25(2)/DP.1-2;B-1 HR.2-H;1-H K | 2 2 1 1 2 2
(g) a runner doubled off leaves the charges | W @h11 W.1-2 6(B)64(2)/LDP/L6 S7.1-2 S7.2-H;1-2 K | 0 0 1 1 1 0
(g) a runner caught stealing is no longer charged | W @h11 CS2(26) S7 HR.1-H K K | 0 0 2 2 1 0
(h) a walk with the pitcher behind is charged to the one who left | 20:NP @h11 31:W HR.1-H K K K | 1 1 1 1 0 0
(h) 2-2 was not behind | 22:NP @h11 32:W HR.1-H K K K | 0 0 2 2 0 0
(h) a hit after 2-0 is charged to the new pitcher | 20:NP @h11 20:S7 HR.1-H K K K | 0 0 2 2 0 0
(i) outs missed before the reliever do not help | E6 K K @h11 S7.1-2 HR.2-H;1-H K | 1 0 2 2 1 1
(i) outs missed after do | K K @h11 E6 S7.1-2 HR.2-H;1-H K | 0 0 3 0 0 0
`) {
		g := newScored(t, game.Options{DH: true}).play(f[1])
		if g.s.Half != game.Bottom {
			t.Fatalf("%s: %s", f[0], describe(&g.s))
		}
		a, b := g.pitcher("h10"), g.pitcher("h11")
		got := fmt.Sprint(a.Runs, a.EarnedRuns, b.Runs, b.EarnedRuns, b.InheritedRunners, b.InheritedRunnersScored)
		check.Equal(t, got, f[2], "9.16%s", f[0])
	}
	g := newScored(t, game.Options{DH: true}).play("E6 K K @h11 HR.1-H K")
	team := g.box().Teams[game.Home]
	check.That(t, team.EarnedRuns == 0, "9.16(i): %d earned against the team, want none", team.EarnedRuns)
}

// 9.15(b): a strikeout is charged to the batter who left with two strikes.
func TestScorebook_strikeoutOfTwoBatters(t *testing.T) {
	t.Parallel()
	g := newScored(t, game.Options{DH: true}).play("02:NP sub:a15:1:PH 02:K 01:NP sub:a16:2:PH 02:K")
	a, b := g.batter("a1"), g.batter("a15")
	check.That(t, a.Strikeouts == 1 && a.PlateAppearances == 1 && b.PlateAppearances == 0,
		"two strikes left: %+v and %+v", a, b)
	if a, b := g.batter("a2"), g.batter("a16"); a.PlateAppearances != 0 || b.Strikeouts != 1 {
		t.Errorf("one strike left: %+v and %+v", a, b)
	}
}

// 9.09–9.13: put-outs, assists, double plays, errors, wild pitches and passed balls.
func TestScorebook_fielding(t *testing.T) {
	t.Parallel()
	for plays, want := range map[string][]game.FieldingLine{
		"S7 64(1)3/GDP/G6 W PO1(1361)": {
			{Player: "h2", Position: game.Shortstop, Assists: 2, DoublePlays: 1},
			{Player: "h9", Position: game.SecondBase, PutOuts: 1, Assists: 1, DoublePlays: 1},
			{Player: "h3", Position: game.FirstBase, PutOuts: 1, Assists: 1, DoublePlays: 1},
			{Player: "h10", Position: game.Pitcher, PutOuts: 1, Assists: 1},
		},
		"K W CS2(26) S8 PB.1-2 6E3.2-3;B-1 WP.1-2 E6/TH.3-H;2-3;B-1 K23": {
			{Player: "h8", Position: game.Catcher, PutOuts: 1, Assists: 2, PassedBalls: 1},
			{Player: "h2", Position: game.Shortstop, PutOuts: 1, Assists: 1, Errors: 1, ThrowingErrors: 1},
			{Player: "h3", Position: game.FirstBase, PutOuts: 1, Errors: 1},
		},
	} {
		g := newScored(t, game.Options{DH: true}).play(plays)
		for _, line := range want {
			got := g.fielder(line.Player)
			got.Name = ""
			check.Equal(t, got, line, "%s", plays)
		}
	}
}

// 9.02: left on base counts the batter whose batted ball forced a runner for the third out.
func TestScorebook_leftOnBase(t *testing.T) {
	t.Parallel()
	g := newScored(t, game.Options{DH: true}).play("K K S7 64(1)/FO")
	check.Equal(t, g.box().Teams[game.Away].LeftOnBase, 1, "9.02: left on base")
	g = newScored(t, game.Options{DH: true}).play("K K W W.1-2 PO1(13)")
	check.Equal(t, g.box().Teams[game.Away].LeftOnBase, 1, "9.02: left on base")
}

// 9.02(a)(17): a ground ball into two outs is a double play, into three it is not.
func TestScorebook_groundedIntoDoublePlay(t *testing.T) {
	t.Parallel()
	for plays, want := range map[string]int{
		"W 64(1)3/GDP": 1, "W W.1-2 54(1)3/GTP.2X3(35)": 0, "W W.1-2 5(2)4(1)3/GTP": 0, "W 6(1)/GDP.B-1(E3)": 0,
	} {
		g := newScored(t, game.Options{DH: true}).play(plays)
		batter := game.PlayerID("a2")
		if strings.Count(plays, "W") == 2 {
			batter = "a3"
		}
		check.Equal(t, g.batter(batter).GroundedIntoDoublePlays, want, "%s: double plays", plays)
	}
}

// 9.17: the winning and the losing pitcher; 9.19: the save. In the seventh of a "brief" game a11 gets two outs and
// gives up three home runs; a12 follows with the lead. A line has the scorer's choice; who won, lost and saved; and
// whether that was a judgment.
func TestScorebook_winnerAndLoser(t *testing.T) {
	t.Parallel()
	brief := "#30000000000 K K @a11 HR/F7D HR/F7D HR/F7D K HR/F7D K K K @a12 #00000"
	for _, f := range check.Rows(`
9.17(a) the starter, all nine innings | #100000000000000000 | | a10 h10 - false
9.17(b) the starter with five innings, and a save of three | #1000000000 @a11 #00000000 | | a10 h10 a11 false
9.17(b) four innings are not enough: the relief pitcher | #100000000 @a11 #000000000 | | a11 h10 - true
9.17(a) the last pitcher before the lead | #000000000000 @a11 #100000 | | a10 h10 a11 false
9.17(d) a tie starts over: the last lead counts | #10000000000 @a11 #1100000 | | a11 h10 - false
9.17(d) the loser of a walk-off | #00000000000000000 @a11 HR/F7D | | h10 a11 - false
9.17(d) an inherited runner wins it | #00000000000000000 W @a11 D7.1-H | | h10 a10 - false
9.17(c) brief and ineffective: a later pitcher | brief | | a12 h10 - true
9.17(c) unless the scorer chooses otherwise | brief | a11 | a11 h10 a12 true
9.17(c) within the rule | brief | a10 | a12 h10 - true

three runs and an inning | #3000000000000000 K K K @a11 K K K | | a10 h10 a11 false
four runs and an inning | #4000000000000000 K K K @a11 K K K | | a10 h10 - false
four runs, the tying run on deck | #4000000000000000 K K K W W.1-2 @a11 K K K | | a10 h10 a11 false
five runs, two on: the tying run is not on deck | #5000000000000000 K K K W W.1-2 @a11 K K K | | a10 h10 - false
two outs are enough with the tying run at bat | #1000000000000000 K K K K @a11 K K | | a10 h10 a11 false
less than an inning without a tying run | #3000000000000000 K K K K K @a11 K | | a10 h10 - false
to the field, back, and finished | #2000000000000000 K K K in K out K in back K | | a10 h10 a11 false
back with the tying run on deck | #4000000000000000 K K K W in K K out W.1-2 in back K | | a10 h10 a11 false
back with a lead of four | #4000000000000000 K K K in K out K in back K | | a10 h10 - false
`) {
		plays := strings.NewReplacer("brief", brief, " in", " sub:a11:4:P", "out", "sub:a11:4:CF sub:a12:1:P",
			"back", "sub:a13:1:CF").Replace(f[1])
		g := newScored(t, game.Options{DH: true, ExtraInnings: game.Standard}).play(plays)
		g.book.ChooseWinner(game.PlayerID(f[2]))
		if !g.s.Over() {
			t.Fatalf("%s: not over: %s", f[0], describe(&g.s))
		}
		box := g.box()
		got := fmt.Sprint(box.WinningPitcher, " ", box.LosingPitcher, " ", cmp.Or(box.SavingPitcher, "-"), " ",
			box.WinnerByJudgment)
		check.Equal(t, got, f[3], "%s: won, lost, saved, by judgment", f[0])
	}
}

// Holds, blown saves and quality starts of the visitors' pitchers, who lead from the first inning on. A line has the
// holds; the blown saves; a quality start of a10; who won and who saved a game that is over.
func TestScorebook_holdsAndBlownSaves(t *testing.T) {
	t.Parallel()
	for _, f := range check.Rows(`
a hold between the starter and the save | #30000000000000 K K K @a11 K K K K K K @a12 K K K | [a11] [] quality a10 a12
two holds in one inning | #30000000000000 K K K @a11 K @a12 K K K K K @a13 K K K | [a11 a12] [] quality a10 a13
no hold without an out | #30000000000000 K K K @a11 W @a12 K K K K K K K K K | [] [] quality a10 a12
nor with a lead of four | #40000000000000 K K K @a11 K @a12 K K K K K K K K | [] [] quality a10
but with the tying run on deck | #40000000000000 K K K W W.1-2 @a11 K @a12 K K K K K K K K | [a11] [] quality a10 a12
a hold also if runners left behind tie | #10000000000000 K K K @a11 K W @a12 HR.1-H | [a11] [a12] quality unfinished
no save situation in a tie | #10000000000000 K K K W D7.1-H @a11 | [] [] quality unfinished
a blown save by an inherited runner | #10000000000000 K K K W @a11 D7.1-H K @a12 K | [] [a11] quality unfinished
a blown save and a win | #100000000000000 @a11 HR/F7D K K K HR/F7D K K K K K K | [] [a11] quality a11
a tie is no save situation | #000000000000000 @a11 HR/F7D K | [] [] quality unfinished
five innings are no quality start | #3000000000 K K K @a11 K | [] [] unfinished
nor four earned runs | #5000000 HR/F7D HR/F7D HR/F7D HR/F7D #000000 @a11 K | [] [] unfinished
three are | #5000000 HR/F7D HR/F7D HR/F7D #000000 @a11 K | [] [] quality unfinished
only after the starter has left | #500000000000000 | [] [] unfinished
`) {
		g := newScored(t, game.Options{DH: true, ExtraInnings: game.Standard}).play(f[1])
		box := g.box()
		var holds, blown []game.PlayerID
		for _, l := range box.Teams[game.Away].Pitching {
			if l.Hold {
				holds = append(holds, l.Player)
			}
			if l.BlownSave {
				blown = append(blown, l.Player)
			}
		}
		got := fmt.Sprint(holds, " ", blown)
		if g.pitcher("a10").QualityStart {
			got += " quality"
		}
		if !g.s.Over() {
			got += " unfinished"
		}
		for _, id := range []game.PlayerID{box.WinningPitcher, box.SavingPitcher} {
			if id != "" {
				got += " " + string(id)
			}
		}
		check.Equal(t, got, f[2], "%s", f[0])
	}
}

// A batter who makes an out leaves the runners who stay on base; runs batted in with two out are counted apart.
func TestScorebook_leftOnBaseByBatter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		plays     string
		batter    game.PlayerID
		left, two int
	}{
		{"W W.1-2 K", "a3", 2, 0},
		{"W 64(1)/FO", "a2", 0, 0},           // the runner is out
		{"W W.1-2 64(1)/FO.2-3", "a3", 1, 0}, // the other stays
		{"W W.1-2 64(1)3/GDP.2-3", "a3", 1, 0},
		{"W W.1-2 W.2-3;1-2 8/SF.3-H", "a4", 2, 0},
		{"W W.1-2 13/SH/BG1.2-3;1-2", "a3", 2, 0},
		{"W FC6.1-2", "a2", 0, 0}, // no out
		{"W E6.1-2", "a2", 0, 0},
		{"W K+CS2(26)", "a2", 0, 0},
		{"K K W S7.1-2 S7.2-H;1-3", "a5", 0, 1},
		{"K W S7.1-2 S7.2-H;1-3", "a4", 0, 0}, // with one out
	} {
		if l := newScored(t, game.Options{DH: true}).play(tt.plays).batter(tt.batter); l.LeftOnBase != tt.left ||
			l.TwoOutRunsBattedIn != tt.two {
			t.Errorf("%s: %d left on base, %d batted in with two out; want %d, %d",
				tt.plays, l.LeftOnBase, l.TwoOutRunsBattedIn, tt.left, tt.two)
		}
	}
}

// 9.17(b): in a game of few innings the starter needs all but one of them.
func TestScorebook_winnerOfShortGame(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		innings  int
		plays    string
		win      game.PlayerID
		judgment bool
	}{
		{3, "#1000 sub:a11:0:P #00", "a10", false},
		{3, "#100 K K sub:a11:0:P K #00", "a11", true},
		{5, "#10000000 sub:a11:0:P #00", "a10", false},
		{5, "#100000 sub:a11:0:P #0000", "a11", true},
		{7, "#100000000 sub:a11:0:P #00000", "a11", true},
		{7, "#1000000000 sub:a11:0:P #0000", "a10", false},
	} {
		g := newScored(t, game.Options{DH: true, Innings: tt.innings, ExtraInnings: game.Standard}).play(tt.plays)
		box := g.box()
		if !g.s.Over() || box.WinningPitcher != tt.win || box.WinnerByJudgment != tt.judgment {
			t.Errorf("%d innings, %s: %s, won by %s (judgment %v), want %s (%v)",
				tt.innings, tt.plays, describe(&g.s), box.WinningPitcher, box.WinnerByJudgment, tt.win, tt.judgment)
		}
	}
}

// A pitcher who comes back inherits the runners of the others, not the own ones.
func TestScorebook_inheritedOnReturn(t *testing.T) {
	t.Parallel()
	g := newScored(t, game.Options{DH: true}).play(
		"W sub:h11:4:P S7.1-2 sub:h11:4:CF sub:h12:1:P W.2-3;1-2 sub:h11:4:P sub:h13:1:CF HR.3-H;2-H;1-H")
	l := g.pitcher("h11")
	check.That(t, l.InheritedRunners == 3 && l.InheritedRunnersScored == 2 && l.Runs == 2,
		"h11: %d inherited, %d scored, %d runs; want 3, 2, 2", l.InheritedRunners, l.InheritedRunnersScored, l.Runs)
	if l := g.pitcher("h12"); l.InheritedRunners != 2 || l.InheritedRunnersScored != 0 {
		t.Errorf("h12: %d inherited, %d scored", l.InheritedRunners, l.InheritedRunnersScored)
	}
}

// The innings of a called game are those that were begun.
func TestScorebook_inningsOfCalledGame(t *testing.T) {
	t.Parallel()
	for plays, want := range map[string]struct{ innings, away, home int }{
		"#1000000000":       {5, 5, 5},
		"#1000000000 00:NP": {6, 6, 5},
		"#1000000000 K":     {6, 6, 5},
		"#10000000000":      {6, 6, 5},
		"#00000000010 W":    {6, 6, 6},
	} {
		g := newScored(t, game.Options{DH: true}).play(plays)
		g.s = check.Must(g.s.CallGame())(t)
		g.book.RecordStoppage(&g.s)
		box := g.box()
		away, home := len(box.Teams[0].LineScore), len(box.Teams[1].LineScore)
		check.That(t, box.Innings == want.innings && away == want.away && home == want.home,
			"%s: %d innings, lines of %d and %d, want %+v", plays, box.Innings, away, home, want)
	}
}

// 9.03(c): the box score is out of balance after an unrecorded play.
func TestScorebook_proveFails(t *testing.T) {
	t.Parallel()
	g := newScored(t, game.Options{DH: true}).play("S7 K")
	before := g.s
	p := parse(t, &before, "HR.1-H")
	after := check.Must(before.Apply(p))(t)
	err := g.book.Prove(&after)
	check.That(t, err != nil, "a home run is missing, but the box score balances")
	g.book.RecordPlay(&before, &p, &after)
	check.NoError(t, g.book.Prove(&after))
	lines := g.box().Teams[game.Away].Batting
	check.That(t, slices.ContainsFunc(lines, func(l game.BattingLine) bool {
		return l.Player == "a3" && l.HomeRuns == 1 && l.RunsBattedIn == 2
	}),
		"%+v", lines)
}
