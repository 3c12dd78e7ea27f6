package retro_test

import (
	"path/filepath"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// events2020 returns the archive of the 2020 season and its games. A benchmark without them fails.
func events2020(b *testing.B) (path string, games []*retro.Game) {
	b.Helper()
	path = filepath.Join(gametest.SeasonDir(b), "retrosheet-events-2020.tar.gz")
	return path, check.Must(readEvents(path))(b)
}

// BenchmarkSeason replays the 2020 season, scoring included.
func BenchmarkSeason(b *testing.B) {
	_, games := events2020(b)
	for b.Loop() {
		s := season{games: games, differences: map[string][]string{}}
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

// BenchmarkRead parses the files of the 2020 season.
func BenchmarkRead(b *testing.B) {
	path, _ := events2020(b)
	for b.Loop() {
		check.Must(readEvents(path))(b)
	}
}
