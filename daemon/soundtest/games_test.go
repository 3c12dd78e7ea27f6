package soundtest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/replica"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// A scoring play is announced, and not before clients receive it.
func TestAll_scoringPlayAnnounced(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	p := &servertest.Player{Browser: servertest.SignUp(t, s.URL)}
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		p.Play(`"announce": "scoring"`)
		if !recording.WaitFor(func(samples []float32) bool { return quietAfter(samples, 0) }) {
			t.Error("the start of the game is not announced")
			return
		}
		received := 0 // the length of the recording when the client received the last frame
		check.NoError(t, p.Connect(func(f replica.Frame) bool { received = recording.Len(); return scored(t, f) }))
		awaitCall(t, recording, received)
	})
	var queue struct{ Queue, Recent []any }
	check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify", nil, &queue))
	if len(queue.Queue)+len(queue.Recent) > 0 {
		t.Errorf("the commentary is among the announcements: %v", queue)
	}
}

// scored reports whether the game has a run after the event in a frame.
func scored(tb testing.TB, f replica.Frame) bool {
	tb.Helper()
	var e struct {
		Now   struct{ Score struct{ Home, Away int } }
		Legal *[]replica.Choice
	}
	if f.T != "event" {
		return false
	}
	check.NoError(tb, json.Unmarshal(f.D, &e))
	return e.Legal != nil && e.Now.Score.Home+e.Now.Score.Away > 0
}

// quietAfter reports whether there is an audible sound after a sample, and then silence for
// 1.5 seconds.
func quietAfter(samples []float32, from int) bool {
	after := samples[from:]
	const silence = rate * 3 / 2
	return len(after) > silence && len(audible(after[len(after)-silence:])) == 0 && len(audible(after)) > 0
}

// awaitCall fails the test unless there is an audible sound after a sample, and none in the
// half second before.
func awaitCall(tb testing.TB, recording *pulsetest.Recording, from int) {
	tb.Helper()
	early := false
	if !recording.WaitFor(func(samples []float32) bool {
		early = early || len(audible(samples[max(0, from-rate/2):from])) > 0
		return quietAfter(samples, from)
	}) {
		tb.Error("the play is not announced")
	}
	if early {
		tb.Error("it was announced before the client received it")
	}
}
