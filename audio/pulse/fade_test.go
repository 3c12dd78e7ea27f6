package pulse_test

import (
	"context"
	"math"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/packaging/check"
)

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

// An idle stream is corked soon and closed later; what is played on a corked one is heard from its first
// sample on.
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
	length, err := sink.Play(ctx, all(wave(20*time.Second)))
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
		length, err := sink.Play(ctx, all(wave(20*time.Second)))
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
	largest := math.Abs(float64(samples[len(samples)-1]))
	for i := 1; i < len(samples); i++ {
		largest = max(largest, math.Abs(float64(samples[i]-samples[i-1])))
	}
	return largest
}
