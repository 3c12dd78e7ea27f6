package game_test

import (
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/packaging/check"
)

func sub(player game.PlayerID, slot int, at game.Position) game.Substitution {
	side := game.Away
	if player[0] == 'h' {
		side = game.Home
	}
	return game.Substitution{Side: side, Player: player, Slot: slot, Position: at}
}

// subs reads substitutions: "h4 4 LF, h11 0 P injured".
func subs(tb testing.TB, text string) []game.Substitution {
	tb.Helper()
	var all []game.Substitution
	for one := range strings.SplitSeq(text, ", ") {
		all = append(all, gametest.Substitution(tb, one))
	}
	return all
}

// Each case announces substitutions in a situation: a rule refuses them, or the game continues.
func TestSubstitute_rules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		noDH     bool
		subs     string
		refused  string // "-" for no rule
	}{
		{"5.10(a) a pinch hitter for the batter due", "5t 0 --- 0-0", false, "a15 1 PH", ""},
		{"5.10(a) not for another batter", "5t 0 --- 0-0", false, "a15 2 PH", "5.10(a)"},
		{"5.10(a) not by the side in the field", "5t 0 --- 0-0", false, "h15 1 PH", "5.10(a)"},
		{"5.10(a) not by an unknown player", "5t 0 --- 0-0", false, "azz 1 PH", "5.10(a)"},
		{"5.10(a) a batter keeps the place in the order", "5t 0 --- 0-0", false, "h2 9 2B", "5.10(a)"},
		{"5.10(a) a fielder may move", "5t 0 --- 0-0", false, "h2 2 2B, h9 9 SS", ""},
		{"5.10(d) a replaced player does not return", "5t 0 --- 0-0", false, "h15 1 CF, h1 1 CF", "5.10(d)"},
		{"5.10(d) nor in another place", "5t 0 --- 0-0", false, "h15 1 CF, h1 2 SS", "5.10(d)"},
		{"5.10(d) nor does the pitcher", "5t 0 --- 0-0", false, "h11 0 P, h10 0 P", "5.10(d)"},
		{"5.10(e) a pinch runner", "5t 0 1-- 0-0", false, "a15 9 PR", ""},
		{"5.10(e) only for a runner on base", "5t 0 --- 0-0", false, "a15 9 PR", "5.10(e)"},
		{"5.10(e) no courtesy runner from the line-up", "5t 0 1-- 0-0", false, "a3 9 PR", "5.10(a)"},
		{"5.10(e) nor the same runner", "5t 0 1-- 0-0", false, "a9 9 PR", "5.10(e)"},
		{"5.10(b) a double switch", "5t 0 --- 0-0", true, "h11 9 P, h15 4 2B", ""},
		{"5.10(b) half a double switch leaves a position unfilled", "5t 0 --- 0-0", true, "h11 9 P", "5.02"},
		{"5.10(f) the starter faces one batter", "1t 0 --- 0-0", false, "h11 0 P", "5.10(f)"},
		{"5.10(f) unless injured", "1t 0 --- 0-0", false, "h11 0 P injured", ""},

		{"5.11(a)(2) the DH bats once", "1t 0 --- 0-0", false, "h15 4 DH", "5.11(a)(2)"},
		{"5.11(a)(3) without a DH the pitcher bats", "5t 0 --- 0-0", true, "h11 0 P", "5.11(a)(3)"},
		{"5.11(a)(5) the DH fields, the pitcher bats for the fielder", "5t 0 --- 0-0", false, "h4 4 LF, h10 5 P", ""},
		{"5.11(a)(12) the DH pitches", "5t 0 --- 0-0", false, "h4 4 P", ""},
		{"5.11(a)(7) the DH is locked in place", "5t 0 --- 0-0", false, "h15 5 DH", "5.11(a)(7)"},
		{"5.11(a)(8) the pitcher moves to another position", "5t 0 --- 0-0", false, "h10 4 LF, h11 5 P", ""},
		{"5.11(a)(10) the pitcher bats for the DH only", "5t 0 --- 0-0", false, "a10 1 PH", "5.11(a)(10)"},
		{"5.11(a)(12) not outside the order", "5t 0 --- 0-0", false, "h4 0 P", "5.11(a)(12)"},
		{"5.11(a)(14) a fielder who pitches keeps the place", "5t 0 --- 0-0", false, "h2 0 P", "5.11(a)(14)"},
		{"5.11(a)(14) and ends the DH", "5t 0 --- 0-0", false, "h2 2 P, h15 4 SS", ""},
		{"no place 10", "5t 0 --- 0-0", false, "h15 10 LF", "-"},
		{"no position", "5t 0 --- 0-0", false, "h15 1 none", "-"},
		{"5.10(a) a fielder outside the order", "5t 0 --- 0-0", false, "h15 0 LF", "5.10(a)"},
	} {
		s := situation(t, tt.in, game.Options{DH: !tt.noDH})
		if s.Inning > 1 {
			s.Teams[game.Home].BattersFaced = 3
		}
		next, err := s.Substitute(subs(t, tt.subs)...)
		if err == nil {
			_, err = next.Apply(parse(t, &next, "K"))
		}
		got := refusal(t, err)
		if err != nil && got == "" {
			got = "-"
		}
		check.That(t, got == tt.refused, "%s: %s: %v, want refusal by %q", tt.name, tt.subs, err, tt.refused)
	}
}

