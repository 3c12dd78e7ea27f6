package game_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// clubs returns two clubs of 20: a1–a9 and h1–h9 start, a10 and h10 pitch, 11–14 can pitch, 15–20 are on the bench.
func clubs() [2]game.Club {
	var both [2]game.Club
	for side, prefix := range []string{"a", "h"} {
		c := &both[side]
		c.ID = [2]string{"AWY", "HOM"}[side]
		c.Abbrev, c.Name = c.ID, c.ID
		for i := 1; i <= 20; i++ {
			roles := []game.Role{"LF", "3B", "C"}
			if i <= 9 {
				roles = []game.Role{game.Role(gametest.Positions()[i-1].String())}
			}
			if i == 4 || i >= 10 && i <= 14 {
				roles = []game.Role{"SP", "RP"}
			}
			id := game.PlayerID(fmt.Sprintf("%s%d", prefix, i))
			c.Players = append(c.Players,
				game.Player{ID: id, Name: "Player " + string(id), Bats: "R", Throws: "R", Positions: roles})
		}
	}
	return both
}

// lineup returns a side's line-up, with the designated hitter or the pitcher in place 4.
func lineup(side game.Side, dh bool) game.Lineup { return gametest.Lineup(clubs()[side], dh) }

func newGame(tb testing.TB, o game.Options) game.State {
	tb.Helper()
	return check.Must(game.New(o, clubs(), [2]game.Lineup{lineup(game.Away, o.DH), lineup(game.Home, o.DH)}))(tb)
}

// situation returns a game in a situation of [gametest.SetSituation].
func situation(tb testing.TB, text string, o game.Options) game.State {
	tb.Helper()
	s := newGame(tb, o)
	gametest.SetSituation(tb, &s, text)
	return s
}

// describe is the inverse of situation, and appends "over" to a completed game.
func describe(s *game.State) string {
	bases := []byte("---")
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			bases[i] = byte('1' + i)
		}
	}
	text := fmt.Sprintf("%d%c %d %s %d-%d", s.Inning, s.Half.String()[0], s.Outs, bases, s.Score[0], s.Score[1])
	if s.Over() {
		text += " over"
	}
	return text
}

// refusal returns the rule number of an error, "" for none.
func refusal(tb testing.TB, err error) string {
	tb.Helper()
	if err == nil {
		return ""
	}
	var broken *game.IllegalError
	check.Require(tb, errors.As(err, &broken), "%v is not an IllegalError", err)
	return broken.Rule
}

func parse(tb testing.TB, s *game.State, event string) game.Play {
	tb.Helper()
	return check.Must(retro.Parse(s, event))(tb)
}

// A scored game is a state with its scorebook.
type scored struct {
	t    testing.TB
	s    game.State
	book *game.Scorebook
}

func newScored(tb testing.TB, o game.Options) *scored {
	tb.Helper()
	s := newGame(tb, o)
	return &scored{t: tb, s: s, book: game.NewScorebook(&s, clubs())}
}

// play applies events, "S7 W.1-2 K", and checks the balance of the box score after each. "31:W" has the count 3-1;
// "sub:h11:0:P" puts h11 into place 0 at P, and so does "@h11"; "#201" is three half-innings with 2, 0 and 1 home runs
// and no other hits, or fewer if the game ends.
func (g *scored) play(words string) *scored {
	g.t.Helper()
	for word := range strings.FieldsSeq(words) {
		if text, ok := strings.CutPrefix(word, "sub:"); ok {
			g.substitute(text)
			continue
		}
		if pitcher, ok := strings.CutPrefix(word, "@"); ok {
			g.substitute(pitcher + ":0:P")
			continue
		}
		if runs, ok := strings.CutPrefix(word, "#"); ok {
			g.halfInnings(runs)
			continue
		}
		before := g.s
		count, event, ok := strings.Cut(word, ":")
		if !ok {
			count, event = "00", word
		}
		p := parse(g.t, &before, event)
		p.Count = game.Count{Balls: int8(count[0] - '0'), Strikes: int8(count[1] - '0')}
		after, err := before.Apply(p)
		if err != nil {
			g.t.Fatalf("%s at %s: %v", word, describe(&before), err)
		}
		g.book.RecordPlay(&before, &p, &after)
		g.s = after
		if err := g.book.Prove(&after); err != nil {
			g.t.Fatalf("%s at %s: %v", word, describe(&before), err)
		}
	}
	return g
}

func (g *scored) halfInnings(runs string) {
	g.t.Helper()
	for _, digit := range runs {
		for range digit - '0' {
			if g.play("HR/F7D"); g.s.Over() {
				return
			}
		}
		g.play("K K K")
	}
}

