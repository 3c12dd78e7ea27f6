// Package gametest holds what the tests of games share: line-ups, situations, the files of real seasons, golden files.
package gametest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/packaging/check"
)

// Positions returns the positions of a line-up with a designated hitter, in batting order.
func Positions() [9]game.Position {
	return [9]game.Position{
		game.CenterField, game.Shortstop, game.FirstBase, game.DesignatedHitter, game.LeftField,
		game.ThirdBase, game.RightField, game.Catcher, game.SecondBase,
	}
}

// Lineup returns a line-up of the club's first nine players, with the tenth as pitcher. Without a designated hitter the
// fourth pitches and bats.
func Lineup(c game.Club, dh bool) game.Lineup {
	l := game.Lineup{Pitcher: c.Players[9].ID}
	for i, position := range Positions() {
		l.Order = append(l.Order, game.Slot{Player: c.Players[i].ID, Position: position})
	}
	if !dh {
		l.Order[3].Position, l.Pitcher = game.Pitcher, l.Order[3].Player
	}
	return l
}

// SetSituation sets inning, outs, runners and score: "9b 2 1-3 4-5" is the bottom of the ninth, two out, runners
// on first and third, 4 to 5. The runners are the places 9, 8 and 7 of the order, in the order of the bases; place
// 1 is due.
func SetSituation(tb testing.TB, s *game.State, situation string) {
	tb.Helper()
	var half rune
	var bases string
	if _, err := fmt.Sscanf(situation, "%d%c %d %s %d-%d", &s.Inning, &half, &s.Outs, &bases, &s.Score[0],
		&s.Score[1]); err != nil {
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

// Substitution reads "h11 0 P": the player, whose id begins with a or h for the side, the place and the position; with
// a fourth word the one replaced is injured.
func Substitution(tb testing.TB, text string) game.Substitution {
	tb.Helper()
	f := strings.Fields(text)
	s := game.Substitution{Player: game.PlayerID(f[0]), Slot: check.Must(strconv.Atoi(f[1]))(tb), Injured: len(f) > 3}
	if f[0][0] == 'h' {
		s.Side = game.Home
	}
	check.NoError(tb, s.Position.UnmarshalText([]byte(f[2])))
	return s
}

// WriteRead writes a scorecard as an event file and reads the file back.
func WriteRead(card *retro.Scorecard, now *game.State, book *game.Scorebook) (written, read *retro.Game, err error) {
	if written, err = card.EventFile(now, book); err != nil {
		return nil, nil, err
	}
	var file bytes.Buffer
	if err := retro.Write(&file, written); err != nil {
		return nil, nil, err
	}
	for g, err := range eventfile.Read(bytes.NewReader(file.Bytes())) {
		if err != nil {
			return nil, nil, fmt.Errorf("%w in\n%s", err, &file)
		}
		read = g
	}
	return written, read, nil
}

// SeasonDir returns the directory of the real seasons: $RETROSHEET_DIR, else game/retro/testdata/season, which
// holds 2020. A season is retrosheet-events-YEAR.tar.gz with the answers in golden-plays-YEAR.csv.gz and
// golden-games-YEAR.csv.gz.
func SeasonDir(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv("RETROSHEET_DIR"); dir != "" {
		return dir
	}
	dir := check.Must(os.Getwd())(tb)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "game", "retro", "testdata", "season")
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// ReadArchive calls read for each file of a .tar.gz whose extension begins with kind: "EV" for .EVA and .EVN. An
// archive without such a file is an error.
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
	found := false
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) && found {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: files of kind %s: %w", archive, kind, err)
		}
		if !strings.HasPrefix(filepath.Ext(h.Name), "."+kind) {
			continue
		}
		found = true
		if err := read(files); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files") //nolint:gochecknoglobals // as flags are

// Golden compares text with a file in testdata. With -update it writes the file instead.
func Golden(tb testing.TB, name, got string) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		check.NoError(tb, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(path) //nolint:gosec // a test names it
	check.NoError(tb, err)
	if got != string(want) {
		tb.Errorf("differs from %s; got:\n%s", path, got)
	}
}
