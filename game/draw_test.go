package game_test

import (
	"fmt"
	"strings"

	"pressbox/game"
	"pressbox/game/retro"
)

// draw returns a play that may be legal in s; pick returns a number below n.
func draw(s *game.State, pick func(int) int) game.Play {
	events := [...]string{
		"8/F8", "63/G6", "64(1)/FO/G6", "64(1)3/GDP/G6", "K", "W", "S7", "D7", "T7", "HR/F7D", "HP", "E6", "FC6",
		"C/E2", "WP", "PB", "BK", "SB2", "SB3", "SBH", "CS2(26)", "CS3(25)", "CSH(2)", "PO1(13)", "PO2(14)", "PO3(15)",
	}
	i := pick(len(events))
	event := events[i]
	var advances []string
	for b := game.First; b <= game.Third && i < len(events)-9; b++ { // none beside an attempt
		if to := min(b+game.Base(pick(5)), game.HomePlate); to > b && s.RunnerOn(b).Player != "" &&
			!strings.Contains(event, fmt.Sprintf("(%d)", b)) {
			advances = append(advances, fmt.Sprintf("%d-%c", b, "B123H"[to]))
		}
	}
	p, err := retro.Parse(s, event+"."+strings.Join(advances, ";"))
	if err != nil {
		panic(err)
	}
	return p
}
