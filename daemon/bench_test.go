package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/voice"
	"pressbox/voice/espeak"
	"pressbox/voice/onnx"
)

const twelveWords = "Dinner is ready in the kitchen, please come and wash your hands."

// BenchmarkFirstSample takes the time from POST /notify to the first sample
// that is written to PulseAudio, for a message of twelve words and for one of
// five hundred, each the median, in turns with what cannot be done without:
// one espeak call, one run of the model on the first piece, and one commit.
// Limits: x-limit ≤ 1, where the limit is 1.15 × (espeak + run) + commit +
// 5 ms; x-short ≤ 1.2 for the long one.
func BenchmarkFirstSample(b *testing.B) {
	written := make(chan time.Time, 1)
	h, c := liveHouse(b, func() { written <- time.Now() })
	floor := newFloor(b, h)
	long := twelveWords + strings.Repeat(" "+passage, 9)
	var short, longer, needed, limit []time.Duration
	for b.Loop() {
		short = append(short, firstSample(b, h, c, twelveWords, written))
		longer = append(longer, firstSample(b, h, c, long, written))
		speech, commit := floor.measure(b)
		needed = append(needed, speech+commit)
		limit = append(limit, speech*115/100+commit+5*time.Millisecond)
	}
	b.ReportMetric(median(short).Seconds()*1e3, "ms/first-sample")
	b.ReportMetric(median(needed).Seconds()*1e3, "ms/needed")
	b.ReportMetric(float64(median(short))/float64(median(limit)), "x-limit")
	b.ReportMetric(float64(median(longer))/float64(median(short)), "x-short")
	b.ReportMetric(0, "ns/op")
}

// firstSample posts a message, waits for its first sample, and cancels it.
// What was cancelled before may have cost the daemon its espeak child; that is
// back before the time is taken, as the limit is for a daemon that is warm.
func firstSample(b *testing.B, h *house, c *client, text string, written <-chan time.Time) time.Duration {
	b.Helper()
	if _, err := h.phonemizer.Phonemes(b.Context(), "en-us", "warm"); err != nil {
		b.Fatal(err)
	}
	var r report
	began := time.Now()
	if err := c.call(b.Context(), http.MethodPost, "/notify", announcement{Message: text}, &r); err != nil {
		b.Fatal(err)
	}
	took := (<-written).Sub(began)
	if err := c.call(b.Context(), http.MethodDelete, "/notify/"+r.ID, nil, &r); err != nil {
		b.Fatal(err)
	}
	return took
}

// liveHouse runs the daemon's parts in this process, with the bundled voice
// measured, until the benchmark ends.
func liveHouse(b *testing.B, onFirstWrite func()) (*house, *client) {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	cfg, err := benchConfig(b)
	if err != nil {
		b.Fatal(err)
	}
	kept, _, err := openStore(b.Context(), cfg, log)
	if err != nil {
		b.Fatal(err)
	}
	sink := pulse.New(pulse.Config{Server: cfg.PulseServer, OnFirstWrite: onFirstWrite, Log: log})
	h, err := build(launch{cfg: cfg, log: log}, kept, sink)
	if err != nil {
		b.Fatal(err)
	}
	doors, err := listen(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.run(ctx, doors) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		_ = h.phonemizer.Close() // nothing is kept there
		if err := kept.Close(); err != nil {
			b.Error(err)
		}
	})
	return h, &client{base: webAddress(doors.http[0])}
}

// benchConfig is the settings of an appliance whose voice has been measured.
func benchConfig(b *testing.B) (Config, error) {
	b.Helper()
	measured.Do(func() { measured.store = measure(b) })
	settings := commonSettings(b)
	b.Chdir(b.TempDir())
	if err := os.Mkdir("state", 0o700); err != nil {
		return Config{}, err
	}
	if err := os.WriteFile(filepath.Join("state", "pressbox.db"), measured.store, 0o600); err != nil {
		return Config{}, err
	}
	if err := os.WriteFile("pressbox.env", nil, 0o600); err != nil {
		return Config{}, err
	}
	for _, setting := range append(settings, "PULSE_SERVER="+pulsetest.Start(b, pulsetest.Config{}).Address) {
		name, value, _ := strings.Cut(setting, "=")
		b.Setenv(name, value)
	}
	s, err := readSettings(b, keys())
	if err != nil {
		return Config{}, err
	}
	return s.configure()
}

// A floor is what the first sample cannot do without.
type floor struct {
	house *house
	voice *voice.Voice
	first voice.Input // of the model, for the first piece of the message
}

