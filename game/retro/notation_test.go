package retro_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
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

// notationState returns a state of the first game in testdata, in a situation of [gametest.SetSituation].
func notationState(tb testing.TB, situation string) game.State {
	tb.Helper()
	s := check.Must(game.New(ownGames(tb)[0].Setup()))(tb)
	gametest.SetSituation(tb, &s, situation)
	return s
}

// outcome returns outs, runs and bases after a play: "1 0 -2-".
func outcome(tb testing.TB, s game.State, event string) string {
	tb.Helper()
	after := check.Must(s.Apply(check.Must(retro.Parse(&s, event))(tb)))(tb)
	if after.Half != s.Half {
		return "3"
	}
	bases := []byte("---")
	for i := range after.Bases {
		if after.Bases[i].Player != "" {
			bases[i] = byte('1' + i)
		}
	}
	return fmt.Sprintf("%d %d %s", after.Outs-s.Outs, after.Score[s.Batting()]-s.Score[s.Batting()], bases)
}

// An X is an out unless an error of a known fielder is with it. A credit that cannot be read is never a run.
func TestParse_outsOnTheBases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, event, want string }{
		{"1t 0 -2- 0-0", "FC5.2X3(5X)", "1 0 1--"},
		{"1t 0 --- 0-0", "S7/G.BX2(74H)", "1 0 ---"},
		{"1t 0 -2- 0-0", "S7.2XH(banana)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(TH)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(7E)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(7E0)", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH", "1 0 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(7E2)", "0 1 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(E7/TH)", "0 1 1--"},
		{"1t 0 -2- 0-0", "S7.2XH(E7)(72)", "1 0 1--"},
		{"1t 0 1-- 0-0", "CS2(2H)", "1 0 ---"},
		{"1t 0 1-- 0-0", "CS2(2E4)", "0 0 -2-"},
		{"1t 0 1-- 0-0", "PO1(banana)", "1 0 ---"},
		{"1t 0 1-- 0-0", "PO1(E3)", "0 0 1--"},
	} {
		check.Equal(t, outcome(t, notationState(t, tt.in), tt.event), tt.want, "%s at %s", tt.event, tt.in)
	}
	s := notationState(t, "1t 0 --- 0-0")
	p := check.Must(retro.Parse(&s, "S7/G.BX2(74H)"))(t)
	check.That(t, p.Outs[0].Fielders == "74", "out by %q, want 74, the part that can be read", p.Outs[0].Fielders)
}

// Rare forms of the notation mean what they say, and read back the same when written.
func TestFormat_rareForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, event, want string }{
		{"1t 0 1-- 0-0", "POCS2(13E6).1-1", "POCS2(13E6).1-1"}, // safe, and back
		{"1t 0 1-- 0-0", "CS2(2E4).1-1", "CS2(2E4).1-1"},
		{"1t 0 1-3 0-0", "CSH(25E3).3-3;1-2", "CSH(25E3).3-3;1-2"},
		{"1t 0 1-- 0-0", "K+CS2(2E4).1-1", "K+CS2(2E4).1-1"},
		{"1t 0 12- 0-0", "K+CS3(31);CS2(253)/TP", "K+CS3(31);CS2(253)/TP"}, // of 1982
		{"1t 0 1-- 0-0", "S9.1-3(TH)(E9/TH)", "S9.1-3(TH)(E9/TH)"},
		{"1t 0 1-- 0-0", "S9.1-3(E9/TH)(TH)", "S9.1-3(E9/TH)"},
		{"1t 0 1-- 0-0", "K+SB2.1-3(WP)", "K+SB2.1-3(WP)"},
		{"1t 0 12- 0-0", "K+SB3;SB2.2-H(PB)", "K+SB3;SB2.2-H(PB)"},
		{"1t 0 1-- 0-0", "SB2.1-3(WP)", "SB2.1-3(WP)"},
		{"1t 0 1-- 0-0", "SB2.1X3(WP)(25)", "SB2.1X3(25)(WP)"},
		{"1t 0 -2- 0-0", "S7.2-H;BX2(724)(TH)", "S7.2-H;BX2(724)(TH)"},
		{"1t 0 -2- 0-0", "S7.2XH(72)(TH)", "S7.2XH(72)(TH)"},
		{"1t 0 1-- 0-0", "WP.1X3(26)(WP)", "WP.1X3(26)(WP)"},
		{"1t 0 -23 0-0", "8/SF/BOOT.3-H;2-3", "8/SF/BOOT.3-H;2-3"}, // out of turn, and no appeal
		{"1t 0 --- 0-0", "3/BOOT", "3/BOOT"},
		{"1t 0 --- 0-0", "43-/G", "43/G-"},
		{"1t 0 --- 0-0", "43+/G", "43/G+"},
		{"1t 0 --- 0-0", "43-", "43/-"},
		{"1t 0 1-- 0-0", "64(1)3-/GDP/G6", "64(1)3/GDP/G6-"},
		{"1t 0 1-- 0-0", "POSB2", "SB2"},
		{"1t 0 1-- 0-0", "K+POSB2", "K+SB2"},
		{"1t 0 1-- 0-0", "OBA.1-2", "OA.1-2"},
		{"1t 0 --- 0-0", "HBP", "HP"},
		{"1t 0 --- 0-0", "S7/G.BX2(74H)", "S7/G.BX2(74)"},
		{"1t 0 -2- 0-0", "S7.2XH(banana)", "S7.2XH"},
	} {
		s := notationState(t, tt.in)
		p := check.Must(retro.Parse(&s, tt.event))(t)
		if _, err := s.Apply(p); err != nil {
			t.Errorf("%s: %v", tt.event, err)
		}
		got, err := retro.Format(&s, p)
		check.That(t, err == nil && got == tt.want, "%s is written %s, %v; want %s", tt.event, got, err, tt.want)
	}
}

