package pulse

import (
	"sync"
	"time"
)

// A flow holds the flow control state of one stream.
type flow struct {
	granted chan struct{} // capacity 1: credit has grown
	killed  chan struct{} // closed when the server has killed the stream

	mu        sync.Mutex
	credit    int // bytes that the server has requested and not received
	repeated  int // bytes that it will request although it has received them
	placement placement
}

// A placement is the sink of a stream and its buffering there.
type placement struct {
	sink         uint32
	bufferTarget int           // bytes that the server wants buffered
	minRequest   int           // bytes that it requests at least
	latency      time.Duration // of the sink
}

func newFlow() *flow {
	return &flow{granted: make(chan struct{}, 1), killed: make(chan struct{})}
}

func (f *flow) grant(bytes int) {
	f.mu.Lock()
	again := min(bytes, f.repeated)
	f.repeated -= again
	f.credit += bytes - again
	f.mu.Unlock()
	signal(f.granted)
}

// overwrite records that bytes are sent that replace others. PipeWire counts them as requested ones, as far as there
// are such, and requests these again.
func (f *flow) overwrite(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repeated += min(bytes, f.credit)
}

// take returns how many of n samples may be sent now, and subtracts them from the credit.
func (f *flow) take(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = max(0, min(n, f.credit/sampleBytes))
	f.credit -= n * sampleBytes
	return n
}

// empty reports whether the server, as far as is known, has nothing left to play.
func (f *flow) empty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.credit > f.placement.bufferTarget-f.placement.minRequest
}

func (f *flow) move(p placement) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.placement = p
}

func (f *flow) current() placement {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.placement
}

// kill must be called by the read loop only.
func (f *flow) kill() {
	select {
	case <-f.killed:
	default:
		close(f.killed)
	}
}
