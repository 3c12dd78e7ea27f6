package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
)

const rate = 22050 // samples per second of the bundled voice, and of the sink

// What is posted is heard: every sample of the speech that the daemon makes of
// it, once, with nothing before, between or after but silence.
func TestAnAnnouncementIsHeard(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	const text = "Dinner is ready. Please come down, all of you."
	want := a.speech(text).Samples
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := a.sound.Record()
		a.heard(a.post(announcement{Message: text}).ID)
		got := recording.Stop()
		at := occurrences(got, want, 1)
		if len(at) != 1 {
			t.Errorf("the speech was heard %d times in %d samples, of which %d are audible; want %d samples once",
				len(at), len(got), len(audible(got)), len(audible(want)))
			return
		}
		if peak(got[:at[0]]) > 0 || peak(got[at[0]+len(want):]) > 0 {
			t.Error("something else was heard before or after it")
		}
	})
	if _, between := pause(audible(want)); between < rate/5 || between > rate*3/10 {
		t.Errorf("the silence between the sentences is %d samples long, want %d", between, rate/5)
	}
}

// pause is where the longest run of samples that are nothing begins, and how
// long it is.
func pause(samples []float32) (begin, length int) {
	run := 0
	for i, s := range samples {
		run++
		if s != 0 {
			run = 0
		}
		if run > length {
			begin, length = i+1-run, run
		}
	}
	return begin, length
}

func TestAnUrgentAnnouncementIsHalfAsLoudAgain(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	const text = "The oven is on fire!"
	want := a.speech(text).Samples
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := a.sound.Record()
		a.heard(a.post(announcement{Message: text}).ID)
		a.heard(a.post(announcement{Message: text, Urgent: true}).ID)
		got := recording.Stop()
		calm, urgent := occurrences(got, want, 1), occurrences(got, want, 1.5)
		if len(calm) != 1 || len(urgent) != 1 || urgent[0] < calm[0] {
			t.Errorf("it was heard at %v, and half as loud again at %v", calm, urgent)
			return
		}
		ratio := loudness(got[urgent[0]:urgent[0]+len(want)]) / loudness(got[calm[0]:calm[0]+len(want)])
		if ratio < 1.47 || ratio > 1.53 || peak(got) >= 1 {
			t.Errorf("the urgent one is %.3f times as loud, with a peak of %.3f; want 1.50 ± 0.03 below 1", ratio, peak(got))
		}
	})
}

// passage has 56 ordinary words, and no number among them.
const passage = "The old man walked slowly down the road to the village, and his dog ran ahead of him. " +
	"It was a fine morning in early summer. The birds sang in the trees, and the air was full of the smell of flowers. " +
	"When he came to the bridge he stopped, looked at the water, and smiled at the children who played there."

func TestTheRateIsWordsPerMinute(t *testing.T) {
	t.Parallel()
	words := len(strings.Fields(passage))
	for _, want := range []int{120, 170, 220, 260} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			t.Parallel()
			a := newAppliance(t)
			pulsetest.Retry(t, func(t *pulsetest.Attempt) {
				recording := a.sound.Record()
				a.heard(a.post(announcement{Message: passage, Rate: want}).ID)
				minutes := float64(len(audible(recording.Stop()))) / rate / 60
				got := float64(words) / minutes
				if got < 0.92*float64(want) || got > 1.08*float64(want) {
					t.Errorf("%d words in %.1f s are %.0f a minute, want %d ± 8 %%", words, minutes*60, got, want)
				}
			})
		})
	}
}

// Fifty mixed requests behind the one being spoken fill the queue. The next
// one is refused, and all others are spoken, the urgent ones first.
func TestAFullQueueIsSpokenInOrder(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	// The head takes longer than any machine to fill the queue; then it is cut off.
	head := a.post(announcement{Message: strings.Repeat("This is the head, and everything else waits behind it. ", 25)})
	a.awaitStatus(head.ID, "playing")
	var plain, urgent []string
	for i := range 50 {
		r := announcement{Message: "Go.", Rate: 400, Urgent: i%7 == 3}
		id := a.post(r).ID
		if r.Urgent {
			urgent = append(urgent, id)
		} else {
			plain = append(plain, id)
		}
	}
	err := a.call(t.Context(), http.MethodPost, "/notify", announcement{Message: "One too many."}, nil)
	refused, ok := errors.AsType[*refusal](err)
	if !ok || refused.Status != http.StatusServiceUnavailable || refused.Code != "queue_full" || refused.RetryAfter == "" {
		t.Errorf("one too many: %v, want 503 queue_full with Retry-After", err)
	}
	var cut report
	if err := a.call(t.Context(), http.MethodDelete, "/notify/"+head.ID, nil, &cut); err != nil || cut.Status != "cancelled" {
		t.Fatalf("the head is cut off: %+v, %v", cut, err)
	}
	order := slices.Concat([]string{head.ID}, urgent, plain)
	a.heard(order[len(order)-1])
	var list struct {
		Recent []struct {
			ID      string    `json:"id"`
			Status  string    `json:"status"`
			Started time.Time `json:"started_at"`
		} `json:"recent"`
	}
	if err := a.call(t.Context(), http.MethodGet, "/notify", nil, &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range slices.Backward(list.Recent) {
		if r.Status != "done" && r.ID != head.ID {
			t.Errorf("%s ended as %s", r.ID, r.Status)
		}
		got = append(got, r.ID)
	}
	if !slices.Equal(got, order) {
		t.Errorf("they were spoken in the order\n%v, want\n%v", got, order)
	}
}

// Killed in the middle of a word and started again, the daemon says what it
// had accepted: the one that was cut off from its start, none of the others
// twice.
func TestKilledInMidWordItSpeaksOn(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	texts := []string{"The first is short.", "The second one is a good deal longer, so that it can be cut.", "The third is last."}
	var want [][]float32
	for _, text := range texts {
		want = append(want, a.speech(text).Samples)
	}
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := a.sound.Record()
		var ids []string
		for _, text := range texts {
			ids = append(ids, a.post(announcement{Message: text}).ID)
		}
		a.heard(ids[0])
		cut := want[1][:rate]
		recording.WaitFor(func(samples []float32) bool {
			return len(occurrences(samples[max(0, len(samples)-2*rate):], cut, 1)) > 0
		})
		if err := a.process.end(syscall.SIGKILL); err == nil {
			t.Fatal("the daemon was killed and ended well")
		}
		a.start()
		a.heard(ids[2])
		got := recording.Stop()
		for i, clip := range want {
			if at := occurrences(got, clip, 1); len(at) != 1 {
				t.Errorf("%q was heard whole at %v, want once", texts[i], at)
			}
		}
		if at := occurrences(got, cut, 1); len(at) != 2 {
			t.Errorf("the beginning of the one that was cut off was heard at %v, want twice", at)
		}
	})
}

