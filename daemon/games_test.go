package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/replica"
	"pressbox/store/killtest"
)

// never is longer than any wait in these tests takes on the slowest host.
const never = 5 * time.Minute

// A browser is the HTTP client of an account, with its cookies.
type browser struct {
	http.Client
	tb     testing.TB
	base   string
	dialer websocket.Dialer
}

// newBrowser returns a browser without an account; nil is the default transport.
func newBrowser(tb testing.TB, base string, transport *http.Transport) *browser {
	tb.Helper()
	cookies, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	b := &browser{tb: tb, base: base, Client: http.Client{Jar: cookies}}
	b.dialer = websocket.Dialer{Subprotocols: []string{"pressbox.v1"}, Jar: cookies, HandshakeTimeout: never}
	if transport != nil {
		b.Transport = transport
		b.dialer.NetDialContext, b.dialer.TLSClientConfig = transport.DialContext, transport.TLSClientConfig
	}
	return b
}

// signUp creates an account and returns its browser.
func signUp(tb testing.TB, base string) *browser {
	tb.Helper()
	b := newBrowser(tb, base, nil)
	b.signUp()
	return b
}

// signUp creates an account and returns its form.
func (b *browser) signUp() (form *http.Response) {
	b.tb.Helper()
	form = b.request("GET", "/api/auth/idp/login", "")
	end, err := b.PostForm(form.Request.URL.String(), url.Values{"form": {"create"}, "name": {"Anna"}, "passphrase": {"a dog in a boat"}})
	if err != nil {
		b.tb.Fatal(err)
	}
	_ = end.Body.Close()
	return form
}

// request sends a request with a JSON body, "" for none. headers alternates names and values.
func (b *browser) request(method, path, body string, headers ...string) *http.Response {
	b.tb.Helper()
	req, err := http.NewRequestWithContext(b.tb.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.Do(req)
	if err != nil {
		b.tb.Fatal(err)
	}
	b.tb.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// ask sends a request and returns the response's body; it fails the test unless the response
// has the status want.
func (b *browser) ask(method, path, body string, want int) []byte {
	b.tb.Helper()
	resp := b.request(method, path, body)
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		b.tb.Fatalf("%s %s: %s, %v, want %d: %s", method, path, resp.Status, err, want, text)
	}
	return text
}

// read decodes the response to a GET request.
func (b *browser) read(path string, v any) {
	b.tb.Helper()
	if err := json.Unmarshal(b.ask("GET", path, "", 200), v); err != nil {
		b.tb.Fatal(err)
	}
}

// dial opens a websocket from a page of an origin.
func (b *browser) dial(origin string) (*websocket.Conn, *http.Response, error) {
	conn, resp, err := b.dialer.Dial("ws"+strings.TrimPrefix(b.base, "http")+"/api/ws", http.Header{"Origin": {origin}})
	if resp != nil {
		_ = resp.Body.Close()
	}
	return conn, resp, err
}

// A player plays a game against the bot, over one connection or several.
type player struct {
	*browser
	game    string
	replica *replica.Replica
	cids    int
	pending string            // the command without a response; "" means none
	cid     string            // its id
	acked   map[string]uint64 // the revisions of this game's commands
	total   int
}

// play starts a game against the bot with these options.
func (p *player) play(options string) {
	p.tb.Helper()
	var teams struct{ Teams []struct{ ID string } }
	p.read("/api/teams", &teams)
	var g struct{ ID string }
	created := p.ask("POST", "/api/games", fmt.Sprintf(`{"home_team": %q, "away_team": %q, "options": {"opponent": "bot", %s}}`,
		teams.Teams[0].ID, teams.Teams[1].ID, options), 201)
	if err := json.Unmarshal(created, &g); err != nil {
		p.tb.Fatal(err)
	}
	lineup := p.ask("POST", "/api/games/"+g.ID+"/lineups/home/suggest", "", 200)
	known, err := replica.New(p.ask("PUT", "/api/games/"+g.ID+"/lineups/home", string(lineup), 200))
	if err != nil {
		p.tb.Fatal(err)
	}
	p.game, p.replica, p.acked, p.pending = g.ID, known, map[string]uint64{}, ""
}

var errDiverged = errors.New("the replica and the server differ")

// connect plays over one connection until it breaks, the game is over, or stop, called with
// each applied frame, returns true.
func (p *player) connect(stop func(replica.Frame) bool) error {
	conn, _, err := p.dial(p.base)
	if err != nil {
		return err
	}
	defer conn.Close()
	send := func(text string) error { return conn.WriteMessage(websocket.TextMessage, []byte(text)) }
	if err := send(fmt.Sprintf(`{"t":"join","g":%q,"d":{"since":%d}}`, p.game, p.replica.Rev)); err != nil {
		return err
	}
	for !p.replica.Over {
		_ = conn.SetReadDeadline(time.Now().Add(never))
		var f replica.Frame
		if err := conn.ReadJSON(&f); err != nil {
			return err
		}
		if err := p.apply(f); err != nil {
			return fmt.Errorf("%w: %w", errDiverged, err)
		}
		if stop != nil && stop(f) {
			return nil
		}
		resend := f.T == "state" && p.pending != ""
		if !resend && (p.pending != "" || len(p.replica.Legal) == 0) {
			continue
		}
		if !resend {
			p.decide()
		}
		if err := send(p.pending); err != nil {
			return err
		}
	}
	return nil
}

// apply applies a frame to the replica and records the revision of an acknowledged command.
func (p *player) apply(f replica.Frame) error {
	if err := p.replica.Apply(f); err != nil {
		return err
	}
	if before, ok := p.acked[f.CID]; f.T == "ack" && ok && before != f.Rev {
		return fmt.Errorf("%s was revision %d and is %d", f.CID, before, f.Rev)
	}
	if f.T == "ack" {
		p.acked[f.CID] = f.Rev
		p.total++
	}
	if (f.T == "ack" || f.T == "nak") && f.CID == p.cid {
		p.pending = ""
	}
	return nil
}

// decide makes the first legal choice the pending command.
func (p *player) decide() {
	p.cids++
	p.cid = "c" + strconv.Itoa(p.cids)
	p.pending = fmt.Sprintf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, p.game, p.cid, p.replica.Rev, p.replica.Legal[0].Action)
	p.replica.Legal = nil
}

