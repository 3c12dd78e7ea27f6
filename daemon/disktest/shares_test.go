package disktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
	"pressbox/store"
)

// largestMessage takes 30 KB of the store: a line separator has six bytes in JSON, and is not spoken.
var largestMessage = "Ball" + strings.Repeat("\u2028", 4990) + "four."

// Clients fill every share of the store through the server's routes, until they are refused or the server makes
// room. Then an announcement is accepted and heard. The buckets that no client fills have what the start leaves
// in them: boots, calibrations of the bundled voices, and the cost of a passphrase. That is the lowest that the
// server accepts, because 100 accounts would take a minute. The server is restarted for its team-data API: the
// games take their teams from the built-in league.
func TestShares_announcementsHeard(t *testing.T) {
	t.Parallel()
	f := newFilled(t)
	f.start()
	f.fillGames()
	f.fillFlows()
	f.fillTokens()
	f.fillControls()
	f.fillAccounts()
	f.fillSessions()
	check.NoError(t, f.End(syscall.SIGTERM))
	api := newTeamData(t)
	f.start("TEAM_DATA_URL=" + api.URL)
	f.fillCaches(api)
	f.fillAnnouncements()

	var health struct {
		Status string
		Checks map[string]map[string]any
	}
	f.anyone().Read("/health", &health)
	facts := health.Checks["store"]
	for share, least := range map[string]float64{
		"announcements": 0.5, // by those that ended
		"sign_in":       0.8, // an eighth is for administrators
		"games":         0.8,
		"caches":        0, // they were full, and make room by deleting all
	} {
		used, limit := facts[share+"_bytes"].(float64), facts[share+"_max_bytes"].(float64)
		check.That(t, used >= least*limit && used <= limit,
			"%s: %g of %g bytes are used, want at least %g of the limit", share, used, limit, least)
	}
	check.That(t, health.Status != "failing", "health: %+v", health)
	s := client.New(f.URL, "")
	r := check.Must(s.Announce(t.Context(), saying("Ball four.")))(t)
	r, err := s.Follow(t.Context(), r.ID)
	check.That(t, err == nil && r.Status == "done", "the announcement ended as %+v, %v\n%s", r, err, f.Logged())
}

// A filled server is one whose store of 8 MiB clients fill.
type filled struct {
	*servertest.Process
	t      *testing.T
	dir    string
	env    []string
	player *servertest.Browser // that has an account
}

func newFilled(t *testing.T) *filled {
	t.Helper()
	f := &filled{t: t, dir: servertest.CalibratedDir(t)}
	f.env = servertest.Environment(t, "STORE_MAX_SIZE=8MiB", "QUEUE_MAX_SIZE=1000",
		"PULSE_SERVER="+pulsetest.Start(t, pulsetest.Config{}).Address)
	st := check.Must(store.Open(filepath.Join(f.dir, "state", "pressbox.db"), store.Options{}))(t)
	err := st.SaveCached(t.Context(), "argon2id", []byte(`{"memory":19456,"time":2}`))
	check.NoError(t, errors.Join(err, st.Close()))
	return f
}

func (f *filled) start(values ...string) {
	f.t.Helper()
	f.Process = servertest.RunIn(f.t, f.dir, append(f.env, values...))
	if f.player != nil {
		f.player.Base = f.URL
	}
}

func (f *filled) anyone() *servertest.Browser { return servertest.NewBrowser(f.t, f.URL, nil) }

// authenticate sends the form of the local accounts, create or signin, and reports whether
// the browser is signed in.
func (f *filled) authenticate(b *servertest.Browser, form, name string) bool {
	f.t.Helper()
	page := b.Request("GET", "/api/auth/idp/login", "")
	check.NoError(f.t, page.Body.Close())
	if page.StatusCode != http.StatusOK {
		return false
	}
	end := check.Must(b.PostForm(page.Request.URL.String(),
		url.Values{"form": {form}, "name": {name}, "passphrase": {"a dog in a boat"}}))(f.t)
	check.NoError(f.t, end.Body.Close())
	me := b.Request("GET", "/api/auth/me", "")
	check.NoError(f.t, me.Body.Close())
	return me.StatusCode == http.StatusOK
}

// ask sends a request and returns the status of the response.
func (f *filled) ask(b *servertest.Browser, method, path, body string) int {
	f.t.Helper()
	resp := b.Request(method, path, body)
	check.NoError(f.t, resp.Body.Close())
	return resp.StatusCode
}

// untilRefused calls fill with 0, 1, … most-1, several at a time, until it returns false. It
// fails the test if that does not happen.
func (f *filled) untilRefused(what string, most int, fill func(i int) bool) {
	f.t.Helper()
	var next atomic.Int64
	var refused atomic.Bool
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < most && !refused.Load(); i = int(next.Add(1)) - 1 {
				if !fill(i) {
					refused.Store(true)
				}
			}
		})
	}
	clients.Wait()
	f.t.Logf("%s: refused after about %d", what, next.Load())
	check.That(f.t, refused.Load(), "%s: %d were not refused", what, most)
}

// fillGames creates games by several accounts, each as many as it may in an hour.
func (f *filled) fillGames() {
	const accounts = 6
	var players [accounts]*servertest.Browser
	for i := range players {
		players[i] = f.anyone()
		check.Require(f.t, f.authenticate(players[i], "create", fmt.Sprint("Player ", i)), "no account is created")
	}
	f.player = players[0]
	f.untilRefused("games", accounts*30, func(i int) bool {
		return f.ask(players[i%accounts], "POST", "/api/games",
			`{"home_team": "BWH", "away_team": "CPR"}`) == http.StatusCreated
	})
}

