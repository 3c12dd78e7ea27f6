package game_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

// Check returns all violations at once, each with its path and code.
func TestLineup_check(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		dh   bool
		card func(*game.Lineup) // changes a legal line-up
		want []string           // path and code
	}{
		{"legal with a DH", true, func(*game.Lineup) {}, nil},
		{"legal without a DH", false, func(*game.Lineup) {}, nil},
		{
			"the pitcher bats although a DH is allowed", true,
			func(l *game.Lineup) { *l = lineup(game.Away, false) }, nil,
		},
		{"two-way", true, func(l *game.Lineup) { l.Pitcher = "a4" }, nil},
		{
			"eight", true, func(l *game.Lineup) { l.Order = l.Order[:8] },
			[]string{"/batting_order not_nine", "/batting_order position_empty"},
		},
		{
			"ten", true,
			func(l *game.Lineup) { l.Order = append(l.Order, game.Slot{Player: "a15", Position: game.LeftField}) },
			[]string{
				"/batting_order not_nine", "/batting_order/9/position position_twice",
			},
		},
		{
			"empty", true, func(l *game.Lineup) { *l = game.Lineup{} },
			append(slices.Repeat([]string{"/batting_order position_empty"}, 8),
				"/batting_order not_nine", "/pitcher_id not_on_roster", "/pitcher_id pitcher_not_in_order"),
		},
		{
			"a duplicate and an unfilled position", true, func(l *game.Lineup) { l.Order[0].Position = game.Shortstop },
			[]string{"/batting_order/1/position position_twice", "/batting_order position_empty"},
		},
		{
			"a duplicate player", true, func(l *game.Lineup) { l.Order[8].Player = "a1" },
			[]string{"/batting_order/8/player_id player_twice"},
		},
		{
			"not on the roster", true, func(l *game.Lineup) { l.Order[2].Player = "h3" },
			[]string{"/batting_order/2/player_id not_on_roster"},
		},
		{
			"two DHs", true, func(l *game.Lineup) { l.Order[0].Position = game.DesignatedHitter },
			[]string{"/batting_order/3/position position_twice", "/batting_order position_empty"},
		},
		{
			"DH together with P", true,
			func(l *game.Lineup) { l.Order[0] = game.Slot{Player: "a10", Position: game.Pitcher} },
			[]string{
				"/batting_order/3/position dh_with_pitcher", "/batting_order position_empty",
			},
		},
		{
			"DH where none is allowed", false, func(l *game.Lineup) { *l = lineup(game.Away, true) },
			[]string{"/batting_order/3/position dh_not_allowed"},
		},
		{"pitcher left out without DH", false, func(l *game.Lineup) {
			l.Order[3] = game.Slot{Player: "a15", Position: game.LeftField}
			l.Pitcher = "a10"
		}, []string{"/batting_order/4/position position_twice", "/pitcher_id pitcher_not_in_order"}},
		{
			"another player pitches than bats at P", false, func(l *game.Lineup) { l.Pitcher = "a10" },
			[]string{"/pitcher_id pitcher_differs"},
		},
		{"not a pitcher", true, func(l *game.Lineup) { l.Pitcher = "a15" }, []string{"/pitcher_id cannot_pitch"}},
		{
			"the pitcher at short", true, func(l *game.Lineup) { l.Pitcher = "a2" },
			[]string{"/pitcher_id cannot_pitch", "/batting_order/1/position pitcher_elsewhere"},
		},
		{
			"a starter cannot be a pinch hitter", true, func(l *game.Lineup) { l.Order[0].Position = game.PinchHitter },
			[]string{"/batting_order/0/position no_such_position", "/batting_order position_empty"},
		},
		{"everything at once", false, func(l *game.Lineup) {
			l.Order[0] = game.Slot{Player: "a2", Position: game.DesignatedHitter}
			l.Order[5].Player = "zz"
			l.Pitcher = "a15"
		}, []string{
			"/batting_order/0/position dh_not_allowed", "/batting_order/0/position dh_with_pitcher",
			"/batting_order/1/player_id player_twice", "/batting_order/5/player_id not_on_roster",
			"/pitcher_id cannot_pitch", "/pitcher_id pitcher_differs", "/batting_order position_empty",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := lineup(game.Away, tt.dh)
			tt.card(&l)
			var got []string
			for _, v := range l.Check(clubs()[game.Away], tt.dh) {
				got = append(got, v.Path+" "+string(v.Code))
				check.That(t, v.Detail != "", "%s %s without a detail", v.Path, v.Code)
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(tt.want))
			check.That(t, slices.Equal(got, want), "got  %q\nwant %q", got, want)
		})
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
