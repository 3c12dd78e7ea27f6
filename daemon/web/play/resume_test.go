package play_test

import (
	"strings"
	"sync"
	"testing"

	"pressbox/daemon/web/webtest"
)

// Until a decision is resolved, a sealed call is sent only to the manager who
// made it: not to the other manager, a spectator or a display, and not over HTTP.
func TestSealedCall_hidden(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewMatch(t, `{}`)
	anna, bert := seat.Home.Manage(address, seat.ID).JoinState(), seat.Away.Manage(address, seat.ID).JoinState()
	carl := p.Player(t, "Carl")
	spectator := carl.Manage(address, seat.ID).JoinState()
	pitch, swing := anna, bert
	pitcher, batter := seat.Home, seat.Away
	if pitch.Legal[0].Group != "defence" {
		pitch, swing, pitcher, batter = bert, anna, seat.Away, seat.Home
	}
	display := webtest.OpenDisplay(t, address)
	const secret = "pitch around"
	pitch.Received, swing.Received, spectator.Received = nil, nil, nil
	pitch.Command([]byte(`{"a":"defence","pitch":"` + secret + `","d":1}`))
	for _, m := range []*webtest.Manager{pitch, swing, spectator} {
		for len(m.Received) == 0 || !strings.Contains(m.Received[len(m.Received)-1], `"decided":true`) {
			m.Follow(m.Next())
		}
	}
	if own := strings.Join(pitch.Received, ""); !strings.Contains(own, secret) {
		t.Errorf("its manager did not receive it: %s", own)
	}
	overHTTP := func(f *webtest.Player) string {
		return f.Ask("GET", "/api/games/"+seat.ID, "", 200, nil).Text + f.Ask("GET", "/api/games/"+seat.ID+"/events", "", 200, nil).Text
	}
	for name, received := range map[string]string{
		"the other manager": strings.Join(swing.Received, ""), "the other manager over HTTP": overHTTP(batter),
		"a spectator": strings.Join(spectator.Received, ""), "a spectator over HTTP": overHTTP(carl),
	} {
		if strings.Contains(received, secret) || strings.Contains(received, `"sealed"`) {
			t.Errorf("%s received it: %s", name, received)
		}
	}
	if !strings.Contains(overHTTP(pitcher), secret) {
		t.Error("its manager does not find it in the events")
	}
	if len(swing.Legal) == 0 || len(pitch.Legal) != 0 {
		t.Errorf("%d legal actions of the other manager, %d of its manager", len(swing.Legal), len(pitch.Legal))
	}
	swing.Command(swing.Legal[0].Action)
	for !strings.Contains(spectator.Received[len(spectator.Received)-1], `"kind":"play"`) {
		spectator.Follow(spectator.Next())
	}
	if !strings.Contains(spectator.Received[len(spectator.Received)-1], secret) {
		t.Error("the play does not contain the resolved call")
	}
	display.Await("play", `"kind":"play"`)
	if before := strings.Join(display.All[:len(display.All)-1], "\n"); strings.Contains(before, secret) {
		t.Errorf("a display received it: %s", before)
	}
}

// Two tabs of a person receive the same events; a command id of one is a
// duplicate in the other; the person is online until the last one closes.
func TestSocket_twoTabs(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewMatch(t, `{}`)
	bert := seat.Away.Manage(address, seat.ID).JoinState()
	one, two := seat.Home.Manage(address, seat.ID).JoinState(), seat.Home.Manage(address, seat.ID).JoinState()
	cid := one.Command(one.Legal[0].Action)
	first := one.Until("ack")
	sealed := two.Until("event")
	if !strings.Contains(string(sealed.Text), `"kind":"sealed"`) || first.Rev != sealed.Rev {
		t.Errorf("one tab received %s, the other %s", first.Text, sealed.Text)
	}
	two.Sendf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, seat.ID, cid, two.Rev, two.Legal[0].Action)
	if again := two.Until("ack", "nak"); again.T != "ack" || string(again.D) != `{"dup":true}` || again.Rev != first.Rev {
		t.Errorf("the same command again: answer %s", again.Text)
	}
	two.Commands = 100
	two.Command(two.Legal[0].Action)
	two.WantNak("already_sealed")
	_ = one.Close()
	two.Sendf(`{"t":"ping"}`)
	two.Until("pong")
	_ = two.Close()
	for f := bert.Until("presence"); !strings.Contains(string(f.D), `"home":{"online":false`); f = bert.Until("presence") {
	}
}

// When two managers decide concurrently, both decisions count; when two tabs of
// one manager do, one decision counts.
func TestCommand_concurrent(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewMatch(t, `{"innings": 3}`)
	anna, bert, tab := seat.Home.Manage(address, seat.ID).JoinState(), seat.Away.Manage(address, seat.ID).JoinState(), seat.Home.Manage(address, seat.ID).JoinState()
	tab.Commands = 1000
	for range 15 { // below the rate limit of a socket
		var deciding sync.WaitGroup
		before := anna.Rev
		acks := make(chan webtest.Frame, 3)
		for _, m := range []*webtest.Manager{anna, bert, tab} {
			if len(m.Legal) == 0 {
				continue
			}
			deciding.Go(func() {
				m.Command(m.Legal[0].Action)
				for {
					f := m.Next()
					if f.T == "ack" || f.T == "nak" {
						acks <- f
						return
					}
					m.Follow(f)
				}
			})
		}
		deciding.Wait()
		close(acks)
		revs := map[uint64]bool{}
		naks := 0
		for f := range acks {
			if f.T == "nak" {
				naks++
			} else if revs[f.Rev] {
				t.Fatalf("two commands are revision %d", f.Rev)
			} else {
				revs[f.Rev] = true
			}
		}
		for _, m := range []*webtest.Manager{anna, bert, tab} { // until all have the same revision
			m.Sendf(`{"t":"sync","g":%q,"d":{"since":%d}}`, seat.ID, m.Rev)
			for f := m.Next(); ; f = m.Next() {
				if f.T == "event" && f.Rev <= m.Rev || f.T == "skip" && f.Rev <= m.Rev {
					continue // it arrived before the sync was handled
				}
				m.Follow(f)
				if f.T == "state" {
					break
				}
			}
		}
		if anna.Rev == before || anna.Hash != bert.Hash || tab.Hash != anna.Hash {
			t.Fatalf("after revision %d: %d, hashes %.8s %.8s %.8s", before, anna.Rev, anna.Hash, bert.Hash, tab.Hash)
		}
		if anna.Over {
			return
		}
		if naks > 1 {
			t.Fatalf("%d of three commands were refused", naks)
		}
	}
}

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
	if len(whole) != int(m.Rev) {
		t.Fatalf("a game of %d revisions was sent in %d", m.Rev, len(whole))
	}
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
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%s from %d sends %d revisions, want %d", kind, since, len(got), len(want))
		}
	}
}