// check fails the test unless every acknowledged command has its revision: the server answers
// a repeated command by its id.
func (p *player) check() {
	p.tb.Helper()
	conn, _, err := p.dial(p.base)
	if err != nil {
		p.tb.Fatal(err)
	}
	defer conn.Close()
	asked := 0
	for cid, rev := range p.acked {
		if asked++; asked > 30 { // the rate limit of a socket
			break
		}
		if asked == 1 {
			_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"t":"join","g":%q,"d":{"since":%d}}`, p.game, p.replica.Rev))
		}
		_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"t":"cmd","g":%q,"cid":%q,"rev":1,"d":{"action":{"a":"offence","call":"swing"}}}`, p.game, cid))
		var f replica.Frame
		for f.T != "ack" && f.T != "nak" {
			if err := conn.ReadJSON(&f); err != nil {
				p.tb.Fatal(err)
			}
		}
		if f.T != "ack" || f.Rev != rev || string(f.D) != `{"dup":true}` {
			p.tb.Errorf("%s was acknowledged as revision %d, and is now answered %s %d %s", cid, rev, f.T, f.Rev, f.D)
		}
	}
}

// The server is killed again and again during a game. No acknowledged command is lost, none
// is applied twice, and a client that applies every play itself has the server's state after
// each reconnection.
func TestKill_game(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), environment(t, silent)
	server := runProcessIn(t, dir, env)
	p := &player{browser: signUp(t, server.url)}
	games := 0
	for round := range killtest.Rounds(t, 8) {
		if p.replica == nil || p.replica.Over {
			if p.replica != nil {
				p.check()
			}
			p.play(`"innings": 9`)
			games++
		}
		killed := make(chan struct{})
		kill := time.AfterFunc(rand.N(250*time.Millisecond), func() {
			_ = server.end(syscall.SIGKILL) // the error says so
			close(killed)
		})
		if err := p.connect(nil); errors.Is(err, errDiverged) {
			t.Fatalf("round %d: %v", round, err)
		}
		if kill.Stop() { // the game was over before
			continue
		}
		<-killed
		server = runProcessIn(t, dir, env)
		p.base = server.url
	}
	if err := p.connect(nil); err != nil {
		t.Fatal(err)
	}
	p.check()
	t.Logf("%d games, %d commands acknowledged, the last one at revision %d", games, p.total, p.replica.Rev)
	if err := server.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// A scoring play is announced, and not before clients receive it.
func TestGame_scoringPlayAnnounced(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := &player{browser: signUp(t, s.url)}
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.sound.Record()
		p.play(`"announce": "scoring"`)
		if !recording.WaitFor(func(samples []float32) bool { return quietAfter(samples, 0) }) {
			t.Error("the start of the game is not announced")
			return
		}
		received := 0 // the length of the recording when the client received the last frame
		if err := p.connect(func(f replica.Frame) bool { received = recording.Len(); return scored(t, f) }); err != nil {
			t.Fatal(err)
		}
		awaitCall(t, recording, received)
	})
	var queue struct{ Queue, Recent []any }
	if err := s.Call(t.Context(), http.MethodGet, "/notify", nil, &queue); err != nil {
		t.Fatal(err)
	}
	if len(queue.Queue)+len(queue.Recent) > 0 {
		t.Errorf("the commentary is among the announcements: %v", queue)
	}
}

// scored reports whether the game has a run after the event in a frame.
func scored(tb testing.TB, f replica.Frame) bool {
	tb.Helper()
	var e struct {
		Now   struct{ Score struct{ Home, Away int } }
		Legal *[]replica.Choice
	}
	if f.T != "event" {
		return false
	}
	if err := json.Unmarshal(f.D, &e); err != nil {
		tb.Fatal(err)
	}
	return e.Legal != nil && e.Now.Score.Home+e.Now.Score.Away > 0
}

