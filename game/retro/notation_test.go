package retro_test

import (
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// notationState returns a state of the first game in testdata, in a situation of [gametest.SetSituation].
func notationState(tb testing.TB, situation string) game.State {
	tb.Helper()
	s := check.Must(game.New(ownGames(tb)[0].Setup()))(tb)
	gametest.SetSituation(tb, &s, situation)
	return s
}

// outcome returns outs, runs and bases after a play: "1 0 -2-".
func outcome(tb testing.TB, s game.State, event string) string {
	tb.Helper()
	after := check.Must(s.Apply(check.Must(retro.Parse(&s, event))(tb)))(tb)
	if after.Half != s.Half {
		return "3"
	}
	bases := []byte("---")
	for i := range after.Bases {
		if after.Bases[i].Player != "" {
			bases[i] = byte('1' + i)
		}
	}
	return fmt.Sprintf("%d %d %s", after.Outs-s.Outs, after.Score[s.Batting()]-s.Score[s.Batting()], bases)
}

// An X is an out unless an error of a known fielder is with it. A credit that cannot be read is never a run.
func TestParse_outsOnTheBases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, event, want string }{
		{"1t 0 -2- 0-0", "FC5.2X3(5X)", "1 0 1--"},
		{"1t 0 --- 0-0", "S7/G.BX2(74H)", "1 0 ---"},
		{"1t 0 -2- 0-0", "S7.2XH(banana)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(TH)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(7E)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(7E0)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(7E2)", "0 1 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(E7/TH)", "0 1 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(E7)(72)", "1 0 1--"},
		{"1t 0 1-- 0-0", "CS2(2H)", "1 0 ---"},
		{"1t 0 1-- 0-0", "CS2(2E4)", "0 0 -2-"},
		{"1t 0 1-- 0-0", "PO1(banana)", "1 0 ---"},
		{"1t 0 1-- 0-0", "PO1(E3)", "0 0 1--"},
	} {
		check.Equal(t, outcome(t, notationState(t, tt.in), tt.event), tt.want, "%s at %s", tt.event, tt.in)
	}
	s := notationState(t, "1t 0 --- 0-0")
	p := check.Must(retro.Parse(&s, "S7/G.BX2(74H)"))(t)
	check.That(t, p.Outs[0].Fielders == "74", "out by %q, want 74, the part that can be read", p.Outs[0].Fielders)
}

// Rare forms of the notation mean what they say, and read back the same when written.
func TestFormat_rareForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, event, want string }{
		{"1t 0 1-- 0-0", "POCS2(13E6).1-1", "POCS2(13E6).1-1"}, // safe, and back
		{"1t 0 1-- 0-0", "CS2(2E4).1-1", "CS2(2E4).1-1"},
		{"1t 0 1-3 0-0", "CSH(25E3).3-3;1-2", "CSH(25E3).3-3;1-2"},
		{"1t 0 1-- 0-0", "K+CS2(2E4).1-1", "K+CS2(2E4).1-1"},
		{"1t 0 1-- 0-0", "S9.1-3(TH)(E9/TH)", "S9.1-3(TH)(E9/TH)"},
		{"1t 0 1-- 0-0", "S9.1-3(E9/TH)(TH)", "S9.1-3(E9/TH)"},
		{"1t 0 1-- 0-0", "K+SB2.1-3(WP)", "K+SB2.1-3(WP)"},
		{"1t 0 12- 0-0", "K+SB3;SB2.2-H(PB)", "K+SB3;SB2.2-H(PB)"},
		{"1t 0 1-- 0-0", "SB2.1-3(WP)", "SB2.1-3(WP)"},
		{"1t 0 1-- 0-0", "SB2.1X3(WP)(25)", "SB2.1X3(25)(WP)"},
		{"1t 0 -2- 0-0", "S7.2-H;BX2(724)(TH)", "S7.2-H;BX2(724)(TH)"},
		{"1t 0 -2- 0-0", "S7.2XH(72)(TH)", "S7.2XH(72)(TH)"},
		{"1t 0 1-- 0-0", "WP.1X3(26)(WP)", "WP.1X3(26)(WP)"},
		{"1t 0 -23 0-0", "8/SF/BOOT.3-H;2-3", "8/SF/BOOT.3-H;2-3"}, // out of turn, and no appeal
		{"1t 0 --- 0-0", "3/BOOT", "3/BOOT"},
		{"1t 0 --- 0-0", "43-/G", "43/G-"},
		{"1t 0 --- 0-0", "43+/G", "43/G+"},
		{"1t 0 --- 0-0", "43-", "43/-"},
		{"1t 0 1-- 0-0", "64(1)3-/GDP/G6", "64(1)3/GDP/G6-"},
		{"1t 0 1-- 0-0", "POSB2", "SB2"},
		{"1t 0 1-- 0-0", "K+POSB2", "K+SB2"},
		{"1t 0 1-- 0-0", "OBA.1-2", "OA.1-2"},
		{"1t 0 --- 0-0", "HBP", "HP"},
		{"1t 0 --- 0-0", "S7/G.BX2(74H)", "S7/G.BX2(74)"},
		{"1t 0 -2- 0-0", "S7.2XH(banana)", "S7.2XH"},
	} {
		s := notationState(t, tt.in)
		p := check.Must(retro.Parse(&s, tt.event))(t)
		if _, err := s.Apply(p); err != nil {
			t.Errorf("%s: %v", tt.event, err)
		}
		got, err := retro.Format(&s, p)
		check.That(t, err == nil && got == tt.want, "%s is written %s, %v; want %s", tt.event, got, err, tt.want)
	}
}

// BOOT is an appeal only if the batter is all that is out and no runner moved.
func TestParse_battingOutOfTurn(t *testing.T) {
	t.Parallel()
	for event, appeal := range map[string]bool{
		"3/BOOT": true, "K/BOOT": true, "8/SF/BOOT.3-H": false, "S7/BOOT.3-H": false, "W/BOOT": false,
	} {
		s := notationState(t, "1t 0 --3 0-0")
		p := check.Must(retro.Parse(&s, event))(t)
		check.That(t, p.Flags.Has(game.OutForBattingOutOfTurn) == appeal && (p.OtherModifiers == "BOOT") != appeal,
			"%s: flags %b, other modifiers %q; appeal %v", event, p.Flags, p.OtherModifiers, appeal)
	}
}
