package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressbox/check"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
)

// largestMessage takes 30 KB of the store.
var largestMessage = strings.Repeat("<", 4990) + " ball four"

// Clients that fill the shares of games, pending sign-ins and ended announcements
// with their idempotency keys do not keep an announcement from being heard.
func TestShares_announcementsHeard(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t, "STORE_MAX_SIZE=8MiB")
	full := 0
	for name := range 4 {
		b := servertest.NewBrowser(t, s.URL, nil)
		form := b.Request("GET", "/api/auth/idp/login", "")
		end := check.Must(b.PostForm(form.Request.URL.String(), url.Values{
			"form": {"create"}, "name": {fmt.Sprint("Anna ", name)}, "passphrase": {"a dog in a boat"},
		}))(t)
		check.NoError(t, end.Body.Close())
		for range 30 {
			resp := b.Request("POST", "/api/games", `{"home_team": "BWH", "away_team": "CPR"}`)
			check.NoError(t, resp.Body.Close())
			if resp.StatusCode == http.StatusServiceUnavailable {
				full++
			}
		}
	}
	if full == 0 {
		t.Error("the games have not filled their share")
	}
	anyone := servertest.NewBrowser(t, s.URL, nil)
	for range 300 {
		check.NoError(t, anyone.Request("GET", "/api/auth/idp/login", "").Body.Close())
	}
	for i := range 300 {
		var a client.Report
		body := fmt.Sprintf(`{"message": %q}`, largestMessage)
		resp := anyone.Request("POST", "/notify", body, "Idempotency-Key", fmt.Sprint(i))
		check.NoError(t, json.NewDecoder(resp.Body).Decode(&a))
		check.NoError(t, resp.Body.Close())
		if resp.StatusCode != http.StatusAccepted {
			t.Fatalf("announcement %d: status %d", i, resp.StatusCode)
		}
		check.NoError(t, anyone.Request("DELETE", "/notify/"+a.ID, "").Body.Close())
	}
	var health struct {
		Status string
		Checks map[string]map[string]any
	}
	anyone.Read("/health", &health)
	store := health.Checks["store"]
	if store["games_bytes"].(float64) < 0.8*store["games_max_bytes"].(float64) || health.Status == "failing" {
		t.Errorf("health: %+v", health)
	}
	s.AwaitPlayed(s.Post(client.Announcement{Message: "Ball four."}).ID)
}
