package teamdata_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/game/bot"
	"pressbox/game/teamdata"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Teams returns the clubs of the season, without farm teams and injured lists.
func TestClient_teams(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, season := range []int{0, 1} {
		got := check.Must(r.Teams(t.Context(), season))(t)
		want := season
		if season == 0 {
			want = 3 // DefaultSeason
		}
		check.Require(t, got.Season == want && !got.Stale && len(got.Teams) == 2 && got.Source != "" &&
			!got.FetchedAt.IsZero(), "season %d: %+v", season, got)
		first := teams.Team{
			ID: fmt.Sprintf("%d2", want), Season: want, Abbrev: "BH", Name: "City Badgers", ShortName: "Badgers",
			Color: "#a6ce39", TextColor: "#000000",
			LogoURL: "https://example.org/x.png", Park: teams.Park{Name: "The Yard"},
		}
		check.Equal(t, got.Teams[0], first, "season %d", season)
	}
	check.Equal(t, r.api.requests(), 2, "requests")
}

// A roster suffices for a line-up with and without a designated hitter.
func TestClient_roster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	roster := check.Must(r.Roster(t.Context(), 3, "32"))(t)
	check.Require(t, roster.Team.Abbrev == "BH" && roster.Season == 3 && len(roster.Players) == 12, "%+v", roster)
	club := roster.Club()
	for _, dh := range []bool{true, false} {
		_, err := bot.SuggestLineup(club, nil, nil, dh)
		check.That(t, err == nil, "dh %v: %v", dh, err)
	}
	raw := check.Must(json.Marshal(roster))(t)
	for _, want := range []string{
		`"team":{"id":"32"`, `"source":"127.0.0.1:`, `"stale":false`, `"bats":"R"`, `"positions":["SP"]`,
		`"positions":["RP"]`, `"positions":["DH"]`,
	} {
		check.That(t, strings.Contains(string(raw), want), "no %s in %s", want, raw)
	}
}

func TestClient_unknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, season := range []int{-1, 7, 10000} {
		_, err := r.Teams(t.Context(), season)
		check.That(t, errors.Is(err, teams.ErrUnknown), "season %d: %v", season, err)
	}
	// 33 is a farm team, 12 a team of another season.
	for _, id := range []string{"33", "12", "", "32&season=1", "../teams"} {
		_, err := r.Roster(t.Context(), 3, id)
		check.That(t, errors.Is(err, teams.ErrUnknown), "team %q: %v", id, err)
	}
	check.Equal(t, r.api.requests(), 2, "requests")
	check.That(t, len(r.cache.clone().items) == 1, "an empty list was cached")
}

// Concurrent requests for any seasons and teams get the matching answers, and share one fetch for each list.
func TestClient_concurrentRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 2 { // the second time from the cache
		var group sync.WaitGroup
		for n := range 48 {
			season, id := n%3+1, fmt.Sprintf("%d%d", n%3+1, n%2+1)
			group.Go(func() {
				roster, err := r.Roster(t.Context(), season, id)
				if err != nil {
					t.Error(err)
					return
				}
				check.That(t, roster.Season == season && roster.Team.Season == season && roster.Team.ID == id,
					"team %s of season %d: %+v", id, season, roster.Team)
				for _, p := range roster.Players {
					check.That(t, strings.HasSuffix(p.Name, " of "+id), "%s plays for %s", p.Name, id)
				}
			})
		}
		group.Wait()
	}
	check.Equal(t, r.api.requests(), 3+6, "requests")
}

// A cache entry of another URL is not used.
func TestClient_entryOfAnotherURL(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.api.set(func(w http.ResponseWriter, q *http.Request) { // players without their team
		if strings.HasSuffix(q.URL.Path, "teams") {
			league(w, q)
			return
		}
		players := squad("3", q.URL.Query().Get("team_id"))
		for _, p := range players {
			delete(p, "team")
		}
		send(w, object{"players": players})
	})
	for _, id := range []string{"31", "32"} {
		check.Must(r.Roster(t.Context(), 3, id))(t)
	}
	for key := range r.cache.items {
		if strings.Contains(key, "team_id=31") {
			r.cache.items[key] = r.cache.items[strings.Replace(key, "=31", "=32", 1)]
		}
	}
	roster := check.Must(r.Roster(t.Context(), 3, "31"))(t)
	check.That(t, roster.Players[0].Name == "Man 0 of 31" && r.api.requests() == 4,
		"%+v after %d requests", roster.Players[0], r.api.requests())
}

func TestClient_restart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := check.Must(r.Teams(t.Context(), 3))(t)
	r.api.set(down)
	again := connect(t, r.api, teamdata.Config{URL: "http://" + before.Source + "/api/v3/"}, func(c *teamdata.Config) {
		c.Cache = r.cache.clone()
	})
	after, err := again.Teams(t.Context(), 3)
	check.That(t, err == nil && reflect.DeepEqual(before, after), "%+v, %v, want %+v", after, err, before)
}

func TestClient_fullCache(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cache.full = errFull
	check.Must(r.Teams(t.Context(), 3))(t)
	r.stop()
	check.That(t, strings.Contains(r.log.String(), "full"), "log %q", r.log)
}

func TestNew_badURL(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "example.org/api", "ftp://example.org", "https://", "https://me:hush@example.org/api",
		"https://example.org/?key=hush", "https://example.org/hush\x7f",
	} {
		_, err := teamdata.New(teamdata.Config{URL: bad})
		check.That(t, err != nil && !strings.Contains(err.Error(), "hush"), "%q: %v", bad, err)
	}
}

