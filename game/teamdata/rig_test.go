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
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/game/teamdata"
	"pressbox/packaging/check"
)

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
