package pulse_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
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
	raised  []byte
	full    error // what it returns instead of saving
}

func (s *saver) Ducked() ([]byte, error) { return s.load(&s.content), nil }
func (s *saver) Raised() ([]byte, error) { return s.load(&s.raised), nil }

func (s *saver) SaveDucked(_ context.Context, content []byte) error {
	return s.save(&s.content, content)
}

func (s *saver) SaveRaised(_ context.Context, content []byte) error {
	return s.save(&s.raised, content)
}

func (s *saver) load(from *[]byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *from
}

func (s *saver) save(to *[]byte, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full == nil {
		*to = content
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
			sink := reach(t, pulse.Config{Server: server.Address, Sinks: []string{"speaker"}, Ducked: new(saver)})
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

// Two Pressboxes on one sink do not lower each other.
func TestDuck_otherPressbox(t *testing.T) {
	onEach(t, func(r room) {
		other := reach(r.t, pulse.Config{Server: r.server.Address})
		r.play("film", "speaker", full)
		ctx, stop := context.WithCancel(r.t.Context())
		defer stop()
		recording := r.server.Record()
		played := startPlay(ctx, other, all(wave(time.Minute)))
		recording.WaitFor(func(s []float32) bool { return slices.Max(s) > 0.7 })
		r.await("Pressbox", full)
		restore := r.duck()
		r.await("film", lowered)
		r.await("Pressbox", full)
		restore()
		r.await("film", full)
		stop()
		check.ErrorIs(r.t, <-played, context.Canceled, "Play")
	})
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
	r.server.MoveInput("radio", "speaker", "kitchen")
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
	until(t, func() bool { return sink.Status().Name != "" })
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

// servers start a sound server of each kind.
var servers = map[string]func(testing.TB, pulsetest.Config) *pulsetest.Server{
	"PulseAudio": pulsetest.Start,
	"PipeWire":   pulsetest.StartPipeWire,
}

// onEach runs a test on each server, at 48 kHz.
func onEach(t *testing.T, test func(r room)) {
	t.Helper()
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pulsetest.Config{Rate: 48000})
			test(room{t, server, reach(t, pulse.Config{Server: server.Address})})
		})
	}
}

// An idle stream is corked soon and closed later; what is played on a corked one is heard from its first sample on.
func TestPlay_corkedWhileIdle(t *testing.T) {
	onEach(t, func(r room) {
		clip := audio.Clip{Rate: 48000, Samples: noise(700 * time.Millisecond).Samples}
		pulsetest.Retry(r.t, func(a *pulsetest.Attempt) {
			recording := r.server.Record()
			mustPlay(a, r.sink, clip)
			played := time.Now()
			until(r.t, func() bool { return r.server.Input("Pressbox").Corked })
			took := time.Since(played)
			check.That(a, took <= time.Second, "the stream was corked %v after the sound", took)
			recording.Stop()
			recording = r.server.Record()
			mustPlay(a, r.sink, clip)
			same(a, span(recording.Stop()), clip.Samples)
			until(r.t, func() bool { return len(r.server.Inputs()) == 0 })
		})
	})
}

// A cancelled Play is faded out: what is recorded ends soon and without a step, Play returns how long it was,
// and nothing of it is in the next one.
func TestPlay_cancelFadesOut(t *testing.T) {
	onEach(t, func(r room) {
		pulsetest.Retry(r.t, func(a *pulsetest.Attempt) {
			recording := r.server.Record()
			length, took := playCancelled(a, r.sink, recording)
			mustPlay(a, r.sink, audio.Clip{Rate: rate, Samples: make([]float32, rate/10)})
			sound := span(recording.Stop())
			recorded := time.Duration(len(sound)) * time.Second / time.Duration(r.server.Rate())
			step := largestStep(sound[len(sound)-r.server.Rate()/4:])
			check.That(a, took <= 120*time.Millisecond,
				"Play returned %v after it was cancelled, want 120 ms at most", took)
			check.That(a, (length-recorded).Abs() <= 6*time.Millisecond,
				"Play returned that %v were played, %v were recorded", length, recorded)
			check.That(a, step <= 0.02, "a step of %.1f %% of full scale", 100*step)
		})
	})
}

