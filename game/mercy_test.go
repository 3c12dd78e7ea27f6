package game_test

import (
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

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
