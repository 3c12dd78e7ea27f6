package retro_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/league"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/game/teams"
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
	for _, side := range game.Sides() {
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
		home.Fielder(game.LeftField) == "elmsk001", "the home team ends with %+v", home)
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

// comparePlay compares a play with its reference row: the situation before it, and its result.
func (s *season) comparePlay(g *retro.Game, step *retro.Step, want []string) {
	st, p := &step.Before, &step.Play
	tally := st.Tally(*p)
	batter := p.Batter
	if batter == "" {
		batter = st.Batter()
	}
	same := func(column, got string) {
		if w := want[s.playRows.column[column]]; w != got && !isCoding(column, got, w, p) {
			s.addDifference(column, "%s line %d %s: %s, want %s", g.ID, step.Line, step.Event, got, w)
		}
	}
	number := func(column string, got int) { same(column, strconv.Itoa(got)) }
	flag := func(column string, got bool) { same(column, map[bool]string{false: "F", true: "T"}[got]) }
	same("EVENT_TX", step.Event)
	number("INN_CT", st.Inning)
	number("BAT_HOME_ID", int(st.Batting()))
	number("OUTS_CT", st.Outs)
	number("AWAY_SCORE_CT", st.Score[game.Away])
	number("HOME_SCORE_CT", st.Score[game.Home])
	same("BAT_ID", string(batter))
	same("PIT_ID", string(st.Pitcher()))
	same("RESP_PIT_ID", string(step.ResponsiblePitcher))
	number("EVENT_CD", int(p.Kind))
	number("EVENT_OUTS_CT", tally.Outs)
	number("EVENT_RUNS_CT", tally.Runs)
	number("RBI_CT", tally.RBI)
	number("H_CD", tally.HitBases)
	number("ERR_CT", tally.Errors)
	flag("AB_FL", tally.AtBat)
	flag("DP_FL", tally.DoublePlay)
	flag("SH_FL", p.Flags.Has(game.SacrificeHit))
	flag("SF_FL", p.Flags.Has(game.SacrificeFly))
	same("BASE1_RUN_ID", string(st.RunnerOn(game.First).Player))
	same("BASE2_RUN_ID", string(st.RunnerOn(game.Second).Player))
	same("BASE3_RUN_ID", string(st.RunnerOn(game.Third).Player))
	for b, column := range []string{"BAT_DEST_ID", "RUN1_DEST_ID", "RUN2_DEST_ID", "RUN3_DEST_ID"} {
		number(column, destination(st, p, game.Base(b)))
	}
	order := st.Teams[st.Batting()].Order
	place := slices.IndexFunc(order[:], func(o game.Slot) bool { return o.Player == batter })
	number("BAT_LINEUP_ID", place+1)
	number("BAT_FLD_CD", int(order[max(place, 0)].Position))
}

// isCoding reports whether a difference is one of the answers' coding: they call a dropped throw, 6E3, an out, and
// give a pinch hitter or runner who bats again in the inning no position.
func isCoding(column, got, want string, p *game.Play) bool {
	return column == "EVENT_CD" && got == "18" && want == "2" && p.Errors[0].Assists != "" ||
		column == "BAT_FLD_CD" && (got == "11" || got == "12") && want == "0"
}

// destination returns where a player ended, in the reference's numbers: 0 out, 4 an earned run, 5 unearned, 6
// unearned for the team only.
func destination(s *game.State, p *game.Play, from game.Base) int {
	for _, o := range p.Outs {
		if o.Kind != game.NotOut && o.Runner == from {
			return 0
		}
	}
	r := p.Advances[from]
	switch {
	case from != game.AtBat && s.RunnerOn(from).Player == "":
		return 0
	case r.To == game.AtBat:
		return int(from)
	case r.To == game.HomePlate && r.Earned == game.No:
		return 5
	case r.To == game.HomePlate && r.Earned == game.TeamOnly:
		return 6
	}
	return int(r.To)
}

