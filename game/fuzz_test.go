package game_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// A tape is bytes read as choices, zeros after its end.
type tape []byte

func (b *tape) next(n int) int {
	if len(*b) == 0 {
		return 0
	}
	v := int((*b)[0])
	*b = (*b)[1:]
	return v % n
}

// anyPlay reads a play that may be legal, and changes up to three of its parts.
func (b *tape) anyPlay(s *game.State) game.Play {
	hands := [...]string{"", "6", "63", "643", "2", "26", "0", "x", "1361"}
	p := draw(s, b.next)
	for range b.next(4) {
		run, out, fault := &p.Advances[b.next(4)], &p.Outs[b.next(4)], &p.Errors[b.next(4)]
		switch b.next(14) {
		case 0:
			p.Kind = game.PlayKind(b.next(26))
		case 1:
			p.Also = game.PlayKind(b.next(26))
		case 2:
			p.Flags ^= 1 << b.next(14)
		case 3:
			p.Ball.Contact = game.Contact(b.next(9))
		case 4:
			p.Count = game.Count{Balls: int8(b.next(6)), Strikes: int8(b.next(5))}
		case 5:
			run.To = game.Base(b.next(6))
		case 6:
			run.Reason = game.AdvanceReason(b.next(10))
		case 7:
			run.Earned, run.RBI = game.Ruling(b.next(5)), game.Ruling(b.next(5))
		case 8:
			*out = game.Out{
				Runner: game.Base(b.next(5)), At: game.Base(b.next(6)), Kind: game.OutKind(b.next(9)),
				Fielders: hands[b.next(len(hands))],
			}
		case 9:
			out.Kind = game.OutKind(b.next(9))
		case 10:
			out.Runner, out.At = game.Base(b.next(5)), game.Base(b.next(6))
		case 11:
			*fault = game.Error{
				Fielder: uint8(b.next(11)), Kind: game.ErrorKind(b.next(3)), Runner: game.Base(b.next(5)),
				Assists: hands[b.next(len(hands))],
			}
		case 12:
			*out = game.Out{}
		default:
			p.Batter = s.Teams[s.Batting()].Order[b.next(9)].Player
		}
	}
	return p
}

// anySub reads a substitution, legal or not.
func (b *tape) anySub() game.Substitution {
	side := game.Side(b.next(2))
	players := clubs()[side].Players
	return game.Substitution{
		Side: side, Player: players[b.next(len(players))].ID, Slot: b.next(11),
		Position: game.Position(b.next(14)), Injured: b.next(2) == 0,
	}
}

// FuzzApply applies arbitrary plays and substitutions: each is refused and changes nothing, or keeps the laws of a
// play and of a state and the balance of the box score.
func FuzzApply(f *testing.F) {
	f.Add([]byte{})
	for seed := range byte(8) {
		var game []byte
		for i := range 600 {
			game = append(game, seed+byte(i*i)*31+byte(i/7))
		}
		f.Add(game)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := tape(data[:min(len(data), 1500)])
		o := game.Options{DH: b.next(2) == 0, Innings: 1 + b.next(3)}
		s := newGame(t, o)
		book := game.NewScorebook(&s, clubs())
		for len(b) > 0 {
			if b.next(6) == 0 {
				sub := b.anySub()
				after, err := s.Substitute(sub)
				keepsLaws(t, &s, &after, err)
				if err == nil {
					book.RecordSubstitutions(&s, []game.Substitution{sub}, &after)
				}
				s = after
				continue
			}
			p := b.anyPlay(&s)
			after, err := s.Apply(p)
			keepsLaws(t, &s, &after, err)
			if err == nil {
				keepsPlayLaws(t, &s, &after, p)
				book.RecordPlay(&s, &p, &after)
				if err := book.Prove(&after); err != nil {
					t.Fatalf("%+v at %s: %v", p, describe(&s), err)
				}
			}
			s = after
		}
		book.BoxScore(&s)
	})
}

