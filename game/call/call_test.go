package call_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/league"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// The players of both clubs: nine in batting order, the starting pitcher, two more pitchers, three substitutes.
const (
	visitors = "Lou Abbot|Max Birch|Jo Calder|Pat Dray|Kim Eames|Lee Fenn|Sam Gorse|Ty Hale|Al Ingle|Bo Jessop|" +
		"Ed Kerr|Art Lund|Cy Moss|Elly De La Nova|Ray Orr"
	hosts = "Ira Quill|Gil Rook|Ned Sable|Don Thorne|Vic Usher|Hal Vane|Abe Wilde|Roy Yates|Zeb Zorn|" +
		"Cal Ashby|Dan Brand|Eli Crane|Fay Dunn Jr.|Guy Estes|Ben Orr"
)

func clubs() [2]game.Club {
	return [2]game.Club{club("a", "OTT", "Ottermouth", visitors), club("h", "HAR", "Harbor", hosts)}
}

func club(prefix, abbrev, name, players string) game.Club {
	c := game.Club{ID: abbrev, Abbrev: abbrev, Name: name}
	for i, n := range strings.Split(players, "|") {
		role := game.Role("LF")
		if i >= 9 && i < 12 || i == 3 {
			role = "RP"
		}
		c.Players = append(c.Players,
			game.Player{ID: game.PlayerID(fmt.Sprint(prefix, i+1)), Name: n, Positions: []game.Role{role}})
	}
	return c
}

func newGame(tb testing.TB, dh bool) game.State {
	tb.Helper()
	var lineups [2]game.Lineup
	for side, c := range clubs() {
		lineups[side] = gametest.Lineup(c, dh)
	}
	return check.Must(game.New(game.Options{DH: dh}, clubs(), lineups))(tb)
}

// situation returns a game in a situation, see [gametest.SetSituation].
func situation(tb testing.TB, text string) game.State {
	tb.Helper()
	s := newGame(tb, true)
	gametest.SetSituation(tb, &s, text)
	return s
}

// variants returns the distinct texts of a few revisions.
func variants(say func(rev uint64) call.Line) string {
	var out strings.Builder
	seen := map[string]bool{}
	for rev := range uint64(4) {
		l := say(rev)
		for _, text := range []string{"  " + l.Screen, "    " + l.Speak} {
			if !seen[text] {
				seen[text] = true
				out.WriteString(strings.TrimRight(text, " ") + "\n")
			}
		}
	}
	return out.String()
}

// Every shape of play has its words: plays.txt has a situation and an event per line, plays.golden all texts for them.
func TestCommentator_plays(t *testing.T) {
	t.Parallel()
	events := check.Must(os.ReadFile(filepath.Join("testdata", "plays.txt")))(t)
	var out strings.Builder
	c := call.New(call.English(), clubs(), "golden")
	for line := range strings.Lines(string(events)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		before, p, after := played(t, line)
		fmt.Fprintf(&out, "%s\n%s",
			line, variants(func(rev uint64) call.Line { return c.Play(rev, &before, &p, &after) }))
	}
	gametest.Golden(t, "plays.golden", out.String())
}

// played applies a line of plays.txt: "1t 0 1-3 0-0 | S7/L7.3-H;1-2 | pitches".
func played(t *testing.T, line string) (before game.State, p game.Play, after game.State) {
	t.Helper()
	part := strings.Split(line+" |", " | ")
	before = situation(t, part[0])
	p = check.Must(retro.Parse(&before, strings.TrimSuffix(part[1], " |")))(t)
	if len(part) > 2 {
		p.Pitches = strings.TrimSuffix(part[2], " |")
	}
	after, err := before.Apply(p)
	check.Require(t, err == nil, "%s: %v", line, err)
	return before, p, after
}

