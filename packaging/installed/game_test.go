//go:build installed

package installed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// A table is a game for both sides of which one person plays, whatever happens to
// the appliance meanwhile.
type table struct {
	*appliance
	id   string
	stop chan struct{}
	end  sync.WaitGroup

	moves atomic.Int64 // that were acknowledged

	// To be read when play has stopped.
	rev   uint64 // the highest that was acknowledged
	lines int    // how often a new line was needed
}

const pace = 100 * time.Millisecond // between two moves, so that the game lasts

// play signs somebody up, and plays until finish is called.
func (a *appliance) play() *table {
	a.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		a.t.Fatal(err)
	}
	person := *a
	person.http.Jar = jar
	t := &table{appliance: &person, stop: make(chan struct{})}
	t.signUp()

	var teams struct{ Teams []struct{ ID string } }
	t.must("GET", "/api/teams", nil, &teams)
	var game struct{ ID, Status string }
	t.must("POST", "/api/games", map[string]any{
		"home_team": teams.Teams[0].ID, "away_team": teams.Teams[1].ID, "options": map[string]any{"opponent": "hotseat"},
	}, &game)
	t.id = game.ID
	for _, side := range []string{"home", "away"} {
		var lineup json.RawMessage
		t.must("POST", "/api/games/"+t.id+"/lineups/"+side+"/suggest", struct{}{}, &lineup)
		t.must("PUT", "/api/games/"+t.id+"/lineups/"+side, lineup, &game)
	}
	if game.Status != "active" {
		a.t.Fatalf("with both line-ups the game is %s", game.Status)
	}
	t.end.Go(t.run)
	return t
}

// signUp makes an account by the appliance's own page.
func (t *table) signUp() {
	t.t.Helper()
	page, err := t.http.Get("http://127.0.0.1:8888/api/auth/idp/login")
	if err != nil {
		t.t.Fatal(err)
	}
	page.Body.Close()
	form := url.Values{"form": {"create"}, "name": {"Manager"}, "passphrase": {"a dog in a boat"}}
	signedIn, err := t.http.PostForm(page.Request.URL.String(), form)
	if err != nil {
		t.t.Fatal(err)
	}
	signedIn.Body.Close()
	t.must("GET", "/api/auth/me", nil, nil)
}

// run makes moves, on a new line whenever one breaks.
func (t *table) run() {
	for {
		t.lines++
		if err := t.sit(); err == nil {
			return
		}
		select {
		case <-t.stop:
			return
		case <-time.After(pace):
		}
	}
}

// A said is what a frame says that matters here.
type said struct {
	T, CID string
	Rev    uint64
}

// sit plays on one line, until it breaks or play stops.
func (t *table) sit() error {
	dialer := websocket.Dialer{NetDialContext: t.dial, Jar: t.http.Jar, Subprotocols: []string{"pressbox.v1"}}
	line, resp, err := dialer.Dial("ws://127.0.0.1:8888/api/ws", nil)
	if err != nil {
		return err
	}
	resp.Body.Close()
	defer line.Close()
	if err := line.WriteJSON(map[string]any{"t": "join", "g": t.id}); err != nil {
		return err
	}
	for {
		if err := t.move(line); err != nil {
			return err
		}
		select {
		case <-t.stop:
			return nil
		case <-time.After(pace):
		}
	}
}

// move makes the first legal move and waits until it is acknowledged.
func (t *table) move(line *websocket.Conn) error {
	var game struct {
		Status string
		Rev    uint64
		Legal  []struct{ Action json.RawMessage }
	}
	if _, err := t.ask(http.MethodGet, "/api/games/"+t.id, nil, &game); err != nil {
		return err
	}
	if len(game.Legal) == 0 {
		return fmt.Errorf("the game is %s and nothing is legal", game.Status)
	}
	cid := fmt.Sprint(t.moves.Load(), "-", t.lines)
	if err := line.WriteJSON(map[string]any{
		"t": "cmd", "g": t.id, "cid": cid, "rev": game.Rev, "d": map[string]any{"action": game.Legal[0].Action},
	}); err != nil {
		return err
	}
	if err := line.SetReadDeadline(time.Now().Add(commandTime)); err != nil {
		return err
	}
	for {
		var f said
		if err := line.ReadJSON(&f); err != nil {
			return err
		}
		if f.CID != cid {
			continue
		}
		if f.T == "ack" {
			t.moves.Add(1)
			t.rev = max(t.rev, f.Rev)
		}
		return nil
	}
}

// finish stops play, and checks that the game holds what was acknowledged.
func (t *table) finish() {
	t.t.Helper()
	t.until("ten moves were made", func() bool { return t.moves.Load() >= 10 })
	close(t.stop)
	t.end.Wait()
	var game struct{ Events []struct{ Rev uint64 } }
	t.must("GET", "/api/games/"+t.id+"/events?since=0", nil, &game)
	for i, e := range game.Events {
		if e.Rev != uint64(i)+1 {
			t.t.Fatalf("event %d of the game has revision %d", i+1, e.Rev)
		}
	}
	if kept := uint64(len(game.Events)); kept < t.rev {
		t.t.Errorf("of %d acknowledged moves up to revision %d, %d revisions are kept", t.moves.Load(), t.rev, kept)
	}
	if t.lines < 2 {
		t.t.Error("no line broke: was the daemon restarted at all?")
	}
	t.t.Logf("game: %d moves on %d lines", t.moves.Load(), t.lines)
}