// compareGame compares the box score.
func (s *season) compareGame(g *retro.Game, r *retro.ReplayResult, want []string) {
	box := r.Scorebook.BoxScore(&r.End)
	same := func(class, column, got string) {
		if w := want[s.gameRows.column[column]]; w != got {
			s.addDifference(class, "%s %s: %s, want %s", g.ID, column, got, w)
		}
	}
	number := func(column string, got int) { same(column, column, strconv.Itoa(got)) }
	number("AWAY_SCORE_CT", r.End.Score[game.Away])
	number("HOME_SCORE_CT", r.End.Score[game.Home])
	number("INN_CT", box.Innings)
	outs := 0
	for side, prefix := range []string{"AWAY_", "HOME_"} {
		t := &box.Teams[side]
		earned, doubled := 0, 0
		for _, l := range t.Pitching {
			outs += l.Outs
			earned += l.EarnedRuns
		}
		for _, l := range t.Batting {
			doubled += l.GroundedIntoDoublePlays
		}
		same("LINE_TX", prefix+"LINE_TX", lineText(t.LineScore))
		number(prefix+"HITS_CT", t.Hits)
		number(prefix+"ERR_CT", t.Errors)
		number(prefix+"LOB_CT", t.LeftOnBase)
		number(prefix+"ER_CT", earned)
		number(prefix+"DP_CT", t.DoublePlays)
		number(prefix+"GDP_CT", doubled)
		s.compareEarned(g, t)
	}
	number("OUTS_CT", outs)
	same("LOSE_PIT_ID", "LOSE_PIT_ID", string(box.LosingPitcher))
	same("SAVE_PIT_ID", "SAVE_PIT_ID", string(box.SavingPitcher))
	same("WIN_PIT_ID", "WIN_PIT_ID", string(box.WinningPitcher))
	if !box.WinnerByJudgment {
		return
	}
	r.Scorebook.ChooseWinner("") // compare the scorebook's own choice
	s.count("wins by judgment", 1)
	if own := r.Scorebook.BoxScore(&r.End).WinningPitcher; own != box.WinningPitcher {
		s.addDifference("WIN_PIT_ID by judgment", "%s: %s, want %s", g.ID, own, box.WinningPitcher)
	}
}

// compareEarned compares each pitcher's earned runs with the official record.
func (s *season) compareEarned(g *retro.Game, t *game.TeamBoxScore) {
	for _, e := range g.EarnedRuns {
		for _, l := range t.Pitching {
			if l.Player == e.Pitcher && l.EarnedRuns != e.Runs {
				s.addDifference("pitcher's ER", "%s %s: %d, want %d", g.ID, l.Player, l.EarnedRuns, e.Runs)
			}
		}
	}
}

func lineText(line []int) string {
	var b strings.Builder
	for _, n := range line {
		if n > 9 {
			fmt.Fprintf(&b, "(%d)", n)
		} else {
			fmt.Fprintf(&b, "%d", n)
		}
	}
	return b.String()
}

// recordByRule records a step without the record's rulings on earned runs.
func recordByRule(b *game.Scorebook, step *retro.Step) {
	if step.Substitutions != nil {
		b.RecordSubstitutions(&step.Before, step.Substitutions, &step.After)
		return
	}
	p := step.Play
	for i := range p.Advances {
		p.Advances[i].Earned = game.ByRule
	}
	b.RecordPlay(&step.Before, &p, &step.After)
}

// compareRulings compares the earned runs of reconstructed innings with the scorer's rulings.
func (s *season) compareRulings(g *retro.Game, own *game.Scorebook, end *retro.ReplayResult) {
	if end.End.End == game.CalledGame {
		own.RecordStoppage(&end.End)
	}
	scorer := map[game.EarnedRunRuling]bool{}
	for _, r := range end.Scorebook.EarnedRunRulings() {
		scorer[r] = true
	}
	for _, r := range own.EarnedRunRulings() {
		s.count("runs", 1)
		if !scorer[r] {
			s.addDifference("ER by reconstruction", "%s play %d, from %s: %d", g.ID, r.Play, r.From, r.Earned)
		}
	}
}

var liveGames = flag.Int("live.games", 60, "number of games for TestScorecard_liveGames")

// A simulated game, recorded on a scorecard, written and read back, has the same plays in the same states, the same
// substitutions and the same box score, with earned runs by reconstruction. Games cover all combinations of options; in
// every third one random tactics and substitutions replace the bots'; every tenth is forfeited.
func TestScorecard_liveGames(t *testing.T) {
	t.Parallel()
	var clubs [league.LastSeason][]teams.Roster
	for n := range clubs {
		var err error
		if clubs[n], err = league.Season(n + 1); err != nil {
			t.Fatal(err)
		}
	}
	games := *liveGames
	if testing.Short() {
		games = min(games, 20)
	}
	for n := range games {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			check.NoError(t, playLive(t, n, clubs[n%len(clubs)]).check())
		})
	}
}

