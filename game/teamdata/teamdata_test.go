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
