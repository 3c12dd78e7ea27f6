package pulse_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/packaging/check"
)

const (
	minus20 = 0.1   // dB, as a gain
	full    = 65536 // 100 %, as a volume
	lowered = 30419 // 100 % lowered by 20 dB: volumes are cubic
)

// A saver stands in for the store.
type saver struct {
	mu      sync.Mutex
	content []byte
	full    error // what it returns instead of saving
}

func (s *saver) Ducked() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content, nil
}

func (s *saver) SaveDucked(_ context.Context, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full == nil {
		s.content = content
	}
	return s.full
}

// On each server, three streams are lowered by 20 dB and come back exactly; what happens to streams in the
// middle does not change that.
func TestDuck_lowersOtherStreams(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pulsetest.Config{Rate: 48000, Modules: []string{"module-stream-restore"}})
			server.Pactl("load-module", "module-null-sink", "sink_name=kitchen")
			sink := reach(t, pulse.Config{Server: server.Address, Sink: "speaker", Ducked: new(saver)})
			r := room{t, server, sink}
			for program, volume := range map[string]int{"film": full, "music": 40000, "radio": 20001} {
				r.play(program, "speaker", volume)
			}
			r.play("elsewhere", "kitchen", 50000)
			r.levels()
			r.personChanges()
			r.streamBegins()
			r.streamEnds()
			r.streamMoves()
		})
	}
}

// A room is a server with streams of several programs.
type room struct {
	t      *testing.T
	server *pulsetest.Server
	sink   *pulse.Sink
}

// play plays a tone of a program at a volume.
func (r room) play(program, sink string, volume int) (end func()) {
	end = r.server.PlayTone(pulsetest.Tone{Program: program, Sink: sink})
	r.server.SetInputVolume(program, volume)
	r.await(program, volume)
	return end
}

// await waits until a program's stream has a volume.
func (r room) await(program string, volume int) {
	r.t.Helper()
	got := 0
	defer func() {
		if r.t.Failed() {
			r.t.Errorf("%s has the volume %d, want %d", program, got, volume)
		}
	}()
	until(r.t, func() bool {
		got = r.server.Input(program).Volume
		return got >= volume-1 && got <= volume+1 // PipeWire's are of another unit
	})
}

func (r room) duck() (restore func()) {
	r.t.Helper()
	return check.Must(r.sink.Duck(r.t.Context(), minus20))(r.t)
}

// levels compares the recorded levels before, while and after the streams are lowered, and their volumes.
func (r room) levels() {
	pulsetest.Retry(r.t, func(a *pulsetest.Attempt) {
		recording := r.server.Record()
		level := func() float64 {
			n := recording.Len() + r.server.Rate()/4 // what the server has buffered
			recording.Wait(n + r.server.Rate()/2)
			return 20 * math.Log10(rms(recording.Samples()[n:]))
		}
		before := level()
		restore := r.duck()
		r.await("film", lowered)
		r.await("music", 18566)
		r.await("radio", 9284)
		r.await("elsewhere", 50000)
		during := level()
		restore()
		r.await("film", full)
		r.await("music", 40000)
		r.await("radio", 20001)
		after := level()
		r.t.Logf("recorded: %.1f dB, lowered %.1f dB, restored %.1f dB", before, during, after)
		if math.Abs(before-during-20) > 1 || math.Abs(before-after) > 1 {
			a.Errorf("recorded: %.1f dB, lowered %.1f dB, restored %.1f dB; want 20 dB less, and as before", before,
				during, after)
		}
	})
}

// personChanges checks that a volume that a person sets in the middle stays.
func (r room) personChanges() {
	restore := r.duck()
	r.await("film", lowered)
	r.server.SetInputVolume("film", 45000)
	r.await("music", 18566)
	restore()
	r.await("music", 40000)
	r.await("film", 45000)
	r.server.SetInputVolume("film", full)
	r.await("film", full)
}

// streamBegins checks a stream that begins in the middle.
func (r room) streamBegins() {
	restore := r.duck()
	end := r.server.PlayTone(pulsetest.Tone{Program: "game", Sink: "speaker"})
	r.await("game", lowered)
	restore()
	r.await("game", full)
	r.await("film", full)
	end()
}

// streamEnds checks that a stream that ended while it was lowered, and the one of the same program that
// followed in the middle, begin with their own volume.
func (r room) streamEnds() {
	end := r.play("podcast", "speaker", 52000)
	restore := r.duck()
	r.await("podcast", 24136)
	end()
	end = r.server.PlayTone(pulsetest.Tone{Program: "podcast", Sink: "speaker"})
	r.await("podcast", 24136)
	end()
	restore()
	r.await("film", full)
	end = r.server.PlayTone(pulsetest.Tone{Program: "podcast", Sink: "speaker"})
	r.await("podcast", 52000)
	end()
}

// streamMoves checks that a stream that is moved to another sink is restored.
func (r room) streamMoves() {
	restore := r.duck()
	r.await("radio", 9284)
	r.server.MoveInput("radio", "kitchen")
	r.await("radio", 20001)
	r.await("film", lowered)
	restore()
	r.await("film", full)
	r.await("radio", 20001)
}

// What cannot be saved is not lowered. A server that ends, or Run, ends the ducking.
func TestDuck_whenItCannot(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	disk := &saver{full: errors.New("the disk is full")}
	cfg := pulse.Config{Server: server.Address, Ducked: disk, Log: logger(t)}
	sink := pulse.New(cfg)
	stop := check.Run(t, sink.Run)
	until(t, func() bool { return sink.Status().Sink != "" })
	r := room{t, server, sink}
	check.NoError(t, must(sink.Duck(t.Context(), minus20))) // nothing plays
	r.play("film", "speaker", full)
	_, err := sink.Duck(t.Context(), minus20)
	check.ErrorIs(t, err, disk.full, "Duck with a full disk")
	r.await("film", full)
	disk.full = nil
	r.duck()
	r.await("film", lowered)
	stop() // without restore
	r.await("film", full)
	content, _ := disk.Ducked()
	check.That(t, content == nil, "still saved: %s", content)
	check.NoError(t, must(sink.Duck(t.Context(), minus20))) // without a server
}

func must(_ func(), err error) error { return err }
