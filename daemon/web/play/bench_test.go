package play_test

import (
	"encoding/json"
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

	"github.com/gorilla/websocket"

	"pressbox/daemon/replica"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/webtest"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
)

// watchers is the number of websockets that follow one game in the benchmarks.
const watchers = 1000

// BenchmarkBroadcast measures the time from sending an event to 1,000 watchers until the last one has read it,
// alternating with gorilla's bare loop: one prepared message, written to 1,000 connections one after the other. Limit:
// x-bare ≤ 1.3. x-cpu is the ratio of processor time, which depends less on the load of the host.
func BenchmarkBroadcast(b *testing.B) {
	r := webtest.NewRig(b)
	broadcaster := play.NewBroadcaster(r.Server)
	audience := openAudience(b, broadcaster, broadcaster.Opened)
	bare := &bareLoop{opened: make(chan struct{})}
	bareAudience := openAudience(b, bare, bare.opened)
	text := strings.Repeat("Hobbs singles to center field. ", 60)
	broadcast := func() {
		event := &protocol.Event{Text: []string{text}}
		broadcaster.Send(&protocol.Message{Type: "event", Game: "game", Revision: 1, Data: event})
		<-audience.done
	}
	loop := func() {
		bare.send(b, text)
		<-bareAudience.done
	}
	var broadcasts, loops, ratios, cpuRatios []float64
	for b.Loop() {
		for i := range 10 {
			var ours, theirs, oursCPU, theirsCPU time.Duration
			if i%2 == 0 { // the second one starts with a warm cache
				ours, oursCPU = measure(broadcast)
				theirs, theirsCPU = measure(loop)
			} else {
				theirs, theirsCPU = measure(loop)
				ours, oursCPU = measure(broadcast)
			}
			broadcasts, loops = append(broadcasts, ours.Seconds()*1e3), append(loops, theirs.Seconds()*1e3)
			ratios = append(ratios, float64(ours)/float64(theirs))
			cpuRatios = append(cpuRatios, float64(oursCPU)/float64(theirsCPU))
		}
	}
	b.ReportMetric(median(broadcasts), "ms/broadcast")
	b.ReportMetric(median(loops), "ms/loop")
	b.ReportMetric(median(ratios), "x-bare")
	b.ReportMetric(median(cpuRatios), "x-cpu")
	b.ReportMetric(0, "ns/op")
}

// measure returns the wall and processor time of do.
func measure(do func()) (wall, cpu time.Duration) {
	began, before := time.Now(), cpuTime()
	do()
	return time.Since(began), cpuTime() - before
}

// cpuTime returns the processor time of this process.
func cpuTime() time.Duration {
	var all syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &all); err != nil {
		panic(err)
	}
	return time.Duration(all.Utime.Nano() + all.Stime.Nano())
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// A bareLoop serves websockets and writes to them one after the other.
type bareLoop struct {
	opened chan struct{} // receives a value for each websocket
	mu     sync.Mutex    // guards conns
	conns  []*websocket.Conn
}

func (c *bareLoop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	c.mu.Lock()
	c.conns = append(c.conns, conn)
	c.mu.Unlock()
	c.opened <- struct{}{}
	_, _, _ = conn.ReadMessage() // until the client closes
}

func (c *bareLoop) send(b *testing.B, text string) {
	b.Helper()
	frame := []byte(`{"t":"event","g":"game","rev":1,"d":{"text":["` + text + `"]}}`)
	m := check.Must(websocket.NewPreparedMessage(websocket.TextMessage, frame))(b)
	for _, conn := range c.conns {
		check.NoError(b, conn.WritePreparedMessage(m))
	}
}

// An audience is the clients of a server of websockets.
type audience struct {
	read atomic.Int64
	done chan struct{} // receives a value when all have read one more message
}

// openAudience opens the websockets. The server sends a value to opened for each.
func openAudience(b *testing.B, handler http.Handler, opened <-chan struct{}) *audience {
	b.Helper()
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	g := &audience{done: make(chan struct{}, 1)}
	for range watchers {
		conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		check.NoError(b, err)
		_ = resp.Body.Close()
		<-opened
		b.Cleanup(func() { _ = conn.Close() })
		go func() {
			for {
				if _, _, err := conn.ReadMessage(); err != nil {
					return
				}
				if g.read.Add(1)%watchers == 0 {
					g.done <- struct{}{}
				}
			}
		}()
	}
	return g
}

