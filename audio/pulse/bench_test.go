package pulse_test

import (
	"log/slog"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
)

// BenchmarkFirstWrite measures the time from the delivery of a clip until its first samples have been written
// to the server, on a cached and on a new stream.
func BenchmarkFirstWrite(b *testing.B) {
	for name, rates := range map[string][2]int{"cached": {rate, rate}, "new": {rate, 16000}} {
		b.Run(name, func(b *testing.B) {
			server := pulsetest.Start(b, pulsetest.Config{Extra: "norewinds=1"})
			written := make(chan time.Time, 1)
			sink := pulse.New(pulse.Config{
				Server:       server.Address,
				OnFirstWrite: func() { written <- time.Now() },
				Log:          slog.New(slog.DiscardHandler),
			})
			go func() { _ = sink.Run(b.Context()) }()
			var total time.Duration
			for i := 0; b.Loop(); i++ {
				clips := make(chan audio.Clip)
				played := startPlay(b.Context(), sink, clips)
				clips <- audio.Clip{Rate: rates[i%2], Samples: make([]float32, 100)}
				began := time.Now()
				total += (<-written).Sub(began)
				close(clips)
				wantErr(b, "Play", <-played, nil)
			}
			b.ReportMetric(float64(total.Microseconds())/float64(b.N), "µs/first-write")
		})
	}
}
