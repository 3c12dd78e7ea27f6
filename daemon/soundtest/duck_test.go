package soundtest_test

import (
	"syscall"
	"testing"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
)

// Another program's stream is lowered while an announcement is played. After a kill in the
// middle it stays lowered until the next start, and is restored then.
func TestDuck_killedWhileLowered(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t, "DUCK=-20")
	const full, lowered = 65536, 30419 // 20 dB less; volumes are cubic
	s.Sound.PlayTone(pulsetest.Tone{Program: "film", Sink: "speaker"})
	volume := func() int { return s.Sound.Input("film").Volume }
	await := func(want int) {
		for volume() != want {
			if t.Context().Err() != nil {
				t.Fatalf("the volume is %d, want %d", volume(), want)
			}
		}
	}
	await(full)
	id := s.Post(client.Announcement{Message: passage}).ID
	await(lowered)
	if err := s.End(syscall.SIGKILL); err == nil {
		t.Fatal("the server exited with 0")
	}
	if got := volume(); got != lowered {
		t.Errorf("after the kill the volume is %d, want %d", got, lowered)
	}
	s.Restart()
	await(full)
	await(lowered) // it is spoken again
	if err := s.Send(t.Context(), "DELETE", "/notify/"+id, nil); err != nil {
		t.Fatal(err)
	}
	await(full)
	if err := s.End(syscall.SIGTERM); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
