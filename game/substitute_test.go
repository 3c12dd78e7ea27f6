package game_test

import (
	"testing"

	"pressbox/game"
)

// A substitution in words: player, place, position.
func sub(player game.PlayerID, slot int, at game.Position) game.Substitution {
	side := game.Away
	if player[0] == 'h' {
		side = game.Home
	}
	return game.Substitution{Side: side, Player: player, Slot: slot, Position: at}
}

// TestSubstitutions announces substitutions in a situation: either a rule refuses them, or the game goes on.
func TestSubstitutions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		in      string
		noDH    bool
		subs    []game.Substitution
		refused string
	}{
		{"5.10(a) a pinch hitter for who is due", "5t 0 --- 0-0", false, []game.Substitution{sub("a15", 1, game.PinchHitter)}, ""},
		{"5.10(a) not for another", "5t 0 --- 0-0", false, []game.Substitution{sub("a15", 2, game.PinchHitter)}, "5.10(a)"},
		{"5.10(a) not by the side in the field", "5t 0 --- 0-0", false, []game.Substitution{sub("h15", 1, game.PinchHitter)}, "5.10(a)"},
		{"5.10(a) not by a stranger", "5t 0 --- 0-0", false, []game.Substitution{{Side: game.Away, Player: "zz", Slot: 1, Position: game.PinchHitter}}, "5.10(a)"},
		{"5.10(a) who bats keeps his place", "5t 0 --- 0-0", false, []game.Substitution{sub("h2", 9, game.SecondBase)}, "5.10(a)"},
		{"5.10(a) a fielder may move", "5t 0 --- 0-0", false, []game.Substitution{sub("h2", 2, game.SecondBase), sub("h9", 9, game.Shortstop)}, ""},
		{"5.10(d) who was replaced does not come back", "5t 0 --- 0-0", false, []game.Substitution{sub("h15", 1, game.CenterField), sub("h1", 1, game.CenterField)}, "5.10(d)"},
		{"5.10(d) nor in another place", "5t 0 --- 0-0", false, []game.Substitution{sub("h15", 1, game.CenterField), sub("h1", 2, game.Shortstop)}, "5.10(d)"},
		{"5.10(d) nor does the pitcher", "5t 0 --- 0-0", false, []game.Substitution{sub("h11", 0, game.Pitcher), sub("h10", 0, game.Pitcher)}, "5.10(d)"},
		{"5.10(e) a pinch runner", "5t 0 1-- 0-0", false, []game.Substitution{sub("a15", 9, game.PinchRunner)}, ""},
		{"5.10(e) only for who is on base", "5t 0 --- 0-0", false, []game.Substitution{sub("a15", 9, game.PinchRunner)}, "5.10(e)"},
		{"5.10(e) no courtesy runner: not who plays already", "5t 0 1-- 0-0", false, []game.Substitution{sub("a3", 9, game.PinchRunner)}, "5.10(a)"},
		{"5.10(e) nor the runner himself", "5t 0 1-- 0-0", false, []game.Substitution{sub("a9", 9, game.PinchRunner)}, "5.10(e)"},
		{"5.10(b) a double switch", "5t 0 --- 0-0", true, []game.Substitution{sub("h11", 9, game.Pitcher), sub("h15", 4, game.SecondBase)}, ""},
		{"5.10(b) half a double switch leaves a place empty", "5t 0 --- 0-0", true, []game.Substitution{sub("h11", 9, game.Pitcher)}, "5.02"},
		{"5.10(f) the starter faces one batter", "1t 0 --- 0-0", false, []game.Substitution{sub("h11", 0, game.Pitcher)}, "5.10(f)"},
		{"5.10(f) unless he is hurt", "1t 0 --- 0-0", false, []game.Substitution{{Side: game.Home, Player: "h11", Position: game.Pitcher, Injured: true}}, ""},

		{"5.11(a)(2) the DH bats once", "1t 0 --- 0-0", false, []game.Substitution{sub("h15", 4, game.DesignatedHitter)}, "5.11(a)(2)"},
		{"5.11(a)(3) without one the pitcher bats", "5t 0 --- 0-0", true, []game.Substitution{sub("h11", 0, game.Pitcher)}, "5.11(a)(3)"},
		{"5.11(a)(5) the DH takes the field, the pitcher the fielder's place", "5t 0 --- 0-0", false, []game.Substitution{sub("h4", 4, game.LeftField), sub("h10", 5, game.Pitcher)}, ""},
		{"5.11(a)(12) the DH goes to the mound in his place", "5t 0 --- 0-0", false, []game.Substitution{sub("h4", 4, game.Pitcher)}, ""},
		{"5.11(a)(7) the DH is locked in his place", "5t 0 --- 0-0", false, []game.Substitution{sub("h15", 5, game.DesignatedHitter)}, "5.11(a)(7)"},
		{"5.11(a)(8) the pitcher goes to another position", "5t 0 --- 0-0", false, []game.Substitution{sub("h10", 4, game.LeftField), sub("h11", 5, game.Pitcher)}, ""},
		{"5.11(a)(10) the pitcher bats for the DH only", "5t 0 --- 0-0", false, []game.Substitution{sub("a10", 1, game.PinchHitter)}, "5.11(a)(10)"},
		{"5.11(a)(12) the DH pitches from his place", "5t 0 --- 0-0", false, []game.Substitution{sub("h4", 0, game.Pitcher)}, "5.11(a)(12)"},
		{"5.11(a)(14) a fielder goes to the mound in his place", "5t 0 --- 0-0", false, []game.Substitution{sub("h2", 0, game.Pitcher)}, "5.11(a)(14)"},
		{"5.11(a)(14) and ends the DH", "5t 0 --- 0-0", false, []game.Substitution{sub("h2", 2, game.Pitcher), sub("h15", 4, game.Shortstop)}, ""},
		{"no such place", "5t 0 --- 0-0", false, []game.Substitution{sub("h15", 10, game.LeftField)}, "-"},
		{"no such position", "5t 0 --- 0-0", false, []game.Substitution{sub("h15", 1, game.NoPosition)}, "-"},
		{"5.10(a) a fielder outside the order", "5t 0 --- 0-0", false, []game.Substitution{sub("h15", 0, game.LeftField)}, "5.10(a)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := situation(t, tt.in, game.Options{DH: !tt.noDH})
			if s.Inning > 1 {
				s.Teams[game.Home].BattersFaced = 3
				s.Teams[game.Home].DHBatted = false
			}
			next, err := s.Substitute(tt.subs...)
			if err == nil {
				_, err = next.Apply(parse(t, &next, "K"))
			}
			got := refusal(t, err)
			if err != nil && got == "" {
				got = "-"
			}
			if got != tt.refused {
				t.Errorf("%v: %v, want refusal by %q", tt.subs, err, tt.refused)
			}
		})
	}
}

