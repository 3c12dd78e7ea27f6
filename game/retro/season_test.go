package retro_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/packaging/check"
)

// TestSeason replays the seasons in [gametest.SeasonDir], and the games written for the classes of play that some
// season had wrong, and compares every play and game with the answers beside them.
func TestSeason(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{gametest.SeasonDir(t), filepath.Join("testdata", "classes")} {
		files, err := filepath.Glob(filepath.Join(dir, "golden-plays-*.csv*"))
		check.Require(t, err == nil && len(files) != 0, "no golden-plays-YEAR.csv.gz in %s (%v)", dir, err)
		for _, plays := range files {
			name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(plays), "golden-plays-"), ".")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := readSeason(t, dir, name)
				s.forEach(s.replayGame)
				s.report(t)
			})
		}
	}
}

// A season holds its games, the answers, and the differences found.
type season struct {
	games              []*retro.Game
	playRows, gameRows table

	mu          sync.Mutex
	differences map[string][]string // by class
	counts      map[string]int
}

// A table holds the rows of a CSV file by game.
type table struct {
	column map[string]int
	rows   map[string][][]string
}

// readSeason reads the files of a season: compressed ones of a year, or plain ones that were written here.
func readSeason(t *testing.T, dir, name string) *season {
	t.Helper()
	s := &season{differences: map[string][]string{}, counts: map[string]int{}}
	events, answers := filepath.Join(dir, "retrosheet-events-"+name+".tar.gz"), name+".csv.gz"
	if _, err := os.Stat(filepath.Join(dir, name+".ev")); err == nil {
		events, answers = filepath.Join(dir, name+".ev"), name+".csv"
	}
	var wait sync.WaitGroup
	var errs [3]error
	wait.Go(func() { s.playRows, errs[0] = readTable(filepath.Join(dir, "golden-plays-"+answers)) })
	wait.Go(func() { s.gameRows, errs[1] = readTable(filepath.Join(dir, "golden-games-"+answers)) })
	wait.Go(func() { s.games, errs[2] = readEvents(events) })
	wait.Wait()
	check.NoError(t, errors.Join(errs[:]...))
	return s
}

func readTable(path string) (table, error) {
	f, err := os.Open(path)
	if err != nil {
		return table{}, err
	}
	defer f.Close()
	text := io.Reader(f)
	if strings.HasSuffix(path, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			return table{}, err
		}
	}
	r := csv.NewReader(text)
	head, err := r.Read()
	if err != nil {
		return table{}, err
	}
	t := table{column: map[string]int{}, rows: map[string][][]string{}}
	for i, name := range head {
		t.column[name] = i
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return table{}, err
		}
		t.rows[row[0]] = append(t.rows[row[0]], row)
	}
}

func readEvents(path string) (games []*retro.Game, err error) {
	read := func(r io.Reader) error {
		for g, err := range eventfile.Read(r) {
			if err != nil {
				return err
			}
			games = append(games, g)
		}
		return nil
	}
	if strings.HasSuffix(path, ".tar.gz") {
		err = gametest.ReadArchive(path, "EV", read)
		return games, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	err = read(bytes.NewReader(text))
	return games, err
}

// forEach calls do for all games, on as many goroutines as there are processors.
func (s *season) forEach(do func(*retro.Game)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(s.games); i = next.Add(1) - 1 {
				do(s.games[i])
			}
		})
	}
	wait.Wait()
}

// addDifference records a difference of a class.
func (s *season) addDifference(class, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.differences[class] = append(s.differences[class], fmt.Sprintf(format, args...))
}

func (s *season) count(what string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what] += n
}

// replayGame compares one game. A game with an illegal play or a box score out of balance is one difference.
func (s *season) replayGame(g *retro.Game) {
	rows, n := s.playRows.rows[g.ID], 0
	var unproven error
	var own *game.Scorebook // without the rulings of the record
	end, err := g.Replay(func(step *retro.Step, b *game.Scorebook) {
		if err := b.Prove(&step.After); err != nil && unproven == nil {
			unproven = fmt.Errorf("game %s, line %d: %w", g.ID, step.Line, err)
		}
		if own == nil {
			_, clubs, _ := g.Setup()
			own = game.NewScorebook(&step.Before, clubs)
		}
		recordByRule(own, step)
		if step.RuleConflict != nil {
			s.addDifference("ruled against the rules", "%s line %d %s: %v", g.ID, step.Line, step.Event,
				step.RuleConflict)
		}
		if step.Substitutions != nil {
			s.count("substitutions", 1)
			if step.Substitutions[0].Injured {
				s.count("relieved before the minimum", 1)
			}
			return
		}
		if step.Play.Kind == game.NoPlay {
			return
		}
		if n < len(rows) {
			s.comparePlay(g, step, rows[n])
		}
		n++
	})
	if err != nil {
		s.addDifference("refused", "%v", err)
		return
	}
	if unproven != nil {
		s.addDifference("inconsistent game", "%v", unproven)
	}
	if n != len(rows) {
		s.addDifference("inconsistent game", "game %s: %d plays, want %d", g.ID, n, len(rows))
	}
	s.count("plays", n)
	s.count("games", 1)
	s.compareRulings(g, own, end)
	if err := writeRead(g); err != nil {
		s.addDifference("written and read", "%v", err)
	}
	if sheet := s.gameRows.rows[g.ID]; len(sheet) == 1 {
		s.compareGame(g, end, sheet[0])
	} else {
		s.addDifference("inconsistent game", "game %s: %d answers", g.ID, len(sheet))
	}
}

// allowed returns the number of differences of a class that a season may have: none that the rules or the notation
// decide except one in 50,000 plays, for records that contradict themselves; rates where the scorer judges.
func (s *season) allowed(class string) int {
	switch class {
	case "refused", "inconsistent game", "written and read":
		return 0
	case "ER by reconstruction": // 1.6 % of 430,922 runs
		return s.counts["runs"] / 50
	case "WIN_PIT_ID by judgment": // 29 % of 1,604 wins
		return 2 * s.counts["wins by judgment"] / 5
	default:
		return (s.counts["plays"] + 25_000) / 50_000
	}
}

func (s *season) report(t *testing.T) {
	t.Helper()
	for _, class := range slices.Sorted(maps.Keys(s.differences)) {
		found := s.differences[class]
		slices.Sort(found)
		t.Logf("%s: %d\n\t%s", class, len(found), strings.Join(found, "\n\t"))
		if len(found) > s.allowed(class) {
			t.Errorf("%d differences in %s, %d allowed", len(found), class, s.allowed(class))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		t.Logf("%s: %d", what, s.counts[what])
	}
	if len(s.games) == 0 || s.counts["games"] != len(s.gameRows.rows) || len(s.playRows.rows) != len(s.gameRows.rows) {
		t.Errorf("%d games replayed of %d; answers for the plays of %d and the scores of %d",
			s.counts["games"], len(s.games), len(s.playRows.rows), len(s.gameRows.rows))
	}
}
