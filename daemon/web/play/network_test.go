package play_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// A faultyProxy forwards connections to a server with delays, and drops data and connections.
type faultyProxy struct {
	net.Listener
	to   string
	dice *rand.Rand
	mu   sync.Mutex // guards dice
}

func newFaultyProxy(t *testing.T, to string, seed uint64) *faultyProxy {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &faultyProxy{Listener: l, to: to, dice: rand.New(rand.NewPCG(seed, 7))}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { c.forward(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return c
}

func (c *faultyProxy) random(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// forward forwards in both directions until it drops the connection.
func (c *faultyProxy) forward(client net.Conn) {
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = client.Close()
		return
	}
	var copying sync.WaitGroup
	forward := func(to, from net.Conn) {
		defer func() { _, _ = to.Close(), from.Close() }()
		left := 2000 + c.random(60_000) // bytes until the connection is dropped
		chunk := make([]byte, 1+c.random(4000))
		for left > 0 {
			n, err := from.Read(chunk)
			if err != nil {
				return
			}
			if c.random(10) == 0 {
				time.Sleep(time.Duration(c.random(3000)) * time.Microsecond) // a slow network
			}
			if c.random(200) == 0 {
				return // drops the chunk and the connection
			}
			if _, err := to.Write(chunk[:min(n, left)]); err != nil {
				return
			}
			left -= n
		}
	}
	copying.Go(func() { forward(server, client) })
	copying.Go(func() { forward(client, server) })
	copying.Wait()
}

// playOverFaults plays to the end over a faultyProxy. After each dropped connection it resumes from its revision and
// repeats the unanswered command. It returns the number of dropped connections and the revisions of its commands.
func playOverFaults(
	m *webtest.Manager, f *webtest.Player, address string,
) (drops int, acked map[string]uint64, err error) {
	acked = map[string]uint64{}
	var open, cid string // the unanswered command and its id
	for !m.Over {
		if drops > 1000 || f.T.Failed() { // the other manager may have stopped
			return drops, acked, fmt.Errorf("%d dropped connections: %w", drops, errInvariant)
		}
		if m.Socket, err = f.TryDial(address); err != nil {
			drops++
			continue // during the handshake
		}
		err := func() error {
			defer m.Close()
			if err := m.TrySendf(`{"t":"join","g":%q,"d":{"since":%d}}`, m.Game, m.Rev); err != nil {
				return err
			}
			for !m.Over {
				got, err := m.Read()
				if err != nil {
					return err
				}
				if got.T == "ack" {
					if before, ok := acked[got.CID]; ok && before != got.Rev {
						return fmt.Errorf("%s is acknowledged as revision %d, before as %d: %w", got.CID, got.Rev,
							before, errInvariant)
					}
					acked[got.CID] = got.Rev
				}
				if (got.T == "ack" || got.T == "nak") && got.CID == cid {
					open, cid = "", ""
				}
				if got.T == "ack" && !strings.Contains(string(got.D), `"dup":true`) {
					m.Legal = nil // outdated; the command's event has the new ones
				}
				m.Follow(got)
				if got.T == "state" && open != "" {
					if err := m.TrySendf("%s", open); err != nil {
						return err
					}
					continue
				}
				if open == "" && len(m.Legal) > 0 {
					m.Commands++
					cid = fmt.Sprintf("c%d", m.Commands)
					open = fmt.Sprintf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, m.Game, cid, m.Rev,
						m.Legal[0].Action)
					m.Legal = nil
					if err := m.TrySendf("%s", open); err != nil {
						return err
					}
				}
			}
			return nil
		}()
		if errors.Is(err, errInvariant) {
			return drops, acked, err
		}
		if err != nil {
			drops++
		}
	}
	return drops, acked, nil
}

var errInvariant = errors.New("invariant violated")

// Over a faulty network, two managers play to the end and receive each revision once; each acknowledged
// command is one revision.
func TestSocket_faultyNetwork(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	for i := range 4 {
		seat := p.NewMatch(t, `{"innings": 3}`) // not parallel: the provider has one identity at a time
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			proxy := newFaultyProxy(t, address, uint64(i)).Addr().String()
			var playing sync.WaitGroup
			managers := []*webtest.Manager{}
			drops := make([]int, 2)
			for n, f := range []*webtest.Player{seat.Home, seat.Away} {
				m := &webtest.Manager{
					Replica: webtest.NewReplica(t, f.Ask("GET", "/api/games/"+seat.ID, "", 200, nil)), Game: seat.ID,
					Socket: &webtest.Socket{T: t},
				}
				managers = append(managers, m)
				playing.Go(func() {
					var acked map[string]uint64
					var err error
					if drops[n], acked, err = playOverFaults(m, f, proxy); err != nil {
						t.Error(err)
					}
					checkAcked(m, f, acked)
				})
			}
			playing.Wait()
			check.That(t, managers[0].Hash == managers[1].Hash && managers[0].Hash != "",
				"final hashes %.8s and %.8s", managers[0].Hash, managers[1].Hash)
			t.Logf("%d revisions, %v dropped connections", managers[0].Rev, drops)
		})
	}
}