// 5.10(g): a pitcher faces three batters, or ends a half-inning; before 2020 one was enough.
func TestThreeBatterMinimum(t *testing.T) {
	t.Parallel()
	next := sub("h11", 0, game.Pitcher)
	for _, noMinimum := range []bool{false, true} {
		s := apply(t, newGame(t, game.Options{DH: true, NoThreeBatterMinimum: noMinimum}), "W", "W.1-2")
		_, err := s.Substitute(next)
		if got := refusal(t, err); (got == "5.10(g)") == noMinimum {
			t.Errorf("after two batters, minimum off %v: %v", noMinimum, err)
		}
		s = apply(t, s, "K")
		if _, err := s.Substitute(next); err != nil {
			t.Errorf("after three batters: %v", err)
		}
	}
	s := apply(t, newGame(t, game.Options{DH: true}), "W", "64(1)3/GDP", "K", "K", "K", "K")
	if s.Inning != 2 {
		t.Fatal(describe(&s))
	}
	if _, err := s.Substitute(next); err != nil {
		t.Errorf("the inning over: %v", err)
	}
	in, err := s.Substitute(next)
	if err != nil {
		t.Fatal(err)
	}
	in = apply(t, in, "W")
	for _, leave := range []game.Substitution{sub("h12", 0, game.Pitcher), sub("h11", 4, game.LeftField)} {
		if _, err := in.Substitute(leave); refusal(t, err) != "5.10(g)" {
			t.Errorf("a relief pitcher leaves after one batter, %v: %v", leave, err)
		}
	}
	leave := sub("h12", 0, game.Pitcher)
	leave.Injured = true
	if _, err := in.Substitute(leave); err != nil {
		t.Errorf("a relief pitcher is hurt: %v", err)
	}
}

