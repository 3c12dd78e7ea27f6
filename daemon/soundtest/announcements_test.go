// Package soundtest records what the sound server plays, in real time. Its tests run alone, as
// a busy host spoils a recording.
package soundtest_test

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/replica"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// passage has 56 ordinary words and no number.
const passage = "The old couple walked slowly down the road to the village, and their dog ran ahead of them. " +
	"It was a fine morning in early summer. The birds sang in the trees, and the air was " +
	"full of the smell of flowers. " +
	"When they came to the bridge they stopped, looked at the water, and smiled at the children who played there."

// The sink receives every sample of an announcement's speech at its rate, once, and silence
// otherwise.
func TestAnnouncement_samples(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	for _, announcement := range []client.Announcement{
		{Message: "Dinner is ready. Please come down, all of you."},
		{Message: passage, Rate: 260},
	} {
		want := s.Samples(announcement)
		pulsetest.Retry(t, func(t *pulsetest.Attempt) {
			recording := s.Sound.Record()
			s.AwaitPlayed(s.Post(announcement).ID)
			got := recording.Stop()
			at := occurrences(got, want, 1)
			if len(at) != 1 {
				t.Errorf("the speech occurs %d times in %d samples, of which %d are audible; want %d samples once",
					len(at), len(got), len(audible(got)), len(audible(want)))
				return
			}
			check.That(t, peak(got[:at[0]]) <= 0 && peak(got[at[0]+len(want):]) <= 0,
				"there is other sound before or after it")
		})
		if _, between := pause(audible(want)); announcement.Rate == 0 && (between < rate/5 || between > rate*3/10) {
			t.Errorf("the pause between the sentences is %d samples long, want %d", between, rate/5)
		}
		minutes := float64(len(audible(want))) / rate / 60
		if got := float64(len(strings.Fields(announcement.Message))) / minutes; announcement.Rate > 0 &&
			math.Abs(got/float64(announcement.Rate)-1) > 0.08 {
			t.Errorf("%.0f words per minute, want %d ± 8 %%", got, announcement.Rate)
		}
	}
}

func TestAnnouncement_urgentGain(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	const text = "The oven is on fire!"
	want := s.Samples(client.Announcement{Message: text})
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		s.AwaitPlayed(s.Post(client.Announcement{Message: text}).ID)
		s.AwaitPlayed(s.Post(client.Announcement{Message: text, Urgent: true}).ID)
		got := recording.Stop()
		plain, urgent := occurrences(got, want, 1), occurrences(got, want, 1.5)
		if len(plain) != 1 || len(urgent) != 1 || urgent[0] < plain[0] {
			t.Errorf("it occurs at %v, and with a gain of 1.5 at %v", plain, urgent)
			return
		}
		ratio := loudness(got[urgent[0]:urgent[0]+len(want)]) / loudness(got[plain[0]:plain[0]+len(want)])
		check.That(t, ratio >= 1.47 && ratio <= 1.53 && peak(got) < 1,
			"the gain is %.3f with a peak of %.3f; want 1.50 ± 0.03 and a peak below 1", ratio, peak(got))
	})
}

// awaitHealth polls a server's health until done reports true.
func awaitHealth(tb testing.TB, url string, done func(client.Health) bool) {
	tb.Helper()
	for {
		h := check.Must(client.HealthAt(tb.Context(), url))(tb)
		if done(h) {
			return
		}
	}
}

// After a kill during playback, the announcement is played again from its start, and the
// others once.
func TestKill_playback(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	texts := []string{
		"The first is short.", "The second one is a good deal longer, so that it can be cut.",
		"The third is last.",
	}
	var want [][]float32
	for _, text := range texts {
		want = append(want, s.Samples(client.Announcement{Message: text}))
	}
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		var ids []string
		for _, text := range texts {
			ids = append(ids, s.Post(client.Announcement{Message: text}).ID)
		}
		s.AwaitPlayed(ids[0])
		cut := want[1][:rate]
		recording.WaitFor(func(samples []float32) bool {
			return len(occurrences(samples[max(0, len(samples)-2*rate):], cut, 1)) > 0
		})
		err := s.End(syscall.SIGKILL)
		check.Require(t, err != nil, "the server exited with 0")
		s.Restart()
		s.AwaitPlayed(ids[2])
		got := recording.Stop()
		for i, clip := range want {
			if at := occurrences(got, clip, 1); len(at) != 1 {
				t.Errorf("%q was played whole at %v, want once", texts[i], at)
			}
		}
		if at := occurrences(got, cut, 1); len(at) != 2 {
			t.Errorf("the beginning of the interrupted one was played at %v, want twice", at)
		}
	})
}