// 5.10(d): the umpires of a real game let a player return. No other rule is lifted.
func TestSubstitute_asRuled(t *testing.T) {
	t.Parallel()
	s := newGame(t, game.Options{DH: true})
	left := check.Must(s.Substitute(subs(t, "h15 1 CF")...))(t)
	back := sub("h1", 1, game.CenterField)
	_, err := left.Substitute(back)
	check.That(t, refusal(t, err) == "5.10(d)", "h1 returns: %v", err)
	back.AsRuled = true
	after := check.Must(left.Substitute(back))(t)
	home := &after.Teams[game.Home]
	check.That(t, home.Fielder(game.CenterField) == "h1" && slices.Equal(home.Removed, []game.PlayerID{"h15"}),
		"%s in center field, %v have left", home.Fielder(game.CenterField), home.Removed)
	back.Slot = 2
	if _, err := left.Substitute(back, sub("h15", 1, game.CenterField), sub("h1", 3, game.FirstBase)); refusal(t,
		err) != "5.10(a)" {
		t.Errorf("h1 bats twice: %v", err)
	}
}

// 5.10(g): a pitcher faces three batters or ends a half-inning; before 2020 one batter was enough.
func TestSubstitute_threeBatterMinimum(t *testing.T) {
	t.Parallel()
	o := game.Options{DH: true}
	relieved := check.Must(
		apply(t, newGame(t, o), "W", "64(1)3/GDP", "K", "K", "K", "K").Substitute(sub("h11", 0, game.Pitcher)))(t)
	relieved = apply(t, relieved, "W")
	for _, tt := range []struct {
		name          string
		s             game.State
		subs, refused string
	}{
		{"two batters", apply(t, newGame(t, o), "W", "W.1-2"), "h11 0 P", "5.10(g)"},
		{
			"two batters, before 2020",
			apply(t, newGame(t, game.Options{DH: true, NoThreeBatterMinimum: true}), "W", "W.1-2"), "h11 0 P", "",
		},
		{"three batters", apply(t, newGame(t, o), "W", "W.1-2", "K"), "h11 0 P", ""},
		{"reliever, one batter", relieved, "h12 0 P", "5.10(g)"},
		{"reliever, one batter, to the outfield", relieved, "h11 4 LF", "5.10(g)"},
		{"reliever, injured", relieved, "h12 0 P injured", ""},
	} {
		_, err := tt.s.Substitute(subs(t, tt.subs)...)
		check.That(t, refusal(t, err) == tt.refused, "%s: %v, want refusal by %q", tt.name, err, tt.refused)
	}
}

