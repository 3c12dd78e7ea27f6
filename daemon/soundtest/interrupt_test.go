package soundtest_test

import (
	"context"
	"math"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
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

// postAlarm posts an urgent announcement, and returns its id and how many samples were
// recorded before.
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

// A chime precedes the speech by a fifth of a second, in the same stream.
func TestChime_precedesSpeech(t *testing.T) {
	t.Parallel()
	s := newInterruption(t, "CHIME=ding", "CHIME_URGENT=alert")
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		s.AwaitPlayed(s.Post(client.Announcement{Message: alarm}).ID)
		got := recording.Stop()
		chime := audio.Ding.Samples(rate)
		bell, speech := occurrences(got, chime, 1), occurrences(got, s.alarm, 1)
		if len(bell) != 1 || len(speech) != 1 || speech[0]-bell[0]-len(chime) != rate/5 {
			t.Errorf("the chime was played at %v with %d samples, the speech at %v; want %d samples between them", bell,
				len(chime), speech, rate/5)
		}
	})
}

// While music is being lowered, an urgent announcement is audible as quickly. The music
// stays 20 dB lower until both have ended, and then has its level again.
func TestAll_urgentWhileMusicIsLowered(t *testing.T) {
	t.Parallel()
	s := newInterruption(t)
	s.Sound.PlayTone(pulsetest.Tone{Program: "music", Sink: "speaker"})
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		recording.Wait(rate)
		id := s.Post(client.Announcement{Message: interrupted}).ID
		s.AwaitStatus(id, "playing")
		_, before := s.postAlarm(recording)
		s.AwaitPlayed(id)
		recording.Wait(recording.Len() + 3*rate)
		got := recording.Stop()

		alarmAt, gain := match(got[before:], s.alarm[:rate/2])
		if took := time.Duration(alarmAt+audibleAt(s.alarm)) * time.Second / rate; math.Abs(gain-1.5) > 0.1 ||
			took > time.Second/2 {
			t.Errorf("the urgent announcement is played with a gain of %.2f, %v after its POST; "+
				"want 1.5 and half a second at most", gain, took)
		}
		again := before + alarmAt + len(s.alarm)
		whole := s.Samples(client.Announcement{Message: interrupted})
		wholeAt, gain := match(got[again:], whole[:rate/2])
		if math.Abs(gain-1) > 0.1 {
			t.Errorf("the interrupted one is played with a gain of %.2f", gain)
			return
		}
		silence, length := pause(whole)
		silence += again + wholeAt
		for name, tt := range map[string]struct {
			samples []float32
			want    float64
		}{
			"before": {got[:rate/2], 1}, "between two sentences": {got[silence : silence+length], 0.1},
			"after": {got[len(got)-rate/2:], 1},
		} {
			if level := loudness(tt.samples) / (0.1 / math.Sqrt2); math.Abs(level/tt.want-1) > 0.1 {
				t.Errorf("the level of the music %s is %.3f, want %.1f", name, level, tt.want)
			}
		}
	})
}

// match returns the position in the next second of a recording, and the gain, at which a
// clip occurs in it among other sound.
func match(recording, clip []float32) (at int, gain float64) {
	energy := loudness(clip) * loudness(clip) * float64(len(clip))
	for i := range min(rate, len(recording)-len(clip)) {
		product := float32(0)
		for n, s := range clip {
			product += s * recording[i+n]
		}
		if g := float64(product) / energy; g > gain {
			at, gain = i, g
		}
	}
	return at, gain
}
