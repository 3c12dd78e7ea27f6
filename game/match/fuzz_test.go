package match

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/call"
	"pressbox/game/card"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/odds"
	"pressbox/game/protocol"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// journal returns the moves of a whole game.
func journal(tb testing.TB) [][]byte {
	tb.Helper()
	packed := check.Must(os.ReadFile(filepath.Join("..", "live", "testdata", "journal-3-whole.gz")))(tb)
	z := check.Must(gzip.NewReader(bytes.NewReader(packed)))(tb)
	var plain bytes.Buffer
	check.Must(plain.ReadFrom(z))(tb)
	var parts [][]byte
	for rest := plain.Bytes(); len(rest) > 0; {
		n, size := binary.Uvarint(rest)
		parts, rest = append(parts, rest[size:size+int(n)]), rest[size+int(n):]
	}
	return parts[2:] // after id and summary
}

// load returns the match that moves make.
func load(moves [][]byte) (*Match, error) { return Load("game", moves, call.English()) }

// FuzzAction sends any action at any revision of a real game, for either side. A refused action changes nothing and
// has a code; an accepted one follows the rules, can be encoded, and gives the same position when it is loaded.
func FuzzAction(f *testing.F) {
	whole := check.Must(load(journal(f)))(f)
	for rev, text := range map[int]string{
		6: `{"a":"offense","call":"swing","d":1}`,
		7: `{"a":"defense","pitch":"pitch around","infield":"in","lines":true}`, 8: `{"a":"undo"}`,
		20: `{"a":"substitute","subs":[{"player_id":"x","slot":1,"position":"PH"}]}`, 21: `{"a":"pause"}`,
		22: `{"a":"resume"}`,
		40: `{"a":"concede","side":"home"}`, 41: `{"a":"takeover","on":true}`,
		42: `{"a":"skip_until","until":"leverage","margin":0.3}`, 43: `{"a":"skip_until","on":false}`,
		60: `{"a":"answer","bold":false}`,
		61: `{"a":"takeover","on":false,"side":"away"}`,
		70: `{"a":"offense","side":"north"}`, 71: `null`, 72: `[]`, 73: `{"a":"offense"} {}`, 74: `{"b":1}`,
	} {
		f.Add(rev, uint64(rev), rev%2 == 0, []byte(text))
	}
	positions := whole.positions(f)
	for rev, m := range positions {
		for _, side := range []game.Side{game.Away, game.Home} {
			for _, c := range append(m.Legal([]game.Side{side}), m.Offers([]game.Side{side}, [2]Absence{})...) {
				if text, err := json.Marshal(c.Action); err == nil && rev%11 == 0 {
					f.Add(rev, m.Revision, side == game.Home, text)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, rev int, seen uint64, home bool, text []byte) {
		var a protocol.Action
		if json.Unmarshal(text, &a) != nil {
			return
		}
		err := a.Check()
		if err != nil {
			checkRefused(t, err)
			return
		}
		m := positions[uint(rev)%uint(len(positions))]
		side := game.Away
		if home {
			side = game.Home
		}
		before := dump(t, &m.Position)
		tx := m.Begin(m.Manager(side), "c", m.Created)
		err = tx.Submit(protocol.Command{ID: "c", Revision: seen, Action: a}, [2]Absence{})
		if err == nil {
			err = tx.Advance()
		}
		after := dump(t, &m.Position)
		check.Require(t, after == before, "%s changed the game from %s to %s", text, before, after)
		if err != nil {
			checkRefused(t, err)
			return
		}
		checkTx(t, m, tx)
	})
}

// positions returns the match as it was after each revision from the second on.
func (m *Match) positions(tb testing.TB) []*Match {
	tb.Helper()
	var p Position
	var all []*Match
	for i, move := range m.history.moves {
		after := check.Must(p.apply(move))(tb)
		if p = after; i > 0 {
			h := *m.history
			h.events = h.events[:i+1]
			all = append(all, &Match{ID: m.ID, Position: p, engine: m.engine, history: &h})
		}
	}
	return all
}

// dump returns all of a position as text.
func dump(tb testing.TB, p *Position) string {
	tb.Helper()
	data := check.Must(json.Marshal([]any{
		p.Revision, p.Status, p.Result, p.state, p.moment, p.Decision, p.sealed, p.question, p.Pause,
		p.seats[0].replaced, p.seats[1].replaced,
	}))(tb)
	return string(data)
}

func checkRefused(t *testing.T, err error) {
	t.Helper()
	codes := []protocol.Code{
		protocol.Malformed, protocol.Forbidden, protocol.NotYourSide, protocol.StaleRevision, protocol.IllegalAction,
		protocol.AlreadySealed, protocol.NotActive, protocol.GamePaused,
	}
	refused, ok := errors.AsType[*protocol.Error](err)
	check.Require(t, ok && slices.Contains(codes, refused.Code) && refused.Detail != "",
		"refused with %v, which is not for a client", err)
}

// checkTx checks that an accepted transaction can be encoded and gives the same position when it is loaded.
func checkTx(t *testing.T, m *Match, tx *Tx) {
	t.Helper()
	check.Require(t, tx.Len() != 0, "accepted without a move")
	moves := check.Must(tx.Moves())(t)
	p := m.Position
	for _, data := range moves {
		decoded := check.Must(decodeMove(data))(t)
		var err error
		p, err = p.apply(decoded)
		check.Require(t, err == nil, "%s: %v", data, err)
	}
	got, want := dump(t, &p), dump(t, &tx.now)
	check.Require(t, got == want, "loaded as %s, want %s", got, want)
	check.Require(t, p.Status != protocol.Active || p.Pause != nil || len(p.Awaited()) != 0,
		"the game waits for no manager: %s", dump(t, &p))
}

// FuzzJournal replaces one move of a real game. A damaged journal gives an error; a journal that loads gives a
// match that can be shown.
func FuzzJournal(f *testing.F) {
	moves := journal(f)[:50] // each run applies all of them
	for i, m := range moves {
		f.Add(i, m)
	}
	f.Add(20, []byte(`{"v":3,"rev":21,"kind":"answer","side":"home"}`))
	f.Add(4, []byte(`{"v":3,"rev":5,"kind":"start"}`))
	f.Fuzz(func(t *testing.T, i int, data []byte) {
		damaged := slices.Clone(moves)
		damaged[uint(i)%uint(len(moves))] = data
		m, err := load(damaged)
		if err != nil {
			return
		}
		for _, sides := range [][]game.Side{{}, {game.Away}, {game.Home}} {
			check.Must(json.Marshal([]any{m.View(), m.Legal(sides), m.Offers(sides, [2]Absence{})}))(t)
		}
	})
}

// cardOf returns a player's card.
func cardOf(tb testing.TB, m *Match, side game.Side, id game.PlayerID) card.Player {
	tb.Helper()
	for _, p := range m.cards(side) {
		if p.ID == id {
			return p
		}
	}
	tb.Fatalf("%s has no %s", side, id)
	return card.Player{}
}

func text(tb testing.TB, v any) string {
	tb.Helper()
	return string(check.Must(json.Marshal(v))(tb))
}

// newMatch returns a match of two bots, so far without a play, and the first starter of the visitors.
func newMatch(tb testing.TB, change func(o *Origin, starter game.PlayerID)) (*Match, game.PlayerID) {
	tb.Helper()
	rosters := check.Must(league.Season(1))(tb)
	o := &Origin{
		Rules: Rules, Options: protocol.Defaults(), Clubs: [2]Club{ClubOf(&rosters[0]), ClubOf(&rosters[1])},
		Bots: [2]bool{true, true},
	}
	var starter game.PlayerID
	for _, p := range o.Clubs[0].Players {
		if starter == "" && p.CanPitch() {
			starter = p.ID
		}
	}
	change(o, starter)
	tx := check.Must(Create("id", o, protocol.Person{ID: "ann"}, time.Unix(0, 0)))(tb)
	return check.Must(load(check.Must(tx.Moves())(tb)))(tb), starter
}

// Days of rest and fatigue before the game come from the work of the days before, for pitchers only.
func TestCards_restDays(t *testing.T) {
	t.Parallel()
	m, starter := newMatch(t, func(o *Origin, starter game.PlayerID) {
		o.Recent = chance.RecentWork{starter: {0, 0, 100}, o.Clubs[0].Players[0].ID: {20}}
	})
	c := cardOf(t, m, game.Away, starter)
	check.That(t, c.RestDays == 2 && c.Fatigue == .22 && c.Today == nil && c.Source == card.BuiltIn,
		"three days after 100 pitches: %+v", c.Card)
	c = cardOf(t, m, game.Away, m.Origin.Clubs[0].Players[0].ID)
	check.That(t, c.RestDays == 5 && c.Fatigue == 0, "a hitter: %+v", c.Card)
	rested, _ := newMatch(t, func(*Origin, game.PlayerID) {})
	c = cardOf(t, rested, game.Away, starter)
	check.That(t, c.RestDays == 5 && c.Fatigue == 0, "rested: %+v", c.Card)
}

// A card does not show the form of the day: it is the same whatever the seed.
func TestCards_withoutForm(t *testing.T) {
	t.Parallel()
	of := func(seed byte) string {
		m, _ := newMatch(t, func(o *Origin, _ game.PlayerID) { o.Seed[0] = seed })
		return text(t, m.cards(game.Away)) + text(t, m.cards(game.Home))
	}
	a, b := of(1), of(2)
	check.That(t, a == b, "the cards of two seeds differ")
}

// After each move of a real game, what the state says of batter and pitcher is what their cards say and what the
// box score counts.
func TestCards_duringGame(t *testing.T) {
	t.Parallel()
	moves := journal(t)
	last := map[game.PlayerID]float64{}
	for n := 1; n < len(moves); n += 23 {
		m := check.Must(load(moves[:n]))(t)
		v := m.View()
		check.Require(t, (v.AtBat == nil) == (v.State == nil || v.Over()), "at %d: at bat %+v", m.Revision, v.AtBat)
		if v.AtBat == nil {
			continue
		}
		batter, pitcher := cardOf(t, m, v.Batting, v.Batter), cardOf(t, m, v.Batting.Other(), v.Pitcher)
		if text(t, batter.Form) != text(t, v.AtBat.Batter) || text(t, pitcher.Form) != text(t, v.AtBat.Pitcher) {
			t.Errorf("at %d: cards %+v and %+v, at bat %+v", m.Revision, batter.Form, pitcher.Form, v.AtBat)
		}
		if pitcher.Pitches > 0 && pitcher.Today.Pitching == nil || pitcher.Fatigue < last[v.Pitcher] {
			t.Errorf("at %d: batter %+v, pitcher %+v after a fatigue of %v",
				m.Revision, batter.Card, pitcher.Card, last[v.Pitcher])
		}
		last[v.Pitcher] = pitcher.Fatigue
	}
	final := check.Must(load(moves))(t)
	box := final.BoxScore()
	var hits, pitches int
	for _, side := range game.Sides() {
		for _, c := range final.cards(side) {
			if c.Today != nil && c.Today.Batting != nil {
				hits += c.Today.Batting.Hits
			}
			pitches += c.Pitches
		}
		for _, l := range box.Teams[side].Pitching {
			pitches -= l.Pitches
		}
		hits -= box.Teams[side].Hits
	}
	check.That(t, hits == 0 && pitches == 0, "cards and box score differ by %d hits and %d pitches", hits, pitches)
}

// The go-ahead play of each moment of a real game is the last play before which the side that leads
// did not lead; a tie has none.
func TestHistory_goAhead(t *testing.T) {
	t.Parallel()
	moves := journal(t)
	whole := check.Must(load(moves))(t)
	var ahead int
	var play *protocol.GoAhead
	var before *protocol.Scoreboard
	for n := range moves {
		e, ok := whole.history.events[n].Public.Data.(*protocol.Event)
		if !ok || e.Scoreboard == nil {
			continue
		}
		switch now := cmp.Compare(e.Scoreboard.Score.Home, e.Scoreboard.Score.Away); {
		case now == 0:
			ahead, play = 0, nil
		case now != ahead:
			ahead, play = now,
				&protocol.GoAhead{Revision: uint64(n + 1), Inning: before.Inning, Half: before.Half, Text: e.Text[0]}
		}
		before = e.Scoreboard
		if n%23 != 0 && n != len(moves)-1 {
			continue
		}
		got := check.Must(load(moves[:n+1]))(t).Game(protocol.Person{}).GoAhead
		check.That(t, text(t, got) == text(t, play), "at %d: %+v, want %+v", n+1, got, play)
	}
	check.That(t, play != nil, "the game has no winner")
}

// A question is open within .35 of the break-even, by runs or by win probability, unless the game is decided.
func TestRisk_isOpen(t *testing.T) {
	t.Parallel()
	e := &engine{odds: odds.For(game.Options{})}
	const third = 3 * 4  // base-out state with a runner there and none out
	send := chance.Risk{ // one out; a runner from second scores, is out at home, or is held at third
		Success: []chance.Transition{{To: 1, Runs: 1, P: 1}},
		Failure: []chance.Transition{{To: 2, P: 1}},
		Safe:    []chance.Transition{{To: third + 1, P: 1}},
	}
	for _, tt := range []struct {
		name  string
		state game.State
		p     float64
		want  bool
	}{
		{"break-even", game.State{Inning: 1}, .75, true},
		{"risky", game.State{Inning: 1}, .35, true},
		{"too risky", game.State{Inning: 1}, .33, false},
		{"too risky, but one run wins", game.State{Inning: 9, Half: game.Bottom}, .33, true},
		{"nearly decided", game.State{Inning: 8, Score: [2]int{0, 6}}, .65, true},
		{"decided", game.State{Inning: 8, Score: [2]int{0, 15}}, .65, false},
	} {
		check.Equal(t, e.weigh(&tt.state, &send).isOpen(tt.p), tt.want, "%s: open", tt.name)
	}
}

// About half of the questions whether to send a runner are asked, and hardly any whose answer is always the same.
func TestEngine_asksHalf(t *testing.T) {
	t.Parallel()
	const games = 80
	e := &engine{odds: odds.For(game.Options{})}
	all, asked := map[chance.Question]float64{}, map[chance.Question]float64{}
	for n := range uint64(games) {
		g := pairing(t, int(n)).Start(t, n, game.Options{}, [2]bool{true, true})
		e.table = g.Simulator
		for !g.State.Over() {
			g.Manage()
			before, moment, calls := g.State, g.Progress, g.Tactics()
			g.Play(calls, func(r *chance.Resolution) bool {
				all[r.Question]++
				if e.asks(&before, moment, calls, r) {
					asked[r.Question]++
				}
				return g.Answer(r)
			})
		}
	}
	for q, limits := range map[chance.Question][2]float64{
		chance.SendRunner: {.35, .55}, chance.TurnTwo: {0, .1}, chance.ThrowHome: {.5, 1},
	} {
		if share := asked[q] / all[q]; share < limits[0] || share > limits[1] {
			t.Errorf("%s: %.0f of %.0f questions are asked, want %.2f to %.2f of them",
				q, asked[q], all[q], limits[0], limits[1])
		}
	}
}

// pairing returns two clubs of the built-in league.
func pairing(tb testing.TB, n int) *bottest.Pairing {
	tb.Helper()
	clubs := check.Must(builtIn.Teams(tb.Context(), league.LastSeason))(tb).Teams
	var rosters [2]teams.Roster
	for side := range rosters {
		rosters[side] = check.Must(builtIn.Roster(tb.Context(), league.LastSeason, clubs[(n+side*(1+n/8%7))%8].ID))(tb)
	}
	return bottest.Pair(tb, rosters[0], rosters[1], true)
}

var builtIn = league.New(league.LastSeason)

var update = flag.Bool("update", false, "write the summaries of this version into testdata")

// The stored form of a summary changes only together with its version.
func TestSummary_storedForm(t *testing.T) {
	t.Parallel()
	moves := journal(t)
	var got bytes.Buffer
	for _, n := range []int{1, 40, len(moves)} {
		s, box, err := Summarize("old", moves[:n])
		check.NoError(t, err)
		if finished := n == len(moves); (box != nil) != finished ||
			finished && box.Teams[0].Runs+box.Teams[1].Runs != s.Scoreboard.Score.Home+s.Scoreboard.Score.Away {
			t.Errorf("after %d moves: box score %+v, summary %+v", n, box, s)
		}
		data := check.Must(s.Encode())(t)
		again, ok := DecodeSummary("old", data)
		check.That(t, ok && again.Revision == uint64(n), "%s is not decoded", data)
		check.NoError(t, json.Indent(&got, data, "", "\t"))
	}
	path := filepath.Join("testdata", fmt.Sprintf("summary-%d.golden", summaryVersion))
	if *update {
		check.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want := check.Must(os.ReadFile(path))(t)
	check.That(t, got.String() == string(want),
		"%s has changed: raise summaryVersion and run the test with -update. It is now %s", path, got.String())
}