// keepsLaws checks the laws of every state.
func keepsLaws(t *testing.T, before, after *game.State, err error) {
	t.Helper()
	if err != nil {
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		check.Require(t, string(a) == string(b), "refused (%v), but %s became %s", err, a, b)
		return
	}
	check.Require(t, after.Outs >= 0 && after.Outs <= 3 && (after.Outs != 3 || after.Over()), "%d out", after.Outs)
	seen := map[game.PlayerID]bool{"": true}
	order := &after.Teams[after.Batting()].Order
	for i, r := range after.Bases {
		if r.Player == "" {
			continue
		}
		check.Require(t, !seen[r.Player], "%s is on base twice: %v", r.Player, after.Bases)
		seen[r.Player] = true
		bats := false
		for _, slot := range order {
			bats = bats || slot.Player == r.Player
		}
		check.Require(t, bats || after.Over(), "%s on base %d is not in the order", r.Player, i+1)
	}
	for side := range after.Teams {
		check.Require(t, after.Score[side] >= before.Score[side], "the %s team lost runs", game.Side(side))
		playing := map[game.PlayerID]bool{}
		for _, slot := range after.Teams[side].Order {
			check.Require(t, slot.Player != "" && !playing[slot.Player], "the order is %v", after.Teams[side].Order)
			playing[slot.Player] = true
		}
		playing[after.Teams[side].Pitcher] = true
		for _, id := range after.Teams[side].Removed {
			check.Require(t, !playing[id], "%s is removed and in the game", id)
		}
		for _, id := range after.Teams[side].Bench {
			check.Require(t, !playing[id], "%s is on the bench and in the game", id)
		}
	}
}

// FuzzLineup checks arbitrary line-ups: New accepts one exactly when Check finds no violation, and each violation
// is named.
func FuzzLineup(f *testing.F) {
	for _, dh := range []bool{true, false} {
		text := check.Must(json.Marshal(lineup(game.Home, dh)))(f)
		f.Add(text, dh)
	}
	f.Add([]byte(`{"batting_order":[{}],"pitcher_id":"h1"}`), true)
	f.Fuzz(func(t *testing.T, text []byte, dh bool) {
		var l game.Lineup
		if json.Unmarshal(text, &l) != nil {
			return
		}
		found := l.Check(clubs()[game.Home], dh)
		for _, v := range found {
			check.Require(t, v.Path != "" && v.Code != "" && v.Detail != "", "%+v", v)
		}
		s, err := game.New(game.Options{DH: dh}, clubs(), [2]game.Lineup{lineup(game.Away, dh), l})
		check.Require(t, (err == nil) == (found == nil), "Check returns %v, New %v", found, err)
		if err != nil {
			return
		}
		apply(t, s, "K", "K", "K", "K") // a legal line-up can take the field and bat
	})
}

// Every run checks the same properties of the same values.
var _ = flag.Set("rapid.seed", "1")

// Random legal games: after every move the state keeps its laws and the box score balances. The scorecard, written
// as an event file and read, replays to the same end and the same box score.
func TestScorebook_randomGames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := game.Options{DH: rapid.Bool().Draw(rt, "dh"), Innings: rapid.IntRange(1, 9).Draw(rt, "innings")}
		s := newGame(t, o)
		g := randomGame{
			rt: rt, t: t, s: s, book: game.NewScorebook(&s, clubs()),
			card: retro.NewScorecard("HOM202604010", &s, clubs()),
		}
		for moves := 0; !g.s.Over(); moves++ {
			if moves > 3000 {
				rt.Fatalf("the game does not end: %s", describe(&g.s))
			}
			if rapid.IntRange(0, 9).Draw(rt, "what") == 0 {
				g.substitute()
			}
			g.play()
		}
		g.export()
	})
}

type randomGame struct {
	rt   *rapid.T
	t    *testing.T
	s    game.State
	book *game.Scorebook
	card *retro.Scorecard
}

// play applies a random legal play, or a strikeout if 40 draws are illegal.
func (g *randomGame) play() {
	p := game.Play{Kind: game.Strikeout, Outs: game.Outs{{Kind: game.StruckOut, Fielders: "2"}}}
	after, err := g.s.Apply(p)
	check.Require(g.rt, err == nil, "a strikeout at %s: %v", describe(&g.s), err)
	for range 40 {
		drawn := g.s.LimitWalkOff(draw(&g.s, g.pick))
		if next, err := g.s.Apply(drawn); err == nil {
			p, after = drawn, next
			break
		}
	}
	keepsLaws(g.t, &g.s, &after, nil)
	tally := g.s.Tally(p)
	got := after.Score[g.s.Batting()] - g.s.Score[g.s.Batting()]
	check.Require(g.rt, got == tally.Runs, "%d runs scored, %d in the tally", got, tally.Runs)
	g.book.RecordPlay(&g.s, &p, &after)
	if err := g.book.Prove(&after); err != nil {
		g.rt.Fatalf("%+v at %s: %v", p, describe(&g.s), err)
	}
	g.card.RecordPlay(&g.s, p)
	g.s = after
}

func (g *randomGame) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.rt, "pick") }

