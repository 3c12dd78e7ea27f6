package play_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/daemon/health"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
)

// The cause of an internal error is logged and not sent to the client.
func TestErrors_cause(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t, webtest.WithTeams)
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{}`).ID
	for _, s := range []*store.Store{p.Store, p.GameStore} {
		check.NoError(t, s.Close())
	}
	for _, tt := range []struct{ method, path, body, code, cause string }{
		{"POST", "/api/notify", `{"message": "x"}`, "not_accepting", "the store is closed"},
		{"DELETE", "/api/games/" + id, "", "unavailable", "the store is closed"},
		{"GET", "/api/teams?season=66", "", "team_data_unavailable", "season 66"},
	} {
		answer := anna.Refused(tt.method, tt.path, tt.body, 503, tt.code)
		check.That(t, !strings.Contains(answer.Text, tt.cause),
			"%s %s: the client received %s", tt.method, tt.path, answer.Text)
		record := p.LogLine(answer.Field("request_id"))
		check.That(t, strings.Contains(record, "level=ERROR") && strings.Contains(record, tt.cause),
			"%s %s: log record %q, want the cause %q", tt.method, tt.path, record, tt.cause)
	}
	anna.Refused("POST", "/api/notify", `{`, 400, "not_json")
	check.Equal(t, strings.Count(p.Log.String(), "level=ERROR"), 3, "errors in the log, none of a client")
}

// The same on a websocket.
func TestErrors_causeOnWebsocket(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	seat := p.NewMatch(t, `{}`)
	m := seat.Home.Manage(p.Open(t), seat.ID).JoinState()
	check.NoError(t, p.GameStore.Close())
	m.Command([]byte(`{"a":"resume"}`))
	m.WantNak("illegal_action")
	m.Command([]byte(`{"a":"pause"}`))
	f := m.Until("nak", "ack")
	check.That(t, f.Code() == "unavailable" && strings.Contains(string(f.Text), "the server cannot save the game"),
		"answer %s", f.Text)
	record := p.LogLine("level=ERROR")
	check.That(t, strings.Contains(record, "the store is closed") && strings.Count(p.Log.String(), "level=ERROR") == 1,
		"log: %s", p.Log)
}

// A brokenJournal returns box scores that cannot be decoded.
type brokenJournal struct{ live.Journal }

func (brokenJournal) Boxes(_ context.Context, games []string) (map[string][]byte, error) {
	return map[string][]byte{games[0]: []byte("{")}, nil
}

// A stored box score that cannot be decoded is an internal error; the log names the game.
func TestErrors_unreadableBoxScore(t *testing.T) {
	t.Parallel()
	s := check.Must(store.Open(filepath.Join(t.TempDir(), "broken.db"), store.Options{}))(t)
	defer s.Close()
	p := webtest.NewGamesRig(t, func(cfg *site.Config) {
		config := live.Config{Journal: brokenJournal{s.Games()}, Rosters: webtest.Clubs{}, Log: cfg.Log}
		cfg.Play.Games = check.Must(live.New(t.Context(), config))(t)
	})
	anna := p.Player(t, "Anna")
	id := anna.CreateGame(`{"opponent": "bot"}`).ID
	anna.SuggestLineup(id, "home")
	anna.Ask("POST", "/api/games/"+id+"/concede", "", 200, nil)
	for _, path := range []string{"/api/stats/standings", "/api/stats/players"} {
		answer := anna.Refused("GET", path, "", 500, "unreadable_game")
		check.Contains(t, p.LogLine(answer.Field("request_id")), "game "+id, "GET %s: log record", path)
	}
}

// A refusal contains the remedy.
func TestErrors_remedy(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	detail := b.Get("/api/auth/me").Want(401).Field("detail")
	check.That(t, strings.HasPrefix(detail, "sign in first"), "GET /api/auth/me without a session: %s", detail)
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Admin.Checks = []health.Check{
			{Name: "store", Report: func() health.Condition { return health.Condition{Health: health.Failing} }},
		}
	})
	check.Equal(t, r.Do(t, "GET", "/health", "").Want(503).Header.Get("Retry-After"), "10",
		"GET /health, failing: Retry-After")
}

func TestProblem_status(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		403 | forbidden not_your_side
		404 | unknown_game unknown_player
		409 | not_active not_pending not_ready not_finished seat_taken too_many_games
		422 | invalid unknown_team malformed
		500 | unreadable_game
		503 | unavailable store_full
	`) {
		for _, code := range strings.Fields(row[1]) {
			p, _ := play.Problem(protocol.Refuse(protocol.Code(code), "refused"))
			check.Equal(t, fmt.Sprint(p.Status, " ", p.Code), row[0]+" "+code, "the problem")
		}
	}
}
