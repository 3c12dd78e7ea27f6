package pulse

import (
	"sync"
	"time"
)

// A feed is what the server has said of one stream.
type feed struct {
	told  chan struct{} // holds one token when credit has grown
	ended chan struct{} // closed when the server has killed the stream

	mu     sync.Mutex
	credit int // bytes that the server has asked for and not been sent
	where  placement
}

// A placement is where a stream plays, and how it is buffered there.
type placement struct {
	sink   uint32
	target int           // bytes that the server wants to have ahead
	least  int           // bytes that it asks for at once, at least
	lag    time.Duration // from the stream to the ear
}

func newFeed() *feed {
	return &feed{told: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (f *feed) grant(bytes int) {
	f.mu.Lock()
	f.credit += bytes
	f.mu.Unlock()
	notify(f.told)
}

// take returns how many of n samples may be sent now, and counts them as
// sent.
func (f *feed) take(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = max(0, min(n, f.credit/width))
	f.credit -= n * width
	return n
}

// dry says whether the server has, as far as we know, nothing left to play.
func (f *feed) dry() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.credit > f.where.target-f.where.least
}

func (f *feed) move(where placement) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.where = where
}

func (f *feed) place() placement {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.where
}

// kill is called by the read loop only.
func (f *feed) kill() {
	select {
	case <-f.ended:
	default:
		close(f.ended)
	}
}