// A liveGame is a simulated game with its scorebook, its scorecard, and each move with the state before it.
type liveGame struct {
	*bottest.Game
	book   *game.Scorebook
	card   *retro.Scorecard
	moves  []move
	states []game.State
}

func playLive(t *testing.T, n int, clubs []teams.Roster) *liveGame {
	t.Helper()
	away, home := clubs[n%len(clubs)], clubs[(n+1+n/len(clubs)%(len(clubs)-1))%len(clubs)]
	p := bottest.Pair(t, away, home, n%2 == 0)
	g := &liveGame{Game: p.Start(t, uint64(n), game.Options{
		Innings:       []int{9, 7, 5, 3}[n/2%4],
		ExtraInnings:  []game.ExtraInnings{game.AutomaticRunner, game.Standard}[n/8%2],
		HomeBatsFirst: n%16 == 15,
	}, [2]bool{true, true})}
	g.book = game.NewScorebook(&g.State, p.Clubs)
	g.card = retro.NewScorecard(fmt.Sprintf("%s2026%02d%02d%d", home.Team.ID, 4+n/200%6, 1+n/8%25, n%8),
		&g.State, p.Clubs)
	g.OnSubstitutions, g.OnPlay = g.recordSubstitutions, g.recordPlay
	random := randomManager{rand.New(rand.NewPCG(uint64(n), 4))}
	for !g.State.Over() {
		if n%10 == 9 && len(g.moves) >= 25+n {
			g.forfeit(t, game.Side(n/10%2))
			break
		}
		tactics, answer := g.Tactics, g.Answer
		if n%3 == 2 {
			if subs := random.substitutions(&g.State); isPlayable(&g.State, subs) {
				g.Substitute(subs)
			}
			tactics = func() chance.Tactics { return random.tactics(&g.State, g.Progress) }
			answer = func(*chance.Resolution) bool { return random.IntN(2) == 0 }
		}
		g.Manage()
		g.Play(tactics(), answer)
	}
	return g
}

func (g *liveGame) recordSubstitutions(before *game.State, subs []game.Substitution, after *game.State) {
	g.book.RecordSubstitutions(before, subs, after)
	g.card.RecordSubstitutions(before, subs)
	s := *before
	for _, sub := range subs {
		g.states, g.moves = append(g.states, s), append(g.moves, move{sub: sub})
		s, _ = s.Substitute(sub)
	}
}

func (g *liveGame) recordPlay(before *game.State, _ *chance.Resolution, p *game.Play, after *game.State) {
	g.book.RecordPlay(before, p, after)
	g.card.RecordPlay(before, *p)
	if p.Kind != game.NoPlay {
		g.states, g.moves = append(g.states, *before), append(g.moves, move{play: *p})
	}
}

func (g *liveGame) forfeit(t *testing.T, by game.Side) {
	t.Helper()
	var err error
	if g.State, err = g.State.Forfeit(by); err != nil {
		t.Fatal(err)
	}
	g.book.RecordStoppage(&g.State)
}

// check writes the scorecard, reads and replays it, and compares.
func (g *liveGame) check() error {
	_, read, err := gametest.WriteRead(g.card, &g.State, g.book)
	if err != nil {
		return err
	}
	n := 0
	var difference error
	end, err := read.Replay(func(step *retro.Step, _ *game.Scorebook) {
		if step.Substitutions == nil && step.Play.Kind == game.NoPlay || difference != nil {
			return
		}
		if n < len(g.moves) {
			difference = compareMove(&g.states[n], &g.moves[n], step)
		}
		n++
	})
	switch {
	case err != nil:
		return err
	case difference != nil:
		return difference
	case n != len(g.moves):
		return fmt.Errorf("%d moves, %d when written and read", len(g.moves), n)
	}
	if err := compareState(&g.State, &end.End); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	want, got := g.book.BoxScore(&g.State), end.Scorebook.BoxScore(&end.End)
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("the box score is\n%s\nwhen written and read\n%s",
			boxText(&retro.ReplayResult{End: g.State, Scorebook: g.book}), boxText(end))
	}
	return nil
}