func (g *scored) substitute(text string) {
	g.t.Helper()
	list := subs(g.t, strings.ReplaceAll(text, ":", " ")+" injured")
	after := check.Must(g.s.Substitute(list...))(g.t)
	g.book.RecordSubstitutions(&g.s, list, &after)
	g.s = after
}

func (g *scored) box() game.BoxScore { return g.book.BoxScore(&g.s) }

// find returns the first line of a player in a box score; the zero line if there is none.
func find[L any](g *scored, lines func(*game.TeamBoxScore) []L, player func(*L) game.PlayerID, id game.PlayerID) L {
	box := g.box()
	for i := range box.Teams {
		for _, l := range lines(&box.Teams[i]) {
			if player(&l) == id {
				return l
			}
		}
	}
	var none L
	return none
}

func (g *scored) pitcher(id game.PlayerID) game.PitchingLine {
	return find(g, func(t *game.TeamBoxScore) []game.PitchingLine { return t.Pitching },
		func(l *game.PitchingLine) game.PlayerID { return l.Player }, id)
}

func (g *scored) batter(id game.PlayerID) game.BattingLine {
	return find(g, func(t *game.TeamBoxScore) []game.BattingLine { return t.Batting },
		func(l *game.BattingLine) game.PlayerID { return l.Player }, id)
}

func (g *scored) fielder(id game.PlayerID) game.FieldingLine {
	return find(g, func(t *game.TeamBoxScore) []game.FieldingLine { return t.Fielding },
		func(l *game.FieldingLine) game.PlayerID { return l.Player }, id)
}

// draw returns a play that may be legal in s; pick returns a number below n.
func draw(s *game.State, pick func(int) int) game.Play {
	events := [...]string{
		"8/F8", "63/G6", "64(1)/FO/G6", "64(1)3/GDP/G6", "K", "W", "S7", "D7", "T7", "HR/F7D", "HP", "E6", "FC6",
		"C/E2", "WP", "PB", "BK", "SB2", "SB3", "SBH", "CS2(26)", "CS3(25)", "CSH(2)", "PO1(13)", "PO2(14)", "PO3(15)",
	}
	i := pick(len(events))
	event := events[i]
	var advances []string
	for b := game.First; b <= game.Third && i < len(events)-9; b++ { // none beside an attempt
		if to := min(b+game.Base(pick(5)), game.HomePlate); to > b && s.RunnerOn(b).Player != "" &&
			!strings.Contains(event, fmt.Sprintf("(%d)", b)) {
			advances = append(advances, fmt.Sprintf("%d-%c", b, "B123H"[to]))
		}
	}
	p, err := retro.Parse(s, event+"."+strings.Join(advances, ";"))
	if err != nil {
		panic(err)
	}
	return p
}

func plainPlays(tb testing.TB, s *game.State) []game.Play {
	tb.Helper()
	var plays []game.Play
	for _, event := range []string{"K", "63/G6", "8/F8", "S7/L7", "W"} {
		plays = append(plays, parse(tb, s, event))
	}
	return plays
}

func TestApply_allocations(t *testing.T) {
	s := newGame(t, game.Options{DH: true})
	for _, p := range plainPlays(t, &s) {
		n := testing.AllocsPerRun(100, func() {
			if _, err := s.Apply(p); err != nil {
				t.Fatal(err)
			}
		})
		check.That(t, n == 0, "a %s: %v allocations", p.Kind, n)
	}
}

func BenchmarkApply(b *testing.B) {
	s := newGame(b, game.Options{DH: true})
	plays := plainPlays(b, &s)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.Apply(plays[i%len(plays)]); err != nil {
			b.Fatal(err)
		}
	}
}

// A single, then a ground ball to short: a double play that starts with a force-out.
func ExampleState_Apply() {
	s, err := game.New(game.Options{DH: true}, clubs(),
		[2]game.Lineup{lineup(game.Away, true), lineup(game.Home, true)})
	if err != nil {
		fmt.Println(err)
		return
	}
	single := game.Play{Kind: game.Single, FieldedBy: "8", Advances: [4]game.Advance{{To: game.First}}}
	s, err = s.Apply(single)
	fmt.Println(s.RunnerOn(game.First).Player, s.Batter(), err)

	double := game.Play{
		Kind:  game.BattedOut,
		Flags: game.GroundedIntoDoublePlay,
		Ball:  game.BattedBall{Contact: game.GroundBall, Location: "6"},
		Outs: [4]game.Out{
			{Runner: game.First, At: game.Second, Kind: game.ForceOut, Fielders: "64"},
			{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: "43"},
		},
	}
	s, err = s.Apply(double)
	fmt.Println(s.Outs, s.Batter(), err)

	_, err = s.Apply(double) // no runner is left on first
	fmt.Println(err)
	// Output:
	// a1 a2 <nil>
	// 2 a3 <nil>
	// out 1: no runner on first
}
