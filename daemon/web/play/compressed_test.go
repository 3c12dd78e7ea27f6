package play_test

import (
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"testing"

	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// fetched matches the time of a roster, which changes. timed matches what may differ between one response and
// the next.
var timed = regexp.MustCompile(`"fetched_at":"[^"]*"|"gone_in":\d+`)

// Responses that become large are compressed, and are the same otherwise.
func TestRoutes_compressed(t *testing.T) {
	t.Parallel()
	r := webtest.NewGamesRig(t, webtest.WithTeams)
	m := r.NewMatch(t, `{"opponent": "open"}`)
	m.Home.CreateGame(`{}`) // a list of one game is hardly above the limit
	game := "/api/games/" + m.ID
	for path, large := range map[string]bool{
		"/api/teams": true,
		"/api/teams/" + webtest.HomeTeam() + "/roster": true,
		"/api/games":           true,
		game:                   true,
		game + "/events":       true,
		game + "/boxscore":     true,
		game + "/winprob":      false, // of a game that has just begun
		"/api/stats/standings": false, // no game is finished
		"/api/stats/players":   false,
	} {
		plain := m.Home.Get(path).Want(200)
		packed := m.Home.Send("GET", path, "", "Accept-Encoding", "gzip")
		got, text := packed.Header.Get("Content-Encoding") == "gzip", packed.Text
		if got {
			text = string(check.Must(io.ReadAll(check.Must(gzip.NewReader(strings.NewReader(packed.Text)))(t)))(t))
		}
		check.Equal(t, got, large, "GET %s: compressed", path)
		check.Equal(t, plain.Header.Get("Content-Encoding"), "", "GET %s without gzip: encoding", path)
		for _, answer := range []webtest.Page{plain, packed} {
			check.Equal(t, answer.Header.Get("Vary"), "Accept-Encoding", "GET %s: Vary", path)
		}
		check.Equal(t, timed.ReplaceAllString(text, ""), timed.ReplaceAllString(plain.Text, ""),
			"GET %s: %d bytes compressed, %d plain, which differ", path, len(text), len(plain.Text))
	}
}
