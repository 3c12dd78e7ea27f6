package main

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
)

const rate = 22050 // samples per second of the bundled voice and of the sink

// The sink receives every sample of the announcement's speech, once, and silence otherwise.
func TestAnnouncement_samples(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const text = "Dinner is ready. Please come down, all of you."
	want := s.speech(text)
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.sound.Record()
		s.awaitPlayed(s.post(client.Announcement{Message: text}).ID)
		got := recording.Stop()
		at := occurrences(got, want, 1)
		if len(at) != 1 {
			t.Errorf("the speech occurs %d times in %d samples, of which %d are audible; want %d samples once",
				len(at), len(got), len(audible(got)), len(audible(want)))
			return
		}
		if peak(got[:at[0]]) > 0 || peak(got[at[0]+len(want):]) > 0 {
			t.Error("there is other sound before or after it")
		}
	})
	if _, between := pause(audible(want)); between < rate/5 || between > rate*3/10 {
		t.Errorf("the pause between the sentences is %d samples long, want %d", between, rate/5)
	}
}

func TestAnnouncement_urgentGain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const text = "The oven is on fire!"
	want := s.speech(text)
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.sound.Record()
		s.awaitPlayed(s.post(client.Announcement{Message: text}).ID)
		s.awaitPlayed(s.post(client.Announcement{Message: text, Urgent: true}).ID)
		got := recording.Stop()
		plain, urgent := occurrences(got, want, 1), occurrences(got, want, 1.5)
		if len(plain) != 1 || len(urgent) != 1 || urgent[0] < plain[0] {
			t.Errorf("it occurs at %v, and with a gain of 1.5 at %v", plain, urgent)
			return
		}
		ratio := loudness(got[urgent[0]:urgent[0]+len(want)]) / loudness(got[plain[0]:plain[0]+len(want)])
		if ratio < 1.47 || ratio > 1.53 || peak(got) >= 1 {
			t.Errorf("the gain is %.3f with a peak of %.3f; want 1.50 ± 0.03 and a peak below 1", ratio, peak(got))
		}
	})
}

// passage has 56 ordinary words and no number.
const passage = "The old couple walked slowly down the road to the village, and their dog ran ahead of them. " +
	"It was a fine morning in early summer. The birds sang in the trees, and the air was full of the smell of flowers. " +
	"When they came to the bridge they stopped, looked at the water, and smiled at the children who played there."

func TestAnnouncement_rate(t *testing.T) {
	t.Parallel()
	words := len(strings.Fields(passage))
	for _, want := range []int{120, 170, 220, 260} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			pulsetest.Retry(t, func(t *pulsetest.Attempt) {
				recording := s.sound.Record()
				s.awaitPlayed(s.post(client.Announcement{Message: passage, Rate: want}).ID)
				minutes := float64(len(audible(recording.Stop()))) / rate / 60
				got := float64(words) / minutes
				if got < 0.92*float64(want) || got > 1.08*float64(want) {
					t.Errorf("%d words in %.1f s are %.0f per minute, want %d ± 8 %%", words, minutes*60, got, want)
				}
			})
		})
	}
}

