// Package gametest is what the tests of games share: line-ups, situations, files of real seasons, and golden files.
package gametest

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/game"
)

// Positions are those of the nine in batting order.
func Positions() [9]game.Position {
	return [9]game.Position{
		game.CenterField, game.Shortstop, game.FirstBase, game.DesignatedHitter, game.LeftField,
		game.ThirdBase, game.RightField, game.Catcher, game.SecondBase,
	}
}

// Lineup is the line-up of a club whose first nine players bat, and whose tenth pitches; without a designated hitter the
// fourth pitches and bats.
func Lineup(c game.Club, dh bool) game.Lineup {
	l := game.Lineup{Pitcher: c.Players[9].ID}
	for i, at := range Positions() {
		l.Order = append(l.Order, game.Slot{Player: c.Players[i].ID, Position: at})
	}
	if !dh {
		l.Order[3].Position, l.Pitcher = game.Pitcher, l.Order[3].Player
	}
	return l
}

// SetSituation brings a game into a situation: "9b 2 1-3 4-5" is the bottom of the ninth, two out, runners on first and third,
// 4 to 5. The runners are the places 7, 8 and 9 of the order; place 1 is due.
func SetSituation(tb testing.TB, s *game.State, situation string) {
	tb.Helper()
	var half rune
	var bases string
	if _, err := fmt.Sscanf(situation, "%d%c %d %s %d-%d", &s.Inning, &half, &s.Outs, &bases, &s.Score[0], &s.Score[1]); err != nil {
		tb.Fatalf("situation %q: %v", situation, err)
	}
	if half == 'b' {
		s.Half = game.Bottom
	}
	for i := range s.Bases {
		if bases[i] != '-' {
			s.Bases[i].Player = s.Teams[s.Batting()].Order[8-i].Player
		}
	}
}

// SeasonDir is the folder of real seasons: $RETROSHEET_DIR, else shared/retrosheet beside the project's root. It need not
// be there.
func SeasonDir(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv("RETROSHEET_DIR"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared", "retrosheet")
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// ReadArchive reads the files of a .tar.gz whose names end like ".EVA" or ".EVN" for the kind "EV".
func ReadArchive(archive, kind string, read func(io.Reader) error) error {
	f, err := os.Open(archive) //nolint:gosec // a test names it
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		if !strings.HasPrefix(filepath.Ext(h.Name), "."+kind) {
			continue
		}
		if err := read(files); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

var update = flag.Bool("update", false, "renew the golden files") //nolint:gochecknoglobals // as flags are

// Golden compares text with a file in testdata, or renews the file under -update.
func Golden(tb testing.TB, name, got string) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path) //nolint:gosec // a test names it
	if err != nil {
		tb.Fatal(err)
	}
	if got != string(want) {
		tb.Errorf("differs from %s; got:\n%s", path, got)
	}
}
