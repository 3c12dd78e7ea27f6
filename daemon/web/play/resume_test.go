package play_test

import (
	"strings"
	"testing"

	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// From each revision, a join and a sync send exactly the missing events.
func TestSocket_resume(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	anna := p.Player(t, "Anna")
	g := anna.CreateGame(`{"opponent": "bot", "innings": 3}`)
	anna.SuggestLineup(g.ID, "home")
	m := anna.Manage(address, g.ID)
	m.PlayOut()
	var whole []webtest.Frame
	fresh := anna.Manage(address, g.ID)
	fresh.Join()
	for f := fresh.Next(); f.T != "state"; f = fresh.Next() {
		if f.T == "event" || f.T == "skip" {
			whole = append(whole, f)
		}
	}
	check.Require(t, len(whole) == int(m.Rev), "a game of %d revisions was sent in %d", m.Rev, len(whole))
	var k *webtest.Socket
	for since := range m.Rev + 2 {
		if since%30 == 0 { // below the rate limit of a socket
			k = anna.Dial(address)
		}
		kind := "join"
		if since%2 == 1 {
			kind = "sync"
		}
		k.Sendf(`{"t":%q,"g":%q,"d":{"since":%d}}`, kind, g.ID, since)
		var got []string
		for f := k.Until("event", "skip", "state"); f.T != "state"; f = k.Until("event", "skip", "state") {
			got = append(got, string(f.Text))
		}
		var want []string
		for _, f := range whole[min(since, m.Rev):] {
			want = append(want, string(f.Text))
		}
		check.Require(t, strings.Join(got, "\n") == strings.Join(want, "\n"),
			"%s from %d sends %d revisions, want %d", kind, since, len(got), len(want))
	}
}
