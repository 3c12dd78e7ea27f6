package pulse_test

import (
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
)

// An idle stream is corked soon and closed later; what is played on a corked one is heard from its first
// sample on.
func TestPlay_corkedWhileIdle(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pulsetest.Config{Rate: 48000})
			sink := reach(t, pulse.Config{Server: server.Address})
			clip := audio.Clip{Rate: 48000, Samples: noise(700 * time.Millisecond).Samples}
			pulsetest.Retry(t, func(a *pulsetest.Attempt) {
				recording := server.Record()
				mustPlay(a, sink, clip)
				played := time.Now()
				until(t, func() bool { return server.Input("Pressbox").Corked })
				if took := time.Since(played); took > time.Second {
					a.Errorf("the stream was corked %v after the sound", took)
				}
				recording.Stop()
				recording = server.Record()
				mustPlay(a, sink, clip)
				same(a, span(recording.Stop()), clip.Samples)
				until(t, func() bool { return len(server.Inputs()) == 0 })
			})
		})
	}
}
