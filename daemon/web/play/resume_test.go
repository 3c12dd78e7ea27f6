package play_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/daemon/replica"
	"pressbox/daemon/web/webtest"
)

// A sealed call is seen by who made it, and by nobody else, until it is
// resolved: not in any byte that the other manager, a spectator, a display or
// the HTTP API is told.
func TestSealedCallsStayHidden(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewTable(t, `{}`)
	anna, bert := seat.Home.Manage(address, seat.ID).Sit(), seat.Away.Manage(address, seat.ID).Sit()
	carl := p.Player(t, "Carl")
	spectator := carl.Manage(address, seat.ID).Sit()
	pitch, swing := anna, bert
	pitcher, batter := seat.Home, seat.Away
	if pitch.Legal[0].Group != "defence" {
		pitch, swing, pitcher, batter = bert, anna, seat.Away, seat.Home
	}
	closeDisplay := watchHouse(t, address)
	const secret = "pitch around"
	pitch.Heard, swing.Heard, spectator.Heard = nil, nil, nil
	pitch.Command([]byte(`{"a":"defence","pitch":"` + secret + `","d":1}`))
	for _, m := range []*webtest.Manager{pitch, swing, spectator} {
		for len(m.Heard) == 0 || !strings.Contains(m.Heard[len(m.Heard)-1], `"decided":true`) {
			m.Follow(m.Next())
		}
	}
	own, other, third := strings.Join(pitch.Heard, ""), strings.Join(swing.Heard, ""), strings.Join(spectator.Heard, "")
	if !strings.Contains(own, secret) {
		t.Errorf("its maker is not told of it: %s", own)
	}
	for name, told := range map[string]string{
		"the other manager": other, "a spectator": third,
		"the other manager over HTTP": batter.Ask("GET", "/api/games/"+seat.ID, "", 200, nil).Text + batter.Ask("GET", "/api/games/"+seat.ID+"/events", "", 200, nil).Text,
		"a spectator over HTTP":       carl.Ask("GET", "/api/games/"+seat.ID, "", 200, nil).Text + carl.Ask("GET", "/api/games/"+seat.ID+"/events", "", 200, nil).Text,
	} {
		if strings.Contains(told, secret) || strings.Contains(told, `"sealed"`) {
			t.Errorf("%s is told of it: %s", name, told)
		}
	}
	if events := pitcher.Ask("GET", "/api/games/"+seat.ID+"/events", "", 200, nil).Text; !strings.Contains(events, secret) {
		t.Error("its maker does not find it among the events")
	}
	if len(swing.Legal) == 0 || len(pitch.Legal) != 0 {
		t.Errorf("%d decisions are awaited of the other one, %d of its maker", len(swing.Legal), len(pitch.Legal))
	}
	swing.Command(swing.Legal[0].Action)
	for !strings.Contains(spectator.Heard[len(spectator.Heard)-1], `"kind":"play"`) {
		spectator.Follow(spectator.Next())
	}
	if !strings.Contains(spectator.Heard[len(spectator.Heard)-1], secret) {
		t.Error("what was called is not told with what came of it")
	}
	if told := closeDisplay(); strings.Contains(told[:strings.Index(told+`"kind":"play"`, `"kind":"play"`)], secret) {
		t.Errorf("a display was told of it: %s", told)
	}
}

// watchHouse opens the display's events; stop closes them and is all that they said.
func watchHouse(t *testing.T, address string) (stop func() string) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/api/kiosk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() }) // the server would wait for it
	told := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(resp.Body) // until it is closed
		told <- string(text)
	}()
	return func() string {
		_ = resp.Body.Close()
		return <-told
	}
}