// 5.11(a): the ways to keep and to lose the designated hitter.
func TestDesignatedHitter(t *testing.T) {
	t.Parallel()
	keeps := func(name string, want int, s game.State, subs ...game.Substitution) game.State {
		t.Helper()
		next, err := s.Substitute(subs...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := next.Teams[subs[0].Side].DH; got != want {
			t.Errorf("%s: the DH bats in place %d, want %d", name, got, want)
		}
		return next
	}
	s := situation(t, "5t 0 --- 0-0", game.Options{DH: true})
	s.Teams[game.Home].BattersFaced = 3
	for side := range s.Teams {
		s.Teams[side].DHBatted = true
	}
	keeps("a relief pitcher", 4, s, sub("h11", 0, game.Pitcher))
	keeps("a fielder off the bench pitches", 4, s, sub("h15", 0, game.Pitcher))

	due := s
	due.Teams[game.Away].NextBatter = 3
	hit := keeps("(4) who bats for the DH is the DH", 4, due, sub("a15", 4, game.PinchHitter))
	if got := hit.Teams[game.Away].Order[3]; got != (game.Slot{Player: "a15", Position: game.DesignatedHitter}) {
		t.Errorf("(4) place 4: %v", got)
	}
	on := s
	on.Bases[0].Player = "a4"
	ran := keeps("(6) who runs for the DH is the DH", 4, on, sub("a15", 4, game.PinchRunner))
	if got := ran.Teams[game.Away].Order[3].Position; got != game.DesignatedHitter {
		t.Errorf("(6) the runner is %s", got)
	}
	lost := keeps("(5), (12) the DH takes the field", 0, s, sub("h4", 4, game.LeftField), sub("h10", 5, game.Pitcher))
	if got := lost.Teams[game.Home].Order[4]; got.Player != "h10" {
		t.Errorf("(5) %s bats for the left fielder, want the pitcher", got.Player)
	}
	keeps("(8) the pitcher changes position", 0, s, sub("h10", 4, game.LeftField), sub("h11", 5, game.Pitcher))
	keeps("(9) a pinch hitter stays in and pitches", 0, keeps("(9) he bats", 4, s, sub("a15", 1, game.PinchHitter)), sub("a15", 1, game.Pitcher))
	keeps("(10) the pitcher bats for the DH", 0, due, sub("a10", 4, game.PinchHitter))
	keeps("(10) the pitcher runs for the DH", 0, on, sub("a10", 4, game.PinchRunner))
	keeps("(14) a fielder goes to the mound", 0, s, sub("h2", 2, game.Pitcher), sub("h15", 4, game.Shortstop))

	relieved := situation(t, "1t 0 --- 0-0", game.Options{DH: true})
	relieved.Teams[game.Home].Relieved = true
	keeps("(2) the other side changed its pitcher, so the DH need not bat", 4, relieved, sub("a15", 4, game.DesignatedHitter))
}

// 5.11(b): a pitcher who starts as his own designated hitter counts as two.
func TestTwoWay(t *testing.T) {
	t.Parallel()
	cards := [2]game.Lineup{lineup(game.Away, true), lineup(game.Home, true)}
	cards[game.Home].Pitcher = "h4"
	s, err := game.New(game.Options{DH: true}, clubs(), cards)
	if err != nil {
		t.Fatal(err)
	}
	s.Teams[game.Home].BattersFaced = 3
	s.Teams[game.Home].DHBatted = true
	off, err := s.Substitute(sub("h11", 0, game.Pitcher))
	if err != nil {
		t.Fatal(err)
	}
	if h := off.Teams[game.Home]; h.DH != 4 || h.Order[3].Player != "h4" || h.Pitcher != "h11" || len(h.Removed) != 0 {
		t.Errorf("he leaves the mound: %+v, want him still the DH", h)
	}
	apply(t, off, "K", "K", "K", "K", "K", "K")
	bats := s
	bats.Half, bats.Teams[game.Home].NextBatter = game.Bottom, 3
	out, err := bats.Substitute(sub("h15", 4, game.PinchHitter))
	if err != nil {
		t.Fatal(err)
	}
	if h := out.Teams[game.Home]; h.DH != 4 || h.Order[3].Player != "h15" || h.Pitcher != "h4" || len(h.Removed) != 0 {
		t.Errorf("he leaves as DH: %+v, want him still pitching", h)
	}
	gone, err := out.Substitute(sub("h11", 0, game.Pitcher))
	if err != nil {
		t.Fatal(err)
	}
	if h := gone.Teams[game.Home]; len(h.Removed) != 1 || h.Removed[0] != "h4" {
		t.Errorf("he leaves as both: %v gone", h.Removed)
	}
}

// A State is a value: what is done with a copy does not show in the original.
func TestStateIsAValue(t *testing.T) {
	t.Parallel()
	s := situation(t, "5t 0 1-- 0-0", game.Options{DH: true})
	before := describe(&s)
	one, err := s.Substitute(sub("a15", 9, game.PinchRunner))
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.Substitute(sub("a16", 9, game.PinchRunner))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, one, "HR")
	if got := describe(&s); got != before || s.Bases[0].Player != "a9" || len(s.Teams[game.Away].Bench) != 10 {
		t.Errorf("the original became %s, %v, bench %v", got, s.Bases, s.Teams[game.Away].Bench)
	}
	if one.Bases[0].Player != "a15" || two.Bases[0].Player != "a16" {
		t.Errorf("the copies share: %v, %v", one.Bases, two.Bases)
	}
}