func TestClient_token(t *testing.T) {
	t.Parallel()
	const token = "hush-hush"
	r := newRig(t, func(c *teamdata.Config) { c.Token = token })
	check.Must(r.Teams(t.Context(), 3))(t)
	check.Equal(t, r.api.last().Header.Get("Authorization"), "Bearer "+token, "Authorization")
	r.api.set(down)
	_, err := r.Teams(t.Context(), 2)
	if err == nil || strings.Contains(err.Error(), token) {
		t.Error(err)
	}
	r.stop()
	if strings.Contains(r.log.String(), token) {
		t.Error(r.log)
	}
}

// memory is a Cache with two faults.
type memory struct {
	mu    sync.Mutex
	full  error         // returned by SaveTeamData
	slow  time.Duration // delay after a read
	items map[string][]byte
}

func (m *memory) TeamData(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	value := m.items[key]
	m.mu.Unlock()
	time.Sleep(m.slow)
	return value, nil
}

func (m *memory) SaveTeamData(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full == nil {
		m.items[key] = value
	}
	return m.full
}

func (m *memory) clone() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memory{items: maps.Clone(m.items)}
}

// api is an API with a league and an optional fault.
type api struct {
	mu       sync.Mutex
	fault    http.HandlerFunc // responds instead unless nil
	received []*http.Request
	etag     string            // sent, and matched for a 304
	head     map[string]string // of each response without a fault
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.received = append(a.received, r)
	fault, etag := a.fault, a.etag
	for k, v := range a.head {
		w.Header().Set(k, v)
	}
	a.mu.Unlock()
	switch {
	case fault != nil:
		fault(w, r)
	case etag != "" && r.Header.Get("If-None-Match") == etag:
		w.WriteHeader(http.StatusNotModified)
	default:
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		league(w, r)
	}
}

func (a *api) set(fault http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = fault
}

// requests returns the number of requests.
func (a *api) requests() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.received)
}

func (a *api) last() *http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.received[len(a.received)-1]
}

// object is a JSON object.
type object = map[string]any

// league responds for seasons 1 to 3 with two clubs, and a farm team and injured list; ids contain season and team.
func league(w http.ResponseWriter, r *http.Request) {
	season := r.URL.Query().Get("season")
	if !strings.Contains("123", season) {
		send(w, object{"count": 0, strings.TrimPrefix(r.URL.Path, "/api/v3/"): []object{}})
		return
	}
	switch r.URL.Path {
	case "/api/v3/teams":
		send(w, object{"count": 4, "teams": []object{
			team(season, 1, "ZAP", "Zephyrs"), team(season, 2, "BH", "Badgers"),
			team(season, 3, "BHMIL", "Badgers' farm"), team(season, 4, "ZAPIL", "Zephyrs' injured"),
		}})
	case "/api/v3/players":
		send(w, object{"players": squad(season, r.URL.Query().Get("team_id"))})
	default:
		http.NotFound(w, r)
	}
}

func team(season string, n int, abbrev, name string) object {
	return object{
		"id": json.Number(fmt.Sprint(season, n)), "season": json.Number(season), "abbrev": abbrev, "sname": name,
		"lname": "City " + name,
		"color": "A6CE39", "thumbnail": "https://example.org/x.png", "stadium": "The Yard", "division": nil, "gmid": 1,
	}
}

// squad returns nine hitters, one of each position, two pitchers and a player without positions.
func squad(season, team string) []object {
	var players []object
	for i, pos := range []string{"C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH", "SP", "CP", ""} {
		players = append(players, object{
			"id": json.Number(fmt.Sprint(team, "0", i)), "season": json.Number(season),
			"name": fmt.Sprintf("Man %d of %s", i, team),
			"team": object{"id": json.Number(team), "abbrev": "ABC"}, "pos_1": pos, "pos_2": nil, "wara": 1.25,
			"sbaplayer": object{"first_name": "Man", "last_name": fmt.Sprint(i)},
		})
	}
	return players
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

// rig is a client and its API.
type rig struct {
	*teamdata.Client
	api   *api
	cache *memory
	log   *strings.Builder // read it after stop
	stop  func()
}

// newRig serves an API over the network.
func newRig(t *testing.T, change ...func(*teamdata.Config)) *rig {
	t.Helper()
	a := &api{}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return connect(t, a, teamdata.Config{URL: server.URL + "/api"}, change...)
}

// connect returns a client that runs until the test ends.
func connect(t *testing.T, a *api, c teamdata.Config, change ...func(*teamdata.Config)) *rig {
	t.Helper()
	r := &rig{api: a, cache: &memory{items: map[string][]byte{}}, log: &strings.Builder{}}
	c.DefaultSeason, c.Cache, c.Log = 3, r.cache, slog.New(slog.NewTextHandler(r.log, nil))
	for _, f := range change {
		f(&c)
	}
	r.Client = check.Must(teamdata.New(c))(t)
	r.stop = check.Run(t, r.Run)
	return r
}

// direct is a transport that calls a handler, for tests with synctest.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// newBubbleRig returns a rig without a network.
func newBubbleRig(t *testing.T) *rig {
	t.Helper()
	a := &api{}
	return connect(t, a, teamdata.Config{URL: "http://api.example/api", Transport: direct{a}})
}

// down responds like a proxy without an upstream.
func down(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "no upstream", http.StatusBadGateway)
}

var errFull = errors.New("full")
