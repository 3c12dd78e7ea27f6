package play_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"pressbox/daemon/web/webtest"
)

// Whatever is wrong with a frame, it is answered with why, and nothing has
// changed: not in this game, and not in another one.
func TestFramesThatAreWrongChangeNothing(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewTable(t, `{}`)
	other := p.NewTable(t, `{}`)
	anna, bert := seat.Home.Manage(address, seat.ID).Sit(), seat.Away.Manage(address, seat.ID).Sit()
	carl := p.Player(t, "Carl").Manage(address, seat.ID).Sit()
	swing, pitch := anna, bert // who decides what
	if !strings.Contains(string(anna.Legal[0].Action), "offence") {
		swing, pitch = bert, anna
	}
	before, elsewhere := seat.State(t), other.State(t)
	cmd := func(action string) string {
		return fmt.Sprintf(`{"t":"cmd","g":%q,"cid":"x","rev":%d,"d":{"action":%s}}`, seat.ID, anna.Rev, action)
	}
	good := string(swing.Legal[0].Action)
	for _, tt := range []struct {
		name, frame, code string
		from              *webtest.Manager
	}{
		{"no JSON", `hello`, "malformed", anna},
		{"no object", `[]`, "malformed", anna},
		{"nothing", ``, "malformed", anna},
		{"two objects", `{"t":"ping"} {"t":"ping"}`, "malformed", anna},
		{"a name twice", `{"t":"ping","t":"ping"}`, "malformed", anna},
		{"an unknown member", `{"t":"ping","x":1}`, "malformed", anna},
		{"bad UTF-8", "{\"t\":\"ping\",\"g\":\"\xff\"}", "malformed", anna},
		{"a negative revision", `{"t":"cmd","rev":-1}`, "malformed", anna},
		{"a revision beyond all", fmt.Sprintf(`{"t":"join","g":%q,"d":{"since":9007199254740992}}`, seat.ID), "malformed", anna},
		{"no type", `{}`, "unknown_type", anna},
		{"an unknown type", `{"t":"chat"}`, "unknown_type", anna},
		{"an auth frame afterwards", `{"t":"auth","d":{"token":"x"}}`, "malformed", anna},
		{"a ping that is none", `{"t":"ping","d":{"ts":"x"}}`, "malformed", anna},
		{"too long", `{"t":"ping"` + strings.Repeat(" ", 8<<10) + `}`, "too_large", anna},
		{"join nothing", `{"t":"join"}`, "malformed", anna},
		{"join what is not there", `{"t":"join","g":"nowhere"}`, "unknown_game", anna},
		{"join what cannot be", `{"t":"join","g":"` + strings.Repeat("x", 65) + `"}`, "unknown_game", anna},
		{"sync before join", fmt.Sprintf(`{"t":"sync","g":%q}`, other.ID), "not_joined", anna},
		{"a foreign game", strings.Replace(cmd(good), seat.ID, other.ID, 1), "not_joined", swing},
		{"no command id", fmt.Sprintf(`{"t":"cmd","g":%q,"rev":%d,"d":{"action":%s}}`, seat.ID, anna.Rev, good), "malformed", swing},
		{"a long command id", strings.Replace(cmd(good), `"cid":"x"`, `"cid":"`+strings.Repeat("x", 65)+`"`, 1), "malformed", swing},
		{"no action", fmt.Sprintf(`{"t":"cmd","g":%q,"cid":"x","rev":1}`, seat.ID), "malformed", swing},
		{"an action that is none", cmd(`7`), "malformed", swing},
		{"an unknown action", cmd(`{"a":"win"}`), "malformed", swing},
		{"an action with more", cmd(strings.Replace(good, `{`, `{"x":1,`, 1)), "malformed", swing},
		{"no decision", cmd(strings.Replace(good, "swing", "sleep", 1)), "illegal_action", swing},
		{"a steal of nothing", cmd(strings.Replace(good, "swing", "steal second", 1)), "illegal_action", swing},
		{"an answer to nothing", cmd(`{"a":"answer","bold":true}`), "illegal_action", swing},
		{"the other's side", cmd(good), "not_your_side", pitch},
		{"the other's side by name", cmd(`{"a":"concede","side":"` + pitch.Side() + `"}`), "not_your_side", swing},
		{"a spectator", cmd(good), "forbidden", carl},
		{"an old decision", cmd(`{"a":"offence","call":"swing","d":99}`), "stale_revision", swing},
		{"a revision to come", strings.Replace(cmd(good), fmt.Sprintf(`"rev":%d`, anna.Rev), `"rev":999`, 1), "stale_revision", swing},
		{"to go on with what is not stopped", cmd(`{"a":"resume"}`), "illegal_action", swing},
	} {
		if err := tt.from.WriteMessage(websocket.TextMessage, []byte(tt.frame)); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if f := tt.from.Until("nak", "ack", "pong", "state"); f.Code() != tt.code {
			t.Errorf("%s: answered %s, want %s", tt.name, f.Text, tt.code)
		}
	}
	if err := anna.WriteMessage(websocket.BinaryMessage, []byte(`{"t":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	anna.WantNak("malformed")
	if after := seat.State(t); after != before {
		t.Errorf("the game went from %s to %s", before, after)
	}
	if after := other.State(t); after != elsewhere {
		t.Errorf("another game went from %s to %s", elsewhere, after)
	}
	swing.Sendf("%s", cmd(good))
	if f := swing.Until("nak", "ack"); f.T != "ack" {
		t.Errorf("what is right is answered %s", f.Text)
	}
}

// A frame may have 8 KiB to the byte; of one that is longer than 64 KiB nobody
// waits for the end.
func TestHowLongAFrameMayBe(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	l := p.Player(t, "Anna").Dial(p.Open(t))
	ping := func(length int) string {
		const text = `{"t":"ping"}`
		return text + strings.Repeat(" ", length-len(text))
	}
	l.Sendf("%s", ping(8<<10))
	if f := l.Next(); f.T != "pong" {
		t.Errorf("8 KiB: answered %s", f.Text)
	}
	for _, length := range []int{8<<10 + 1, 64 << 10} {
		l.Sendf("%s", ping(length))
		l.WantNak("too_large")
	}
	l.Sendf("%s", ping(64<<10+1))
	if f := l.Next(); f.T != "closed" || f.Rev != websocket.CloseMessageTooBig {
		t.Errorf("64 KiB and more: %s %d", f.T, f.Rev)
	}
}

// A socket follows sixteen games and no more; one that it leaves makes room.
func TestHowManyGamesASocketFollows(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	l := anna.Dial(p.Open(t))
	var ids []string
	for range 17 {
		ids = append(ids, anna.CreateGame(`{}`).ID)
	}
	for _, id := range ids[:16] {
		l.Sendf(`{"t":"join","g":%q}`, id)
		l.Until("state")
	}
	l.Sendf(`{"t":"join","g":%q}`, ids[16])
	l.WantNak("rate_limited")
	l.Sendf(`{"t":"join","g":%q}`, ids[3]) // again
	l.Until("state")
	l.Sendf(`{"t":"leave","g":%q}`, ids[0])
	l.Sendf(`{"t":"join","g":%q}`, ids[16])
	if f := l.Until("state", "nak"); f.T != "state" || f.G != ids[16] {
		t.Errorf("with room: answered %s", f.Text)
	}
}