// The loss of the sound server during playback is reported within a second, and the
// announcement is played from its start when the sound server is back.
func TestAnnouncement_soundServerRestart(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	const text = "When the sound server comes back, this is said again from its very beginning."
	want := s.Samples(client.Announcement{Message: text})
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		id := s.Post(client.Announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate })
		s.Sound.Kill()
		killed := time.Now()
		awaitHealth(t, s.URL, func(h client.Health) bool {
			return h.Status == "degraded" && h.Checks.Audio.Detail != ""
		})
		if took := time.Since(killed); took > time.Second {
			t.Errorf("it was reported %v after the sound server was killed, want a second at most", took)
		}
		s.Signal(t, syscall.SIGSTOP) // until the recorder listens
		s.Sound.Start()
		recording = s.Sound.Record()
		s.Signal(t, syscall.SIGCONT)
		s.AwaitPlayed(id)
		if at := occurrences(recording.Stop(), want, 1); len(at) != 1 {
			t.Errorf("after the restart it was played at %v, want once", at)
		}
		awaitHealth(t, s.URL, func(h client.Health) bool { return h.Status == "ok" })
	})
}

// On SIGTERM the server finishes the sentence, and goes on with the next one after its next
// start.
func TestAnnouncement_shutdown(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	const first, second = "This sentence is finished before the server ends.",
		"This one is not even begun, but said later."
	const text = first + " " + second
	whole, rest := s.Samples(client.Announcement{Message: text}), s.Samples(client.Announcement{Message: second})
	end, _ := pause(audible(whole))
	sentence := audible(whole)[:end]
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		id := s.Post(client.Announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate/2 })
		began := time.Now()
		err := s.End(syscall.SIGTERM)
		check.Require(t, err == nil, "it ended with %v\n%s", err, s.Logged())
		took := time.Since(began)
		check.That(t, took <= 6*time.Second, "it took %v to end", took)
		got := recording.Stop()
		const nothing = 0.5 / 32767 // in the WAV file, at the end of the sentence
		if at := occurrences(got, sentence, 1); len(at) != 1 || peak(got[at[0]+len(sentence):]) > nothing {
			t.Errorf("the sentence was played at %v, want once and nothing after it", at)
		}
		recording = s.Sound.Record()
		s.Restart()
		s.AwaitPlayed(id)
		got = recording.Stop()
		if at := occurrences(got, rest, 1); len(at) != 1 || peak(got[:at[0]]) > nothing {
			t.Errorf("after the next start the second sentence was played at %v, want once and nothing before it", at)
		}
	})
}

// pause returns the start and the length of the longest run of zero samples.
func pause(samples []float32) (start, length int) {
	run := 0
	for i, s := range samples {
		run++
		if s != 0 {
			run = 0
		}
		if run > length {
			start, length = i+1-run, run
		}
	}
	return start, length
}

// audible returns a sound from its first to its last audible sample: a hundredth of full
// scale.
func audible(samples []float32) []float32 {
	const floor = 0.01
	first, last := -1, -1
	for i, s := range samples {
		if math.Abs(float64(s)) >= floor {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return nil
	}
	return samples[first : last+1]
}

// occurrences returns the positions in a recording at which a clip, scaled by gain, occurs
// sample for sample: within half a step of 16 bits in the WAV file, and half a step on the
// way to the sink.
func occurrences(recording, clip []float32, gain float32) []int {
	tolerance := (gain + 1) * 0.5 / 32767
	near := func(a, b float32) bool { return a-b <= tolerance && b-a <= tolerance }
	loudest := 0
	for i, s := range clip {
		if math.Abs(float64(s)) > math.Abs(float64(clip[loudest])) {
			loudest = i
		}
	}
	var found []int
	for at := 0; at+len(clip) <= len(recording); at++ {
		same := near(recording[at+loudest], clip[loudest]*gain)
		for i := 0; same && i < len(clip); i++ {
			same = near(recording[at+i], clip[i]*gain)
		}
		if same {
			found = append(found, at)
		}
	}
	return found
}

// loudness returns the root mean square of a sound.
func loudness(samples []float32) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

func peak(samples []float32) float32 {
	top := float32(0)
	for _, s := range samples {
		top = max(top, s, -s)
	}
	return top
}

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
	check.That(t, len(queue.Queue)+len(queue.Recent) == 0, "the commentary is among the announcements: %v", queue)
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
	check.That(tb, !early, "it was announced before the client received it")
}

const rate = 22050 // samples per second of the bundled voice and of the sink

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }
