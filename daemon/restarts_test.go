package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
	"pressbox/store/killtest"
)

// The server is killed again and again during a game. No acknowledged command is lost, none is applied twice, and a
// client that applies every play itself has the server's state after each reconnection.
func TestAll_killGame(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), servertest.Environment(t, servertest.Silent)
	server := servertest.RunIn(t, dir, env)
	p := &servertest.Player{Browser: servertest.SignUp(t, server.URL)}
	games := 0
	for round := range killtest.Rounds(t, 8) {
		if p.Replica == nil || p.Replica.Over {
			if p.Replica != nil {
				p.Check()
			}
			p.Play(`"innings": 9`)
			games++
		}
		killed := make(chan struct{})
		kill := time.AfterFunc(killtest.Moment(round, 250*time.Millisecond), func() {
			_ = server.End(syscall.SIGKILL) // the error says so
			close(killed)
		})
		err := p.Connect(nil)
		check.Require(t, !errors.Is(err, servertest.ErrDiverged), "round %d: %v", round, err)
		if kill.Stop() { // the game was over before
			continue
		}
		<-killed
		server = servertest.RunIn(t, dir, env)
		p.Base = server.URL
	}
	check.NoError(t, p.Connect(nil))
	p.Check()
	t.Logf("%d games, %d commands acknowledged, the last one at revision %d", games, p.Acks, p.Replica.Rev)
	check.NoError(t, server.End(syscall.SIGTERM))
}

// rosterJSON returns the players of a team in the format of SBA v3.
func rosterJSON() []map[string]any {
	var all []map[string]any
	for i, position := range []string{"C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH", "SP", "RP"} {
		all = append(all, map[string]any{
			"id": i + 1, "name": "Player " + strconv.Itoa(i+1), "season": 12, "pos_1": position,
		})
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
	dir, env := t.TempDir(), servertest.Environment(t, servertest.Silent,
		"TEAM_DATA_URL="+api.URL+"/api", "TEAM_DATA_TOKEN=s3cret-of-the-league", "DEFAULT_SEASON=12", "LOG_LEVEL=DEBUG")
	p := servertest.RunIn(t, dir, env)
	b := &servertest.Player{Browser: servertest.SignUp(t, p.URL)}
	var teams struct {
		Season int
		Source string
		Stale  bool
		Teams  []struct{ ID, Abbrev string }
	}
	b.Read("/api/teams", &teams)
	if teams.Season != 12 || teams.Stale || len(teams.Teams) != 2 ||
		teams.Source != strings.TrimPrefix(api.URL, "http://") {
		t.Errorf("teams: %+v", teams)
	}
	for _, team := range teams.Teams {
		var roster struct{ Players []struct{ ID string } }
		if b.Read("/api/teams/"+team.ID+"/roster", &roster); len(roster.Players) != 11 {
			t.Errorf("roster of %s: %+v", team.ID, roster)
		}
	}
	check.Contains(t, string(b.Ask("GET", "/api/teams?season=3", "", 404)), "unknown_team", "an unknown season")
	check.NoError(t, p.End(syscall.SIGTERM))
	mu.Lock()
	down = true
	mu.Unlock()
	log := p.Logged()
	p = servertest.RunIn(t, dir, env)
	b.Base = p.URL
	b.Play(`"innings": 3`)
	answer := b.Ask("GET", "/api/teams?season=4", "", 503)
	check.That(t, strings.Contains(string(answer), "team_data_unavailable"),
		"a season that is not cached, while the API is down: %s", answer)
	if log += p.Logged(); strings.Contains(log, "s3cret-of-the-league") {
		t.Error("the token is in the log")
	}
}

// A season that the built-in league does not have, or a URL with a secret in it, is refused at
// the start, and the secret is not printed.
func TestTeamData_invalidSettings(t *testing.T) {
	t.Parallel()
	_, err := servertest.Start(t.TempDir(), servertest.Environment(t, "DEFAULT_SEASON=4"))
	if err == nil || !strings.Contains(err.Error(), "DEFAULT_SEASON=4") || !strings.Contains(err.Error(), "1 to 3") {
		t.Errorf("started with %v", err)
	}
	_, err = servertest.Start(t.TempDir(), servertest.Environment(t,
		"TEAM_DATA_URL=https://league.example/api?token=s3cret"))
	if err == nil || !strings.Contains(err.Error(), "TEAM_DATA_URL") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("started with %v", err)
	}
}

// The server is killed again and again while a league of bots plays itself: in the end each game of the
// calendar was played once, and is what the calendar has.
func TestAll_killLeague(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), servertest.Environment(t, servertest.Silent)
	server := servertest.RunIn(t, dir, env)
	b := servertest.SignUp(t, server.URL)
	var league struct{ ID, Status string }
	created := b.Ask(http.MethodPost, "/api/leagues", `{
		"name": "Bots", "best_of": 3, "options": {"innings": 5}, "seats": [{"team": "BWH", "manager": "bot"},
		{"team": "CPR", "manager": "bot"}, {"team": "DUN", "manager": "bot"}, {"team": "FEN", "manager": "bot"}]}`,
		http.StatusCreated)
	check.NoError(t, json.Unmarshal(created, &league))
	for round := range killtest.Rounds(t, 6) {
		time.Sleep(killtest.Moment(round, 250*time.Millisecond))
		_ = server.End(syscall.SIGKILL) // the error says so
		server = servertest.RunIn(t, dir, env)
		b.Base = server.URL
	}
	for deadline := time.Now().Add(servertest.Never); league.Status != "finished"; time.Sleep(100 * time.Millisecond) {
		if b.Read("/api/leagues/"+league.ID, &league); time.Now().After(deadline) {
			t.Fatalf("the league is %s", league.Status)
		}
	}
	type score struct{ Away, Home int }
	var schedule struct {
		Games []struct {
			Game  string
			Score score
		}
	}
	b.Read("/api/leagues/"+league.ID+"/schedule", &schedule)
	var list struct{ Pending, Active, Finished []struct{ ID string } }
	b.Read("/api/games", &list)
	check.That(t, len(list.Finished) == len(schedule.Games) && len(list.Pending)+len(list.Active) == 0,
		"%d games are on the calendar, on the server %+v", len(schedule.Games), list)
	for _, g := range schedule.Games {
		var hosted struct{ Score score }
		if b.Read("/api/games/"+g.Game, &hosted); hosted.Score != g.Score {
			t.Errorf("game %s: %+v on the calendar, %+v played", g.Game, g.Score, hosted.Score)
		}
	}
	check.NoError(t, server.End(syscall.SIGTERM))
}

// QUEUE_MAX_SIZE announcements fill the queue. The next one is refused, and the others are
// played, the urgent ones first.
func TestAnnouncement_fullQueue(t *testing.T) {
	t.Parallel()
	const size = 10
	s := servertest.NewServer(t, fmt.Sprint("QUEUE_MAX_SIZE=", size))
	// The first one is urgent, so that no other interrupts it, and lasts longer than it takes
	// to fill the queue; then it is cancelled.
	first := s.Post(client.Announcement{Message: strings.Repeat("This is the first, and everything else waits "+
		"behind it. ", 10), Urgent: true})
	s.AwaitStatus(first.ID, "playing")
	var plain, urgent []string
	for i := range size {
		r := client.Announcement{Message: "Go.", Rate: 400, Urgent: i%4 == 3}
		id := s.Post(r).ID
		if r.Urgent {
			urgent = append(urgent, id)
		} else {
			plain = append(plain, id)
		}
	}
	_, err := s.Announce(t.Context(), servertest.Request(client.Announcement{Message: "One too many."}))
	problem, ok := errors.AsType[*client.ProblemError](err)
	if !ok || problem.Status != http.StatusServiceUnavailable || problem.Code != "queue_full" ||
		problem.RetryAfter == "" {
		t.Errorf("one too many: %v, want 503 queue_full with Retry-After", err)
	}
	var cancelled client.Report
	if err := s.Call(t.Context(), http.MethodDelete, "/notify/"+first.ID, nil, &cancelled); err != nil ||
		cancelled.Status != "cancelled" {
		t.Fatalf("the first one, cancelled: %+v, %v", cancelled, err)
	}
	order := slices.Concat([]string{first.ID}, urgent, plain)
	s.AwaitPlayed(order[len(order)-1])
	var list struct {
		Recent []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"recent"`
	}
	check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify", nil, &list))
	var got []string
	for _, r := range slices.Backward(list.Recent) {
		check.That(t, r.Status == "done" || r.ID == first.ID, "%s ended as %s", r.ID, r.Status)
		got = append(got, r.ID)
	}
	check.That(t, slices.Equal(got, order), "they were played in the order\n%v, want\n%v", got, order)
}

// A server that is killed at the moment at which an announcement is due speaks it after its restart, once.
func TestAnnouncement_killedWhenDue(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	var r client.Report
	body := map[string]any{"title": "Time", "message": "It is time.", "in": 1}
	check.NoError(t, s.Call(t.Context(), http.MethodPost, "/notify", body, &r))
	check.Require(t, r.Status == "scheduled", "accepted as %+v", r)
	for r.Status == "scheduled" {
		check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify/"+r.ID, nil, &r))
	}
	err := s.End(syscall.SIGKILL)
	check.That(t, err != nil, "the server was not killed")
	s.Restart()
	s.AwaitPlayed(r.ID)
	var list struct {
		Queue, Scheduled []any
		Recent           []client.Report
	}
	check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify", nil, &list))
	check.That(t, len(list.Queue)+len(list.Scheduled) == 0 && len(list.Recent) == 1, "afterwards: %+v", list)
}