// substitute replaces the pitcher or a player of the order at the same position, if the rules allow it.
func (g *randomGame) substitute() {
	sub := game.Substitution{Side: game.Side(g.pick(2)), Slot: g.pick(10), Position: game.Pitcher}
	team := &g.s.Teams[sub.Side]
	if sub.Slot > 0 {
		sub.Position = team.Order[sub.Slot-1].Position
	}
	if len(team.Bench) == 0 {
		return
	}
	sub.Player = team.Bench[g.pick(len(team.Bench))]
	after, err := g.s.Substitute(sub)
	if err != nil {
		return
	}
	keepsLaws(g.t, &g.s, &after, nil)
	g.book.RecordSubstitutions(&g.s, []game.Substitution{sub}, &after)
	g.card.RecordSubstitutions(&g.s, []game.Substitution{sub})
	g.s = after
}

// export writes the game and reads it back.
func (g *randomGame) export() {
	_, read, err := gametest.WriteRead(g.card, &g.s, g.book)
	check.NoError(g.rt, err)
	end := check.Must(read.Replay(func(*retro.Step, *game.Scorebook) {}))(g.rt)
	want, got := g.book.BoxScore(&g.s), end.Scorebook.BoxScore(&end.End)
	for side := range want.Teams {
		want.Teams[side].Fielding, got.Teams[side].Fielding = nil, nil // in order of appearance
	}
	check.Require(g.rt, reflect.DeepEqual(want, got), "the box score is\n%+v, written and read\n%+v", want, got)
	check.Require(g.rt, end.End.Score == g.s.Score && end.End.Inning == g.s.Inning,
		"%s, written and read %s", describe(&g.s), describe(&end.End))
}

// On the wire and in the journal an enumeration is its name, flags are a list, and lists end with their last entry.
func TestPlay_json(t *testing.T) {
	t.Parallel()
	const text = `{"kind":"strikeout","also":"wild pitch","flags":["sacrifice hit","foul","as ruled"],` +
		`"ball":{"contact":"bunt line drive","place":"2","force":"soft"},` +
		`"runs":[{},{"why":"picked off stealing"},{"to":"third","why":"wild pitch"},` +
		`{"to":"home","why":"error","earned":"team only","rbi":"no"}],` +
		`"outs":[{"who":"batter","how":"strikeout","by":"2"},{"who":"first","at":"second","how":"tag out",` +
		`"by":"24"}],` +
		`"errors":[{"by":2,"kind":"throwing","who":"third","after":"1"}]}`
	var p game.Play
	check.NoError(t, json.Unmarshal([]byte(text), &p))
	check.That(t, p.Outs[1] == (game.Out{Runner: game.First, At: game.Second, Kind: game.TagOut, Fielders: "24"}),
		"read as %+v", p)
	got, err := json.Marshal(p)
	check.That(t, err == nil && string(got) == text, "%s\nis written as %s, %v", text, got, err)
}

// Every value of an enumeration has a name of its own, which is read as the value; nothing else is read.
func TestPlay_jsonNames(t *testing.T) {
	t.Parallel()
	checkNames(t, upTo(game.HomePlate)...)
	checkNames(t, upTo(game.OnThrow)...)
	checkNames(t, upTo(game.TeamOnly)...)
	checkNames(t, upTo(game.CalledOut)...)
	checkNames(t, upTo(game.ThrowingError)...)
	checkNames(t, upTo(game.BuntLineDrive)...)
	checkNames(t, game.Soft, game.Unmarked, game.Hard)
	flags := []game.Flags{0}
	for f := game.SacrificeHit; f <= game.AsRuled; f <<= 1 {
		flags = append(flags, f)
	}
	checkNames(t, flags...)
}

// upTo returns the values of an enumeration up to the last.
func upTo[T ~uint8](last T) (all []T) {
	for v := T(0); v <= last; v++ {
		all = append(all, v)
	}
	return all
}

func checkNames[T comparable](t *testing.T, values ...T) {
	t.Helper()
	seen := map[string]bool{}
	for _, v := range values {
		name, err := json.Marshal(v)
		check.That(t, err == nil && !seen[string(name)] && !strings.ContainsAny(string(name), "0123456789?"),
			"%T: %v is written as %s, %v; want a name of its own", v, v, name, err)
		seen[string(name)] = true
		var again T
		err = json.Unmarshal(name, &again)
		check.That(t, err == nil && again == v, "%T: %s is read as %v, %v", v, name, again, err)
	}
	for _, text := range []string{`"nonsense"`, `["nonsense"]`, `1`, `{}`} {
		if value := values[0]; json.Unmarshal([]byte(text), &value) == nil {
			t.Errorf("%T: %s is read as %v, want an error", value, text, value)
		}
	}
}

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