// Two tabs of a person are told the same; what one does with a command id, the
// other one cannot do again; the person is there until the last one closes.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewTable(t, `{}`)
	bert := seat.Away.Manage(address, seat.ID).Sit()
	one, two := seat.Home.Manage(address, seat.ID).Sit(), seat.Home.Manage(address, seat.ID).Sit()
	cid := one.Command(one.Legal[0].Action)
	first := one.Until("ack")
	sealed := two.Until("event")
	if !strings.Contains(string(sealed.Text), `"kind":"sealed"`) || first.Rev != sealed.Rev {
		t.Errorf("one tab is told %s, the other %s", first.Text, sealed.Text)
	}
	two.Sendf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, seat.ID, cid, two.Rev, two.Legal[0].Action)
	if again := two.Until("ack", "nak"); again.T != "ack" || string(again.D) != `{"dup":true}` || again.Rev != first.Rev {
		t.Errorf("the same command again is answered %s", again.Text)
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

// Two managers who decide at the same moment are both heard, however often; two
// tabs that decide the same at the same moment decide once.
func TestRacesOnOneRevision(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	seat := p.NewTable(t, `{"innings": 3}`)
	anna, bert, tab := seat.Home.Manage(address, seat.ID).Sit(), seat.Away.Manage(address, seat.ID).Sit(), seat.Home.Manage(address, seat.ID).Sit()
	tab.Commands = 1000
	for range 15 { // within the allowance of a socket
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
				t.Fatalf("two commands became revision %d", f.Rev)
			} else {
				revs[f.Rev] = true
			}
		}
		for _, m := range []*webtest.Manager{anna, bert, tab} { // until all know the same, and something is awaited
			m.Sendf(`{"t":"sync","g":%q,"d":{"since":%d}}`, seat.ID, m.Rev)
			for f := m.Next(); ; f = m.Next() {
				if f.T == "event" && f.Rev <= m.Rev || f.T == "skip" && f.Rev <= m.Rev {
					continue // it came while the sync was asked for
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
			t.Fatalf("%d of the three were refused", naks)
		}
	}
}

// From any revision, a join and a sync tell exactly what is missing.
func TestResumingFromAnyRevision(t *testing.T) {
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
		t.Fatalf("a game of %d revisions is told in %d", m.Rev, len(whole))
	}
	var k *webtest.Socket
	for since := range m.Rev + 2 {
		if since%30 == 0 { // within the allowance of a socket
			k = anna.Dial(address)
		}
		kind := "join"
		if since%2 == 1 {
			kind = "sync"
		}
		if since%30 == 0 && kind == "sync" {
			t.Fatal("a sync before a join")
		}
		k.Sendf(`{"t":%q,"g":%q,"d":{"since":%d}}`, kind, g.ID, since)
		var told []string
		for f := k.Until("event", "skip", "state"); f.T != "state"; f = k.Until("event", "skip", "state") {
			told = append(told, string(f.Text))
		}
		var want []string
		for _, f := range whole[min(since, m.Rev):] {
			want = append(want, string(f.Text))
		}
		if strings.Join(told, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%s from %d tells %d revisions, want %d", kind, since, len(told), len(want))
		}
	}
}

// A cutter stands between clients and a server: it delays what it hands on,
// loses it, and cuts connections.
type cutter struct {
	net.Listener
	to   string
	dice *rand.Rand
	mu   sync.Mutex // guards dice
}

func newCutter(t *testing.T, to string, seed uint64) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, to: to, dice: rand.New(rand.NewPCG(seed, 7))}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { c.carry(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return c
}

func (c *cutter) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// carry hands on what both say, for a while.
func (c *cutter) carry(client net.Conn) {
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = client.Close()
		return
	}
	var carrying sync.WaitGroup
	hand := func(to, from net.Conn) {
		defer func() { _, _ = to.Close(), from.Close() }()
		left := 2000 + c.draw(60_000) // bytes until it is cut
		chunk := make([]byte, 1+c.draw(4000))
		for left > 0 {
			n, err := from.Read(chunk)
			if err != nil {
				return
			}
			if c.draw(10) == 0 {
				time.Sleep(time.Duration(c.draw(3000)) * time.Microsecond) // what a slow network does
			}
			if c.draw(200) == 0 {
				return // lost, and the connection with it
			}
			if _, err := to.Write(chunk[:min(n, left)]); err != nil {
				return
			}
			left -= n
		}
	}
	carrying.Go(func() { hand(server, client) })
	carrying.Go(func() { hand(client, server) })
	carrying.Wait()
}

