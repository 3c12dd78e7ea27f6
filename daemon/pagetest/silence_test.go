package pagetest_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// A wire lies between a browser and the appliance. While it is cut, connections
// stand and nothing goes through, as when somebody walks out of the range of
// the Wi-Fi: nobody is told.
type wire struct {
	url string

	mu    sync.Mutex
	whole chan struct{} // closed while it is
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{url: "http://" + ln.Addr().String(), whole: make(chan struct{})}
	close(w.whole)
	var running sync.WaitGroup
	var conns sync.Map
	running.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", strings.TrimPrefix(to, "http://"))
			if err != nil {
				_ = near.Close() // the browser sees it
				continue
			}
			conns.Store(near, far)
			running.Go(func() { w.carry(far, near) })
			running.Go(func() { w.carry(near, far) })
		}
	})
	t.Cleanup(func() {
		w.mend()
		_ = ln.Close() // there is no one left
		conns.Range(func(near, far any) bool {
			_, _ = near.(net.Conn).Close(), far.(net.Conn).Close()
			return true
		})
		running.Wait()
	})
	return w
}

// carry copies, as long as the wire is whole.
func (w *wire) carry(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		whole := w.whole
		w.mu.Unlock()
		<-whole
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if half, ok := to.(interface{ CloseWrite() error }); ok && errors.Is(err, io.EOF) {
				_ = half.CloseWrite() // the other one may have gone too
			}
			return
		}
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = make(chan struct{})
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.whole:
	default:
		close(w.whole)
	}
}

// A network that falls silent without a word is noticed, a call that was made
// just before is made once, and the page goes on where the game is.
func TestTheNetworkFallsSilent(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	w := newWire(t, a.url)
	a.url = w.url
	b := newTab(t, a)
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "bench coach"})
	b.handIn("home")
	b.says(".link-state", "Live")
	b.playTo(`document.querySelectorAll(".half").length > 2`)
	b.await(canCall)
	b.expect("WebSocket", "ERR_")
	w.cut()
	before := value[string](b, shown)
	b.call()
	b.says(".chip", "Sent")
	b.says(".banner", "connection is lost")
	if after := value[string](b, shown); after != before {
		t.Errorf("nothing came through, and the page went from %s to %s", before, after)
	}
	w.mend()
	b.says(".link-state", "Live")
	b.await(`!document.querySelector(".chip")`)
	b.await(shown + " !== " + quote(before))
	b.playTo(`document.querySelectorAll(".half").length > 4`)
	calls := value[int](b, `fetch("/api/games/`+id+`/events?since=0").then((r) => r.json()).then((r) => r.events.filter((e) => e.d?.kind === "sealed" && e.d.side === "home").length -
		new Set(r.events.filter((e) => e.d?.kind === "sealed" && e.d.side === "home").map((e) => e.d.call?.d)).size)`)
	if calls != 0 {
		t.Errorf("%d calls were made twice", calls)
	}
}