func TestCommentator_substitutions(t *testing.T) {
	t.Parallel()
	c := call.New(call.English(), clubs(), "golden")
	var out strings.Builder
	for _, f := range check.Rows(`
a new pitcher | 5t 0 --- 1-0 | dh | h11 0 P
a pinch hitter | 5t 0 --- 1-0 | dh | a13 1 PH
a pinch runner with two words | 5t 0 1-- 1-0 | dh | a14 9 PR
a pinch runner whose surname two bear | 5t 0 1-- 1-0 | dh | a15 9 PR
a pinch hitter who stays | 5t 0 --- 1-0 | dh | a13 1 PH, a13 1 CF
two trade places | 5t 0 --- 1-0 | dh | h1 1 LF, h5 5 CF
a fielder for another who is hurt | 5t 0 --- 1-0 | dh | h13 2 SS injured
a designated hitter for another | 5b 0 --- 1-0 | dh | a13 4 DH injured
the designated hitter takes the field | 5t 0 --- 1-0 | dh | h4 4 3B, h11 6 P
a double switch | 5t 0 --- 1-0 | | h11 9 P, h13 4 2B
a fielder goes to the mound | 5t 0 --- 1-0 | | h5 5 P, h13 4 LF
`) {
		s := situation(t, f[1])
		if f[2] == "" {
			flat := newGame(t, false)
			s.Options, s.Teams = flat.Options, flat.Teams
		}
		s.Teams[game.Home].BattersFaced, s.Teams[game.Home].DHBatted = 3, true
		var subs []game.Substitution
		for text := range strings.SplitSeq(f[3], ", ") {
			subs = append(subs, gametest.Substitution(t, text))
		}
		_, err := s.Substitute(subs...)
		check.Require(t, err == nil, "%s: %v", f[0], err)
		fmt.Fprintf(&out, "%s\n%s",
			f[0], variants(func(rev uint64) call.Line { return c.Substitutions(rev, &s, subs) }))
	}
	gametest.Golden(t, "substitutions.golden", out.String())
}

// The lines other than plays and substitutions: starts, half-innings, ends and answers.
func TestCommentator_otherLines(t *testing.T) {
	t.Parallel()
	c := call.New(call.English(), clubs(), "golden")
	var out strings.Builder
	say := func(name string, line func(rev uint64) call.Line) { fmt.Fprintf(&out, "%s\n%s", name, variants(line)) }
	for _, in := range []string{"1t 0 --- 0-0", "7b 0 --- 2-2", "9b 2 123 4-5", "34t 1 1-- 41-40"} {
		s := situation(t, in)
		say("start "+in, func(rev uint64) call.Line { return c.Start(rev, &s) })
		say("turn "+in, func(rev uint64) call.Line { return c.HalfInning(rev, &s) })
		say("stop "+in, func(rev uint64) call.Line { return c.Stop(rev, &s, s.Inning%7) })
	}
	s := situation(t, "9b 2 --- 4-4")
	p := check.Must(retro.Parse(&s, "K"))(t)
	extra := check.Must(s.Apply(p))(t)
	say("turn with the automatic runner", func(rev uint64) call.Line { return c.HalfInning(rev, &extra) })
	for _, h := range []call.HalfTotals{
		{}, {Runs: 1, Hits: 1, Errors: 1, Left: 1}, {Runs: 3, Hits: 4, Errors: 2, Left: 2},
	} {
		say(fmt.Sprintf("summary %+v", h), func(rev uint64) call.Line { return c.HalfSummary(rev, game.Home, h) })
	}
	lost := game.BoxScore{WinningPitcher: "h10", LosingPitcher: "a10"}
	saved := lost
	saved.SavingPitcher = "h11"
	for _, tt := range []struct {
		name, in string
		end      game.End
		box      *game.BoxScore
	}{
		{"final", "9t 0 --- 2-3", game.Final, &saved},
		{"final in ten, no save", "10b 0 --- 2-3", game.Final, &lost},
		{"called", "6t 0 --- 2-2", game.CalledGame, nil},
		{"forfeit by the visitors", "6t 0 --- 2-2", game.AwayForfeit, nil},
		{"forfeit by the hosts", "6t 0 --- 2-2", game.HomeForfeit, nil},
		{"not over", "6t 0 --- 2-2", game.Playing, nil},
	} {
		s := situation(t, tt.in)
		s.End = tt.end
		say(tt.name, func(rev uint64) call.Line { return c.End(rev, &s, tt.box) })
	}
	gametest.Golden(t, "talk.golden", out.String())
}

// Every play and substitution of the 2020 season and of game/retro's test games has words, names only players with
// a part in it, and claims only what it contains. With -short, one of ten games is checked.
func TestSeason(t *testing.T) {
	t.Parallel()
	book, all := call.English(), claims()
	games := make(chan *retro.Game)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for g := range games {
				callGame(t, book, all, g)
			}
		})
	}
	n := 0
	each(t, func(g *retro.Game) {
		if n++; n%10 == 0 || !testing.Short() {
			games <- g
		}
	})
	close(games)
	wait.Wait()
	check.That(t, n >= 12, "%d games called", n)
	t.Logf("%d games called", n)
}