// fillFlows starts sign-ins. The first one, of the client with most, is deleted for a later one.
func (f *filled) fillFlows() {
	first := f.anyone()
	page := first.Request("GET", "/api/auth/idp/login", "")
	check.NoError(f.t, page.Body.Close())
	for range 300 {
		f.ask(f.anyone(), "GET", "/api/auth/idp/login", "")
	}
	end := check.Must(first.PostForm(page.Request.URL.String(),
		url.Values{"form": {"create"}, "name": {"Late"}, "passphrase": {"a dog in a boat"}}))(f.t)
	check.NoError(f.t, end.Body.Close())
	status := f.ask(first, "GET", "/api/auth/me", "")
	check.Equal(f.t, status, http.StatusUnauthorized, "after 300 more sign-ins, the status of the first")
}

// fillTokens creates API tokens and invites as the administrator does.
func (f *filled) fillTokens() {
	admin := client.ForSocket(filepath.Join(f.dir, "state", "admin.sock"))
	for path, body := range map[string]any{
		"/admin/tokens": map[string]string{"name": "doorbell"}, "/admin/invites": nil,
	} {
		f.untilRefused(path, 200, func(int) bool {
			var created map[string]any
			return admin.Call(f.t.Context(), http.MethodPost, path, body, &created) == nil
		})
	}
}

// fillControls creates schedules of the largest message as the administrator does.
func (f *filled) fillControls() {
	admin := client.ForSocket(filepath.Join(f.dir, "state", "admin.sock"))
	f.untilRefused("/schedules", 101, func(int) bool {
		body := map[string]any{"name": "x", "cron": "0 4 29 2 *", "message": largestMessage}
		return admin.Send(f.t.Context(), http.MethodPost, "/schedules", body) == nil
	})
}

// fillAccounts creates accounts, of which each has a session.
func (f *filled) fillAccounts() {
	f.untilRefused("accounts", 1000, func(i int) bool {
		return f.authenticate(f.anyone(), "create", fmt.Sprint("Account ", i))
	})
}

// fillSessions signs accounts in until the share has no room for a session.
func (f *filled) fillSessions() {
	f.untilRefused("sessions", 1000, func(i int) bool {
		return f.authenticate(f.anyone(), "signin", fmt.Sprint("Player ", i%6))
	})
}

// A teamData is a team-data API that counts its requests.
type teamData struct {
	*httptest.Server
	requests atomic.Int64
}

func newTeamData(t *testing.T) *teamData {
	t.Helper()
	api := &teamData{}
	api.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.requests.Add(1)
		team := map[string]any{
			"id": 1, "season": r.FormValue("season"), "abbrev": "BWH", "sname": "Whalers", "lname": "Boston Whalers",
			"notes": strings.Repeat("x", 60_000),
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"count": 1, "teams": []any{team}}) // the client may be gone
	}))
	t.Cleanup(api.Close)
	return api
}

// fillCaches asks for the teams of many seasons, until an earlier one is no longer cached.
func (f *filled) fillCaches(api *teamData) {
	const seasons = 40
	for season := range seasons {
		status := f.ask(f.player, "GET", fmt.Sprint("/api/teams?season=", season+1), "")
		check.Require(f.t, status == http.StatusOK, "the teams of season %d: status %d", season+1, status)
	}
	f.ask(f.player, "GET", "/api/teams?season=1", "")
	check.Equal(f.t, api.requests.Load(), seasons+1, "the API had requests")
}

// fillAnnouncements posts announcements behind one that is played for minutes, which is cancelled in the end.
func (f *filled) fillAnnouncements() {
	b := f.anyone()
	current := client.Announcement{Message: strings.Repeat("This is spoken slowly. ", 60), Rate: 60}
	r := check.Must(client.New(f.URL, "").Announce(f.t.Context(), servertest.Request(current)))(f.t)
	f.fillWaiting(b)
	f.fillEnded(b)
	f.ask(b, "DELETE", "/notify/"+r.ID, "")
}

// fillWaiting posts announcements until one finds no room, and cancels them.
func (f *filled) fillWaiting(b *servertest.Browser) {
	var ids sync.Map
	f.untilRefused("waiting announcements", 1000, func(i int) bool {
		id, status := f.post(b, fmt.Sprint("waiting-", i))
		if status == http.StatusAccepted {
			ids.Store(id, nil)
			return true
		}
		check.Equal(f.t, status, http.StatusServiceUnavailable, "an announcement without room: status")
		return false
	})
	ids.Range(func(id, _ any) bool {
		f.ask(b, "DELETE", "/notify/"+id.(string), "")
		return true
	})
}

// post posts an announcement of the largest size and returns its id and the status of the response.
func (f *filled) post(b *servertest.Browser, key string) (id string, status int) {
	f.t.Helper()
	resp := b.Request("POST", "/notify", fmt.Sprintf(`{"message": %q}`, largestMessage), "Idempotency-Key", key)
	var r struct{ ID string }
	err := json.NewDecoder(resp.Body).Decode(&r)
	check.NoError(f.t, errors.Join(err, resp.Body.Close()))
	return r.ID, resp.StatusCode
}

// fillEnded posts and cancels announcements with idempotency keys, more than are stored.
func (f *filled) fillEnded(b *servertest.Browser) {
	for i := range 300 {
		id, status := f.post(b, fmt.Sprint(i))
		check.Require(f.t, status == http.StatusAccepted, "announcement %d: status %d", i, status)
		f.ask(b, "DELETE", "/notify/"+id, "")
	}
}
