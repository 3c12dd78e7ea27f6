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

// never is when what has not come will not come any more, on any machine.
const never = 5 * time.Minute

// A fan is somebody with an account of a daemon, as his browser is.
type fan struct {
	http.Client
	tb   testing.TB
	base string
}

// newFan makes an account.
func newFan(tb testing.TB, base, name string) *fan {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	f := &fan{http.Client{Jar: jar}, tb, base}
	page, err := f.Get(base + "/api/auth/idp/login")
	if err != nil {
		tb.Fatal(err)
	}
	defer page.Body.Close()
	end, err := f.PostForm(page.Request.URL.String(), url.Values{"form": {"create"}, "name": {name}, "passphrase": {"a dog in a boat"}})
	if err != nil {
		tb.Fatal(err)
	}
	defer end.Body.Close()
	return f
}

// ask sends a request with a JSON body, "" for none, and is the answer.
func (f *fan) ask(method, path, body string, want int) []byte {
	f.tb.Helper()
	req, err := http.NewRequest(method, f.base+path, strings.NewReader(body))
	if err != nil {
		f.tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := f.Do(req)
	if err != nil {
		f.tb.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		f.tb.Fatalf("%s %s: %s, %v, want %d: %s", method, path, resp.Status, err, want, text)
	}
	return text
}

// play begins a game against the bot with these options, and is its id and what a
// client knows of it.
func (f *fan) play(options string) (id string, r *replica.Replica) {
	f.tb.Helper()
	var teams struct{ Teams []struct{ ID string } }
	f.read("/api/teams", &teams)
	var g struct{ ID string }
	made := f.ask("POST", "/api/games", fmt.Sprintf(`{"home_team": %q, "away_team": %q, "options": {"opponent": "bot", %s}}`,
		teams.Teams[0].ID, teams.Teams[1].ID, options), 201)
	if err := json.Unmarshal(made, &g); err != nil {
		f.tb.Fatal(err)
	}
	lineup := f.ask("POST", "/api/games/"+g.ID+"/lineups/home/suggest", "", 200)
	r, err := replica.New(f.ask("PUT", "/api/games/"+g.ID+"/lineups/home", string(lineup), 200))
	if err != nil {
		f.tb.Fatal(err)
	}
	return g.ID, r
}

func (f *fan) read(path string, v any) {
	f.tb.Helper()
	if err := json.Unmarshal(f.ask("GET", path, "", 200), v); err != nil {
		f.tb.Fatal(err)
	}
}

// dial opens a websocket.
func (f *fan) dial() (*websocket.Conn, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"pressbox.v1"}, Jar: f.Jar, HandshakeTimeout: never}
	conn, resp, err := dialer.Dial("ws"+strings.TrimPrefix(f.base, "http")+"/api/ws", nil)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	return conn, nil
}

// A season is what somebody played against the bot while the daemon was killed
// again and again.
type season struct {
	*fan
	game  string
	known *replica.Replica
	cids  int
	open  string            // the command that was not answered; "" none
	cid   string            // its id
	acked map[string]uint64 // revisions of commands of this game
	total int
}

var errDesync = errors.New("a client and the daemon differ")

// live plays over one connection until it breaks.
func (s *season) live() error {
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	say := func(format string, args ...any) error {
		return conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...))
	}
	if err := say(`{"t":"join","g":%q,"d":{"since":%d}}`, s.game, s.known.Rev); err != nil {
		return err
	}
	for !s.known.Over {
		_ = conn.SetReadDeadline(time.Now().Add(never))
		var f replica.Frame
		if err := conn.ReadJSON(&f); err != nil {
			return err
		}
		if err := s.known.Take(f); err != nil {
			return fmt.Errorf("%w: %w", errDesync, err)
		}
		switch {
		case f.T == "ack" || f.T == "nak":
			if before, ok := s.acked[f.CID]; f.T == "ack" && ok && before != f.Rev {
				return fmt.Errorf("%w: %s was revision %d and is %d", errDesync, f.CID, before, f.Rev)
			}
			if f.T == "ack" {
				s.acked[f.CID] = f.Rev
				s.total++
			}
			if f.CID == s.cid {
				s.open = ""
			}
		case f.T == "state" && s.open != "":
			if err := say("%s", s.open); err != nil {
				return err
			}
			continue
		}
		if s.open == "" && len(s.known.Legal) > 0 {
			s.cids++
			s.cid = "c" + strconv.Itoa(s.cids)
			s.open = fmt.Sprintf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, s.game, s.cid, s.known.Rev, s.known.Legal[0].Action)
			s.known.Legal = nil
			if err := say("%s", s.open); err != nil {
				return err
			}
		}
	}
	return nil
}