// 5.11(a): substitutions that keep and that end the designated hitter.
func TestSubstitute_designatedHitter(t *testing.T) {
	t.Parallel()
	s := situation(t, "5t 0 --- 0-0", game.Options{DH: true})
	s.Teams[game.Home].BattersFaced = 3
	for side := range s.Teams {
		s.Teams[side].DHBatted = true
	}
	due, onBase := s, s
	due.Teams[game.Away].NextBatter = 3
	onBase.Bases[0].Player = "a4"
	relieved := situation(t, "1t 0 --- 0-0", game.Options{DH: true})
	relieved.Teams[game.Home].Relieved = true
	for _, tt := range []struct {
		name string
		s    game.State
		subs string
		dh   int    // place of the DH afterwards
		slot string // player, place and position afterwards; "" for any
	}{
		{"a relief pitcher", s, "h11 0 P", 4, ""},
		{"a fielder from the bench pitches", s, "h15 0 P", 4, ""},
		{"(2) after the other side changed its pitcher the DH need not bat", relieved, "a15 4 DH", 4, ""},
		{"(4) a pinch hitter for the DH is the DH", due, "a15 4 PH", 4, "a15 4 DH"},
		{"(6) a pinch runner for the DH is the DH", onBase, "a15 4 PR", 4, "a15 4 DH"},
		{"(5), (12) the DH fields", s, "h4 4 LF, h10 5 P", 0, "h10 5 P"},
		{"(8) the pitcher changes position", s, "h10 4 LF, h11 5 P", 0, ""},
		{"(9) a pinch hitter bats", s, "a15 1 PH", 4, ""},
		{"(9) and then pitches", s, "a15 1 PH, a15 1 P", 0, ""},
		{"(10) the pitcher bats for the DH", due, "a10 4 PH", 0, ""},
		{"(10) the pitcher runs for the DH", onBase, "a10 4 PR", 0, ""},
		{"(14) a fielder pitches", s, "h2 2 P, h15 4 SS", 0, ""},
	} {
		list := subs(t, tt.subs)
		next, err := tt.s.Substitute(list...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		team := &next.Teams[list[0].Side]
		check.Equal(t, team.DH, tt.dh, "%s: the DH bats in place", tt.name)
		if tt.slot == "" {
			continue
		}
		want := subs(t, tt.slot)[0]
		if got := team.Order[want.Slot-1]; got != (game.Slot{Player: want.Player, Position: want.Position}) {
			t.Errorf("%s: place %d is %v, want %s", tt.name, want.Slot, got, tt.slot)
		}
	}
}

// 5.11(b): a pitcher who starts as DH counts as two players.
func TestSubstitute_twoWay(t *testing.T) {
	t.Parallel()
	lineups := [2]game.Lineup{lineup(game.Away, true), lineup(game.Home, true)}
	lineups[game.Home].Pitcher = "h4"
	s := check.Must(game.New(game.Options{DH: true}, clubs(), lineups))(t)
	s.Teams[game.Home].BattersFaced = 3
	s.Teams[game.Home].DHBatted = true
	atBat := s
	atBat.Half, atBat.Teams[game.Home].NextBatter = game.Bottom, 3
	for _, tt := range []struct {
		name    string
		s       game.State
		subs    string
		bats    game.PlayerID // in place 4, the DH's
		pitches game.PlayerID
		removed []game.PlayerID
	}{
		{"leaves the mound", s, "h11 0 P", "h4", "h11", []game.PlayerID{}},
		{"leaves as DH", atBat, "h15 4 PH", "h15", "h4", []game.PlayerID{}},
		{"leaves as both", atBat, "h15 4 PH, h11 0 P", "h15", "h11", []game.PlayerID{"h4"}},
	} {
		next := check.Must(tt.s.Substitute(subs(t, tt.subs)...))(t)
		h := next.Teams[game.Home]
		check.That(t, h.DH == 4 && h.Order[3].Player == tt.bats && h.Pitcher == tt.pitches &&
			slices.Equal(h.Removed, tt.removed),
			"%s: %+v", tt.name, h)
		if next.Half == game.Top {
			apply(t, next, "K", "K", "K", "K", "K", "K")
		}
	}
}

// Changes of a copy of a state leave the original and other copies as they are.
func TestState_copies(t *testing.T) {
	t.Parallel()
	s := situation(t, "5t 0 1-- 0-0", game.Options{DH: true})
	before := describe(&s)
	one := check.Must(s.Substitute(sub("a15", 9, game.PinchRunner)))(t)
	two := check.Must(s.Substitute(sub("a16", 9, game.PinchRunner)))(t)
	apply(t, one, "HR")
	if got := describe(&s); got != before || s.Bases[0].Player != "a9" || len(s.Teams[game.Away].Bench) != 10 {
		t.Errorf("the original became %s, %v, bench %v", got, s.Bases, s.Teams[game.Away].Bench)
	}
	check.That(t, one.Bases[0].Player == "a15" && two.Bases[0].Player == "a16",
		"the copies share: %v, %v", one.Bases, two.Bases)
}
