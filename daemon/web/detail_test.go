package web_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/daemon/web"
	"pressbox/game/live"
	"pressbox/store"
)

// Of a body that is no JSON, the answer says where and why, and no more of it
// than that.
func TestWhyABodyIsNoJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const one = "the body must be exactly one JSON object"
	for body, want := range map[string]string{
		``:                                      one,
		`[]`:                                    one,
		`{"message": "x"`:                       one + "; at byte 15: unexpected EOF",
		`{"message": "x", "message": "y"}`:      one + "; at byte 17: duplicate object member name",
		`{"message": "x"} x`:                    one + "; at byte 17: invalid character 'x' after top-level value",
		"{\"message\": \"\xff\"}":               one + "; at byte 13: invalid UTF-8",
		`{"x": "` + strings.Repeat("y", 50_000): one + "; at byte 50007: unexpected EOF",
	} {
		w := r.do(t, "POST", "/notify", body).want(400, "not_json")
		if got := w.field("detail"); got != want {
			t.Errorf("POST /notify %.40s: %s, want %s", body, got, want)
		}
	}
}

// When something of ours is broken the client is told that, and the log what.
func TestWhatIsBrokenIsLogged(t *testing.T) {
	t.Parallel()
	p := newStadium(t, withTeams)
	anna := p.fan(t, "Anna")
	id := anna.create(`{}`).ID
	for _, s := range []*store.Store{p.kept, p.book} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ method, path, body, code, cause string }{
		{"POST", "/api/notify", `{"message": "x"}`, "not_accepting", "the store is closed"},
		{"DELETE", "/api/games/" + id, "", "unavailable", "the store is closed"},
		{"GET", "/api/teams?season=66", "", "team_data_unavailable", "season 66"},
	} {
		answer := anna.refused(tt.method, tt.path, tt.body, 503, tt.code)
		if strings.Contains(answer.body, tt.cause) {
			t.Errorf("%s %s: the client is told %s", tt.method, tt.path, answer.body)
		}
		if said := p.logged(answer.field("request_id")); !strings.Contains(said, "level=ERROR") || !strings.Contains(said, tt.cause) {
			t.Errorf("%s %s: the log says %q, not %q", tt.method, tt.path, said, tt.cause)
		}
	}
	anna.refused("POST", "/api/notify", `{`, 400, "not_json")
	if log := p.log.String(); strings.Count(log, "level=ERROR") != 3 {
		t.Errorf("what a client does wrong is logged as ours: %s", log)
	}
}

// So it is on a websocket.
func TestWhatIsBrokenUnderAWebsocketIsLogged(t *testing.T) {
	t.Parallel()
	p := newStadium(t)
	seat := p.newTable(t, `{}`)
	m := seat.anna.manage(p.open(t), seat.id).sit()
	if err := p.book.Close(); err != nil {
		t.Fatal(err)
	}
	m.command([]byte(`{"a":"resume"}`))
	m.refused("illegal_action")
	m.command([]byte(`{"a":"pause"}`))
	if f := m.until("nak", "ack"); f.code() != "unavailable" || !strings.Contains(string(f.text), "the server cannot save the game") {
		t.Errorf("answered %s", f.text)
	}
	if said := p.logged("level=ERROR"); !strings.Contains(said, "the store is closed") || strings.Count(p.log.String(), "level=ERROR") != 1 {
		t.Errorf("the log says %s", p.log)
	}
}

// logged is what the log says of a request.
func (r *rig) logged(id string) string {
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, id) {
			return line
		}
	}
	return ""
}

// A smudged journal has box scores that nobody can read.
type smudged struct{ live.Journal }

func (smudged) Boxes(_ context.Context, games []string) (map[string][]byte, error) {
	return map[string][]byte{games[0]: []byte("{")}, nil
}

// What is kept and cannot be read is our fault, not a conflict.
func TestABoxScoreThatCannotBeRead(t *testing.T) {
	t.Parallel()
	kept, err := store.Open(filepath.Join(t.TempDir(), "smudged.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	p := newStadium(t, func(cfg *web.Config) {
		if cfg.Hall, err = live.New(t.Context(), live.Config{Journal: smudged{kept.Games()}, Rosters: clubs{}, Log: cfg.Log}); err != nil {
			t.Fatal(err)
		}
	})
	anna := p.fan(t, "Anna")
	id := anna.create(`{"opponent": "bot"}`).ID
	anna.suggest(id, "home")
	anna.ask("POST", "/api/games/"+id+"/concede", "", 200, nil)
	for _, path := range []string{"/api/stats/standings", "/api/stats/players"} {
		answer := anna.refused("GET", path, "", 500, "unreadable_game")
		if said := p.logged(answer.field("request_id")); !strings.Contains(said, "game "+id) {
			t.Errorf("GET %s: the log says %q, and not which game it is", path, said)
		}
	}
}

// Who is refused is told what would help.
func TestWhatWouldHelpIsSaid(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	if detail := b.get("/api/auth/me").want(401).field("detail"); !strings.HasPrefix(detail, "sign in first") {
		t.Errorf("GET /api/auth/me by nobody: %s", detail)
	}
	r := newRig(t, func(c *web.Config) {
		c.Checks = []web.Check{{Name: "store", Report: func() web.Condition { return web.Condition{Health: web.Failing} }}}
	})
	if after := r.do(t, "GET", "/health", "").want(503, "").Header().Get("Retry-After"); after != "10" {
		t.Errorf("GET /health, failing: Retry-After %q", after)
	}
}
