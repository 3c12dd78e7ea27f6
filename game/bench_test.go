package game_test

import (
	"testing"

	"pressbox/game"
)

func plainPlays(tb testing.TB, s *game.State) []game.Play {
	tb.Helper()
	var plays []game.Play
	for _, event := range []string{"K", "63/G6", "8/F8", "S7/L7", "W"} {
		plays = append(plays, parse(tb, s, event))
	}
	return plays
}

func TestApply_allocations(t *testing.T) {
	s := newGame(t, game.Options{DH: true})
	for _, p := range plainPlays(t, &s) {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := s.Apply(p); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("a %s: %v allocations", p.Kind, n)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	s := newGame(b, game.Options{DH: true})
	plays := plainPlays(b, &s)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.Apply(plays[i%len(plays)]); err != nil {
			b.Fatal(err)
		}
	}
}
