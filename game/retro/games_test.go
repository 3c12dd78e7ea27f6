package retro_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
)

// ownGames are the games in testdata: invented players, and the rare shapes of the notation.
func ownGames(tb testing.TB) []*retro.Game {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.ev"))
	if err != nil || len(files) < 12 {
		tb.Fatalf("%d games in testdata: %v", len(files), err)
	}
	var games []*retro.Game
	for _, path := range files {
		games = append(games, readGame(tb, path))
	}
	return games
}

func readGame(tb testing.TB, path string) *retro.Game {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for g, err := range retro.Read(bytes.NewReader(text)) {
		if err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		return g
	}
	tb.Fatalf("%s holds no game", path)
	return nil
}

// TestGames replays our games, proves the box score after every play, and compares it with the one that was reviewed.
func TestGames(t *testing.T) {
	t.Parallel()
	for _, g := range ownGames(t) {
		t.Run(g.ID, func(t *testing.T) {
			t.Parallel()
			end, err := g.Replay(func(step *retro.Step, b *game.Scorebook) {
				if err := b.Prove(&step.After); err != nil {
					t.Errorf("line %d %s: %v", step.Line, step.Event, err)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			gametest.Golden(t, g.ID+".box", boxText(end))
		})
	}
}

// boxText is a box score for reading.
func boxText(r *retro.ReplayResult) string {
	var b strings.Builder
	box := r.Scorebook.BoxScore(&r.End)
	fmt.Fprintf(&b, "%s in the %s of %d; won by %s, lost by %s, saved by %q\n",
		r.End.End, r.End.Half, r.End.Inning, box.WinningPitcher, box.LosingPitcher, box.SavingPitcher)
	for side := game.Away; side <= game.Home; side++ {
		t := &box.Teams[side]
		fmt.Fprintf(&b, "\n%s %s  R %d H %d E %d LOB %d DP %d TP %d ER %d\n", side, lineText(t.LineScore),
			t.Runs, t.Hits, t.Errors, t.LeftOnBase, t.DoublePlays, t.TriplePlays, t.EarnedRuns)
		for _, l := range t.Batting {
			fmt.Fprintf(&b, "  %d %s %v:%s\n", l.Slot, l.Player, l.Positions, numbers(l))
		}
		for _, l := range t.Pitching {
			fmt.Fprintf(&b, "  P %s:%s\n", l.Player, numbers(l))
		}
		for _, l := range t.Fielding {
			fmt.Fprintf(&b, "  F %s %s:%s\n", l.Player, l.Position, numbers(l))
		}
	}
	return b.String()
}

// numbers lists the counts of a line that are not zero, under their names in JSON.
func numbers(line any) string {
	var b strings.Builder
	v := reflect.ValueOf(line)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if n := v.Field(i); f.IsExported() && n.Kind() == reflect.Int && !n.IsZero() && f.Name != "Slot" {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fmt.Fprintf(&b, " %s %d", name, n.Int())
		}
	}
	return b.String()
}

// TestWriteRead writes a replayed game as an event file of its own and reads the same plays back: our games here, and
// every game of every season that TestSeason finds.
func TestWriteRead(t *testing.T) {
	t.Parallel()
	for _, g := range ownGames(t) {
		if err := writeRead(g); err != nil {
			t.Error(err)
		}
	}
}

// writeRead replays a game onto a scorecard, writes and reads that, replays what was read, and compares.
func writeRead(g *retro.Game) error {
	before, end, err := record(g)
	if err != nil {
		return err
	}
	written, err := before.card.EventFile(&end.End, end.Scorebook)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := retro.Write(&file, written); err != nil {
		return err
	}
	for again, err := range retro.Read(&file) {
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(again.Starts, written.Starts) || !reflect.DeepEqual(again.EarnedRuns, written.EarnedRuns) {
			return fmt.Errorf("game %s: starts or earned runs differ", g.ID)
		}
		after, end2, err := record(again)
		switch {
		case err != nil:
			return fmt.Errorf("written and read: %w", err)
		case len(before.moves) != len(after.moves):
			return fmt.Errorf("game %s: %d moves, %d when written and read", g.ID, len(before.moves), len(after.moves))
		case !reflect.DeepEqual(end.End, end2.End):
			return fmt.Errorf("game %s: ends otherwise when written and read", g.ID)
		}
		for i := range before.moves {
			if before.moves[i] != after.moves[i] {
				return fmt.Errorf("game %s: %+v, written and read %+v", g.ID, before.moves[i], after.moves[i])
			}
		}
	}
	return nil
}

// move is one move that changes a game; pauses are none.
type move struct {
	play game.Play
	sub  game.Substitution
}

// recorded is a game's moves, and the scorecard that was kept of them.
type recorded struct {
	moves []move
	card  *retro.Scorecard
}

func record(g *retro.Game) (recorded, *retro.ReplayResult, error) {
	var f recorded
	_, clubs, _ := g.Setup()
	end, err := g.Replay(func(step *retro.Step, _ *game.Scorebook) {
		if f.card == nil {
			f.card = retro.NewScorecard(g.ID, &step.Before, clubs)
		}
		if step.Substitutions != nil {
			f.card.RecordSubstitutions(&step.Before, step.Substitutions)
			f.moves = append(f.moves, move{sub: step.Substitutions[0]})
			return
		}
		f.card.RecordPlay(&step.Before, step.Play)
		if step.Play.Kind != game.NoPlay {
			f.moves = append(f.moves, move{play: step.Play})
		}
	})
	return f, end, err
}
