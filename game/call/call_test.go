package call_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/call"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/packaging/check"
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