// compareMove compares a move with its replay. Rulings on runs are in the file, but not in a live play.
func compareMove(before *game.State, m *move, step *retro.Step) error {
	got := move{play: step.Play}
	if step.Substitutions != nil {
		got = move{sub: step.Substitutions[0]}
	}
	for b := range got.play.Advances {
		got.play.Advances[b].Earned, got.play.Advances[b].RBI = m.play.Advances[b].Earned, m.play.Advances[b].RBI
	}
	if *m != got {
		return fmt.Errorf("line %d %s: %+v, written and read %+v", step.Line, step.Event, *m, got)
	}
	if err := compareState(before, &step.Before); err != nil {
		return fmt.Errorf("line %d %s: before it %w", step.Line, step.Event, err)
	}
	return nil
}

// compareState compares states without the bench: a file has only players who appeared.
func compareState(want, got *game.State) error {
	a, b := *want, *got
	for side := range a.Teams {
		a.Teams[side].Bench, b.Teams[side].Bench = nil, nil
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%+v, written and read %+v", a, b)
	}
	return nil
}

// A randomManager decides anything legal, far more often than a bot would.
type randomManager struct{ *rand.Rand }

// tactics draws the tactics of both sides.
func (r randomManager) tactics(s *game.State, at chance.Progress) chance.Tactics {
	var t chance.Tactics
	if offense := chance.LegalOffense(s); r.IntN(2) == 0 {
		t.Offense = offense[r.IntN(len(offense))]
	}
	if defense := chance.LegalDefense(s, at); r.IntN(2) == 0 {
		t.Defense = defense[r.IntN(len(defense))]
	}
	if t.Check(s, at) != nil {
		return chance.Tactics{}
	}
	return t
}

// substitutions draws substitutions that may be legal: a pinch hitter, a pinch runner, a new pitcher or fielder, two
// players who change positions, a designated hitter who fields, a double switch.
func (r randomManager) substitutions(s *game.State) []game.Substitution {
	side := game.Side(r.IntN(2))
	team := &s.Teams[side]
	if r.IntN(8) > 0 || len(team.Bench) == 0 {
		return nil
	}
	bench := team.Bench[r.IntN(len(team.Bench))]
	a, b := r.IntN(9), r.IntN(9)
	at := func(i int) game.Position { return team.Order[i].Position }
	sub := func(id game.PlayerID, slot int, at game.Position) game.Substitution {
		return game.Substitution{Side: side, Player: id, Slot: slot, Position: at}
	}
	pitcher := slices.IndexFunc(team.Order[:], func(o game.Slot) bool { return o.Player == team.Pitcher }) + 1
	switch r.IntN(7) {
	case 0:
		return []game.Substitution{sub(bench, team.NextBatter+1, game.PinchHitter)}
	case 1:
		return []game.Substitution{sub(bench, a+1, game.PinchRunner)}
	case 2:
		return []game.Substitution{sub(bench, pitcher, game.Pitcher)}
	case 3:
		return []game.Substitution{sub(bench, a+1, at(a))}
	case 4:
		return []game.Substitution{sub(team.Order[a].Player, a+1, at(b)), sub(team.Order[b].Player, b+1, at(a))}
	case 5: // the pitcher bats for the fielder whose position the designated hitter takes
		if team.DH == 0 {
			return nil
		}
		return []game.Substitution{
			sub(team.Order[team.DH-1].Player, team.DH, at(a)), sub(team.Pitcher, a+1, game.Pitcher),
		}
	default:
		if pitcher == 0 {
			return nil
		}
		other := team.Bench[r.IntN(len(team.Bench))]
		return []game.Substitution{sub(bench, pitcher, at(a)), sub(other, a+1, game.Pitcher)}
	}
}

// isPlayable reports whether substitutions are legal and leave no position of the fielding side unfilled.
func isPlayable(s *game.State, subs []game.Substitution) bool {
	after, err := s.Substitute(subs...)
	if subs == nil || err != nil {
		return false
	}
	team := &after.Teams[subs[0].Side]
	for p := game.Pitcher; p <= game.RightField; p++ {
		if subs[0].Side == after.Fielding() && team.Fielder(p) == "" {
			return false
		}
	}
	return true
}
