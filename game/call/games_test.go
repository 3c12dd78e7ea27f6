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
	"pressbox/game/call"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

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
			!strings.Contains(text, " ,") && !strings.Contains(text, ".."),
			"%s: %q", step.Event, text)
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
