package teamdata_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

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
		if got.Season != want || got.Stale || len(got.Teams) != 2 || got.Source == "" || got.FetchedAt.IsZero() {
			t.Fatalf("season %d: %+v", season, got)
		}
		first := teams.Team{
			ID: fmt.Sprintf("%d2", want), Season: want, Abbrev: "BH", Name: "City Badgers", ShortName: "Badgers",
			Color: "#a6ce39", TextColor: "#000000",
			LogoURL: "https://example.org/x.png", Park: teams.Park{Name: "The Yard"},
		}
		if got.Teams[0] != first {
			t.Errorf("season %d: %+v, want %+v", season, got.Teams[0], first)
		}
	}
	if n := r.api.requests(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// A roster suffices for a line-up with and without a designated hitter.
func TestClient_roster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	roster := check.Must(r.Roster(t.Context(), 3, "32"))(t)
	if roster.Team.Abbrev != "BH" || roster.Season != 3 || len(roster.Players) != 12 {
		t.Fatalf("%+v", roster)
	}
	club := roster.Club()
	for _, dh := range []bool{true, false} {
		if _, err := bot.SuggestLineup(club, nil, nil, dh); err != nil {
			t.Errorf("dh %v: %v", dh, err)
		}
	}
	raw := check.Must(json.Marshal(roster))(t)
	for _, want := range []string{
		`"team":{"id":"32"`, `"source":"127.0.0.1:`, `"stale":false`, `"bats":"R"`, `"positions":["SP"]`,
		`"positions":["RP"]`, `"positions":["DH"]`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
}

func TestClient_unknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, season := range []int{-1, 7, 10000} {
		if _, err := r.Teams(t.Context(), season); !errors.Is(err, teams.ErrUnknown) {
			t.Errorf("season %d: %v", season, err)
		}
	}
	// 33 is a farm team, 12 a team of another season.
	for _, id := range []string{"33", "12", "", "32&season=1", "../teams"} {
		if _, err := r.Roster(t.Context(), 3, id); !errors.Is(err, teams.ErrUnknown) {
			t.Errorf("team %q: %v", id, err)
		}
	}
	if n := r.api.requests(); n != 2 {
		t.Errorf("%d requests, want 2: for the teams of seasons 7 and 3", n)
	}
	if len(r.cache.clone().items) != 1 {
		t.Error("an empty list was cached")
	}
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
				if roster.Season != season || roster.Team.Season != season || roster.Team.ID != id {
					t.Errorf("team %s of season %d: %+v", id, season, roster.Team)
				}
				for _, p := range roster.Players {
					if !strings.HasSuffix(p.Name, " of "+id) {
						t.Errorf("%s plays for %s", p.Name, id)
					}
				}
			})
		}
		group.Wait()
	}
	if n := r.api.requests(); n != 3+6 {
		t.Errorf("%d requests, want 3 for teams and 6 for rosters", n)
	}
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
	if roster.Players[0].Name != "Man 0 of 31" || r.api.requests() != 4 {
		t.Errorf("%+v after %d requests", roster.Players[0], r.api.requests())
	}
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
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%+v, %v, want %+v", after, err, before)
	}
}

func TestClient_fullCache(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cache.full = errFull
	check.Must(r.Teams(t.Context(), 3))(t)
	r.stop()
	if !strings.Contains(r.log.String(), "full") {
		t.Errorf("log %q", r.log)
	}
}

func TestNew_badURL(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "example.org/api", "ftp://example.org", "https://", "https://me:hush@example.org/api",
		"https://example.org/?key=hush", "https://example.org/hush\x7f",
	} {
		_, err := teamdata.New(teamdata.Config{URL: bad})
		if err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestClient_token(t *testing.T) {
	t.Parallel()
	const token = "hush-hush"
	r := newRig(t, func(c *teamdata.Config) { c.Token = token })
	check.Must(r.Teams(t.Context(), 3))(t)
	if got := r.api.last().Header.Get("Authorization"); got != "Bearer "+token {
		t.Errorf("Authorization %q", got)
	}
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