func newFloor(b *testing.B, h *house) *floor {
	b.Helper()
	model := filepath.Join(h.cfg.ModelDir, h.cfg.DefaultVoice+".onnx")
	text, err := os.ReadFile(model + ".json")
	if err != nil {
		b.Fatal(err)
	}
	config, err := voice.ParseConfig(text)
	if err != nil {
		b.Fatal(err)
	}
	loaded, err := onnx.Runtime{Library: h.cfg.ONNXRuntimeLib}.Load(model, config)
	if err != nil {
		b.Fatal(err)
	}
	phonemizer := espeak.New("")
	b.Cleanup(func() {
		_ = phonemizer.Close() // nothing is kept there
		if err := loaded.Close(); err != nil {
			b.Error(err)
		}
	})
	v := &voice.Voice{Config: config, Phonemizer: phonemizer, Model: loaded}
	if v.Calibration, err = v.Calibrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	f := &floor{house: h, voice: v}
	recorder := &firstInput{Model: loaded, to: f}
	recording := *v
	recording.Model = recorder
	for _, err := range recording.Speak(b.Context(), twelveWords, h.cfg.DefaultRate) {
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	b.Fatal("the message has no speech")
	return nil
}

// firstInput notes the first input of a model.
type firstInput struct {
	voice.Model
	to   *floor
	done bool
}

func (m *firstInput) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	if !m.done {
		m.to.first, m.done = in, true
	}
	return m.Model.Infer(ctx, in)
}

// measure takes the time of one espeak call and one run, and of one commit.
func (f *floor) measure(b *testing.B) (speech, commit time.Duration) {
	b.Helper()
	began := time.Now()
	if _, err := f.voice.Phonemizer.Phonemes(b.Context(), "en-us", "Dinner is ready in the kitchen"); err != nil {
		b.Fatal(err)
	}
	if _, err := f.voice.Model.Infer(b.Context(), f.first); err != nil {
		b.Fatal(err)
	}
	speech = time.Since(began)
	began = time.Now()
	if err := f.house.store.SaveCalibration("benchmark", make([]byte, 300)); err != nil {
		b.Fatal(err)
	}
	return speech, time.Since(began)
}

// BenchmarkStart takes the time from starting the program, on a store that is
// there, until a client can connect. Limit: 50 ms.
func BenchmarkStart(b *testing.B) {
	dir := builtProgram(b)
	env := append(environment(b), "PULSE_SERVER=unix:/nowhere")
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		p, err := startProcess(dir, env)
		if err != nil {
			b.Fatal(err)
		}
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		took = append(took, time.Since(began))
		if err != nil {
			b.Fatal(err)
		}
		conn.Close()
		if err := p.end(syscall.SIGTERM); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(median(took).Seconds()*1e3, "ms/start")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdle looks at a daemon without voices that nobody asks anything,
// connected to its sound server, for a minute. Limits: 40 MB, 0.2 wake-ups/s.
func BenchmarkIdle(b *testing.B) {
	dir := builtProgram(b)
	env := append(environment(b), "MODEL_DIR="+b.TempDir(), "PULSE_SERVER="+pulsetest.Start(b, pulsetest.Config{}).Address)
	p, err := startProcess(dir, env)
	if err != nil {
		b.Fatal(err)
	}
	defer p.end(syscall.SIGTERM)
	for b.Loop() {
		<-time.After(10 * time.Second) // until the start has been forgotten
		before := wakeUps(b, p.cmd.Process.Pid)
		<-time.After(time.Minute)
		after := wakeUps(b, p.cmd.Process.Pid)
		b.ReportMetric(float64(after-before)/60, "wake-ups/s")
		b.ReportMetric(float64(status(b, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), "VmRSS"))/1e3, "MB-rss")
	}
	b.ReportMetric(0, "ns/op")
}

// builtProgram puts the program, as it is shipped, first in PATH, and returns
// an empty folder for it.
func builtProgram(b *testing.B) string {
	b.Helper()
	bin := b.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(bin, "pressbox"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return b.TempDir()
}

// wakeUps is how often the threads of a process have gone to sleep, and so
// been woken.
func wakeUps(b *testing.B, pid int) int {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	sum := 0
	for _, thread := range threads {
		sum += status(b, thread, "voluntary_ctxt_switches")
	}
	return sum
}

// status is a number of a file like /proc/PID/status.
func status(b *testing.B, path, name string) int {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(value, "kB")))
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("%s has no %s", path, name)
	return 0
}

func median(ds []time.Duration) time.Duration {
	ds = slices.Clone(ds)
	slices.Sort(ds)
	return ds[len(ds)/2]
}