// endure plays to the end over a network that cuts connections: after each cut
// it goes on from the revision that it has, and repeats what was not answered.
// It returns how often it was cut, and the revisions of its commands.
func endure(m *webtest.Manager, f *webtest.Player, address string) (cuts int, acked map[string]uint64, err error) {
	acked = map[string]uint64{}
	var open string // the command that was not answered, and its id
	var cid string
	for !m.Over {
		if cuts > 1000 || f.T.Failed() { // or nobody plays against him any more
			return cuts, acked, fmt.Errorf("cut off %d times: %w", cuts, errBroken)
		}
		if m.Socket, err = f.TryDial(address); err != nil {
			cuts++
			continue // while saying hello
		}
		err := func() error {
			defer m.Close()
			if err := m.TrySendf(`{"t":"join","g":%q,"d":{"since":%d}}`, m.Game, m.Rev); err != nil {
				return err
			}
			for !m.Over {
				heard, err := m.Read()
				if err != nil {
					return err
				}
				if heard.T == "ack" {
					if before, ok := acked[heard.CID]; ok && before != heard.Rev {
						return fmt.Errorf("%s is revision %d, and was %d: %w", heard.CID, heard.Rev, before, errBroken)
					}
					acked[heard.CID] = heard.Rev
				}
				if (heard.T == "ack" || heard.T == "nak") && heard.CID == cid {
					open, cid = "", ""
				}
				if heard.T == "ack" && !strings.Contains(string(heard.D), `"dup":true`) {
					m.Legal = nil // of a state from before it: what may be done now comes with what it brought
				}
				m.Follow(heard)
				if heard.T == "state" && open != "" {
					if err := m.TrySendf("%s", open); err != nil {
						return err
					}
					continue
				}
				if open == "" && len(m.Legal) > 0 {
					m.Commands++
					cid = fmt.Sprintf("c%d", m.Commands)
					open = fmt.Sprintf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, m.Game, cid, m.Rev, m.Legal[0].Action)
					m.Legal = nil
					if err := m.TrySendf("%s", open); err != nil {
						return err
					}
				}
			}
			return nil
		}()
		if errors.Is(err, errBroken) {
			return cuts, acked, err
		}
		if err != nil {
			cuts++
		}
	}
	return cuts, acked, nil
}

var errBroken = errors.New("a promise is broken")

// Over a network that delays, loses and cuts, two managers play to the end and
// are told every revision once; what was acknowledged has happened, once.
func TestGamesOverABadNetwork(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	for i := range 4 {
		seat := p.NewTable(t, `{"innings": 3}`) // one after the other: the provider vouches for one person at a time
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			bad := newCutter(t, address, uint64(i)).Addr().String()
			var playing sync.WaitGroup
			managers := []*webtest.Manager{}
			cuts := make([]int, 2)
			for n, f := range []*webtest.Player{seat.Home, seat.Away} {
				m := &webtest.Manager{Replica: webtest.NewReplica(t, f.Ask("GET", "/api/games/"+seat.ID, "", 200, nil)), Game: seat.ID, Socket: &webtest.Socket{T: t}}
				managers = append(managers, m)
				playing.Go(func() {
					var acked map[string]uint64
					var err error
					if cuts[n], acked, err = endure(m, f, bad); err != nil {
						t.Error(err)
					}
					findAll(m, f, acked)
				})
			}
			playing.Wait()
			if managers[0].Hash != managers[1].Hash || managers[0].Hash == "" {
				t.Errorf("they ended with %.8s and %.8s", managers[0].Hash, managers[1].Hash)
			}
			t.Logf("%d revisions, cut off %v times", managers[0].Rev, cuts)
		})
	}
}

