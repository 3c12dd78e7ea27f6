package soundtest_test

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
	"pressbox/store/killtest"
)

// The announcements of these tests. interrupted is cut in its second sentence.
const (
	alarm     = "The oven is on fire!"
	opening   = "The first sentence is spoken to its end."
	remaining = "The second one is cut in the middle, and it is spoken once more from its start. " +
		"The third one is last."
	interrupted = opening + " " + remaining
)

// An interruption is the expected sound of one.
type interruption struct {
	*servertest.Server
	alarm, opening, remaining []float32
	cut                       []float32 // the interrupted one up to where it is cut
}

func newInterruption(t *testing.T, values ...string) *interruption {
	t.Helper()
	s := servertest.NewServer(t, values...)
	whole := s.Samples(client.Announcement{Message: interrupted})
	end, between := pause(whole)
	return &interruption{
		Server:    s,
		alarm:     s.Samples(client.Announcement{Message: alarm}),
		remaining: s.Samples(client.Announcement{Message: remaining}),
		opening:   whole[:end], cut: whole[:end+between+rate],
	}
}

// awaitCut waits until the interrupted one has been played up to where it is cut.
func (s *interruption) awaitCut(recording *pulsetest.Recording) {
	recording.WaitFor(func(samples []float32) bool {
		return len(occurrences(samples[max(0, len(samples)-len(s.cut)-rate):], s.cut, 1)) > 0
	})
}

// postAlarm posts an urgent announcement, and returns its id and how many samples were recorded before.
func (s *interruption) postAlarm(recording *pulsetest.Recording) (id string, before int) {
	before = recording.Len()
	return s.Post(client.Announcement{Message: alarm, Urgent: true}).ID, before
}

// checkAlarm fails the test unless the urgent announcement was played once, half a second
// after it was posted at most. It returns the position of its end.
func (s *interruption) checkAlarm(t *pulsetest.Attempt, got []float32, before int) (end int) {
	at := occurrences(got, s.alarm, 1.5)
	if len(at) != 1 {
		t.Errorf("the urgent announcement was played at %v, want once", at)
		return len(got)
	}
	first := at[0] + audibleAt(s.alarm)
	took := time.Duration(first-before) * time.Second / rate
	t.Logf("the urgent announcement is audible %v after its POST", took.Round(time.Millisecond))
	check.That(t, took <= time.Second/2,
		"the urgent announcement was played %v after its POST, want half a second at most", took)
	return at[0] + len(s.alarm)
}

// checkRemaining fails the test unless the interrupted one went on after a position, with
// its interrupted sentence, once, and its first sentence was played once before.
func (s *interruption) checkRemaining(t *pulsetest.Attempt, got []float32, after int) {
	if at := occurrences(got, s.opening, 1); len(at) != 1 || at[0] > after {
		t.Errorf("the sentence before the interruption was played at %v, want once, before %d", at, after)
	}
	if at := occurrences(got, s.remaining, 1); len(at) != 1 || at[0] < after || at[0] > after+rate {
		t.Errorf("the remaining sentences were played at %v, want once, within a second from %d on", at, after)
	}
}

// audibleAt returns the position of the first audible sample.
func audibleAt(samples []float32) int {
	for i, s := range samples {
		if max(s, -s) >= 0.01 {
			return i
		}
	}
	return len(samples)
}

// An urgent announcement is audible within half a second, also with a full queue, and the
// interrupted one goes on with its interrupted sentence.
func TestUrgent_cutsIn(t *testing.T) {
	t.Parallel()
	s := newInterruption(t, "QUEUE_MAX_SIZE=1")
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		s.AwaitIdle() // after an attempt that was given up
		recording := s.Sound.Record()
		s.Post(client.Announcement{Message: interrupted})
		last := s.Post(client.Announcement{Message: "Now the queue is full."}).ID
		s.awaitCut(recording)
		_, before := s.postAlarm(recording)
		s.AwaitPlayed(last)
		got := recording.Stop()
		s.checkRemaining(t, got, s.checkAlarm(t, got, before))
	})
}

// It does not wait for the end of a five-minute message, and not for its cancellation.
func TestAll_urgentCutsIntoLongMessage(t *testing.T) {
	t.Parallel()
	s := newInterruption(t)
	long := strings.Repeat(passage+" ", 15)
	for _, cancelled := range []bool{false, true} {
		pulsetest.Retry(t, func(t *pulsetest.Attempt) {
			recording := s.Sound.Record()
			id := s.Post(client.Announcement{Message: long}).ID
			recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > 4*rate })
			deleted := make(chan error, 1)
			if cancelled {
				go func() { deleted <- s.cancel(t.Context(), id) }()
			}
			alarm, before := s.postAlarm(recording)
			s.AwaitPlayed(alarm)
			if !cancelled {
				deleted <- s.cancel(t.Context(), id)
			}
			check.NoError(t, <-deleted)
			s.checkAlarm(t, recording.Stop(), before)
		})
	}
}

