package chance_test

import (
	"encoding/binary"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
)

func TestFirst(t *testing.T) {
	f := averageFixture(0)
	for n := range 300 {
		var seed chance.Seed
		binary.BigEndian.PutUint64(seed[:], uint64(n))
		table := chance.NewTable(seed, f.clubs, f.ratings, f.park)
		s, err := game.New(game.Options{DH: true, ExtraInnings: game.Standard}, f.clubs, f.cards)
		if err != nil {
			t.Fatal(err)
		}
		var m chance.Moment
		for !s.Over() {
			turn, err := table.Resolve(&s, m, chance.Calls{})
			if err != nil {
				t.Fatal(err)
			}
			next, err := s.Apply(turn.Play)
			if err != nil {
				t.Fatalf("%d: %v: %+v in %d %v %d out %v", n, err, turn.Finish(true), s.Inning, s.Half, s.Outs, s.Bases)
			}
			s, m = next, turn.Next
		}
		if n < 5 {
			t.Log(s.Score, s.Inning)
		}
	}
}