// BenchmarkWatcher measures the memory of an idle watcher: heap and stacks of 1,000 authenticated websockets
// that have joined a game, including their clients, which are bare connections. Limit: KB/watcher ≤ 40.
func BenchmarkWatcher(b *testing.B) {
	p := webtest.NewGamesRig(b)
	address := p.Open(b)
	anna := p.Player(b, "Anna")
	id := anna.CreateGame(`{"opponent": "bot"}`).ID
	anna.SuggestLineup(id, "home")
	for b.Loop() {
		before := memoryInUse()
		var conns []net.Conn
		for range watchers {
			conns = append(conns, openBareWatcher(anna, address, id))
		}
		b.ReportMetric(float64(memoryInUse()-before)/watchers/1000, "KB/watcher")
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	b.ReportMetric(0, "ns/op")
}

// memoryInUse returns the bytes of heap and stacks after garbage collection.
func memoryInUse() int64 {
	for range 5 {
		runtime.GC() // each one halves oversized stacks
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// openBareWatcher joins a game over a websocket and reads until the state arrives, without a library that has buffers.
func openBareWatcher(f *webtest.Player, address, id string) net.Conn {
	f.T.Helper()
	conn := check.Must(net.Dial("tcp", address))(f.T)
	fmt.Fprintf(conn, "GET /api/ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"+
		"Cookie: pressbox_access=%s\r\n\r\n", address, f.AccessToken())
	readUntil(f, conn, "\r\n\r\n")
	join := fmt.Sprintf(`{"t":"join","g":%q,"d":{"since":1}}`, id)
	frame := append([]byte{0x81, 0x80 | byte(len(join)), 0, 0, 0, 0}, join...) // masked with zeros
	check.Must(conn.Write(frame))(f.T)
	readUntil(f, conn, `{"t":"state"`)
	return conn
}

func readUntil(f *webtest.Player, conn net.Conn, text string) {
	f.T.Helper()
	var received strings.Builder
	chunk := make([]byte, 16<<10)
	for !strings.Contains(received.String(), text) {
		n, err := conn.Read(chunk)
		if err != nil {
			f.T.Fatalf("%v after %s", err, received.String())
		}
		received.Write(chunk[:n])
	}
}

// BenchmarkDecisionFrames measures the time from the frame of the manager who decides last until both
// managers have read the play, with a store on disk, in one game and in 200 whose managers think for a
// second, alternating with bare commits to the same kind of store. Limit: x-limit ≤ 1, of a commit and 2 ms.
func BenchmarkDecisionFrames(b *testing.B) {
	for _, n := range []int{1, 200} {
		b.Run(fmt.Sprintf("%dgames", n), func(b *testing.B) {
			bare := check.Must(store.Open(filepath.Join(b.TempDir(), "bare.db"), store.Options{}))(b)
			defer bare.Close()
			p := webtest.NewGamesRig(b)
			address := p.Open(b)
			pairs := make([]*pair, n)
			for i := range pairs {
				pairs[i] = newPair(b, p, address)
			}
			var commits, waits, ratios []float64
			for b.Loop() {
				for range 5 {
					commit, wait := bareCommit(b, bare), decideAll(pairs, 200/n)
					commits, waits = append(commits, commit.Seconds()*1e3), append(waits, wait.Seconds()*1e3)
					ratios = append(ratios, float64(wait)/float64(commit+2*time.Millisecond))
				}
			}
			b.ReportMetric(median(commits), "ms/commit")
			b.ReportMetric(median(waits), "ms/decision")
			b.ReportMetric(median(ratios), "x-limit")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// bareCommit returns the median time of a commit of as many bytes as a move has.
func bareCommit(b *testing.B, s *store.Store) time.Duration {
	b.Helper()
	took := make([]time.Duration, 60)
	for i := range took {
		began := time.Now()
		check.NoError(b, s.SaveTeamData(b.Context(), fmt.Sprint(i), make([]byte, 2000)))
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// A pair plays one game after the other.
type pair struct {
	rig     *webtest.Rig
	b       *testing.B
	address string
	clients [2]*client
	n       int
}

// A client is a manager's websocket.
type client struct {
	*webtest.Socket
	game  string
	rev   uint64
	legal []replica.Choice
}

func newPair(b *testing.B, p *webtest.Rig, address string) *pair {
	b.Helper()
	q := &pair{rig: p, b: b, address: address}
	q.start()
	return q
}

// start starts a game.
func (q *pair) start() {
	table := q.rig.NewMatch(q.b, `{"announce": "off"}`)
	for i, f := range []*webtest.Player{table.Home, table.Away} {
		if q.clients[i] != nil {
			_ = q.clients[i].Close()
		}
		q.clients[i] = &client{Socket: f.Dial(q.address), game: table.ID}
		q.clients[i].Sendf(`{"t":"join","g":%q}`, table.ID)
		q.clients[i].read(q.b, "state")
	}
}

// read reads until a message of this kind with a state.
func (s *client) read(b *testing.B, kind string) {
	b.Helper()
	for {
		_, text, err := s.ReadMessage()
		check.NoError(b, err)
		var f struct {
			T   string
			Rev uint64
			D   struct {
				State *struct{}
				Legal []replica.Choice
			}
		}
		check.NoError(b, json.Unmarshal(text, &f))
		if f.T == kind && (f.T == "skip" || f.D.State != nil) {
			s.rev, s.legal = f.Rev, f.D.Legal
			return
		}
	}
}

// decide plays a turn and returns the time from the last decision's frame.
func (q *pair) decide() time.Duration {
	if len(q.clients[0].legal)+len(q.clients[1].legal) == 0 {
		q.start()
	}
	first, last := q.clients[0], q.clients[1]
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
	began := time.Now()
	q.send(last)
	for _, s := range q.clients {
		s.read(q.b, "event")
	}
	return time.Since(began)
}

// send sends the first legal action.
func (q *pair) send(s *client) {
	q.n++
	s.Sendf(`{"t":"cmd","g":%q,"cid":"c%d","rev":%d,"d":{"action":%s}}`, s.game, q.n, s.rev, s.legal[0].Action)
}

// decideAll plays turns in all games at once and returns the median time.
func decideAll(pairs []*pair, turns int) time.Duration {
	var deciding sync.WaitGroup
	var mu sync.Mutex
	var all []time.Duration
	for i, q := range pairs {
		deciding.Go(func() {
			for range turns {
				if len(pairs) > 1 { // the time to think
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
