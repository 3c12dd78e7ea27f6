package game_test

import (
	"fmt"

	"pressbox/game"
)

// A single, then a ground ball to short: a double play that starts with a force-out.
func ExampleState_Apply() {
	s, err := game.New(game.Options{DH: true}, clubs(),
		[2]game.Lineup{lineup(game.Away, true), lineup(game.Home, true)})
	if err != nil {
		fmt.Println(err)
		return
	}
	single := game.Play{Kind: game.Single, FieldedBy: "8", Advances: [4]game.Advance{{To: game.First}}}
	s, err = s.Apply(single)
	fmt.Println(s.RunnerOn(game.First).Player, s.Batter(), err)

	double := game.Play{
		Kind:  game.BattedOut,
		Flags: game.GroundedIntoDoublePlay,
		Ball:  game.BattedBall{Contact: game.GroundBall, Location: "6"},
		Outs: [4]game.Out{
			{Runner: game.First, At: game.Second, Kind: game.ForceOut, Fielders: "64"},
			{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: "43"},
		},
	}
	s, err = s.Apply(double)
	fmt.Println(s.Outs, s.Batter(), err)

	_, err = s.Apply(double) // no runner is left on first
	fmt.Println(err)
	// Output:
	// a1 a2 <nil>
	// 2 a3 <nil>
	// out 1: no runner on first
}
