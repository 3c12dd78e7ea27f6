package game_test

import (
	"testing"

	"pressbox/game"
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

// 7.01(g): nothing happens after the end.
func TestNothingHappensAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := apply(t, situation(t, "9b 0 --- 4-4", game.Options{DH: true}), "HR/F7D")
	if !s.Over() {
		t.Fatalf("a walk-off home run leaves %s", describe(&s))
	}
	if _, err := s.Apply(parse(t, &s, "K")); refusal(t, err) != "7.01(g)" {
		t.Errorf("a strikeout after the end: %v", err)
	}
	if _, err := s.Substitute(game.Substitution{Side: game.Home, Player: "h15", Slot: 1, Position: game.PinchHitter}); refusal(t, err) != "7.01(g)" {
		t.Errorf("a substitution after the end: %v", err)
	}
	if _, err := s.Forfeit(game.Home); refusal(t, err) != "7.01(g)" {
		t.Errorf("a forfeit after the end: %v", err)
	}
	if _, err := s.CallGame(); refusal(t, err) != "7.01(g)" {
		t.Errorf("a call after the end: %v", err)
	}
}

// 5.04(a)(2) and (3): the order goes round; who was at bat when a runner made the third out leads off, with a new count.
func TestBattingOrder(t *testing.T) {
	t.Parallel()
	s := newGame(t, game.Options{DH: true})
	s = apply(t, s, "K", "K", "S7")
	s, err := s.Apply(game.Play{
		Kind: game.CaughtStealing, Count: game.Count{Balls: 2, Strikes: 1},
		Advances: [4]game.Advance{1: {Reason: game.Caught}},
		Outs:     [4]game.Out{{Runner: game.First, At: game.Second, Kind: game.TagOut, Fielders: "26"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s = apply(t, s, "K", "K", "K")
	if s.Batter() != "a4" || s.Count != (game.Count{}) {
		t.Errorf("%s leads off the second with %v, want a4 with a new count", s.Batter(), s.Count)
	}
	s = apply(t, s, "W", "W.1-2", "K", "K", "K", "HR", "K", "K", "K", "K", "W", "W.1-2", "S7.2-3;1-2")
	if s.Batter() != "a4" {
		t.Errorf("%s bats after the ninth, the first, the second and the third; want a4", s.Batter())
	}
}

// 6.03(b): batting out of turn.
func TestBattingOutOfTurn(t *testing.T) {
	t.Parallel()
	s := newGame(t, game.Options{DH: true})
	wrong := parse(t, &s, "S7")
	wrong.Batter = "a4"
	if _, err := s.Apply(wrong); refusal(t, err) != "6.03(b)" {
		t.Errorf("an improper batter, not said to be one: %v", err)
	}
	wrong.Flags |= game.OutOfTurn
	unnoticed, err := s.Apply(wrong)
	if err != nil {
		t.Fatal(err)
	}
	if unnoticed.RunnerOn(game.First).Player != "a4" || unnoticed.Batter() != "a5" {
		t.Errorf("6.03(b)(5): %s on first, %s next; want a4 and a5: he is legal now", unnoticed.RunnerOn(game.First).Player, unnoticed.Batter())
	}

	// On appeal before the next pitch the State before the improper batter counts: the proper one is out.
	appeal := parse(t, &s, "2/BOOT")
	appealed, err := s.Apply(appeal)
	if err != nil {
		t.Fatal(err)
	}
	if appealed.Outs != 1 || appealed.Batter() != "a2" || appealed.Bases != ([3]game.Runner{}) {
		t.Errorf("6.03(b)(3): %s, %s next; want one out and a2", describe(&appealed), appealed.Batter())
	}
	appeal.Advances[game.First].To = game.Second
	on := situation(t, "1t 0 1-- 0-0", game.Options{DH: true})
	if _, err := on.Apply(appeal); refusal(t, err) != "6.03(b)(3)" {
		t.Errorf("a runner advances on a void play: %v", err)
	}

	late := parse(t, &unnoticed, "2/BOOT")
	late.Batter = "a1"
	if _, err := unnoticed.Apply(late); refusal(t, err) != "6.03(b)" {
		t.Errorf("6.03(b)(5): an appeal after the next pitch: %v", err)
	}
	// a2 bats for a1, a3 after him; when a1 bats at last, a2 and a3 are on base and are passed over.
	early := s
	for _, id := range []game.PlayerID{"a2", "a3"} {
		p := parse(t, &early, map[game.PlayerID]string{"a2": "W", "a3": "W.1-2"}[id])
		p.Batter, p.Flags = id, game.OutOfTurn
		if early.Batter() == id {
			p.Batter, p.Flags = "", 0
		}
		next, err := early.Apply(p)
		if err != nil {
			t.Fatal(err)
		}
		early = next
	}
	again := parse(t, &early, "K")
	again.Batter, again.Flags = "a2", game.OutOfTurn
	if _, err := early.Apply(again); refusal(t, err) != "6.03(b)" {
		t.Errorf("a runner bats: %v", err)
	}
	again.Batter = "a1"
	passed, err := early.Apply(again)
	if err != nil {
		t.Fatal(err)
	}
	if passed.Batter() != "a4" {
		t.Errorf("6.03(b)(7): %s is due behind a1, want a4: a2 and a3 are on base", passed.Batter())
	}

	proper := parse(t, &s, "S7")
	proper.Flags |= game.OutOfTurn
	if _, err := s.Apply(proper); refusal(t, err) != "6.03(b)" {
		t.Errorf("who is due cannot bat out of turn: %v", err)
	}
	stranger := wrong
	stranger.Batter = "a15"
	if _, err := s.Apply(stranger); refusal(t, err) != "6.03(b)" {
		t.Errorf("who is not in the order cannot bat out of turn: %v", err)
	}
}

// 5.09(c): an appeal on a runner who left early can be the fourth out, which takes the place of the third and of his run.
func TestFourthOut(t *testing.T) {
	t.Parallel()
	s := situation(t, "1t 1 1-3 0-0", game.Options{DH: true})
	p := game.Play{
		Kind: game.BattedOut, Ball: game.BattedBall{Contact: game.FlyBall, Location: "8"},
		Outs: [4]game.Out{
			{Runner: game.AtBat, Kind: game.FlyOut, Fielders: "8"},
			{Runner: game.First, At: game.First, Kind: game.AppealOut, Fielders: "83"},
			{Runner: game.Third, At: game.Third, Kind: game.AppealOut, Fielders: "5"},
		},
	}
	after, err := s.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(&after); got != "1b 0 --- 0-0" {
		t.Errorf("the side is out: %s", got)
	}
	if tally := s.Tally(p); tally.Outs != 2 || tally.Runs != 0 {
		t.Errorf("%d outs and %d runs count, want 2 and none", tally.Outs, tally.Runs)
	}
	book := game.NewScorebook(&s, clubs())
	book.RecordPlay(&s, &p, &after)
	for _, l := range book.BoxScore(&after).Teams[game.Home].Fielding {
		if l.Player == "h3" && l.PutOuts != 0 {
			t.Error("the third out was replaced, and yet the first baseman has a put-out")
		}
		if l.Player == "h6" && l.PutOuts != 1 {
			t.Error("the third baseman has no put-out for the fourth")
		}
	}
	p.Outs[2].Kind = game.TagOut
	if _, err := s.Apply(p); refusal(t, err) != "5.09(e)" {
		t.Errorf("a fourth out that is no appeal: %v", err)
	}
}

// 7.01(b): who starts on second is the one before the lead-off batter; a runner may be sent in for him; he counts as left
// on base and as no turn at bat.
func TestAutomaticRunner(t *testing.T) {
	t.Parallel()
	g := newScored(t, game.Options{DH: true, Innings: 3})
	for range 6 {
		g.play("K K K")
	}
	if r := g.s.RunnerOn(game.Second); r.Player != "a9" || !r.Automatic {
		t.Fatalf("%v starts on second, want a9", r)
	}
	g.play("sub:a15:9:12")
	if r := g.s.RunnerOn(game.Second); r.Player != "a15" || !r.Automatic {
		t.Errorf("%v runs for him, want a15", r)
	}
	g.play("S8.2-H K K K")
	box := g.box()
	if p := g.pitcher("h10"); p.Runs != 1 || p.EarnedRuns != 0 || p.BattersFaced != 13 {
		t.Errorf("9.16: %d runs, %d earned, %d faced; want 1, 0, 13", p.Runs, p.EarnedRuns, p.BattersFaced)
	}
	if away := box.Teams[game.Away]; away.AutomaticRunners != 1 || away.LeftOnBase != 1 || box.Teams[game.Home].Errors != 0 {
		t.Errorf("%d automatic, %d left on base, %d errors; want 1, 1, 0", away.AutomaticRunners, away.LeftOnBase, box.Teams[game.Home].Errors)
	}
}

// 7.01(c), 7.02, 7.03: a game may be stopped and stands as it is once it is long enough; a forfeit is 9 to 0, and the statistics stand.
func TestCallAndForfeit(t *testing.T) {
	t.Parallel()
	o := game.Options{DH: true}
	for in, over := range map[string]bool{
		"5t 2 --- 0-3": false, "5b 0 --- 0-3": true, "5b 1 --- 2-2": true, "5b 2 --- 4-3": false, "6t 0 --- 4-3": true,
	} {
		s := situation(t, in, o)
		called, err := s.CallGame()
		if got := refusal(t, err); (got == "") != over || !over && got != "7.01(c)" {
			t.Errorf("called at %s: %v", in, err)
		}
		if over && called.End != game.CalledGame {
			t.Errorf("called at %s: %q", in, called.End)
		}
	}
	tie := situation(t, "6t 0 --- 2-2", o)
	called, err := tie.CallGame()
	if err != nil {
		t.Fatal(err)
	}
	if side, won := called.Winner(); won {
		t.Errorf("the %s team won a tie", side)
	}
	s := situation(t, "3t 0 --- 5-0", o)
	lost, err := s.Forfeit(game.Away)
	if err != nil {
		t.Fatal(err)
	}
	if side, won := lost.Winner(); !won || side != game.Home || lost.Result() != [2]int{0, 9} || lost.Score != [2]int{5, 0} {
		t.Errorf("forfeited by away: %v won %v, result %v, score %v", side, won, lost.Result(), lost.Score)
	}
}

// 7.01(g)(3), 9.06(f), (g): Curtail leaves of a play what counts.
func TestCurtail(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, event, want string }{
		{"9b 1 123 4-4", "D7.3-H;2-H;1-3", "S"},
		{"9b 1 123 5-4", "D7.3-H;2-H;1-H", "D"},
		{"9b 1 1-- 4-4", "HR8/IPHR.1-H", "T"},
		{"9b 1 1-- 4-4", "HR/F7D.1-H", "HR"},
		{"9b 1 --- 4-4", "HR8/IPHR", "HR"},
		{"9b 1 -23 4-4", "9/SF/F9.3-H;2-3", "9"},
		{"8b 1 123 4-4", "D7.3-H;2-H;1-H", "D"},
		{"9b 1 123 6-4", "S7.3-H;2-H;1-2", "S"},
	}
	for _, tt := range tests {
		s := situation(t, tt.in, game.Options{DH: true})
		p := s.LimitWalkOff(parse(t, &s, tt.event))
		after, err := s.Apply(p)
		if err != nil {
			t.Errorf("%s at %s: %v", tt.event, tt.in, err)
			continue
		}
		kind := map[byte]game.PlayKind{'S': game.Single, 'D': game.Double, 'T': game.Triple, 'H': game.HomeRun, '9': game.BattedOut}[tt.want[0]]
		if p.Kind != kind {
			t.Errorf("%s at %s becomes a %s, want a %s", tt.event, tt.in, p.Kind, kind)
		}
		if margin := after.Score[1] - after.Score[0]; after.Over() && p.Kind != game.HomeRun && margin != 1 {
			t.Errorf("%s at %s is won by %d", tt.event, tt.in, margin)
		}
	}
}

// AsRuled: a play of a real game stands as it was ruled, and only where there was something to rule.
func TestAsRuled(t *testing.T) {
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
		if _, err := s.Apply(p); err == nil {
			t.Errorf("%s at %s stands by itself", tt.event, tt.in)
		}
		p.Flags |= game.AsRuled
		if _, err := s.Apply(p); (err == nil) != tt.stands {
			t.Errorf("%s at %s, as ruled: %v", tt.event, tt.in, err)
		}
	}
}
