package game_test

import (
	"fmt"

	"pressbox/game"
)

// A ground ball to short with a runner on first: two are out, the first of them forced.
func ExampleState_Apply() {
	s, err := game.New(game.Options{DH: true}, clubs(), [2]game.Lineup{lineup(game.Away, true), lineup(game.Home, true)})
	if err != nil {
		fmt.Println(err)
		return
	}
	single := game.Play{Kind: game.Single, Touched: "8", Runs: [4]game.Run{{To: game.First}}}
	s, err = s.Apply(single)
	fmt.Println(s.On(game.First).Player, s.Batter(), err)

	double := game.Play{
		Kind:  game.BattedOut,
		Flags: game.GroundedIntoDouble,
		Ball:  game.Ball{Contact: game.Ground, Place: "6"},
		Outs: [4]game.Out{
			{Who: game.First, At: game.Second, How: game.Forced, By: "64"},
			{Who: game.AtBat, At: game.First, How: game.BeforeFirst, By: "43"},
		},
	}
	s, err = s.Apply(double)
	fmt.Println(s.Outs, s.Batter(), err)

	_, err = s.Apply(double) // nobody is on first any more
	fmt.Println(err)
	// Output:
	// a1 a2 <nil>
	// 2 a3 <nil>
	// out 1: nobody started from first
}