// BOOT is an appeal only if the batter is all that is out and no runner moved.
func TestParse_battingOutOfTurn(t *testing.T) {
	t.Parallel()
	for event, appeal := range map[string]bool{
		"3/BOOT": true, "K/BOOT": true, "8/SF/BOOT.3-H": false, "S7/BOOT.3-H": false, "W/BOOT": false,
	} {
		s := notationState(t, "1t 0 --3 0-0")
		p := check.Must(retro.Parse(&s, event))(t)
		check.That(t, p.Flags.Has(game.OutForBattingOutOfTurn) == appeal && (p.OtherModifiers == "BOOT") != appeal,
			"%s: flags %b, other modifiers %q; appeal %v", event, p.Flags, p.OtherModifiers, appeal)
	}
}

// Every legal combination of basic event, modifier and advances has a notation that reads back the same.
func TestFormat_combinations(t *testing.T) {
	t.Parallel()
	start := notationState(t, "1t 0 --- 0-0")
	draw := combinations{rand.New(rand.NewPCG(17, 4))}
	legal := 0
	for range 40_000 {
		s := start
		s.Outs = draw.IntN(3)
		for i := range s.Bases {
			if draw.IntN(2) == 0 {
				s.Bases[i].Player = s.Teams[game.Away].Order[8-i].Player
			}
		}
		event := draw.event(&s)
		p, err := retro.Parse(&s, event)
		check.That(t, err == nil || strings.HasSuffix(err.Error(), "more than 4 errors"), "%s: %v", event, err)
		if err != nil {
			continue
		}
		if _, err := s.Apply(p); err != nil {
			continue
		}
		legal++
		text, err := retro.Format(&s, p)
		if err != nil {
			t.Errorf("%s: %v", event, err)
			continue
		}
		again, err := retro.Parse(&s, text)
		again.OtherModifiers, p.OtherModifiers = "", "" // their order may differ
		check.That(t, err == nil && again == p,
			"%s is written %s, which is %+v, %v; want %+v", event, text, again, err, p)
	}
	check.That(t, legal >= 8_000, "only %d of 40,000 are legal", legal)
}

// combinations draws events.
type combinations struct{ *rand.Rand }

func (c combinations) pick(of string) string {
	words := strings.Fields(of)
	return strings.ReplaceAll(words[c.IntN(len(words))], "_", "")
}

