package soundtest_test

import (
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
)

// On each sound server, another program's stream is lowered while an announcement is played.
// After a kill in the middle it stays lowered until the next start, and is restored then. The
// announcement is held, so that its next ducking does not follow.
func TestDuck_killedWhileLowered(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, pulsetest.Config) *pulsetest.Server{
		"PulseAudio": pulsetest.Start,
		"PipeWire":   pulsetest.StartPipeWire,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servertest.NewServerOn(t, start(t, pulsetest.Config{}), "DUCK=-20")
			s.Sound.PlayTone(pulsetest.Tone{Program: "film", Sink: "speaker"})
			const full, lowered = 65536, 30419 // 20 dB less; volumes are cubic
			awaitVolume(t, s, full)
			s.Post(client.Announcement{Message: passage})
			awaitVolume(t, s, lowered)
			if err := s.End(syscall.SIGKILL); err == nil {
				t.Fatal("the server exited with 0")
			}
			if got := s.Sound.Input("film").Volume; !isVolume(got, lowered) {
				t.Errorf("after the kill the volume is %d, want %d", got, lowered)
			}
			s.Restart("QUIET_HOURS=00:00-24:00", "QUIET_MODE=hold")
			awaitVolume(t, s, full)
			if err := s.End(syscall.SIGTERM); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		})
	}
}

// isVolume compares volumes; PipeWire's are of another unit.
func isVolume(got, want int) bool { return max(got, want)-min(got, want) <= 1 }

// awaitVolume waits until the film has a volume.
func awaitVolume(t *testing.T, s *servertest.Server, want int) {
	t.Helper()
	for begun := time.Now(); ; {
		got := s.Sound.Input("film").Volume
		if isVolume(got, want) {
			return
		}
		if time.Since(begun) > servertest.MaxWait {
			t.Fatalf("the volume is %d, want %d; log: %s", got, want, s.Logged())
		}
	}
}