// each calls do with the test games of game/retro and the games of the season.
func each(t *testing.T, do func(*retro.Game)) {
	t.Helper()
	read := func(r io.Reader) error {
		for g, err := range eventfile.Read(r) {
			if err != nil {
				return err
			}
			do(g)
		}
		return nil
	}
	ours, err := filepath.Glob(filepath.Join("..", "retro", "testdata", "*.ev"))
	check.NoError(t, err)
	for _, path := range ours {
		text := check.Must(os.ReadFile(path))(t)
		err := read(bytes.NewReader(text))
		check.Require(t, err == nil, "%s: %v", path, err)
	}
	err = gametest.ReadArchive(filepath.Join(gametest.SeasonDir(t), "retrosheet-events-2020.tar.gz"), "EV", read)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// callGame checks one game. Each player is named X and the id.
func callGame(t *testing.T, book *call.Phrasebook, all []claim, g *retro.Game) {
	t.Helper()
	_, clubs, _ := g.Setup()
	for side := range clubs {
		for i := range clubs[side].Players {
			clubs[side].Players[i].Name = mark(clubs[side].Players[i].ID)
		}
		clubs[side].Name = [2]string{"Ottermouth", "Harbor"}[side]
	}
	c := call.New(book, clubs, g.ID)
	rev := uint64(0)
	_, err := g.Replay(func(step *retro.Step, _ *game.Scorebook) {
		rev++
		if step.Substitutions != nil {
			checkWords(t, step, c.Substitutions(rev, &step.Before, step.Substitutions))
			return
		}
		l := c.Play(rev, &step.Before, &step.Play, &step.After)
		again := c.Play(rev, &step.Before, &step.Play, &step.After)
		check.That(t, again == l, "%s: %q, then %q", step.Event, l, again)
		checkPlay(t, all, step, l)
	})
	check.NoError(t, err)
}

func mark(id game.PlayerID) string { return "X" + string(id) }

// checkPlay checks the line of a play.
func checkPlay(t *testing.T, all []claim, step *retro.Step, l call.Line) {
	t.Helper()
	checkWords(t, step, l)
	checkNames(t, step, l)
	checkClaims(t, all, step, l)
}

// checkWords checks the length of the texts and that all placeholders are filled.
func checkWords(t *testing.T, step *retro.Step, l call.Line) {
	t.Helper()
	for _, text := range []string{l.Screen, l.Speak} {
		check.That(t, text != "" && !strings.ContainsAny(text, "{}[]") && !strings.Contains(text, "  ") &&
			!strings.Contains(text, " ,") && !strings.Contains(text, ".."), "%s: %q", step.Event, text)
	}
	n := len(l.Speak)
	check.That(t, n <= 300, "%s: %d letters to speak: %q", step.Event, n, l.Speak)
	i := strings.IndexAny(l.Speak, "/+;()0123456789")
	check.That(t, i < 0 || strings.Contains(l.Speak, "X"), "%s: not words: %q", step.Event, l.Speak)
}

// checkNames checks that only the batter, the runners, the pitcher, and credited or charged fielders are named.
func checkNames(t *testing.T, step *retro.Step, l call.Line) {
	t.Helper()
	s, p := &step.Before, &step.Play
	may := map[string]bool{mark(s.Batter()): true, mark(s.Pitcher()): true, mark(p.Batter): true}
	for _, r := range s.Bases {
		may[mark(r.Player)] = true
	}
	credited := ""
	for _, o := range p.Outs {
		credited += o.Fielders
	}
	for _, e := range p.Errors {
		credited += e.Assists
		if e.Fielder != 0 {
			credited += string('0' + rune(e.Fielder))
		}
	}
	if p.Kind == game.PassedBall || p.Also == game.PassedBall {
		credited += "2"
	}
	for _, digit := range credited {
		may[mark(s.Teams[s.Fielding()].Fielder(game.Position(digit-'0')))] = true
	}
	for word := range strings.FieldsFuncSeq(l.Screen+" "+l.Speak,
		func(r rune) bool { return strings.ContainsRune(" .,;:!", r) }) {
		name := word
		check.That(t, !strings.HasPrefix(name, "X") || may[name], "%s names %s: %q", step.Event, name, l)
	}
}

// A claim holds words that only some plays allow.
type claim struct {
	words string // with | between
	holds predicate
}

// A predicate reports whether a play has a property.
type predicate func(*retro.Step, game.Tally) bool

func claims() []claim {
	last := func(letters string) predicate {
		return func(step *retro.Step, _ game.Tally) bool {
			n := len(step.Play.Pitches)
			return n > 0 && strings.ContainsRune(letters, rune(step.Play.Pitches[n-1]))
		}
	}
	is := func(kinds ...game.PlayKind) predicate {
		return func(step *retro.Step, _ game.Tally) bool {
			return slices.Contains(kinds, step.Play.Kind) || slices.Contains(kinds, step.Play.Also)
		}
	}
	of := func(contacts ...game.Contact) predicate {
		return func(step *retro.Step, _ game.Tally) bool { return slices.Contains(contacts, step.Play.Ball.Contact) }
	}
	in := func(zones ...string) predicate {
		return func(step *retro.Step, _ game.Tally) bool {
			where := step.Play.Ball.Location + " " + step.Play.FieldedBy
			for _, o := range step.Play.Outs {
				where += " " + o.Fielders
			}
			for _, e := range step.Play.Errors {
				where += " " + string('0'+rune(e.Fielder))
			}
			return slices.ContainsFunc(zones, func(zone string) bool { return strings.Contains(where, zone) })
		}
	}
	return []claim{
		{
			"score|comes home|come home|steals home|homer|home run|grand slam",
			func(_ *retro.Step, t game.Tally) bool { return t.Runs > 0 },
		},
		{"ouble play", func(_ *retro.Step, t game.Tally) bool { return t.DoublePlay }},
		{"riple play", func(_ *retro.Step, t game.Tally) bool { return t.TriplePlay }},
		{"error", func(_ *retro.Step, t game.Tally) bool { return t.Errors > 0 }},
		{
			"One out|One down|Two out|Two down|Three out|ends the half",
			func(_ *retro.Step, t game.Tally) bool { return t.Outs > 0 },
		},
		{"Two out|Two down", func(step *retro.Step, _ game.Tally) bool { return step.After.Outs == 2 }},
		{"One out|One down", func(step *retro.Step, _ game.Tally) bool { return step.After.Outs == 1 }},
		{" left", in("7", "56")},
		{" center", in("8")},
		{" right", in("9", "34")},
		{"looking|takes strike three", last("C")},
		{"swings|swinging", last("SQ")},
		{"strikes out|trike three", is(game.Strikeout)},
		{" walks|Ball four", is(game.Walk)},
		{" single|Base hit", is(game.Single)},
		{" doubles to| has a double| lines a double|-base hit|-rule double", is(game.Double)},
		{" triples to| has a triple", is(game.Triple)},
		{" lines |Line drive", of(game.LineDrive)},
		{" flies |Fly ball|drops in|catches the fly", of(game.FlyBall)},
		{" pops |Pop-up", of(game.PopUp, game.BuntPopUp, game.BuntLineDrive)},
		{"on the ground|grounds out|Ground ball", of(game.GroundBall, game.BuntGround)},
		{"ild pitch", func(step *retro.Step, t game.Tally) bool {
			return is(game.WildPitch)(step, t) ||
				slices.ContainsFunc(step.Play.Advances[:],
					func(r game.Advance) bool { return r.Reason == game.OnWildPitch })
		}},
		{"assed ball", func(step *retro.Step, t game.Tally) bool {
			return is(game.PassedBall)(step, t) ||
				slices.ContainsFunc(step.Play.Advances[:],
					func(r game.Advance) bool { return r.Reason == game.OnPassedBall })
		}},
		{"alk by| balk ", is(game.Balk)},
		{" steals |stolen base", is(game.StolenBase)},
		{"caught stealing", is(game.CaughtStealing, game.PickOff)},
	}
}

// checkClaims checks the claims of a line, and that every run is in it.
func checkClaims(t *testing.T, all []claim, step *retro.Step, l call.Line) {
	t.Helper()
	tally := step.Before.Tally(step.Play)
	texts := l.Screen + " " + l.Speak
	for _, c := range all {
		for words := range strings.SplitSeq(c.words, "|") {
			check.That(t, !strings.Contains(texts, words) || c.holds(step, tally),
				"%s: %q does not hold: %q", step.Event, words, l)
		}
	}
	for from, r := range step.Play.Advances {
		if name := mark(runner(step, game.Base(from))); r.To == game.HomePlate && !strings.Contains(l.Screen, name) {
			t.Errorf("%s: the run of %s is missing: %q", step.Event, name, l)
		}
	}
}

func runner(step *retro.Step, from game.Base) game.PlayerID {
	switch {
	case from != game.AtBat:
		return step.Before.RunnerOn(from).Player
	case step.Play.Batter != "":
		return step.Play.Batter
	default:
		return step.Before.Batter()
	}
}

// All phrases are complete sentences without digits, and game/call has spelled out whatever speakable.Text would
// change.
func TestPhrasebook_phrases(t *testing.T) {
	t.Parallel()
	phrases := call.English().Phrases()
	check.That(t, len(phrases) >= 300, "%d phrases", len(phrases))
	for _, p := range phrases {
		check.That(t, !strings.ContainsAny(p, "{}[]0123456789") && len(p) >= 2, "%q", p)
		got := speakable.Text(p, "en-us", nil)
		check.That(t, got == p, "%q becomes %q", p, got)
	}
}

func TestReadPhrasebook_errors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ book, want string }{
		{"  both {batter} walks", `line 1: "both {batter} walks" belongs to no key`},
		{"walk:\n  shout {batter} walks", `line 2: "shout": expected both, screen or speak`},
		{"walk:\n  both {batter walks", `line 2: "{batter walks" has an unclosed bracket`},
		{"walk:\nwalk:", `line 2: "walk:" is neither a list nor a new key`},
		{"walk", `line 1: "walk" is neither a list nor a new key`},
	} {
		_, err := call.ReadPhrasebook(strings.NewReader(tt.book))
		check.That(t, err != nil && err.Error() == tt.want, "ReadPhrasebook(%q): %v, want %s", tt.book, err, tt.want)
	}
}

