package retro_test

import (
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

	"pressbox/check"
	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
)

// TestSeason replays the seasons in [gametest.SeasonDir] and compares every play and game with the answers beside them.
func TestSeason(t *testing.T) {
	t.Parallel()
	dir := gametest.SeasonDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "golden-plays-*.csv.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden-plays-YEAR.csv.gz in %s (%v)", dir, err)
	}
	for _, plays := range files {
		year := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(plays), "golden-plays-"), ".csv.gz")
		t.Run(year, func(t *testing.T) {
			t.Parallel()
			s := readSeason(t, dir, year)
			s.forEach(s.replayGame)
			s.report(t, year)
		})
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

func readSeason(t *testing.T, dir, year string) *season {
	t.Helper()
	s := &season{differences: map[string][]string{}, counts: map[string]int{}}
	var wait sync.WaitGroup
	var errs [3]error
	wait.Go(func() { s.playRows, errs[0] = readTable(filepath.Join(dir, "golden-plays-"+year+".csv.gz")) })
	wait.Go(func() { s.gameRows, errs[1] = readTable(filepath.Join(dir, "golden-games-"+year+".csv.gz")) })
	wait.Go(func() { s.games, errs[2] = readEvents(filepath.Join(dir, "retrosheet-events-"+year+".tar.gz")) })
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
	z, err := gzip.NewReader(f)
	if err != nil {
		return table{}, err
	}
	r := csv.NewReader(z)
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
	err = gametest.ReadArchive(path, "EV", func(r io.Reader) error {
		for g, err := range eventfile.Read(r) {
			if err != nil {
				return err
			}
			games = append(games, g)
		}
		return nil
	})
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
		if step.RuleConflict != nil {
			s.addDifference("ruled against the rules", "%s line %d %s: %v", g.ID, step.Line, step.Event, step.RuleConflict)
		}
		if n < len(rows) {
			s.comparePlay(g, step, rows[n])
		}
		n++
	})
	if err = errors.Join(err, unproven); err != nil {
		s.addDifference("inconsistent game", "%v", err)
		return
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

// allowed returns the number of differences of a class that a season may have. Those of 2020 are listed in testdata.
func (s *season) allowed(class string) int {
	switch class {
	case "EVENT_CD of nEn", "WIN_PIT_ID by judgement", "ER by reconstruction", "BAT_FLD_CD":
		return 1 << 30
	case "RBI_CT", "ruled against the rules":
		return 1 + s.counts["plays"]/50_000
	case "inconsistent game":
		return 1 + len(s.games)/5_000
	case "WIN_PIT_ID", "SAVE_PIT_ID": // four in seven thousand are the scorer's choice
		return len(s.games) / 1_000
	case "AB_FL", "SH_FL", "SF_FL", "DP_FL", "ERR_CT", "RESP_PIT_ID", "pitcher's ER":
		return 1 + s.counts["plays"]/50_000
	default:
		return 0
	}
}

func (s *season) report(t *testing.T, year string) {
	t.Helper()
	var residue strings.Builder
	for _, class := range slices.Sorted(maps.Keys(s.differences)) {
		found := s.differences[class]
		slices.Sort(found)
		fmt.Fprintf(&residue, "%s: %d\n", class, len(found))
		for _, d := range found {
			fmt.Fprintf(&residue, "\t%s\n", d)
		}
		if len(found) > s.allowed(class) {
			t.Errorf("%d differences in %s, %d allowed", len(found), class, s.allowed(class))
		}
	}
	t.Logf("residue:\n%s", &residue)
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		t.Logf("%s: %d", what, s.counts[what])
	}
	if year != "2020" {
		return
	}
	if s.counts["plays"] != 68_599 || s.counts["games"] != 898 {
		t.Errorf("%d plays of %d games, want 68,599 of 898", s.counts["plays"], s.counts["games"])
	}
	gametest.Golden(t, "residue-2020.txt", residue.String())
}
