package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"pressbox/game/protocol"
)

// A table is a game of two that has begun, and who sits at it.
type table struct {
	*stadium
	id         string
	anna, bert *fan // home, away
}

// newTable begins a game with these options.
func (p *stadium) newTable(tb testing.TB, options string) *table {
	tb.Helper()
	n := p.fans.Load() // nobody sits at two tables: one has only so many sessions
	seat := &table{stadium: p, anna: p.fan(tb, fmt.Sprint("Anna ", n)), bert: p.fan(tb, fmt.Sprint("Bert ", n))}
	seat.id = seat.anna.create(options).ID
	seat.bert.ask(http.MethodPost, "/api/games/"+seat.id+"/join", "", 200, nil)
	seat.anna.suggest(seat.id, "home")
	if g := seat.bert.suggest(seat.id, "away"); g.Status != protocol.Active {
		tb.Fatalf("with both line-ups in it is %s", g.Status)
	}
	return seat
}

// sit joins and follows until the state.
func (m *manager) sit() *manager {
	m.t.Helper()
	m.join()
	for {
		f := m.next()
		m.follow(f)
		if f.T == "state" {
			return m
		}
	}
}

// state is where the game stands, for comparing.
func (s *table) state(t *testing.T) string {
	t.Helper()
	var g struct {
		Rev   uint64
		State struct{ Hash string }
	}
	s.anna.ask(http.MethodGet, "/api/games/"+s.id, "", 200, &g)
	return fmt.Sprint(g.Rev, g.State.Hash)
}

