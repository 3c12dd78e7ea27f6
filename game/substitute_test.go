package game_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
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
			slices.Equal(h.Removed, tt.removed), "%s: %+v", tt.name, h)
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

// Check returns all violations at once, each with its path and code.
func TestLineup_check(t *testing.T) {
	t.Parallel()
	for _, f := range check.Rows(`
legal with a DH | dh | |
legal without a DH | | |
the pitcher bats although a DH is allowed | dh | pitcher bats |
two-way | dh | 0:a4 |
eight | dh | eight | order not_nine, order position_empty
ten | dh | 10:a15:LF | order not_nine, order/9/position position_twice
empty | dh | empty | order not_nine, pitcher_id not_on_roster, pitcher_id pitcher_not_in_order, 8 positions empty
a duplicate and an unfilled position | dh | 1:a1:SS | order position_empty, order/1/position position_twice
a duplicate player | dh | 9:a1 | order/8/player_id player_twice
not on the roster | dh | 3:h3 | order/2/player_id not_on_roster
two DHs | dh | 1:a1:DH | order position_empty, order/3/position position_twice
DH together with P | dh | 1:a10:P | order position_empty, order/3/position dh_with_pitcher
DH where none is allowed | | dh bats | order/3/position dh_not_allowed
pitcher left out without DH | | 4:a15:LF 0:a10 | order/4/position position_twice, pitcher_id pitcher_not_in_order
another player pitches than bats at P | | 0:a10 | pitcher_id pitcher_differs
not a pitcher | dh | 0:a15 | pitcher_id cannot_pitch
the pitcher at short | dh | 0:a2 | order/1/position pitcher_elsewhere, pitcher_id cannot_pitch
a starter cannot be a pinch hitter | dh | 1:a1:PH | order position_empty, order/0/position no_such_position
everything at once | | 1:a2:DH 6:zz 0:a15 | 7 violations
`) {
		dh := f[1] == "dh"
		l := lineup(game.Away, dh)
		change(t, &l, f[2])
		var got []string
		for _, v := range l.Check(clubs()[game.Away], dh) {
			path := strings.Replace(v.Path, "batting_order", "order", 1)
			got = append(got, path[1:]+" "+string(v.Code))
			check.That(t, v.Detail != "", "%s %s without a detail", v.Path, v.Code)
		}
		slices.Sort(got)
		want := strings.NewReplacer(
			"8 positions empty", strings.Repeat("order position_empty, ", 7)+"order position_empty",
			"7 violations", "order position_empty, order/0/position dh_not_allowed, order/0/position dh_with_pitcher, "+
				"order/1/player_id player_twice, order/5/player_id not_on_roster, pitcher_id cannot_pitch, "+
				"pitcher_id pitcher_differs",
		).Replace(f[3])
		sorted := slices.Sorted(strings.SplitSeq(want, ", "))
		check.Equal(t, strings.Join(got, ", "), strings.Join(sorted, ", "), "%s", f[0])
	}
}

// change changes a line-up by words: "3:a5" or "3:a5:SS" is who bats third, and where; "0:a5" who pitches.
func change(t *testing.T, l *game.Lineup, words string) {
	t.Helper()
	switch words {
	case "pitcher bats", "dh bats":
		*l = lineup(game.Away, words == "dh bats")
	case "eight":
		l.Order = l.Order[:8]
	case "empty":
		*l = game.Lineup{}
	default:
		for word := range strings.FieldsSeq(words) {
			f := strings.Split(word, ":")
			n := check.Must(strconv.Atoi(f[0]))(t)
			if n == 0 {
				l.Pitcher = game.PlayerID(f[1])
				continue
			}
			if n > len(l.Order) {
				l.Order = append(l.Order, game.Slot{})
			}
			slot := &l.Order[n-1]
			slot.Player = game.PlayerID(f[1])
			if len(f) > 2 {
				check.NoError(t, slot.Position.UnmarshalText([]byte(f[2])))
			}
		}
	}
}

// An unknown position is a violation with its path, not a syntax error.
func TestLineup_json(t *testing.T) {
	t.Parallel()
	var l game.Lineup
	text := `{"batting_order":[{"player_id":"a1","position":"CF"},{"player_id":"a2","position":"shortstop"}],` +
		`"pitcher_id":"a10"}`
	check.NoError(t, json.Unmarshal([]byte(text), &l))
	check.That(t, l.Order[0] == (game.Slot{Player: "a1", Position: game.CenterField}) && l.Pitcher == "a10",
		"read %+v", l)
	found := l.Check(clubs()[game.Away], true)
	if !slices.ContainsFunc(found, func(v game.Violation) bool {
		return v.Path == "/batting_order/1/position" && v.Code == game.InvalidPosition
	}) {
		t.Errorf("%+v", found)
	}
	back, err := json.Marshal(lineup(game.Away, true))
	check.That(t, err == nil && strings.Contains(string(back), `"batting_order":[{"player_id":"a1","position":"CF"}`),
		"%s, %v", back, err)
}

func TestNew_violations(t *testing.T) {
	t.Parallel()
	lineups := [2]game.Lineup{lineup(game.Away, true), {}}
	_, err := game.New(game.Options{DH: true}, clubs(), lineups)
	var bad *game.LineupError
	check.That(t, errors.As(err, &bad) && bad.Side == game.Home && len(bad.Violations) >= 10, "New: %v", err)
	lineups[game.Home] = lineup(game.Home, true)
	if _, err := game.New(game.Options{DH: true, Innings: -1}, clubs(), lineups); err == nil {
		t.Error("New accepts −1 innings")
	}
}

// A state's JSON is canonical: equal states have equal bytes, and the bytes read back as the state.
func TestState_json(t *testing.T) {
	t.Parallel()
	s := apply(t, newGame(t, game.Options{DH: true, ExtraInnings: game.Standard}), "S7", "W.1-2", "K")
	text := check.Must(json.Marshal(s))(t)
	var back game.State
	check.NoError(t, json.Unmarshal(text, &back))
	again, err := json.Marshal(back)
	check.That(t, err == nil && string(again) == string(text), "%s\nread and written: %s, %v", text, again, err)
	for _, part := range []string{
		`"inning":1`, `"half":"top"`, `"outs":1`, `"bases":[{"player":"a2"},{"player":"a1"},{}]`, `"score":[0,0]`,
	} {
		check.That(t, strings.Contains(string(text), part), "no %s in %s", part, text)
	}
}
