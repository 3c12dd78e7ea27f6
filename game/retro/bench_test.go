package retro_test

import (
	"path/filepath"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
)

// BenchmarkSeason replays the 2020 season, or our own games 60 times where it is not there: parsing and book included.
func BenchmarkSeason(b *testing.B) {
	games, err := readEvents(filepath.Join(gametest.SeasonDir(b), "retrosheet-events-2020.tar.gz"))
	if err != nil {
		b.Logf("our own games instead: %v", err)
		games = ownGames(b)
	}
	for b.Loop() {
		s := season{games: games, differences: map[string][]string{}, counts: map[string]int{}}
		s.forEach(func(g *retro.Game) {
			if _, err := g.Replay(func(*retro.Step, *game.Scorebook) {}); err != nil {
				s.addDifference("refused", "%v", err)
			}
		})
		if len(s.differences) > 0 {
			b.Fatal(s.differences)
		}
	}
	b.ReportMetric(float64(len(games)*b.N)/b.Elapsed().Seconds(), "games/s")
}

// BenchmarkRead parses the files of the season.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(gametest.SeasonDir(b), "retrosheet-events-2020.tar.gz")
	if _, err := readEvents(path); err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if _, err := readEvents(path); err != nil {
			b.Fatal(err)
		}
	}
}
