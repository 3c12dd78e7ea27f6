package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"pressbox/audio"
	"pressbox/audio/pulse/pulsetest"
)

// An appliance is the whole thing, as it is installed: the program in a
// process of its own, with the bundled voice, and a real sound server.
type appliance struct {
	client

	tb      testing.TB
	dir     string // its working directory
	env     []string
	process *process
	sound   *pulsetest.Server
}

// newAppliance starts one whose voices have been measured; it ends with the test.
func newAppliance(tb testing.TB) *appliance {
	tb.Helper()
	measured.Do(func() { measured.store = measure(tb) })
	a := &appliance{tb: tb, dir: tb.TempDir()}
	if err := os.Mkdir(filepath.Join(a.dir, "state"), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, "state", "pressbox.db"), measured.store, 0o600); err != nil {
		tb.Fatal(err)
	}
	a.sound = pulsetest.Start(tb, pulsetest.Config{})
	a.run(append(environment(tb), "PULSE_SERVER="+a.sound.Address))
	return a
}

// measured is a store with what was measured of the bundled voices, which takes
// seconds and is the same for every appliance.
var measured struct {
	sync.Once
	store []byte
}

func measure(tb testing.TB) []byte {
	tb.Helper()
	a := &appliance{tb: tb, dir: tb.TempDir()}
	a.run(append(environment(tb), "PULSE_SERVER=unix:/nowhere"))
	for {
		a.speech("One.") // waits a while for what is measured
		var list struct {
			Voices []struct {
				WordsPerMinute *float64 `json:"words_per_minute"`
			} `json:"voices"`
		}
		if err := a.call(tb.Context(), http.MethodGet, "/voices", nil, &list); err != nil {
			tb.Fatal(err)
		}
		unmeasured := 0
		for _, v := range list.Voices {
			if v.WordsPerMinute == nil {
				unmeasured++
			}
		}
		if len(list.Voices) > 0 && unmeasured == 0 {
			break
		}
	}
	if err := a.process.end(syscall.SIGTERM); err != nil {
		tb.Fatal(err)
	}
	store, err := os.ReadFile(filepath.Join(a.dir, "state", "pressbox.db"))
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

// run starts the daemon until the test ends.
func (a *appliance) run(env []string) {
	a.tb.Helper()
	a.env = env
	a.start()
	a.tb.Cleanup(func() {
		if err := a.process.end(syscall.SIGKILL); err != nil && a.tb.Failed() {
			a.tb.Logf("the daemon's log:\n%s", a.process.logged())
		}
	})
}

// environment is that of every daemon of the tests.
func environment(tb testing.TB) []string {
	tb.Helper()
	return append(os.Environ(), commonSettings(tb)...)
}

// commonSettings are those that every daemon of the tests needs.
func commonSettings(tb testing.TB) []string {
	tb.Helper()
	models, err := filepath.Abs("../models")
	if err != nil {
		tb.Fatal(err)
	}
	return []string{"HOST=127.0.0.1", "PORT=0", "MODEL_DIR=" + models, "ONNXRUNTIME_LIB=" + runtimeLibrary(tb)}
}

// runtimeLibrary is the ONNX Runtime that "make test" has put beside the
// program.
func runtimeLibrary(tb testing.TB) string {
	tb.Helper()
	path, err := filepath.Abs("../bin/libonnxruntime.so")
	if err != nil {
		tb.Fatal(err)
	}
	if set := os.Getenv("ONNXRUNTIME_LIB"); set != "" {
		path = set
	}
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("there is no ONNX Runtime: run \"make test\": %v", err)
	}
	return path
}

// start starts the daemon, also after it was ended.
func (a *appliance) start() {
	a.tb.Helper()
	p, err := startProcess(a.dir, a.env)
	if err != nil {
		a.tb.Fatal(err)
	}
	a.process, a.base = p, p.url
}

// post announces something, which must be accepted.
func (a *appliance) post(request announcement) report {
	a.tb.Helper()
	var r report
	if err := a.call(a.tb.Context(), http.MethodPost, "/notify", request, &r); err != nil {
		a.tb.Fatalf("POST /notify %.40q: %v", request.Message, err)
	}
	return r
}

// heard waits until an announcement has been spoken.
func (a *appliance) heard(id string) {
	a.tb.Helper()
	if r, err := a.follow(a.tb.Context(), id); err != nil || r.Status != "done" {
		a.tb.Fatalf("the announcement %s ended as %+v, %v", id, r, err)
	}
}

// awaitStatus waits until an announcement is at that point.
func (a *appliance) awaitStatus(id, status string) {
	a.tb.Helper()
	for {
		var r report
		if err := a.call(a.tb.Context(), http.MethodGet, "/notify/"+id, nil, &r); err != nil || r.ended() {
			a.tb.Fatalf("the announcement %s is %+v, %v; want it %s", id, r, err, status)
		}
		if r.Status == status {
			return
		}
	}
}

// speech is what the daemon makes of a text.
func (a *appliance) speech(text string) audio.Clip {
	a.tb.Helper()
	resp, err := a.open(a.tb.Context(), http.MethodPost, "/v1/audio/speech", map[string]any{"input": text})
	if err != nil {
		a.tb.Fatal(err)
	}
	defer resp.Body.Close()
	clip, err := audio.DecodeWAV(resp.Body)
	if err != nil {
		a.tb.Fatal(err)
	}
	return clip
}

// A condition is the health of the daemon, as far as the tests look at it.
type health struct {
	Status string `json:"status"`
	Checks map[string]struct {
		Status string `json:"status"`
		Detail string `json:"detail"`
	} `json:"checks"`
}

// awaitHealth asks for the daemon's health until enough says so.
func (a *appliance) awaitHealth(ctx context.Context, enough func(health) bool) error {
	for {
		var h health
		if err := a.call(ctx, http.MethodGet, "/health", nil, &h); err != nil {
			return fmt.Errorf("the last answer was %+v: %w", h, err)
		}
		if enough(h) {
			return nil
		}
	}
}

// audible is the part of a sound from its first to its last sample that can be
// heard: a hundredth of full scale.
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

// occurrences are the places of a recording at which a clip, scaled by gain,
// is heard sample for sample: to half a step of 16 bits in the WAV file, and
// half a step on the way to the loudspeaker.
func occurrences(recording, clip []float32, gain float32) []int {
	tolerance := (gain + 1) * 0.5 / 32767
	loudest := 0
	for i, s := range clip {
		if math.Abs(float64(s)) > math.Abs(float64(clip[loudest])) {
			loudest = i
		}
	}
	var found []int
	for at := 0; at+len(clip) <= len(recording); at++ {
		if near(recording[at+loudest], clip[loudest]*gain, tolerance) && same(recording[at:], clip, gain, tolerance) {
			found = append(found, at)
		}
	}
	return found
}

func same(recording, clip []float32, gain, tolerance float32) bool {
	for i, s := range clip {
		if !near(recording[i], s*gain, tolerance) {
			return false
		}
	}
	return true
}

func near(a, b, tolerance float32) bool {
	return a-b <= tolerance && b-a <= tolerance
}

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