// findAll fails the test unless every command that was acknowledged is a
// revision of the game.
func findAll(m *webtest.Manager, f *webtest.Player, acked map[string]uint64) {
	m.T.Helper()
	var all struct{ Events []replica.Frame }
	f.Ask(http.MethodGet, "/api/games/"+m.Game+"/events", "", 200, &all)
	for cid, rev := range acked {
		if rev < 1 || rev > uint64(len(all.Events)) {
			m.T.Errorf("%s was acknowledged as revision %d of %d", cid, rev, len(all.Events))
			continue
		}
		var e struct{ Kind string }
		if err := json.Unmarshal(all.Events[rev-1].D, &e); err != nil {
			m.T.Errorf("%s was acknowledged as revision %d, which is hidden", cid, rev)
		}
	}
}

// Five hundred follow one game to its end, and all are told all of it. This test
// is not parallel: while five hundred read nobody else is served in time.
func TestFiveHundredFollowAGame(t *testing.T) {
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	anna := p.Player(t, "Anna")
	g := anna.CreateGame(`{"opponent": "bot", "innings": 3}`)
	anna.SuggestLineup(g.ID, "home")
	var watching, ready sync.WaitGroup
	ended := make([]uint64, 500)
	for i := range ended {
		w := &watcher{Player: anna, game: g.ID, address: address, joined: sync.OnceFunc(ready.Done)}
		ready.Add(1)
		watching.Go(func() {
			defer w.joined() // also when it fails
			if err := w.followOut(); err != nil {
				t.Errorf("watcher %d at revision %d: %v", i, w.rev, err)
			}
			ended[i] = w.rev
		})
	}
	ready.Wait()
	m := anna.Manage(address, g.ID)
	m.PlayOut()
	watching.Wait()
	for i, rev := range ended {
		if rev != m.Rev {
			t.Errorf("watcher %d was told %d of %d revisions", i, rev, m.Rev)
		}
	}
}

// A watcher follows a game and only counts what it is told.
type watcher struct {
	*webtest.Player
	game, address string
	joined        func() // called when it is told where the game stands
	rev           uint64
}

// followOut follows to the end. On a machine that is too busy to answer pings it is
// hung up on, and comes back for what it has missed.
func (w *watcher) followOut() error {
	for cuts := 0; ; cuts++ {
		over, err := w.follow()
		if over || errors.Is(err, errBroken) || cuts == 100 {
			return err
		}
	}
}

// follow follows on one connection.
func (w *watcher) follow() (over bool, err error) {
	l, err := w.TryDial(w.address)
	if err != nil {
		return false, err
	}
	defer l.Close()
	if err := l.TrySendf(`{"t":"join","g":%q,"d":{"since":%d}}`, w.game, w.rev); err != nil {
		return false, err
	}
	for {
		_, text, err := l.ReadMessage()
		if err != nil {
			return false, err
		}
		switch kind, next := head(text); kind {
		case "state":
			w.joined()
		case "event", "skip":
			if next != w.rev+1 {
				return false, fmt.Errorf("revision %d after %d: %w", next, w.rev, errBroken)
			}
			w.rev = next
		}
		if bytes.Contains(text, []byte(`"kind":"finished"`)) {
			return true, nil
		}
	}
}

// head reads what stands before a frame's d. Who reads all of it five hundred
// times has no time to answer pings.
func head(text []byte) (kind string, rev uint64) {
	d := json.NewDecoder(bytes.NewReader(text))
	_, err := d.Token() // the bracket
	for err == nil && d.More() {
		var key json.Token
		var other json.RawMessage
		if key, err = d.Token(); err != nil {
			break
		}
		switch key {
		case "t":
			err = d.Decode(&kind)
		case "rev":
			err = d.Decode(&rev)
		case "d":
			return kind, rev
		default:
			err = d.Decode(&other)
		}
	}
	return kind, rev
}