// cancel cancels an announcement.
func (s *interruption) cancel(ctx context.Context, id string) error {
	var r client.Report
	return s.Call(ctx, http.MethodDelete, "/notify/"+id, nil, &r)
}

// After a kill while the urgent announcement is played, that is played again, and then the
// interrupted one from its interrupted sentence on.
func TestAll_killInterruption(t *testing.T) {
	t.Parallel()
	s := newInterruption(t)
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		id := s.Post(client.Announcement{Message: interrupted}).ID
		s.awaitCut(recording)
		_, before := s.postAlarm(recording)
		recording.WaitFor(func(samples []float32) bool {
			return len(occurrences(samples[before:], s.alarm[:rate/2], 1.5)) > 0
		})
		err := s.End(syscall.SIGKILL)
		check.Require(t, err != nil, "the server exited with 0")
		s.Restart()
		s.AwaitPlayed(id)
		got := recording.Stop()
		at := occurrences(got, s.alarm, 1.5)
		if len(at) != 1 {
			t.Errorf("the urgent announcement was played to its end at %v, want once, after the restart", at)
			return
		}
		s.checkRemaining(t, got, at[0]+len(s.alarm))
	})
}

// sentences has twelve sentences, about half a minute of speech, none of them longer than longestSentence.
const (
	sentences = "The first train leaves at dawn. It stops at every village on the way. Nobody gets on at the mill. " +
		"At the bridge two farmers wait with their baskets. One of them sells apples, the other one sells eggs. " +
		"They sit by the window and talk about the weather. The river is high this year. " +
		"The old castle stands on the hill behind the wood. Children wave from the garden of the school. " +
		"Then the train comes out of the tunnel. The town lies in the sun. Everybody takes his hat and gets out."
	longestSentence = 4 * rate // samples
)

// goesOn announces a message rounds times and calls interrupt while it is spoken, at a moment that is drawn; interrupt
// returns when the message may be spoken again. It goes on then: of what was heard, at most so much is heard again, and
// nothing of the rest is missing.
func goesOn(t *testing.T, s *servertest.Server, again int, interrupt func(*pulsetest.Recording) *pulsetest.Recording) {
	t.Helper()
	whole := len(s.Samples(client.Announcement{Message: sentences}))
	const slack = rate * 6 / 10 // samples: the pace depends on what is left, and a sink on when it is asked
	for round := range killtest.Rounds(t, 1) {
		moment := rate/2 + int(killtest.Moment(round, time.Duration(whole-2*rate)))
		pulsetest.Retry(t, func(t *pulsetest.Attempt) {
			recording := s.Sound.Record()
			id := s.Post(client.Announcement{Message: sentences}).ID
			recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > moment })
			next := interrupt(recording)
			before := len(audible(recording.Stop()))
			s.AwaitPlayed(id)
			after := len(audible(next.Stop()))
			heardAgain := before + after - whole
			t.Logf("round %d: after %.1f s, %.1f s are heard again", round, seconds(before), seconds(heardAgain))
			check.That(t, heardAgain >= -slack && heardAgain <= again+slack,
				"%.1f s and then %.1f s of %.1f s were heard, want at most %.1f s again",
				seconds(before), seconds(after), seconds(whole), seconds(again))
		})
	}
}

func seconds(samples int) float64 { return float64(samples) / rate }

// After a kill at any moment, at most the last 10 s and a sentence are heard again.
func TestAll_goesOnAfterKill(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t, "CHIME=none")
	goesOn(t, s, 10*rate+longestSentence, func(recording *pulsetest.Recording) *pulsetest.Recording {
		check.That(t, s.End(syscall.SIGKILL) != nil, "the server exited with 0")
		recording.WaitFor(func(samples []float32) bool { return quietAfter(samples, 0) })
		next := s.Sound.Record()
		s.Restart("CHIME=none")
		return next
	})
}

// After the loss of the sound server at any moment, at most one sentence is heard again.
func TestAll_goesOnAfterLoss(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t, "CHIME=none")
	goesOn(t, s, longestSentence, func(*pulsetest.Recording) *pulsetest.Recording {
		s.Sound.Kill()
		awaitHealth(t, s.URL, func(h client.Health) bool { return h.Status == "degraded" })
		s.Signal(t, syscall.SIGSTOP) // until the recorder listens
		s.Sound.Start()
		next := s.Sound.Record()
		s.Signal(t, syscall.SIGCONT)
		return next
	})
}