// A sound server that goes away in the middle of a word is told of within a
// second, and the announcement is heard from its start when it is back.
func TestTheSoundServerRestartsInMidWord(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	const text = "When the sound server comes back, this is said again from its very beginning."
	want := a.speech(text).Samples
	degraded := func(h health) bool { return h.Status == "degraded" && h.Checks["audio"].Detail != "" }
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := a.sound.Record()
		id := a.post(announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate })
		a.sound.Kill()
		killed := time.Now()
		if err := a.awaitHealth(t.Context(), degraded); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(killed); took > time.Second {
			t.Errorf("it was told %v after the sound server was gone, want a second at most", took)
		}
		a.process.signal(t, syscall.SIGSTOP) // until the recorder listens
		a.sound.Start()
		recording = a.sound.Record()
		a.process.signal(t, syscall.SIGCONT)
		a.heard(id)
		if at := occurrences(recording.Stop(), want, 1); len(at) != 1 {
			t.Errorf("after the sound server was back it was heard at %v, want once", at)
		}
		if err := a.awaitHealth(t.Context(), func(h health) bool { return h.Status == "ok" }); err != nil {
			t.Fatal(err)
		}
	})
}

// Told to end, the daemon finishes the sentence, and says the whole when it
// runs again.
func TestTheSentenceIsFinished(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	const text = "This sentence is finished before the daemon ends. This one is not even begun, but said later."
	whole := a.speech(text).Samples
	end, _ := pause(audible(whole))
	sentence := audible(whole)[:end]
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := a.sound.Record()
		id := a.post(announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate/2 })
		began := time.Now()
		if err := a.process.end(syscall.SIGTERM); err != nil {
			t.Fatalf("it ended with %v\n%s", err, a.process.logged())
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %v to end", took)
		}
		got := recording.Stop()
		const nothing = 0.5 / 32767 // in the WAV file, where the sentence ends
		if at := occurrences(got, sentence, 1); len(at) != 1 || peak(got[at[0]+len(sentence):]) > nothing {
			t.Errorf("the sentence was heard at %v, want once and nothing after it", at)
		}
		recording = a.sound.Record()
		a.start()
		a.heard(id)
		if at := occurrences(recording.Stop(), whole, 1); len(at) != 1 {
			t.Errorf("after the next start the whole was heard at %v, want once", at)
		}
	})
}

// Under systemd the sockets are those that it opened: a client that connected
// before the daemon was there is served, HOST and PORT are not used, and the
// service manager is told what happens.
func TestItServesTheSocketsOfSystemd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newManager(t)
	open, openFile := inheritable(t, "tcp", "127.0.0.1:0")
	admin, adminFile := inheritable(t, "unix", filepath.Join(dir, "inherited.sock"))
	early, err := net.Dial("tcp", open)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	fmt.Fprint(early, "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

	cmd := exec.CommandContext(t.Context(), "sh", "-c", "LISTEN_PID=$$ exec pressbox serve")
	cmd.Dir = dir
	cmd.Env = append(environment(t), "PORT=1", "PULSE_SERVER=unix:/nowhere", "NOTIFY_SOCKET="+m.path,
		"LISTEN_FDS=2", "LISTEN_FDNAMES=http:admin")
	cmd.ExtraFiles = []*os.File{openFile, adminFile}
	p, err := startCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if p.url != "http://"+open {
		t.Errorf("it listens at %s, want %s", p.url, open)
	}
	if answer, err := io.ReadAll(early); !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		t.Errorf("a client that was early got %q, %v", answer, err)
	}
	if conn, err := net.Dial("unix", admin); err != nil {
		t.Error(err)
	} else {
		fmt.Fprint(conn, "GET /admin/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if answer, err := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
			t.Errorf("the administrator got %q, %v", answer, err)
		}
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	m.await(`^READY=1\nSTATUS=Silent.* on ` + regexp.QuoteMeta(p.url))
	m.await(`^STOPPING=1$`)
}

// inheritable opens a socket and returns its address and a file for a child.
func inheritable(t *testing.T, network, address string) (string, *os.File) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	file, err := l.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return l.Addr().String(), file
}
