package play_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"encoding/json"

	"github.com/gorilla/websocket"

	"pressbox/daemon/replica"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
	"pressbox/store"
)

// watchers is how many follow one game in the benchmarks.
const watchers = 1000

// BenchmarkBroadcast takes the time from telling 1,000 watchers of an event to
// when the last one has read it, in turns with gorilla's own loop: one prepared
// message, written to 1,000 connections of the same kind one after the other.
// Limit: x-bare ≤ 1.3. x-cpu is the same of processor time, which does not
// depend on what else the machine does.
func BenchmarkBroadcast(b *testing.B) {
	r := webtest.NewRig(b)
	crowd := play.NewCrowd(r.Server)
	ours := openCrowd(b, crowd, crowd.Joined)
	bare := &bareCrowd{joined: make(chan struct{})}
	theirs := openCrowd(b, bare, bare.joined)
	text := strings.Repeat("Hobbs singles to center field. ", 60)
	tell := func() {
		crowd.Tell(&protocol.Message{Type: "event", Game: "game", Revision: 1, Data: &protocol.Event{Text: []string{text}}})
		<-ours.all
	}
	loop := func() {
		bare.tell(b, text)
		<-theirs.all
	}
	var told, looped, ratios, used []float64
	for b.Loop() {
		for i := range 10 {
			var one, other, oneCPU, otherCPU time.Duration
			if i%2 == 0 { // who comes second finds what the first one has left
				one, oneCPU = taken(tell)
				other, otherCPU = taken(loop)
			} else {
				other, otherCPU = taken(loop)
				one, oneCPU = taken(tell)
			}
			told, looped = append(told, one.Seconds()*1e3), append(looped, other.Seconds()*1e3)
			ratios = append(ratios, float64(one)/float64(other))
			used = append(used, float64(oneCPU)/float64(otherCPU))
		}
	}
	b.ReportMetric(middle(told), "ms/broadcast")
	b.ReportMetric(middle(looped), "ms/loop")
	b.ReportMetric(middle(ratios), "x-bare")
	b.ReportMetric(middle(used), "x-cpu")
	b.ReportMetric(0, "ns/op")
}

// taken is the time that something takes, of the clock and of processors.
func taken(do func()) (wall, cpu time.Duration) {
	began, before := time.Now(), cpuTime()
	do()
	return time.Since(began), cpuTime() - before
}

// cpuTime is what this process has used of processors.
func cpuTime() time.Duration {
	var all syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &all); err != nil {
		panic(err)
	}
	return time.Duration(all.Utime.Nano() + all.Stime.Nano())
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// A bareCrowd is connections without anything around them.
type bareCrowd struct {
	joined chan struct{} // gets an element for each
	mu     sync.Mutex    // guards all
	all    []*websocket.Conn
}

func (c *bareCrowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	c.mu.Lock()
	c.all = append(c.all, conn)
	c.mu.Unlock()
	c.joined <- struct{}{}
	_, _, _ = conn.ReadMessage() // until the client goes
}

func (c *bareCrowd) tell(b *testing.B, text string) {
	b.Helper()
	m, err := websocket.NewPreparedMessage(websocket.TextMessage, []byte(`{"t":"event","g":"game","rev":1,"d":{"text":["`+text+`"]}}`))
	if err != nil {
		b.Fatal(err)
	}
	for _, conn := range c.all {
		if err := conn.WritePreparedMessage(m); err != nil {
			b.Fatal(err)
		}
	}
}

// A gallery is the other ends of a crowd's connections.
type gallery struct {
	read atomic.Int64
	all  chan struct{} // holds a token when each has read one message more
}

// openCrowd fills a crowd, which says of each that it has joined.
func openCrowd(b *testing.B, crowd http.Handler, joined <-chan struct{}) *gallery {
	b.Helper()
	server := httptest.NewServer(crowd)
	b.Cleanup(server.Close)
	g := &gallery{all: make(chan struct{}, 1)}
	for range watchers {
		conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		<-joined
		b.Cleanup(func() { _ = conn.Close() })
		go func() {
			for {
				if _, _, err := conn.ReadMessage(); err != nil {
					return
				}
				if g.read.Add(1)%watchers == 0 {
					g.all <- struct{}{}
				}
			}
		}()
	}
	return g
}