// Whatever is wrong with a frame, it is answered with why, and nothing has
// changed: not in this game, and not in another one.
func TestFramesThatAreWrongChangeNothing(t *testing.T) {
	t.Parallel()
	p := newStadium(t)
	address := p.open(t)
	seat := p.newTable(t, `{}`)
	other := p.newTable(t, `{}`)
	anna, bert := seat.anna.manage(address, seat.id).sit(), seat.bert.manage(address, seat.id).sit()
	carl := p.fan(t, "Carl").manage(address, seat.id).sit()
	swing, pitch := anna, bert // who decides what
	if !strings.Contains(string(anna.Legal[0].Action), "offence") {
		swing, pitch = bert, anna
	}
	before, elsewhere := seat.state(t), other.state(t)
	cmd := func(action string) string {
		return fmt.Sprintf(`{"t":"cmd","g":%q,"cid":"x","rev":%d,"d":{"action":%s}}`, seat.id, anna.Rev, action)
	}
	good := string(swing.Legal[0].Action)
	for _, tt := range []struct {
		name, frame, code string
		from              *manager
	}{
		{"no JSON", `hello`, "malformed", anna},
		{"no object", `[]`, "malformed", anna},
		{"nothing", ``, "malformed", anna},
		{"two objects", `{"t":"ping"} {"t":"ping"}`, "malformed", anna},
		{"a name twice", `{"t":"ping","t":"ping"}`, "malformed", anna},
		{"an unknown member", `{"t":"ping","x":1}`, "malformed", anna},
		{"bad UTF-8", "{\"t\":\"ping\",\"g\":\"\xff\"}", "malformed", anna},
		{"a negative revision", `{"t":"cmd","rev":-1}`, "malformed", anna},
		{"a revision beyond all", fmt.Sprintf(`{"t":"join","g":%q,"d":{"since":9007199254740992}}`, seat.id), "malformed", anna},
		{"no type", `{}`, "unknown_type", anna},
		{"an unknown type", `{"t":"chat"}`, "unknown_type", anna},
		{"an auth frame afterwards", `{"t":"auth","d":{"token":"x"}}`, "malformed", anna},
		{"a ping that is none", `{"t":"ping","d":{"ts":"x"}}`, "malformed", anna},
		{"too long", `{"t":"ping"` + strings.Repeat(" ", 8<<10) + `}`, "too_large", anna},
		{"join nothing", `{"t":"join"}`, "malformed", anna},
		{"join what is not there", `{"t":"join","g":"nowhere"}`, "unknown_game", anna},
		{"join what cannot be", `{"t":"join","g":"` + strings.Repeat("x", 65) + `"}`, "unknown_game", anna},
		{"sync before join", fmt.Sprintf(`{"t":"sync","g":%q}`, other.id), "not_joined", anna},
		{"a foreign game", strings.Replace(cmd(good), seat.id, other.id, 1), "not_joined", swing},
		{"no command id", fmt.Sprintf(`{"t":"cmd","g":%q,"rev":%d,"d":{"action":%s}}`, seat.id, anna.Rev, good), "malformed", swing},
		{"a long command id", strings.Replace(cmd(good), `"cid":"x"`, `"cid":"`+strings.Repeat("x", 65)+`"`, 1), "malformed", swing},
		{"no action", fmt.Sprintf(`{"t":"cmd","g":%q,"cid":"x","rev":1}`, seat.id), "malformed", swing},
		{"an action that is none", cmd(`7`), "malformed", swing},
		{"an unknown action", cmd(`{"a":"win"}`), "malformed", swing},
		{"an action with more", cmd(strings.Replace(good, `{`, `{"x":1,`, 1)), "malformed", swing},
		{"no decision", cmd(strings.Replace(good, "swing", "sleep", 1)), "illegal_action", swing},
		{"a steal of nothing", cmd(strings.Replace(good, "swing", "steal second", 1)), "illegal_action", swing},
		{"an answer to nothing", cmd(`{"a":"answer","bold":true}`), "illegal_action", swing},
		{"the other's side", cmd(good), "not_your_side", pitch},
		{"the other's side by name", cmd(`{"a":"concede","side":"` + pitch.side() + `"}`), "not_your_side", swing},
		{"a spectator", cmd(good), "forbidden", carl},
		{"an old decision", cmd(`{"a":"offence","call":"swing","d":99}`), "stale_revision", swing},
		{"a revision to come", strings.Replace(cmd(good), fmt.Sprintf(`"rev":%d`, anna.Rev), `"rev":999`, 1), "stale_revision", swing},
		{"to go on with what is not stopped", cmd(`{"a":"resume"}`), "illegal_action", swing},
	} {
		if err := tt.from.WriteMessage(websocket.TextMessage, []byte(tt.frame)); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if f := tt.from.until("nak", "ack", "pong", "state"); f.code() != tt.code {
			t.Errorf("%s: answered %s, want %s", tt.name, f.text, tt.code)
		}
	}
	if err := anna.WriteMessage(websocket.BinaryMessage, []byte(`{"t":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	anna.refused("malformed")
	if after := seat.state(t); after != before {
		t.Errorf("the game went from %s to %s", before, after)
	}
	if after := other.state(t); after != elsewhere {
		t.Errorf("another game went from %s to %s", elsewhere, after)
	}
	swing.say("%s", cmd(good))
	if f := swing.until("nak", "ack"); f.T != "ack" {
		t.Errorf("what is right is answered %s", f.text)
	}
}

// side is the side that the manager was told he has.
func (m *manager) side() string {
	for _, h := range m.heard {
		var hello struct {
			T string
			D struct{ Sides []string }
		}
		if json.Unmarshal([]byte(h), &hello) == nil && hello.T == "hello" && len(hello.D.Sides) == 1 {
			return hello.D.Sides[0]
		}
	}
	return ""
}

// A frame may have 8 KiB to the byte; of one that is longer than 64 KiB nobody
// waits for the end.
func TestHowLongAFrameMayBe(t *testing.T) {
	t.Parallel()
	p := newStadium(t)
	l := p.fan(t, "Anna").dial(p.open(t))
	ping := func(length int) string {
		const text = `{"t":"ping"}`
		return text + strings.Repeat(" ", length-len(text))
	}
	l.say("%s", ping(8<<10))
	if f := l.next(); f.T != "pong" {
		t.Errorf("8 KiB: answered %s", f.text)
	}
	for _, length := range []int{8<<10 + 1, 64 << 10} {
		l.say("%s", ping(length))
		l.refused("too_large")
	}
	l.say("%s", ping(64<<10+1))
	if f := l.next(); f.T != "closed" || f.Rev != websocket.CloseMessageTooBig {
		t.Errorf("64 KiB and more: %s %d", f.T, f.Rev)
	}
}

// A socket follows sixteen games and no more; one that it leaves makes room.
func TestHowManyGamesASocketFollows(t *testing.T) {
	t.Parallel()
	p := newStadium(t)
	anna := p.fan(t, "Anna")
	l := anna.dial(p.open(t))
	var ids []string
	for range 17 {
		ids = append(ids, anna.create(`{}`).ID)
	}
	for _, id := range ids[:16] {
		l.say(`{"t":"join","g":%q}`, id)
		l.until("state")
	}
	l.say(`{"t":"join","g":%q}`, ids[16])
	l.refused("rate_limited")
	l.say(`{"t":"join","g":%q}`, ids[3]) // again
	l.until("state")
	l.say(`{"t":"leave","g":%q}`, ids[0])
	l.say(`{"t":"join","g":%q}`, ids[16])
	if f := l.until("state", "nak"); f.T != "state" || f.G != ids[16] {
		t.Errorf("with room: answered %s", f.text)
	}
}
