package retro_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/packaging/check"
)

// ownGames returns the games in testdata: invented players and rare forms of the notation.
func ownGames(tb testing.TB) []*retro.Game {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.ev"))
	check.Require(tb, err == nil && len(files) >= 12, "%d games in testdata: %v", len(files), err)
	var games []*retro.Game
	for _, path := range files {
		text := check.Must(os.ReadFile(path))(tb)
		for g, err := range eventfile.Read(bytes.NewReader(text)) {
			check.Require(tb, err == nil, "%s: %v", path, err)
			games = append(games, g)
		}
	}
	return games
}

// The box score of each game balances after every play and matches the reviewed one; written as an event file, the game
// reads back the same.
func TestGame_ownGames(t *testing.T) {
	t.Parallel()
	for _, g := range ownGames(t) {
		t.Run(g.ID, func(t *testing.T) {
			t.Parallel()
			end := check.Must(g.Replay(func(step *retro.Step, b *game.Scorebook) {
				err := b.Prove(&step.After)
				check.That(t, err == nil, "line %d %s: %v", step.Line, step.Event, err)
			}))(t)
			gametest.Golden(t, g.ID+".box", boxText(end))
			check.NoError(t, writeRead(g))
		})
	}
}

// boxText formats a box score for review.
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
			fmt.Fprintf(&b, "  %d %s %v:%s\n", l.Slot, l.Player, l.Positions, counts(l))
		}
		for _, l := range t.Pitching {
			fmt.Fprintf(&b, "  P %s:%s\n", l.Player, counts(l))
		}
		for _, l := range t.Fielding {
			fmt.Fprintf(&b, "  F %s %s:%s\n", l.Player, l.Position, counts(l))
		}
	}
	return b.String()
}

// counts lists the counts of a line that are not zero, and what is true of it, under their JSON names.
func counts(line any) string {
	var b strings.Builder
	v := reflect.ValueOf(line)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		n := v.Field(i)
		if !f.IsExported() || n.IsZero() || f.Name == "Slot" {
			continue
		}
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); n.Kind() {
		case reflect.Int:
			fmt.Fprintf(&b, " %s %d", name, n.Int())
		case reflect.Bool:
			fmt.Fprintf(&b, " %s", name)
		default:
		}
	}
	return b.String()
}

// writeRead replays a game onto a scorecard, writes and reads it, replays that, and compares the moves.
func writeRead(g *retro.Game) error {
	before, end, err := record(g)
	if err != nil {
		return err
	}
	written, read, err := gametest.WriteRead(before.card, &end.End, end.Scorebook)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(read.Starts, written.Starts) || !reflect.DeepEqual(read.EarnedRuns, written.EarnedRuns) {
		return fmt.Errorf("game %s: starts or earned runs differ", g.ID)
	}
	after, readEnd, err := record(read)
	switch {
	case err != nil:
		return fmt.Errorf("written and read: %w", err)
	case len(before.moves) != len(after.moves):
		return fmt.Errorf("game %s: %d moves, %d when written and read", g.ID, len(before.moves), len(after.moves))
	}
	end.End.Options.Innings = end.End.Options.ScheduledInnings() // files of before 2020 leave it out
	if !reflect.DeepEqual(end.End, readEnd.End) {
		return fmt.Errorf("game %s: ends %+v, written and read %+v", g.ID, end.End, readEnd.End)
	}
	for i := range before.moves {
		if before.moves[i] != after.moves[i] {
			return fmt.Errorf("game %s: %+v, written and read %+v", g.ID, before.moves[i], after.moves[i])
		}
	}
	return nil
}

// A move is a play or a substitution, without the pauses of NP records.
type move struct {
	play game.Play
	sub  game.Substitution
}

// A recorded game holds its moves, and the scorecard made of them.
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

// The pitcher goes to the field in the place of the designated hitter, and the next one bats for the fielder: the file
// names the next one first.
func TestReplay_pitcherToTheField(t *testing.T) {
	t.Parallel()
	g := check.Must(readEvents(filepath.Join("testdata", "classes", "classes.ev")))(t)[1]
	places := map[game.PlayerID]int{"dellk001": 5, "burnk001": 4, "elmsk001": 5} // in the file 4, 5 and 4
	for _, r := range g.Records {
		if s := r.Substitution; s != nil && s.Slot > 0 && places[s.Player] > 0 {
			s.Slot = places[s.Player]
		}
	}
	end := check.Must(g.Replay(func(*retro.Step, *game.Scorebook) {}))(t)
	home := &end.End.Teams[game.Home]
	check.That(t, home.DH == 0 && home.Pitcher == "burnk001" && home.Order[3].Player == "burnk001" &&
		home.Fielder(game.LeftField) == "elmsk001",
		"the home team ends with %+v", home)
	box := end.Scorebook.BoxScore(&end.End)
	check.That(t, box.SavingPitcher == "burnk001", "saved by %q", box.SavingPitcher)
	check.NoError(t, writeRead(g))
}

// A replaced player who comes back with the umpires' consent plays on, and the scorecard reads back the same.
func TestReplay_returnAsRuled(t *testing.T) {
	t.Parallel()
	g := check.Must(readEvents(filepath.Join("testdata", "classes", "classes.ev")))(t)[1]
	left := slices.IndexFunc(g.Records,
		func(r retro.Record) bool { return r.Substitution != nil && r.Substitution.Player == "coved001" })
	returned := *g.Records[left].Substitution
	returned.Player, returned.Position = "shoac001", game.FirstBase
	g.Records = slices.Insert(g.Records, left+4, retro.Record{Substitution: &returned})
	conflicts := 0
	end := check.Must(g.Replay(func(step *retro.Step, _ *game.Scorebook) {
		if step.RuleConflict != nil {
			conflicts++
		}
	}))(t)
	if at := end.End.Teams[game.Home].Fielder(game.FirstBase); at != "shoac001" || conflicts != 1 {
		t.Errorf("%s at first base, %d conflicts with the rules; want shoac001, 1", at, conflicts)
	}
	check.NoError(t, writeRead(g))
}
