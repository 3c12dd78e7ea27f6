package pulsetest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
)

// A Recording is what the sink "speaker" has played since it began, silence
// included, at the sink's own rate.
type Recording struct {
	server *Server
	end    func() // of the recorder

	mu      sync.Mutex
	grown   sync.Cond // waits with mu for more samples or the end
	samples []float32
	ended   bool
}

// Record begins to record and returns once the first samples have come.
func (s *Server) Record() *Recording {
	s.tb.Helper()
	parec := s.command("parec", "--server="+s.Address, "--device=speaker.monitor", "--raw", "--format=float32le",
		fmt.Sprintf("--rate=%d", s.cfg.Rate), "--channels=1", "--latency-msec=20")
	pipe, err := parec.StdoutPipe()
	if err != nil {
		s.tb.Fatal(err)
	}
	if err := parec.Start(); err != nil {
		s.tb.Fatalf("record (run \"make test\", it installs parec): %v", err)
	}
	r := &Recording{server: s}
	r.grown.L = &r.mu
	read := make(chan struct{})
	go func() {
		defer close(read)
		r.take(pipe)
	}()
	r.end = sync.OnceFunc(func() {
		_ = parec.Process.Kill() // it may have ended with the server
		<-read
		_ = parec.Wait() // it was killed
	})
	s.tb.Cleanup(r.end)
	r.Wait(1)
	return r
}

// take reads samples until the recorder ends.
func (r *Recording) take(pipe io.Reader) {
	in := bufio.NewReader(pipe)
	for {
		_, err := in.Peek(4)
		r.mu.Lock()
		r.ended = err != nil
		for range in.Buffered() / 4 {
			var sample [4]byte
			_, _ = in.Read(sample[:]) // it is buffered
			r.samples = append(r.samples, math.Float32frombits(binary.LittleEndian.Uint32(sample[:])))
		}
		r.mu.Unlock()
		r.grown.Broadcast()
		if err != nil {
			return
		}
	}
}

// Wait returns once n samples have been recorded, and says whether they were:
// they are not when the server dies or stands still.
func (r *Recording) Wait(n int) bool {
	return r.WaitFor(func(samples []float32) bool { return len(samples) >= n })
}

// WaitFor returns once enough says so of what has been recorded, and says
// whether it did before the server died or a minute had been recorded in
// vain. enough must not keep the samples.
func (r *Recording) WaitFor(enough func(samples []float32) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := len(r.samples) + 60*r.server.cfg.Rate
	for !enough(r.samples) {
		if r.ended || len(r.samples) > limit {
			return false
		}
		r.grown.Wait()
	}
	return true
}

// Len returns how many samples have been recorded so far.
func (r *Recording) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.samples)
}

// Stop records for another quarter of a second, so that what has been heard
// by now is in it, and returns everything.
func (r *Recording) Stop() []float32 {
	r.Wait(r.Len() + r.server.cfg.Rate/4)
	r.end()
	return slices.Clone(r.samples)
}