// quietAfter reports whether there is an audible sound after a sample, and then silence for
// 1.5 seconds.
func quietAfter(samples []float32, from int) bool {
	after := samples[from:]
	const silence = rate * 3 / 2
	return len(after) > silence && len(audible(after[len(after)-silence:])) == 0 && len(audible(after)) > 0
}

// awaitCall fails the test unless there is an audible sound after a sample, and none in the
// half second before.
func awaitCall(tb testing.TB, recording *pulsetest.Recording, from int) {
	tb.Helper()
	early := false
	if !recording.WaitFor(func(samples []float32) bool {
		early = early || len(audible(samples[max(0, from-rate/2):from])) > 0
		return quietAfter(samples, from)
	}) {
		tb.Error("the play is not announced")
	}
	if early {
		tb.Error("it was announced before the client received it")
	}
}

// rosterJSON returns the players of a team in the format of SBA v3.
func rosterJSON() []map[string]any {
	var all []map[string]any
	for i, position := range []string{"C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH", "SP", "RP"} {
		all = append(all, map[string]any{"id": i + 1, "name": "Player " + strconv.Itoa(i+1), "season": 12, "pos_1": position})
	}
	return all
}

// With TEAM_DATA_URL the teams are those of the API. While it is down, the cached ones are
// served, marked stale, also after a restart, and games use them.
func TestTeamData(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	down := false
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case down:
			http.Error(w, "down", http.StatusInternalServerError)
		case r.Header.Get("Authorization") != "Bearer s3cret-of-the-league":
			http.Error(w, "unauthorized", http.StatusUnauthorized)
		case r.URL.Path == "/api/v3/teams" && r.URL.Query().Get("season") == "12":
			w.Header().Set("Cache-Control", "max-age=60")
			_ = json.NewEncoder(w).Encode(map[string]any{"count": 2, "teams": []map[string]any{
				{"id": 1, "abbrev": "AAA", "sname": "Ants", "lname": "Aville Ants", "season": 12},
				{"id": 2, "abbrev": "BBB", "sname": "Bees", "lname": "Bville Bees", "season": 12},
			}})
		case r.URL.Path == "/api/v3/players" && r.URL.Query().Get("season") == "12":
			players := rosterJSON()
			for _, p := range players {
				id, _ := strconv.Atoi(r.URL.Query().Get("team_id"))
				p["team"] = map[string]any{"id": id}
				p["id"] = p["id"].(int) + 100*id
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"count": len(players), "players": players})
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"count": 0, "teams": []any{}, "players": []any{}})
		}
	}))
	t.Cleanup(api.Close)
	dir, env := t.TempDir(), environment(t, silent,
		"TEAM_DATA_URL="+api.URL+"/api", "TEAM_DATA_TOKEN=s3cret-of-the-league", "DEFAULT_SEASON=12", "LOG_LEVEL=DEBUG")
	p := runProcessIn(t, dir, env)
	b := &player{browser: signUp(t, p.url)}
	var teams struct {
		Season int
		Source string
		Stale  bool
		Teams  []struct{ ID, Abbrev string }
	}
	b.read("/api/teams", &teams)
	if teams.Season != 12 || teams.Stale || len(teams.Teams) != 2 || teams.Source != strings.TrimPrefix(api.URL, "http://") {
		t.Errorf("teams: %+v", teams)
	}
	for _, team := range teams.Teams {
		var roster struct{ Players []struct{ ID string } }
		if b.read("/api/teams/"+team.ID+"/roster", &roster); len(roster.Players) != 11 {
			t.Errorf("roster of %s: %+v", team.ID, roster)
		}
	}
	if answer := b.ask("GET", "/api/teams?season=3", "", 404); !strings.Contains(string(answer), "unknown_team") {
		t.Errorf("an unknown season: %s", answer)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	mu.Lock()
	down = true
	mu.Unlock()
	log := p.logged()
	p = runProcessIn(t, dir, env)
	b.base = p.url
	b.play(`"innings": 3`)
	if answer := b.ask("GET", "/api/teams?season=4", "", 503); !strings.Contains(string(answer), "team_data_unavailable") {
		t.Errorf("a season that is not cached, while the API is down: %s", answer)
	}
	if log += p.logged(); strings.Contains(log, "s3cret-of-the-league") {
		t.Error("the token is in the log")
	}
}

// A season that the built-in league does not have, or a URL with a secret in it, is refused at
// the start, and the secret is not printed.
func TestTeamData_invalidSettings(t *testing.T) {
	t.Parallel()
	_, err := startProcess(t.TempDir(), environment(t, "DEFAULT_SEASON=4"))
	if err == nil || !strings.Contains(err.Error(), "DEFAULT_SEASON=4") || !strings.Contains(err.Error(), "1 to 3") {
		t.Errorf("started with %v", err)
	}
	_, err = startProcess(t.TempDir(), environment(t, "TEAM_DATA_URL=https://league.example/api?token=s3cret"))
	if err == nil || !strings.Contains(err.Error(), "TEAM_DATA_URL") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("started with %v", err)
	}
}