// A move of the fader is heard within 0.15 s, without a click, also if it is moved often; no sample is lost by it.
func TestPlay_fader(t *testing.T) {
	onEach(t, func(r room) {
		pulsetest.Retry(r.t, func(a *pulsetest.Attempt) {
			recording, fader := r.server.Record(), unity()
			moved := make(chan time.Duration, 1)
			go func() {
				recording.WaitFor(func(s []float32) bool { return len(sounding(s)) > rate })
				for i := range 30 {
					fader.Move(1 - float32(i)/100)
					time.Sleep(5 * time.Millisecond)
				}
				moved <- r.length(sounding(recording.Samples()))
				fader.Move(0.25)
			}()
			clip := wave(4 * time.Second)
			played := check.Must(r.sink.Play(a.Context(), all(clip), fader))(a)
			at, sound := <-moved, span(recording.Stop())
			check.Equal(a, played, clip.Duration(), "Play returned")
			check.That(a, (r.length(sound)-played).Abs() <= 6*time.Millisecond, "%v were recorded", r.length(sound))
			step := largestStepInside(sound[r.server.Rate()/4 : len(sound)-r.server.Rate()/4])
			check.That(a, step <= 0.02, "a step of %.1f %% of full scale", 100*step)
			low := r.length(sound[:1+lastAbove(sound, 0.25*0.8+0.01)]) // a wave has a peak of 0.8
			r.t.Logf("it is loud for %v after it was lowered", low-at)
			check.That(a, low-at <= 150*time.Millisecond, "it was loud for %v after it was lowered", low-at)
			check.That(a, math.Abs(rms(sound[len(sound)/2:len(sound)*3/4])/rms(clip.Samples)-0.25) < 0.01,
				"it was not a quarter as loud")
		})
	})
}

// length returns the time that samples take.
func (r room) length(samples []float32) time.Duration {
	return time.Duration(len(samples)) * time.Second / time.Duration(r.server.Rate())
}

// lastAbove returns the index of the last sample above a level.
func lastAbove(samples []float32, level float32) int {
	last := -1
	for i, s := range samples {
		if s > level {
			last = i
		}
	}
	return last
}

// playCancelled cancels a Play after half a second and returns what it returned, and how long after.
func playCancelled(
	a *pulsetest.Attempt, sink *pulse.Sink, recording *pulsetest.Recording,
) (length, took time.Duration) {
	a.Helper()
	ctx, cancel := context.WithCancel(a.Context())
	defer cancel()
	asked := make(chan time.Time, 1)
	go func() {
		recording.WaitFor(func(s []float32) bool { return len(sounding(s)) > rate/2 })
		asked <- time.Now()
		cancel()
	}()
	length, err := sink.Play(ctx, all(wave(20*time.Second)), unity())
	check.ErrorIs(a, err, context.Canceled, "Play")
	return length, time.Since(<-asked)
}

// A sink that plays nothing does not delay a cancel; what it did not play was not played.
func TestPlay_cancelOnSuspendedSink(t *testing.T) {
	server, sink := start(t, pulsetest.Config{})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		server.Pactl("suspend-sink", "speaker", "0")
		recording := server.Record()
		suspended := make(chan struct{})
		ctx, cancel := context.WithCancel(a.Context())
		defer cancel()
		go func() {
			defer close(suspended)
			recording.WaitFor(func(s []float32) bool { return len(sounding(s)) > rate/2 })
			server.Pactl("suspend-sink", "speaker", "1")
			cancel()
		}()
		length, err := sink.Play(ctx, all(wave(20*time.Second)), unity())
		check.ErrorIs(a, err, context.Canceled, "Play")
		<-suspended
		check.That(a, length >= time.Second/2 && length <= time.Second*3/4,
			"%v were played, want the half second before the sink was suspended", length)
	})
}

// wave returns a clip whose own steps are small and that is never silent.
func wave(d time.Duration) audio.Clip {
	samples := make([]float32, d*rate/time.Second)
	for i := range samples {
		samples[i] = 0.6 + 0.2*float32(math.Sin(2*math.Pi*100*float64(i)/rate))
	}
	return audio.Clip{Rate: rate, Samples: samples}
}

// largestStep returns the largest difference between a sample and the next one, silence after the last one.
func largestStep(samples []float32) float64 {
	return max(largestStepInside(samples), math.Abs(float64(samples[len(samples)-1])))
}

// largestStepInside returns the largest difference between a sample and the next one.
func largestStepInside(samples []float32) (largest float64) {
	for i := 1; i < len(samples); i++ {
		largest = max(largest, math.Abs(float64(samples[i]-samples[i-1])))
	}
	return largest
}
