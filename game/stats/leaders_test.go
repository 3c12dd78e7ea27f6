package stats_test

import (
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/stats"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// batted returns a game of A at B in which players of A batted; their lines are hits of at-bats.
func batted(id string, lines ...game.BattingLine) stats.FinishedGame {
	r := stats.FinishedGame{ID: id, Teams: [2]teams.Ref{team("A"), team("B")}, Score: [2]int{1, 0}}
	r.Box.Innings = 9
	r.Box.Teams[0].Batting = lines
	for _, l := range lines {
		r.Box.Teams[0].Hits += l.Hits
	}
	return r
}

func line(player string, plateAppearances, hits, homeRuns int) game.BattingLine {
	return game.BattingLine{
		Player: game.PlayerID(player), Name: player, Slot: 1, PlateAppearances: plateAppearances,
		AtBats: plateAppearances, Hits: hits, HomeRuns: homeRuns,
	}
}

// find returns the leaders of a statistic as text.
func find(all []stats.Category, statistic string) string {
	for _, c := range all {
		if c.Statistic == statistic {
			text := ""
			for _, l := range c.Leaders {
				text += fmt.Sprintf("%s %g ", l.Name, l.Value)
			}
			return text
		}
	}
	return "no such statistic"
}

// Rates are led by those with 3.1 plate appearances for each game of the team (9.22(a)), counts by anyone who has one.
func TestLeaders_qualified(t *testing.T) {
	t.Parallel()
	var acc stats.Accumulator
	for n := range 10 {
		lines := []game.BattingLine{line("often", 4, 1, n%2)}
		if n < 3 {
			lines = append(lines, line("just", 10, 4, 0), line("seldom", 10, 9, 1))
		}
		if n == 9 {
			lines = append(lines, line("just", 1, 0, 0)) // 31 of 31
		}
		acc.Add(batted("", lines...))
	}
	l := acc.Leaders()
	check.Equal(t, find(l.Batting, "avg"), "just 0.387 often 0.25 ", "average")
	check.Equal(t, find(l.Batting, "hr"), "often 5 seldom 3 ", "home runs")
	check.Equal(t, find(l.Batting, "sb"), "", "stolen bases")
	check.Equal(t, find(l.Pitching, "era"), "", "earned-run average")
}

// A category has five leaders, and those who are equal to the fifth, up to ten.
func TestLeaders_equals(t *testing.T) {
	t.Parallel()
	for players, want := range map[int]int{4: 4, 5: 5, 7: 7, 12: 10} {
		var acc stats.Accumulator
		var lines []game.BattingLine
		for i := range players {
			lines = append(lines, line(fmt.Sprint("player", i), 4, 1, 1))
		}
		acc.Add(batted("", lines...))
		for _, c := range acc.Leaders().Batting {
			check.That(t, c.Statistic != "hr" || len(c.Leaders) == want,
				"%d equals: %d leaders, want %d", players, len(c.Leaders), want)
		}
	}
}

// A record belongs to the first who set it; an equal one later does not take it.
func TestLeaders_records(t *testing.T) {
	t.Parallel()
	var acc stats.Accumulator
	acc.Add(batted("first", line("x", 5, 3, 0)))
	acc.Add(batted("second", line("y", 5, 4, 2)))
	acc.Add(batted("third", line("z", 5, 4, 2)))
	for _, f := range acc.Leaders().Records {
		switch f.Statistic {
		case "player_h":
			check.That(t, f.Value == 4 && f.Name == "y" && f.Game == "second" && f.Opponent.ID == "B", "hits: %+v", f)
		case "innings":
			check.That(t, f.Value == 9 && f.Game == "first" && f.Player == "", "innings: %+v", f)
		}
	}
}