// checkAcked fails the test unless every acknowledged command is a revision of the game.
func checkAcked(m *webtest.Manager, f *webtest.Player, acked map[string]uint64) {
	m.T.Helper()
	events := allEvents(f, m.Game)
	for cid, rev := range acked {
		if rev < 1 || rev > uint64(len(events)) {
			m.T.Errorf("%s was acknowledged as revision %d of %d", cid, rev, len(events))
			continue
		}
		var e struct{ Kind string }
		if err := json.Unmarshal(events[rev-1].D, &e); err != nil {
			m.T.Errorf("%s was acknowledged as revision %d, which is not visible", cid, rev)
		}
	}
}

// Five hundred watchers of one game all receive all of it. The test is not parallel, as it slows down all others.
func TestAll_fiveHundredWatchers(t *testing.T) {
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	anna := p.Player(t, "Anna")
	g := anna.CreateGame(`{"opponent": "bot", "innings": 3}`)
	anna.SuggestLineup(g.ID, "home")
	var watching, ready sync.WaitGroup
	revs := make([]uint64, 500)
	for i := range revs {
		w := &watcher{Player: anna, game: g.ID, address: address, joined: sync.OnceFunc(ready.Done)}
		ready.Add(1)
		watching.Go(func() {
			defer w.joined() // if it fails
			if err := w.watch(); err != nil {
				t.Errorf("watcher %d at revision %d: %v", i, w.rev, err)
			}
			revs[i] = w.rev
		})
	}
	ready.Wait()
	m := anna.Manage(address, g.ID)
	m.PlayOut()
	watching.Wait()
	for i, rev := range revs {
		check.Equal(t, rev, m.Rev, "the revision that watcher %d received", i)
	}
}

// A watcher follows a game and counts the revisions.
type watcher struct {
	*webtest.Player
	game, address string
	joined        func() // called when it has received the state
	rev           uint64
}

// watch follows the game to its end. If the host is too busy to answer pings, the server closes the
// connection, and watch resumes on a new one.
func (w *watcher) watch() error {
	for drops := 0; ; drops++ {
		over, err := w.watchOnce()
		if over || errors.Is(err, errInvariant) || drops == 100 {
			return err
		}
	}
}

// watchOnce follows the game on one connection.
func (w *watcher) watchOnce() (over bool, err error) {
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
		parts := envelope.FindSubmatch(text)
		if parts == nil {
			return false, fmt.Errorf("frame %.100s: %w", text, errInvariant)
		}
		switch string(parts[1]) {
		case "state":
			w.joined()
		case "event", "skip":
			if want := strconv.FormatUint(w.rev+1, 10); string(parts[2]) != want {
				return false, fmt.Errorf("revision %s, want %s: %w", parts[2], want, errInvariant)
			}
			w.rev++
		}
		if bytes.Contains(text, []byte(`"kind":"finished"`)) {
			return true, nil
		}
	}
}

// envelope matches the members before a frame's d. Decoding all of it five hundred times leaves no time to
// answer pings.
var envelope = regexp.MustCompile(`^\{"t":"(\w+)"(?:,"rev":(\d+))?`)

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
