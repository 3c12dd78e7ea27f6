package live

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pressbox/game"
	"pressbox/game/call"
)

// oldGame returns the moves of the journal that is kept for ever.
func oldGame(tb testing.TB) [][]byte {
	tb.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", "journal-1-whole.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(z); err != nil {
		tb.Fatal(err)
	}
	var parts [][]byte
	for rest := plain.Bytes(); len(rest) > 0; {
		n, size := binary.Uvarint(rest)
		parts, rest = append(parts, rest[size:size+int(n)]), rest[size+int(n):]
	}
	return parts[2:] // after id and head
}

// FuzzAction lets both managers of a real game, at every revision, send whatever they like. What is refused has changed
// nothing and has a code; what is taken follows the rules, can be kept, and comes to the same when it is loaded.
func FuzzAction(f *testing.F) {
	moves := oldGame(f)
	hall := &Games{words: call.English(), tables: map[string]*table{}}
	full := &table{hall: hall, id: "old"}
	if err := full.replay(moves); err != nil {
		f.Fatal(err)
	}
	for rev, text := range map[int]string{
		6: `{"a":"offence","call":"swing","d":1}`, 7: `{"a":"defence","pitch":"pitch around","infield":"in","lines":true}`, 8: `{"a":"undo"}`,
		20: `{"a":"substitute","subs":[{"player_id":"x","slot":1,"position":"PH"}]}`, 21: `{"a":"pause"}`, 22: `{"a":"resume"}`,
		40: `{"a":"concede","side":"home"}`, 41: `{"a":"takeover","on":true}`, 60: `{"a":"answer","bold":false}`, 61: `{"a":"takeover","on":false,"side":"away"}`,
		70: `{"a":"offence","side":"north"}`, 71: `null`, 72: `[]`, 73: `{"a":"offence"} {}`, 74: `{"b":1}`,
	} {
		f.Add(rev, uint64(rev), rev%2 == 0, []byte(text))
	}
	for rev, t := range full.positions(f) {
		for _, side := range []game.Side{game.Away, game.Home} {
			for _, c := range append(legal(t.dugout, &t.now, []game.Side{side}), t.offers([]game.Side{side})...) {
				if text, err := json.Marshal(c.Action); err == nil && rev%11 == 0 {
					f.Add(rev, t.now.rev, side == game.Home, text)
				}
			}
		}
	}
	positions := full.positions(f)
	f.Fuzz(func(t *testing.T, rev int, seen uint64, home bool, text []byte) {
		a, err := ReadAction(text)
		if err != nil {
			checkRefused(t, err)
			return
		}
		table := positions[uint(rev)%uint(len(positions))]
		side := game.Away
		if home {
			side = game.Home
		}
		before := dump(t, &table.now)
		by := table.now.seats[side].manager
		s := newScript(table.dugout, table.now, by, "c")
		err = table.command(s, by, Command{ID: "c", Revision: seen, Action: a})
		if err == nil {
			err = s.settle()
		}
		if after := dump(t, &table.now); after != before {
			t.Fatalf("%s changed the game from %s to %s", text, before, after)
		}
		if err != nil {
			checkRefused(t, err)
			return
		}
		checkScript(t, table, s)
	})
}

// positions returns the game as it was after each revision since both managers sat down.
func (t *table) positions(tb testing.TB) []*table {
	tb.Helper()
	var p position
	var all []*table
	for i, m := range t.history.moves {
		after, err := p.apply(m)
		if err != nil {
			tb.Fatal(err)
		}
		if p = after; i > 0 {
			h := *t.history
			h.events = h.events[:i+1]
			all = append(all, &table{hall: t.hall, id: t.id, now: p, dugout: t.dugout, history: &h})
		}
	}
	return all
}

// dump writes down all there is to a position.
func dump(tb testing.TB, p *position) string {
	tb.Helper()
	data, err := json.Marshal([]any{p.rev, p.status, p.result, p.state, p.moment, p.decision, p.sealed, p.question, p.pause, p.seats[0].taken, p.seats[1].taken})
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func checkRefused(t *testing.T, err error) {
	t.Helper()
	codes := []Code{Malformed, Forbidden, NotYourSide, StaleRevision, IllegalAction, AlreadySealed, NotActive, GamePaused}
	refused, ok := errors.AsType[*Error](err)
	if !ok || !slices.Contains(codes, refused.Code) || refused.Detail == "" {
		t.Fatalf("refused with %v, which is not for a client", err)
	}
}

// checkScript checks that what was taken can be kept, and comes to the same when it is loaded.
func checkScript(t *testing.T, table *table, s *script) {
	t.Helper()
	if len(s.acts) == 0 {
		t.Fatal("taken, and nothing has happened")
	}
	c, err := change(table.id, headOf(table.id, &s.now), s)
	if err != nil {
		t.Fatal(err)
	}
	p := table.now
	for _, data := range c.Moves {
		m, err := readMove(data)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = p.apply(m); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	}
	if got, want := dump(t, &p), dump(t, &s.now); got != want {
		t.Fatalf("loaded as %s, want %s", got, want)
	}
	if s.now.status == Active && s.now.pause == nil && len(s.now.awaited()) == 0 {
		t.Fatalf("the game waits for nobody: %s", dump(t, &s.now))
	}
}

// FuzzJournal puts anything in the place of one move of a real game. A journal that is damaged gives an error, and what is
// read is a game that can be shown.
func FuzzJournal(f *testing.F) {
	moves := oldGame(f)[:50] // each run applies all of them
	for i, m := range moves {
		f.Add(i, m)
	}
	f.Add(20, []byte(`{"rev":21,"kind":"answer","side":"home"}`))
	f.Add(4, []byte(`{"rev":5,"kind":"start"}`))
	hall := &Games{words: call.English(), tables: map[string]*table{}}
	f.Fuzz(func(t *testing.T, i int, data []byte) {
		damaged := slices.Clone(moves)
		damaged[uint(i)%uint(len(moves))] = data
		table := &table{hall: hall, id: "old"}
		if err := table.replay(damaged); err != nil {
			return
		}
		for _, sides := range [][]game.Side{{}, {game.Away}, {game.Home}} {
			if _, err := json.Marshal(table.standing(sides)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
