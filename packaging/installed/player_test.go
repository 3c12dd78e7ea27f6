//go:build installed

package installed

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/packaging/check"
)

// A player plays both sides of a game while the server is restarted.
type player struct {
	*server
	id   string
	stop chan struct{}
	end  sync.WaitGroup

	moves atomic.Int64 // acknowledged

	// Read after play has stopped.
	rev         uint64 // the highest acknowledged revision
	connections int    // websocket connections opened
}

const movePause = 500 * time.Millisecond // between two moves, so that the game outlasts the upgrade

// errOver reports that nothing is left to play.
var errOver = errors.New("the game is over")

// play signs up an account and plays until finish is called.
func (s *server) play() *player {
	s.t.Helper()
	jar := check.Must(cookiejar.New(nil))(s.t)
	person := *s
	person.http.Jar = jar
	t := &player{server: &person, stop: make(chan struct{})}
	t.signUp()

	var teams struct{ Teams []struct{ ID string } }
	t.mustRequest("GET", "/api/teams", nil, &teams)
	var game struct{ ID, Status string }
	t.mustRequest("POST", "/api/games", map[string]any{
		"home_team": teams.Teams[0].ID, "away_team": teams.Teams[1].ID,
		"options": map[string]any{"opponent": "hotseat"},
	}, &game)
	t.id = game.ID
	for _, side := range []string{"home", "away"} {
		var lineup json.RawMessage
		t.mustRequest("POST", "/api/games/"+t.id+"/lineups/"+side+"/suggest", struct{}{}, &lineup)
		t.mustRequest("PUT", "/api/games/"+t.id+"/lineups/"+side, lineup, &game)
	}
	if game.Status != "active" {
		s.t.Fatalf("with both line-ups the game is %s", game.Status)
	}
	t.end.Go(t.run)
	return t
}

// signUp creates an account with the sign-in page.
func (t *player) signUp() {
	t.t.Helper()
	page, err := t.http.Get("http://127.0.0.1:8888/api/auth/idp/login")
	check.NoError(t.t, err)
	page.Body.Close()
	form := url.Values{"form": {"create"}, "name": {"Manager"}, "passphrase": {"a dog in a boat"}}
	signedIn := check.Must(t.http.PostForm(page.Request.URL.String(), form))(t.t)
	signedIn.Body.Close()
	t.mustRequest("GET", "/api/auth/me", nil, nil)
}

// run plays moves, on a new connection whenever one breaks, until the game is over.
func (t *player) run() {
	for {
		t.connections++
		if err := t.playOnce(); err == nil || errors.Is(err, errOver) {
			return
		}
		select {
		case <-t.stop:
			return
		case <-time.After(movePause):
		}
	}
}

// A frame holds the fields of a websocket frame that the player reads.
type frame struct {
	T, CID string
	Rev    uint64
}

// playOnce plays on one connection, until it breaks or play stops.
func (t *player) playOnce() error {
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
		case <-time.After(movePause):
		}
	}
}

// move sends the first legal move and waits for its acknowledgement.
func (t *player) move(line *websocket.Conn) error {
	var game struct {
		Status string
		Rev    uint64
		Legal  []struct{ Action json.RawMessage }
	}
	if _, err := t.request(http.MethodGet, "/api/games/"+t.id, nil, &game); err != nil {
		return err
	}
	if game.Status == "finished" {
		return errOver
	}
	if len(game.Legal) == 0 {
		return fmt.Errorf("the game is %s and nothing is legal", game.Status)
	}
	cid := fmt.Sprint(t.moves.Load(), "-", t.connections)
	if err := line.WriteJSON(map[string]any{
		"t": "cmd", "g": t.id, "cid": cid, "rev": game.Rev, "d": map[string]any{"action": game.Legal[0].Action},
	}); err != nil {
		return err
	}
	if err := line.SetReadDeadline(time.Now().Add(commandTime)); err != nil {
		return err
	}
	for {
		var f frame
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

// finish stops play, checks that every acknowledged move was saved, and concedes the game
// unless it is over: an unfinished game keeps the server from exiting when idle.
func (t *player) finish() {
	t.t.Helper()
	t.until("ten moves were made", func() bool { return t.moves.Load() >= 10 })
	close(t.stop)
	t.end.Wait()
	var game struct{ Events []struct{ Rev uint64 } }
	t.mustRequest("GET", "/api/games/"+t.id+"/events?since=0", nil, &game)
	for i, e := range game.Events {
		if e.Rev != uint64(i)+1 {
			t.t.Fatalf("event %d of the game has revision %d", i+1, e.Rev)
		}
	}
	check.That(t.t, uint64(len(game.Events)) >= t.rev, "of %d acknowledged moves up to revision %d, %d are saved",
		t.moves.Load(), t.rev, len(game.Events))
	check.That(t.t, t.connections >= 2, "no connection broke: was the server restarted?")
	t.t.Logf("game: %d moves on %d connections", t.moves.Load(), t.connections)
	var state struct{ Status string }
	t.mustRequest(http.MethodGet, "/api/games/"+t.id, nil, &state)
	if state.Status != "finished" {
		t.mustRequest(http.MethodPost, "/api/games/"+t.id+"/concede", struct{}{}, nil)
	}
}
