package match

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
	"pressbox/game/protocol"
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

// FuzzAction sends any action at any revision of a real game, for either side. A refused action changes nothing
// and has a code; an accepted one follows the rules, can be encoded, and gives the same position when it is
// loaded.
func FuzzAction(f *testing.F) {
	whole := check.Must(load(journal(f)))(f)
	for rev, text := range map[int]string{
		6: `{"a":"offense","call":"swing","d":1}`,
		7: `{"a":"defense","pitch":"pitch around","infield":"in","lines":true}`, 8: `{"a":"undo"}`,
		20: `{"a":"substitute","subs":[{"player_id":"x","slot":1,"position":"PH"}]}`, 21: `{"a":"pause"}`,
		22: `{"a":"resume"}`,
		40: `{"a":"concede","side":"home"}`, 41: `{"a":"takeover","on":true}`, 60: `{"a":"answer","bold":false}`,
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
		if p, err = p.apply(decoded); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
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