// check fails the test unless each command that was acknowledged is in the game
// where it was, told by its id.
func (s *season) check() {
	s.tb.Helper()
	conn, err := s.dial()
	if err != nil {
		s.tb.Fatal(err)
	}
	defer conn.Close()
	asked := 0
	for cid, rev := range s.acked {
		if asked++; asked > 30 { // within the allowance of a socket
			break
		}
		if asked == 1 {
			_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"t":"join","g":%q,"d":{"since":%d}}`, s.game, s.known.Rev))
		}
		_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"t":"cmd","g":%q,"cid":%q,"rev":1,"d":{"action":{"a":"offence","call":"swing"}}}`, s.game, cid))
		var f replica.Frame
		for f.T != "ack" && f.T != "nak" {
			if err := conn.ReadJSON(&f); err != nil {
				s.tb.Fatal(err)
			}
		}
		if f.T != "ack" || f.Rev != rev || string(f.D) != `{"dup":true}` {
			s.tb.Errorf("%s was acknowledged as revision %d, and is now answered %s %d %s", cid, rev, f.T, f.Rev, f.D)
		}
	}
}

// The daemon is killed in the middle of a game, again and again. No command that
// was acknowledged is lost, none happens twice, and a client that applies every
// play itself has the daemon's state after each return.
func TestAGameSurvivesKills(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), append(environment(t), "PULSE_SERVER=unix:/nonexistent")
	p := runProcess(t, dir, env)
	s := &season{fan: newFan(t, p.url, "Anna")}
	games := 0
	for round := range killtest.Rounds(t, 8) {
		if s.known == nil || s.known.Over {
			if s.known != nil {
				s.check()
			}
			s.game, s.known = s.play(`"innings": 9`)
			s.acked, s.open = map[string]uint64{}, ""
			games++
		}
		killed := make(chan struct{})
		kill := time.AfterFunc(rand.N(250*time.Millisecond), func() {
			_ = p.end(syscall.SIGKILL) // it says that it was killed
			close(killed)
		})
		if err := s.live(); errors.Is(err, errDesync) {
			t.Fatalf("round %d: %v", round, err)
		}
		if kill.Stop() { // the game was over before
			continue
		}
		<-killed
		p = runProcess(t, dir, env)
		s.base = p.url
	}
	if err := s.live(); err != nil {
		t.Fatal(err)
	}
	s.check()
	t.Logf("%d games, %d commands acknowledged, the last one at revision %d", games, s.total, s.known.Rev)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// A scoring play is spoken by the appliance, and not before the screen has it.
func TestAScoringPlayIsHeard(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	f := newFan(t, a.base, "Anna")
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := a.sound.Record()
		id, known := f.play(`"announce": "scoring"`)
		if !recording.WaitFor(func(samples []float32) bool { return quietAfter(samples, 0) }) {
			t.Error("the game's start is not heard")
			return
		}
		conn, err := f.dial()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		awaitCall(t, recording, scores(t, conn, id, known, recording))
	})
	var queue struct{ Queue, Recent []any }
	if err := a.call(t.Context(), http.MethodGet, "/notify", nil, &queue); err != nil {
		t.Fatal(err)
	}
	if len(queue.Queue)+len(queue.Recent) > 0 {
		t.Errorf("the announcer's lines are among the announcements: %v", queue)
	}
}

// scores plays until a run is in or the game is over, and is how much had been
// recorded when that was shown.
func scores(tb testing.TB, conn *websocket.Conn, id string, known *replica.Replica, recording *pulsetest.Recording) (shown int) {
	tb.Helper()
	say := func(format string, args ...any) {
		if err := conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...)); err != nil {
			tb.Fatal(err)
		}
	}
	say(`{"t":"join","g":%q}`, id)
	for cid := 0; ; {
		var fr replica.Frame
		if err := conn.ReadJSON(&fr); err != nil {
			tb.Fatal(err)
		}
		// What the screen shows now cannot have been heard.
		shown = recording.Len()
		if err := known.Take(fr); err != nil {
			tb.Fatal(err)
		}
		var e struct {
			Kind  string
			Now   struct{ Score struct{ Home, Away int } }
			Legal *[]replica.Choice
		}
		if fr.T == "event" {
			if err := json.Unmarshal(fr.D, &e); err != nil {
				tb.Fatal(err)
			}
		}
		if e.Legal != nil && (e.Now.Score.Home+e.Now.Score.Away > 0 || known.Over) {
			return shown
		}
		if len(known.Legal) > 0 {
			cid++
			say(`{"t":"cmd","g":%q,"cid":"c%d","rev":%d,"d":{"action":%s}}`, id, cid, known.Rev, known.Legal[0].Action)
			known.Legal = nil
		}
	}
}