// event draws a basic event, a modifier, and advances of the runners whom the basic event does not name.
func (c combinations) event(s *game.State) string {
	steal := func() string {
		return c.pick(
			"SB2 SB3 SBH SB3;SB2 SBH;SB2 SBH(UR) CS2(24) CS2(2E4) CS2(E2) CS3(25) CSH(25E3) CSH(12) CS2(2H) " +
				"PO1(13) PO1(E3) PO2(E1/TH) PO3(25) POCS2(134) POCS2(13E6) POCSH(1E2)")
	}
	basic := c.pick("S7 D8 DGR T9 HR HR9 W IW HP C/E2 C/E1 E6 E6/TH 6E3 63 8 7/SF 64(1) 64(1)3/GDP 5(2)3/GDP " +
		"42(3)3/GDP 6(B)63(1)/LDP " +
		"8(B)84(2)/DP 54(1)3/GTP 3(B)36(1)/GDP 64(1)E3 3(1) FC6 FC3 K K23 K+WP K+PB K+E2 WP PB BK OA DI FLE5 " +
		"13/SH E1/SH K+ W+ steal steal")
	switch {
	case basic == "steal":
		basic = steal()
	case strings.HasSuffix(basic, "+"):
		basic += steal()
	}
	text := basic + c.pick("_ _ _ /G6 /F8 /L7+ /BG1 /AP /RINT /FL /R6/U3")
	var advances []string
	for from := game.Third; ; from-- {
		name := string("B123"[from])
		if text := c.advance(basic, name); c.IntN(2) == 0 && text != "" &&
			(from == game.AtBat || s.RunnerOn(from).Player != "") {
			advances = append(advances, text)
		}
		if from == game.AtBat {
			break
		}
	}
	if len(advances) == 0 {
		return text
	}
	return text + "." + strings.Join(advances, ";")
}

// advance draws an advance from a base, "" if the basic event already has one.
func (c combinations) advance(basic, from string) string {
	attempted := strings.Contains(basic, "SB") || strings.Contains(basic, "CS") || strings.Contains(basic, "PO")
	if strings.Contains(basic, "("+from+")") || from == "B" && strings.ContainsAny(basic, "HK3") ||
		attempted && c.IntN(2) == 0 {
		return ""
	}
	to := c.pick("1 2 3 H")
	switch {
	case to == from || attempted:
		return from + "-" + to
	case c.IntN(3) == 0:
		return from + "X" + to +
			c.pick("_ (62) (84) (7X) (E5)(52) (9E2) (TH)(82) (72)(TH) (52/AP) (E5/TH) (7E2)(25) (99) (WP)(26)")
	default:
		return from + "-" + to +
			c.pick(
				"_ _ _ (UR) (NR) (RBI) (E6) (E9/TH) (TH) (6E2) (WP) (PB) (TUR)(NR) (TH)(E2/TH) (E7)(UR)(NR) "+
					"(9E2/TH)(UR)")
	}
}

// FuzzParse reads arbitrary events with any runners and outs: no event breaks the parser or Apply, and a legal
// play that Format writes reads back the same.
func FuzzParse(f *testing.F) {
	for _, g := range ownGames(f) {
		for _, r := range g.Records {
			if r.Play != nil {
				f.Add(r.Play.Event, uint8(7))
			}
		}
	}
	g := ownGames(f)[0]
	start := check.Must(game.New(g.Setup()))(f)
	f.Fuzz(func(t *testing.T, event string, bases uint8) {
		s := start
		for i := range s.Bases {
			if bases&(1<<i) != 0 {
				s.Bases[i].Player = s.Teams[game.Away].Order[8-i].Player
			}
		}
		s.Outs = int(bases>>3) % 3
		p, err := retro.Parse(&s, event)
		if err != nil {
			return
		}
		if _, err := s.Apply(p); err != nil {
			return
		}
		text, err := retro.Format(&s, p)
		if err != nil {
			return // legal, but in an order without a notation
		}
		again, err := retro.Parse(&s, text)
		check.Require(t, err == nil, "%q was written as %q: %v", event, text, err)
		if second, err := retro.Format(&s, again); err != nil || second != text {
			t.Fatalf("%q was written as %q and then as %q, %v", event, text, second, err)
		}
	})
}

// FuzzRead reads and replays arbitrary event files: nothing breaks, and every replayed box score balances.
func FuzzRead(f *testing.F) {
	for _, g := range ownGames(f)[:3] {
		var b bytes.Buffer
		check.NoError(f, retro.Write(&b, g))
		f.Add(b.String())
	}
	f.Add("id,HAR202604010\nplay,1,0,a,00,,K\n")
	f.Fuzz(func(t *testing.T, text string) {
		for g, err := range eventfile.Read(strings.NewReader(text)) {
			if err != nil {
				return
			}
			end, err := g.Replay(func(step *retro.Step, b *game.Scorebook) {
				err := b.Prove(&step.After)
				check.Require(t, err == nil, "line %d %s: %v", step.Line, step.Event, err)
			})
			check.Require(t, err != nil || end.End.Over(), "a game replayed to its end is not over")
		}
	})
}

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