// Phrases differ by revision and by game.
func TestCommentator_variety(t *testing.T) {
	t.Parallel()
	before, p, after := played(t, "1t 0 --- 0-0 | HR/F7D")
	count := func(seed string) int {
		texts := map[string]bool{}
		for rev := range uint64(50) {
			texts[call.New(call.English(), clubs(), seed).Play(rev, &before, &p, &after).Speak] = true
		}
		return len(texts)
	}
	n := count("one")
	check.That(t, n >= 4, "%d ways to call a home run", n)
	differ := 0
	for seed := range 50 {
		a := call.New(call.English(), clubs(), fmt.Sprint(seed)).Play(1, &before, &p, &after)
		b := call.New(call.English(), clubs(), fmt.Sprint(seed+1)).Play(1, &before, &p, &after)
		if a.Speak != b.Speak {
			differ++
		}
	}
	check.That(t, differ >= 20, "%d of 50 games differ from the next", differ)
}

func TestHalfTotals_add(t *testing.T) {
	t.Parallel()
	s := situation(t, "1t 0 --- 0-0")
	var h call.HalfTotals
	for _, event := range []string{"S7", "E6.1-2", "S8.2-H;1-2", "64(1)3/GDP/G6.2-3", "W", "8/F8"} {
		p, err := retro.Parse(&s, event)
		check.NoError(t, err)
		h = h.Add(&s, p)
		if s, err = s.Apply(p); err != nil {
			t.Fatal(err)
		}
	}
	want := (call.HalfTotals{Runs: 1, Hits: 2, Errors: 1, Left: 2})
	check.That(t, h == want, "%+v, want %+v", h, want)
}

// The laws of calls on real games hold for games between two bots, too.
func TestCommentator_simulatedGames(t *testing.T) {
	t.Parallel()
	clubs := check.Must(league.Season(3))(t)
	book, all := call.English(), claims()
	for n := range 24 {
		p := bottest.Pair(t, clubs[n%8], clubs[(n+1+n/8)%8], n%2 == 0)
		for side := range p.Clubs {
			for i := range p.Clubs[side].Players {
				player := &p.Clubs[side].Players[i]
				player.Name = mark(player.ID)
			}
		}
		c := call.New(book, p.Clubs, "live")
		rev := uint64(0)
		g := p.Start(t, uint64(n), game.Options{}, [2]bool{true, true})
		g.OnSubstitutions = func(before *game.State, subs []game.Substitution, _ *game.State) {
			checkWords(t, &retro.Step{}, c.Substitutions(rev, before, subs))
		}
		g.OnPlay = func(before *game.State, _ *chance.Resolution, play *game.Play, after *game.State) {
			step := &retro.Step{Event: fmt.Sprintf("%+v", *play), Before: *before, Play: *play, After: *after}
			checkPlay(t, all, step, c.Play(rev, before, play, after))
			rev++
		}
		g.Finish()
	}
}