// BenchmarkWatcher takes the memory of an idle watcher: heap and stacks of
// 1,000 signed-in websockets that have joined a game, their other ends, which
// are bare connections, included. Limit: KB/watcher ≤ 40.
func BenchmarkWatcher(b *testing.B) {
	p := webtest.NewGamesRig(b)
	address := p.Open(b)
	anna := p.Player(b, "Anna")
	id := anna.CreateGame(`{"opponent": "bot"}`).ID
	anna.SuggestLineup(id, "home")
	for b.Loop() {
		before := inUse()
		var all []net.Conn
		for range watchers {
			all = append(all, watchBarely(anna, address, id))
		}
		b.ReportMetric(float64(inUse()-before)/watchers/1000, "KB/watcher")
		for _, conn := range all {
			_ = conn.Close()
		}
	}
	b.ReportMetric(0, "ns/op")
}

// inUse is how much memory heap and stacks have, once what is idle has shrunk.
func inUse() int64 {
	for range 5 {
		runtime.GC() // halves a stack that is too large
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// watchBarely joins a game over a websocket and reads until the state is there,
// without a library that keeps buffers.
func watchBarely(f *webtest.Player, address, id string) net.Conn {
	f.T.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		f.T.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /api/ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: pressbox_access=%s\r\n\r\n", address, f.AccessToken())
	readUntil(f, conn, "\r\n\r\n")
	join := fmt.Sprintf(`{"t":"join","g":%q,"d":{"since":1}}`, id)
	frame := append([]byte{0x81, 0x80 | byte(len(join)), 0, 0, 0, 0}, join...) // masked with zeros
	if _, err := conn.Write(frame); err != nil {
		f.T.Fatal(err)
	}
	readUntil(f, conn, `{"t":"state"`)
	return conn
}

func readUntil(f *webtest.Player, conn net.Conn, text string) {
	f.T.Helper()
	var heard strings.Builder
	chunk := make([]byte, 16<<10)
	for !strings.Contains(heard.String(), text) {
		n, err := conn.Read(chunk)
		if err != nil {
			f.T.Fatalf("%v after %s", err, heard.String())
		}
		heard.Write(chunk[:n])
	}
}

// BenchmarkDecisionFrames takes a decision's way over websockets: from the
// frame of the manager who decides last to when both managers have read the
// play, over a real store, in one game and in 200 whose managers think for a
// second, in turns with bare commits of the same store. Limit: x-limit ≤ 1, of
// a commit and 2 ms.
func BenchmarkDecisionFrames(b *testing.B) {
	for _, n := range []int{1, 200} {
		b.Run(fmt.Sprintf("%dgames", n), func(b *testing.B) {
			kept, err := store.Open(filepath.Join(b.TempDir(), "bare.db"), store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer kept.Close()
			p := webtest.NewGamesRig(b)
			address := p.Open(b)
			pairs := make([]*pair, n)
			for i := range pairs {
				pairs[i] = newPair(p, b, address)
			}
			var commits, waits, ratios []float64
			for b.Loop() {
				for range 5 {
					commit, wait := bareCommit(b, kept), decideAll(pairs, 200/n)
					commits, waits = append(commits, commit.Seconds()*1e3), append(waits, wait.Seconds()*1e3)
					ratios = append(ratios, float64(wait)/float64(commit+2*time.Millisecond))
				}
			}
			b.ReportMetric(middle(commits), "ms/commit")
			b.ReportMetric(middle(waits), "ms/decision")
			b.ReportMetric(middle(ratios), "x-limit")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// bareCommit is the median time of a commit of as many bytes as a move has.
func bareCommit(b *testing.B, kept *store.Store) time.Duration {
	b.Helper()
	took := make([]time.Duration, 60)
	for i := range took {
		began := time.Now()
		if err := kept.SaveTeamData(b.Context(), fmt.Sprint(i), make([]byte, 2000)); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// A pair is two managers who play one game after the other.
type pair struct {
	park    *webtest.GamesRig
	b       *testing.B
	address string
	seats   [2]*seated
	n       int
}

// A seated is a manager at his websocket.
type seated struct {
	*websocket.Conn
	game  string
	rev   uint64
	legal []replica.Choice
	heard chan heard
}

// heard is a message, and when it had come.
type heard struct {
	text []byte
	at   time.Time
}

// listen reads for as long as there is a connection, as a browser does.
func (s *seated) listen() {
	defer close(s.heard)
	for {
		_, text, err := s.ReadMessage()
		if err != nil {
			return
		}
		s.heard <- heard{text, time.Now()}
	}
}

func newPair(p *webtest.GamesRig, b *testing.B, address string) *pair {
	b.Helper()
	q := &pair{park: p, b: b, address: address}
	q.begin()
	return q
}

// begin begins a game.
func (q *pair) begin() {
	table := q.park.NewTable(q.b, `{"announce": "off"}`)
	for i, f := range []*webtest.Player{table.Home, table.Away} {
		if q.seats[i] != nil {
			_ = q.seats[i].Close()
		}
		q.seats[i] = &seated{Conn: f.Dial(q.address).Conn, game: table.ID, heard: make(chan heard, 1000)}
		go q.seats[i].listen()
		if err := q.seats[i].WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"t":"join","g":%q}`, table.ID)); err != nil {
			q.b.Fatal(err)
		}
		q.seats[i].read(q.b, "state")
	}
}

// read reads until a message that says where the game stands, and is when it
// had come.
func (s *seated) read(b *testing.B, kind string) time.Time {
	b.Helper()
	for {
		next, ok := <-s.heard
		if !ok {
			b.Fatal("hung up on")
		}
		var f struct {
			T   string
			Rev uint64
			D   struct {
				State *struct{}
				Legal []replica.Choice
			}
		}
		if err := json.Unmarshal(next.text, &f); err != nil {
			b.Fatal(err)
		}
		if f.T == kind && (f.T == "skip" || f.D.State != nil) {
			s.rev, s.legal = f.Rev, f.D.Legal
			return next.at
		}
	}
}

// decide has the game resolve a turn, and is how long that took from the last
// decision's frame.
func (q *pair) decide() time.Duration {
	if len(q.seats[0].legal)+len(q.seats[1].legal) == 0 {
		q.begin()
	}
	first, last := q.seats[0], q.seats[1]
	if len(last.legal) == 0 {
		first, last = last, first
	}
	if len(first.legal) > 0 {
		other := last.legal
		q.send(first)
		first.read(q.b, "event")
		last.read(q.b, "skip")
		last.legal = other
	}
	began := q.send(last)
	a, b := q.seats[0].read(q.b, "event"), q.seats[1].read(q.b, "event")
	if b.After(a) {
		a = b
	}
	return a.Sub(began)
}

// send sends the first of what is legal.
func (q *pair) send(s *seated) time.Time {
	q.n++
	text := fmt.Appendf(nil, `{"t":"cmd","g":%q,"cid":"c%d","rev":%d,"d":{"action":%s}}`, s.game, q.n, s.rev, s.legal[0].Action)
	began := time.Now()
	if err := s.WriteMessage(websocket.TextMessage, text); err != nil {
		q.b.Fatal(err)
	}
	return began
}

// decideAll resolves turns in all games at once, and is the median time.
func decideAll(pairs []*pair, turns int) time.Duration {
	var deciding sync.WaitGroup
	var mu sync.Mutex
	var all []time.Duration
	for i, q := range pairs {
		deciding.Go(func() {
			for range turns {
				if len(pairs) > 1 { // people think
					time.Sleep(time.Duration(i%100+1) * 20 * time.Millisecond)
				}
				took := q.decide()
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
			}
		})
	}
	deciding.Wait()
	slices.Sort(all)
	return all[len(all)/2]
}
