package game_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

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