// quietAfter says whether something is heard after a sample, and then nothing
// for more than a second.
func quietAfter(samples []float32, from int) bool {
	heard := samples[from:]
	const second = rate * 3 / 2
	return len(heard) > second && len(audible(heard[len(heard)-second:])) == 0 && len(audible(heard)) > 0
}

// awaitCall fails the test unless a line is heard after a sample, and nothing
// around it.
func awaitCall(tb testing.TB, recording *pulsetest.Recording, from int) {
	tb.Helper()
	early := false
	if !recording.WaitFor(func(samples []float32) bool {
		early = early || len(audible(samples[max(0, from-rate/2):from])) > 0
		return quietAfter(samples, from)
	}) {
		tb.Error("the play is not heard")
	}
	if early {
		tb.Error("it was heard before it was shown")
	}
}

// squad is a team of an API in the shape of SBA v3.
func squad() []map[string]any {
	var all []map[string]any
	for i, position := range []string{"C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH", "SP", "RP"} {
		all = append(all, map[string]any{"id": i + 1, "name": "Player " + strconv.Itoa(i+1), "season": 12, "pos_1": position})
	}
	return all
}

// With TEAM_DATA_URL the clubs are the API's, with its token; when it is down,
// the kept ones are served, marked stale, over a restart too, and games are made of them.
func TestTeamsOfAnAPI(t *testing.T) {
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
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case r.URL.Path == "/api/v3/teams" && r.URL.Query().Get("season") == "12":
			w.Header().Set("Cache-Control", "max-age=60")
			_ = json.NewEncoder(w).Encode(map[string]any{"count": 2, "teams": []map[string]any{
				{"id": 1, "abbrev": "AAA", "sname": "Ants", "lname": "Aville Ants", "season": 12},
				{"id": 2, "abbrev": "BBB", "sname": "Bees", "lname": "Bville Bees", "season": 12},
			}})
		case r.URL.Path == "/api/v3/players" && r.URL.Query().Get("season") == "12":
			players := squad()
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
	dir, env := t.TempDir(), append(environment(t), "PULSE_SERVER=unix:/nonexistent",
		"TEAM_DATA_URL="+api.URL+"/api", "TEAM_DATA_TOKEN=s3cret-of-the-league", "DEFAULT_SEASON=12", "LOG_LEVEL=DEBUG")
	p := runProcess(t, dir, env)
	f := newFan(t, p.url, "Anna")
	var teams struct {
		Season int
		Source string
		Stale  bool
		Teams  []struct{ ID, Abbrev string }
	}
	f.read("/api/teams", &teams)
	if teams.Season != 12 || teams.Stale || len(teams.Teams) != 2 || teams.Source != strings.TrimPrefix(api.URL, "http://") {
		t.Errorf("teams: %+v", teams)
	}
	for _, team := range teams.Teams {
		var roster struct{ Players []struct{ ID string } }
		if f.read("/api/teams/"+team.ID+"/roster", &roster); len(roster.Players) != 11 {
			t.Errorf("roster of %s: %+v", team.ID, roster)
		}
	}
	if answer := f.ask("GET", "/api/teams?season=3", "", 404); !strings.Contains(string(answer), "unknown_team") {
		t.Errorf("a season that the API has not: %s", answer)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	mu.Lock()
	down = true
	mu.Unlock()
	log := p.logged()
	p = runProcess(t, dir, env)
	f.base = p.url
	f.play(`"innings": 3`)
	if answer := f.ask("GET", "/api/teams?season=4", "", 503); !strings.Contains(string(answer), "team_data_unavailable") {
		t.Errorf("what was never kept, while the API is down: %s", answer)
	}
	if log += p.logged(); strings.Contains(log, "s3cret-of-the-league") {
		t.Error("the token is in the log")
	}
}

// The built-in league has three seasons: another default one is refused at the start.
func TestADefaultSeasonThatIsNone(t *testing.T) {
	t.Parallel()
	_, err := startProcess(t.TempDir(), append(environment(t), "DEFAULT_SEASON=4"))
	if err == nil || !strings.Contains(err.Error(), "DEFAULT_SEASON=4") || !strings.Contains(err.Error(), "1 to 3") {
		t.Errorf("started with %v", err)
	}
	_, err = startProcess(t.TempDir(), append(environment(t), "TEAM_DATA_URL=https://league.example/api?token=s3cret"))
	if err == nil || !strings.Contains(err.Error(), "TEAM_DATA_URL") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("started with %v", err)
	}
}
