package retro_test

import (
	"path/filepath"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// BenchmarkSeason replays the 2020 season, scoring included.
func BenchmarkSeason(b *testing.B) {
	path := filepath.Join(gametest.SeasonDir(b), "retrosheet-events-2020.tar.gz")
	games := check.Must(readEvents(path))(b)
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
