package pulsetest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pressbox/packaging/check"
)

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
