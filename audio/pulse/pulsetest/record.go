package pulsetest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pressbox/packaging/check"
)

// A Recording holds what the sink "speaker" has played since Record, silence included, at the sink's rate.
type Recording struct {
	server *Server
	end    func() // of the recorder

	mu      sync.Mutex
	grown   sync.Cond // waits with mu for more samples or the end
	samples []float32 // only ever appended to
	began   time.Time // when the first of them came
	ended   bool
}

// Record starts a recording and returns once the first samples have arrived.
func (s *Server) Record() *Recording {
	s.tb.Helper()
	parec := s.command("parec", "--server="+s.Address, "--device=speaker.monitor", "--raw", "--format=float32le",
		fmt.Sprintf("--rate=%d", s.cfg.Rate), "--channels=1", "--latency-msec=20")
	pipe := check.Must(parec.StdoutPipe())(s.tb)
	if err := parec.Start(); err != nil {
		s.tb.Fatalf("start parec (\"make parts\" installs it): %v", err)
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
	in := bufio.NewReaderSize(pipe, 1<<16)
	for {
		_, err := in.Peek(4)
		r.mu.Lock()
		r.ended = err != nil
		if len(r.samples) == 0 {
			r.began = time.Now()
		}
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

// Wait waits until n samples have been recorded. It returns false if the server dies or stops first.
func (r *Recording) Wait(n int) bool {
	return r.WaitFor(func(samples []float32) bool { return len(samples) >= n })
}

// WaitFor waits until enough returns true for the recorded samples. It returns false if the server dies or
// another minute is recorded first. enough must not change the samples.
func (r *Recording) WaitFor(enough func(samples []float32) bool) bool {
	samples, ended := r.soFar()
	for limit := len(samples) + 60*r.server.cfg.Rate; !enough(samples); {
		if ended || len(samples) > limit {
			return false
		}
		samples, ended = r.after(len(samples))
	}
	return true
}

// soFar returns the recorded samples and whether the recording has ended. Recording continues meanwhile.
func (r *Recording) soFar() (samples []float32, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.samples), r.ended
}

// after is soFar once there are more than n samples or the recording has ended.
func (r *Recording) after(n int) (samples []float32, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.samples) <= n && !r.ended {
		r.grown.Wait()
	}
	return slices.Clip(r.samples), r.ended
}

// Len returns the number of samples recorded so far.
func (r *Recording) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.samples)
}

// Samples returns the samples recorded so far.
func (r *Recording) Samples() []float32 {
	samples, _ := r.soFar()
	return samples
}

// Stop waits until everything played by now has been recorded, and a quarter of a second longer, and returns
// all samples. It computes their number from the sink's rate and the clock.
func (r *Recording) Stop() []float32 {
	r.mu.Lock()
	played := int(time.Since(r.began).Seconds() * float64(r.server.cfg.Rate))
	r.mu.Unlock()
	r.Wait(max(played, r.Len()) + r.server.cfg.Rate/4)
	r.end()
	return slices.Clone(r.samples)
}

// A Tone is a stream of another program.
type Tone struct {
	Program string // its name
	Sink    string
}

// PlayTone plays a tone until the returned function or the test ends, and returns once it is a stream on the
// server.
func (s *Server) PlayTone(tone Tone) (end func()) {
	s.tb.Helper()
	args := []string{
		"--server=" + s.Address, "--playback", "--raw", "--format=float32le", "--channels=1",
		fmt.Sprintf("--rate=%d", s.cfg.Rate),
		"--latency-msec=200", "--client-name=" + tone.Program, "--device=" + tone.Sink,
	}
	before := len(s.Inputs())
	pacat := s.command("pacat", args...)
	pacat.Stdin = &sine{frequency: float64(200 + 50*before), rate: float64(s.cfg.Rate)}
	check.NoError(s.tb, pacat.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = pacat.Wait() // it is killed
	}()
	end = func() {
		_ = pacat.Process.Kill() // it may have ended with the server
		<-ended
	}
	s.tb.Cleanup(end)
	check.NoError(s.tb, s.await(func() bool { return len(s.Inputs()) > before }))
	return end
}

// A sine is an endless wave of a tenth of full scale.
type sine struct {
	frequency, rate float64
	n               int // samples
}

// Read returns the next samples.
func (s *sine) Read(p []byte) (int, error) {
	n := 0
	for ; n+4 <= len(p); n += 4 {
		v := 0.1 * math.Sin(2*math.Pi*s.frequency*float64(s.n)/s.rate)
		binary.LittleEndian.PutUint32(p[n:], math.Float32bits(float32(v)))
		s.n++
	}
	return n, nil
}

// An Input is a stream that plays on the server.
type Input struct {
	Index   int
	Sink    int
	Program string
	Volume  int // 65,536 is 100 %
	Corked  bool
}

// Inputs returns all streams that play, by the names of their programs.
func (s *Server) Inputs() []Input {
	s.tb.Helper()
	var list []struct {
		Index      int
		Sink       int
		Corked     bool
		Volume     map[string]struct{ Value int }
		Properties map[string]string
	}
	check.NoError(s.tb, json.Unmarshal([]byte(s.Pactl("--format=json", "list", "sink-inputs")), &list))
	var inputs []Input
	for _, in := range list {
		input := Input{Index: in.Index, Sink: in.Sink, Corked: in.Corked, Program: in.Properties["application.name"]}
		for _, v := range in.Volume {
			input.Volume = v.Value
		}
		inputs = append(inputs, input)
	}
	slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.Program, b.Program) })
	return inputs
}

// Input returns the stream of a program, which must have one.
func (s *Server) Input(program string) Input {
	s.tb.Helper()
	for _, in := range s.Inputs() {
		if in.Program == program {
			return in
		}
	}
	s.tb.Fatalf("%s has no stream", program)
	return Input{}
}

// SetInputVolume sets the volume of a program's stream, as a person does.
func (s *Server) SetInputVolume(program string, volume int) {
	s.tb.Helper()
	s.Pactl("set-sink-input-volume", strconv.Itoa(s.Input(program).Index), strconv.Itoa(volume))
}

// MoveInput moves a program's stream to another sink, as a person does.
func (s *Server) MoveInput(program, sink string) {
	s.tb.Helper()
	s.Pactl("move-sink-input", strconv.Itoa(s.Input(program).Index), sink)
}