// Fifty announcements fill the queue. The next one is refused, and the others are played,
// the urgent ones first.
func TestAnnouncement_fullQueue(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	// The first one lasts longer than it takes to fill the queue; then it is cancelled.
	first := s.post(client.Announcement{Message: strings.Repeat("This is the first, and everything else waits behind it. ", 25)})
	s.awaitStatus(first.ID, "playing")
	var plain, urgent []string
	for i := range 50 {
		r := client.Announcement{Message: "Go.", Rate: 400, Urgent: i%7 == 3}
		id := s.post(r).ID
		if r.Urgent {
			urgent = append(urgent, id)
		} else {
			plain = append(plain, id)
		}
	}
	_, err := s.Announce(t.Context(), client.Announcement{Message: "One too many."})
	problem, ok := errors.AsType[*client.ProblemError](err)
	if !ok || problem.Status != http.StatusServiceUnavailable || problem.Code != "queue_full" || problem.RetryAfter == "" {
		t.Errorf("one too many: %v, want 503 queue_full with Retry-After", err)
	}
	var cancelled client.Report
	if err := s.Call(t.Context(), http.MethodDelete, "/notify/"+first.ID, nil, &cancelled); err != nil || cancelled.Status != "cancelled" {
		t.Fatalf("the first one, cancelled: %+v, %v", cancelled, err)
	}
	order := slices.Concat([]string{first.ID}, urgent, plain)
	s.awaitPlayed(order[len(order)-1])
	var list struct {
		Recent []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"recent"`
	}
	if err := s.Call(t.Context(), http.MethodGet, "/notify", nil, &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range slices.Backward(list.Recent) {
		if r.Status != "done" && r.ID != first.ID {
			t.Errorf("%s ended as %s", r.ID, r.Status)
		}
		got = append(got, r.ID)
	}
	if !slices.Equal(got, order) {
		t.Errorf("they were played in the order\n%v, want\n%v", got, order)
	}
}

// After a kill during playback, the announcement is played again from its start, and the
// others once.
func TestKill_playback(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	texts := []string{"The first is short.", "The second one is a good deal longer, so that it can be cut.", "The third is last."}
	var want [][]float32
	for _, text := range texts {
		want = append(want, s.speech(text))
	}
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.sound.Record()
		var ids []string
		for _, text := range texts {
			ids = append(ids, s.post(client.Announcement{Message: text}).ID)
		}
		s.awaitPlayed(ids[0])
		cut := want[1][:rate]
		recording.WaitFor(func(samples []float32) bool {
			return len(occurrences(samples[max(0, len(samples)-2*rate):], cut, 1)) > 0
		})
		if err := s.end(syscall.SIGKILL); err == nil {
			t.Fatal("the server exited with 0")
		}
		s.start()
		s.awaitPlayed(ids[2])
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
	s := newServer(t)
	const text = "When the sound server comes back, this is said again from its very beginning."
	want := s.speech(text)
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.sound.Record()
		id := s.post(client.Announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate })
		s.sound.Kill()
		killed := time.Now()
		s.awaitHealth(t.Context(), func(h client.Health) bool { return h.Status == "degraded" && h.Checks.Audio.Detail != "" })
		if took := time.Since(killed); took > time.Second {
			t.Errorf("it was reported %v after the sound server was killed, want a second at most", took)
		}
		s.signal(t, syscall.SIGSTOP) // until the recorder listens
		s.sound.Start()
		recording = s.sound.Record()
		s.signal(t, syscall.SIGCONT)
		s.awaitPlayed(id)
		if at := occurrences(recording.Stop(), want, 1); len(at) != 1 {
			t.Errorf("after the restart it was played at %v, want once", at)
		}
		s.awaitHealth(t.Context(), func(h client.Health) bool { return h.Status == "ok" })
	})
}

// On SIGTERM the server finishes the sentence, and plays the announcement again after its
// next start.
func TestAnnouncement_shutdown(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const text = "This sentence is finished before the server ends. This one is not even begun, but said later."
	whole := s.speech(text)
	end, _ := pause(audible(whole))
	sentence := audible(whole)[:end]
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.sound.Record()
		id := s.post(client.Announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate/2 })
		began := time.Now()
		if err := s.end(syscall.SIGTERM); err != nil {
			t.Fatalf("it ended with %v\n%s", err, s.logged())
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %v to end", took)
		}
		got := recording.Stop()
		const nothing = 0.5 / 32767 // in the WAV file, at the end of the sentence
		if at := occurrences(got, sentence, 1); len(at) != 1 || peak(got[at[0]+len(sentence):]) > nothing {
			t.Errorf("the sentence was played at %v, want once and nothing after it", at)
		}
		recording = s.sound.Record()
		s.start()
		s.awaitPlayed(id)
		if at := occurrences(recording.Stop(), whole, 1); len(at) != 1 {
			t.Errorf("after the next start it was played at %v, want once", at)
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
