package pulse_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/packaging/check"
)

const rate = pulsetest.SinkRate // of the sink and the clips, unless a test says otherwise

// Compares the sink's monitor with the clips, sample by sample: clips shorter and longer than the server's
// buffer, in one Play without a gap and in several.
func TestPlay_everySampleHeardOnce(t *testing.T) {
	t.Parallel()
	for name, plays := range map[string][][]time.Duration{
		"several": {{200 * time.Millisecond}, {time.Millisecond}, {2500 * time.Millisecond}},
		"one":     {{300 * time.Millisecond, 0, 7 * time.Millisecond, 900 * time.Millisecond}},
		"long":    {{12 * time.Second}}, // twelve times the server's buffer
	} {
		t.Run(name, func(t *testing.T) {
			server, sink := start(t, pulsetest.Config{})
			pulsetest.Retry(t, func(a *pulsetest.Attempt) {
				recording := server.Record()
				var want []float32
				for _, lengths := range plays {
					want = append(want, playTimed(a, sink, lengths)...)
					check.Require(a, recording.Wait(1), "the recorder ended")
				}
				heard := sounding
				if len(plays) == 1 {
					heard = span
				}
				same(a, heard(recording.Stop()), want)
			})
		})
	}
}

// playTimed plays clips of these lengths and returns their samples. It fails the test unless Play takes
// little more than their sum.
func playTimed(tb testing.TB, sink *pulse.Sink, lengths []time.Duration) (samples []float32) {
	tb.Helper()
	var clips []audio.Clip
	var length time.Duration
	for _, d := range lengths {
		clips = append(clips, noise(d))
		samples = append(samples, noise(d).Samples...)
		length += d
	}
	began := time.Now()
	mustPlay(tb, sink, clips...)
	took := time.Since(began)
	check.That(tb, took >= length && took <= length+500*time.Millisecond+length/24,
		"Play of %v took %v, want little more than their length", lengths, took)
	return samples
}

// A sound card has other channels, another format and another rate. The ends of a clip are heard there too,
// and urgent clips at 1.5 times the level.
func TestPlay_convertsForSink(t *testing.T) {
	server, sink := start(t, pulsetest.Config{Rate: 48000, Format: "s16le"})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		var level [2]float64
		for i, gain := range []float32{1, audio.UrgentGain} {
			recording := server.Record()
			tone := audio.Clip{Rate: rate, Samples: make([]float32, rate/2)}
			for n := range tone.Samples {
				tone.Samples[n] = gain * 0.6 * float32(math.Cos(2*math.Pi*441*float64(n)/rate))
			}
			mustPlay(a, sink, tone)
			played := span(recording.Stop())
			check.That(a, len(played) > 24000 && len(played) <= 24000+96,
				"half a second lasts %d samples at 48 kHz, want 24000 and the resampler's delay", len(played))
			level[i] = rms(played)
		}
		ratio := level[1] / level[0]
		check.That(a, math.Abs(ratio-1.5) <= 0.01, "urgent is %.3f times as loud, want 1.5", ratio)
	})
}

func TestPlay_emptyClips(t *testing.T) {
	_, sink := start(t, pulsetest.Config{})
	for name, clips := range map[string]<-chan audio.Clip{
		"no clip":       all(),
		"an empty clip": all(audio.Clip{Rate: rate}),
		"a zero clip":   all(audio.Clip{}),
	} {
		played, err := sink.Play(t.Context(), clips, unity())
		check.That(t, err == nil && played == 0, "Play of %s: %v, %v", name, played, err)
	}
	check.That(t, check.Err(sink.Play(t.Context(), all(audio.Clip{Samples: []float32{1}}), unity())) != nil,
		"Play of a clip without a rate succeeds, want an error")
}

// Clips that arrive after the end of the sound before them are heard in full, after a silence.
func TestPlay_lateClipsLoseNothing(t *testing.T) {
	server, sink := start(t, pulsetest.Config{})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		recording := server.Record()
		clips := make(chan audio.Clip)
		played := startPlay(a.Context(), sink, clips)
		var want []float32
		for i := range 4 {
			clip := noise(time.Duration(100+i) * time.Millisecond)
			before := recording.Len()
			clips <- clip
			want = append(want, clip.Samples...)
			late := (i + 1) * rate / 4 // by which the next clip is late
			recording.WaitFor(func(s []float32) bool {
				return len(sounding(s[before:])) > 0 && len(sounding(s[max(before, len(s)-late):])) == 0
			})
		}
		close(clips)
		check.NoError(a, <-played)
		recorded := recording.Stop()
		same(a, sounding(recorded), want)
		late := len(span(recorded)) - len(want)
		check.That(a, late >= rate, "%d samples of silence between late clips, want at least a second", late)
	})
}

func TestPlay_twoRates(t *testing.T) {
	server, sink := start(t, pulsetest.Config{})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		recording := server.Record()
		one, two := noise(400*time.Millisecond), audio.Clip{Rate: 16000, Samples: make([]float32, 8000)}
		for i := range two.Samples {
			two.Samples[i] = 0.5
		}
		mustPlay(a, sink, one, two)
		played := span(recording.Stop())
		if len(played) < len(one.Samples)+rate/2-50 {
			a.Errorf("%d samples heard, want %d and half a second more", len(played), len(one.Samples))
			return
		}
		same(a, played[:len(one.Samples)], one.Samples)
	})
}

func TestPlay_cancelWhileWaiting(t *testing.T) {
	_, sink := start(t, pulsetest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	clips := make(chan audio.Clip)
	first := startPlay(ctx, sink, clips)
	clips <- noise(10 * time.Millisecond) // the first one plays now
	waiting, giveUp := context.WithCancel(t.Context())
	second := startPlay(waiting, sink, clips)
	giveUp()
	check.ErrorIs(t, <-second, context.Canceled, "Play while another one plays")
	cancel()
	check.ErrorIs(t, <-first, context.Canceled, "Play while it waits for a clip")
}

// A volume that a user or module-stream-restore set for the last stream does not apply to the next one, and
// the sink's own volume is not changed.
func TestPlay_streamVolumeIsFull(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{Modules: []string{"module-stream-restore"}})
	sink := reach(t, pulse.Config{Server: server.Address, Sinks: []string{"speaker"}})
	playing := func(meanwhile func(stream string)) {
		clips := make(chan audio.Clip)
		played := startPlay(t.Context(), sink, clips)
		for range 2 { // once the second is received, the first is playing
			clips <- noise(50 * time.Millisecond)
		}
		meanwhile(server.Pactl("list", "sink-inputs"))
		close(clips)
		check.NoError(t, <-played)
	}
	playing(func(stream string) {
		index := between(stream, "Sink Input #", "\n")
		server.Pactl("set-sink-volume", "speaker", "40%")
		server.Pactl("set-sink-input-volume", index, "10%")
		server.Pactl("set-sink-input-mute", index, "1")
	})
	until(t, func() bool { return server.Pactl("list", "short", "sink-inputs") == "" }) // no longer cached
	playing(func(stream string) {
		for _, want := range []string{
			"Mute: no", "100%", `media.role = "a11y"`, `application.name = "Pressbox"`,
			`application.icon_name = "audio-speakers"`, "float32le 1ch 24000Hz",
		} {
			check.That(t, strings.Contains(stream, want), "the stream lacks %q:\n%s", want, stream)
		}
	})
	volume := server.Pactl("get-sink-volume", "speaker")
	check.That(t, strings.Contains(volume, "40%"), "the sink's volume is now %s, want 40%%", volume)
}

// start returns a server and a connected sink for a parallel test.
func start(t *testing.T, cfg pulsetest.Config) (*pulsetest.Server, *pulse.Sink) {
	t.Helper()
	t.Parallel()
	server := pulsetest.Start(t, cfg)
	return server, reach(t, pulse.Config{Server: server.Address})
}

// startPlay starts Play and returns a channel for its error.
func startPlay(ctx context.Context, sink *pulse.Sink, clips <-chan audio.Clip) chan error {
	played := make(chan error, 1)
	go func() {
		_, err := sink.Play(ctx, clips, unity())
		played <- err
	}()
	return played
}

// unity returns a fader of unchanged sound.
func unity() *audio.Fader { return audio.NewFader(1) }

func mustPlay(tb testing.TB, sink *pulse.Sink, clips ...audio.Clip) {
	tb.Helper()
	want := time.Duration(0)
	for _, c := range clips {
		want += c.Duration()
	}
	played := check.Must(sink.Play(tb.Context(), all(clips...), unity()))(tb)
	missing := want - played
	check.That(tb, missing >= 0 && missing <= time.Microsecond, "Play returned %v of %v", played, want)
}

// run runs a sink until the test ends.
func run(tb testing.TB, cfg pulse.Config) *pulse.Sink {
	tb.Helper()
	cfg.Log = logger(tb)
	sink := pulse.New(cfg)
	check.Run(tb, sink.Run)
	return sink
}

// reach is run for a sink whose server is running; it waits for the connection.
func reach(tb testing.TB, cfg pulse.Config) *pulse.Sink {
	tb.Helper()
	sink := run(tb, cfg)
	until(tb, func() bool { return sink.Status().Name != "" })
	return sink
}

func logger(tb testing.TB) *slog.Logger {
	tb.Helper()
	return slog.New(slog.NewTextHandler(tb.Output(), nil))
}

func all(clips ...audio.Clip) <-chan audio.Clip {
	c := make(chan audio.Clip, len(clips))
	for _, clip := range clips {
		c <- clip
	}
	close(c)
	return c
}

// noise returns a clip without a silent sample, the same for the same length.
func noise(d time.Duration) audio.Clip {
	random := rand.New(rand.NewPCG(1, uint64(d)))
	samples := make([]float32, d*rate/time.Second)
	for i := range samples {
		samples[i] = random.Float32()/2 - 0.6
	}
	return audio.Clip{Rate: rate, Samples: samples}
}

// sounding returns the samples that are not silent.
func sounding(recorded []float32) []float32 {
	var samples []float32
	for _, s := range recorded {
		if s != 0 {
			samples = append(samples, s)
		}
	}
	return samples
}

// span returns the samples from the first to the last that is not silent.
func span(recorded []float32) []float32 {
	first := slices.IndexFunc(recorded, func(s float32) bool { return s != 0 })
	if first < 0 {
		return nil
	}
	last := len(recorded)
	for recorded[last-1] == 0 {
		last--
	}
	return recorded[first:last]
}

func same(tb testing.TB, got, want []float32) {
	tb.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			tb.Errorf("sample %d of %d is %v, want %v", i, len(want), got[i], want[i])
			return
		}
	}
	check.That(tb, len(got) == len(want), "%d samples heard, want %d", len(got), len(want))
}

func rms(samples []float32) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

// between returns the text after the first start and before the next end.
func between(text, start, end string) string {
	_, after, _ := strings.Cut(text, start)
	found, _, _ := strings.Cut(after, end)
	return found
}

// TestMain runs more parallel tests than there are processors, because they mostly wait for sound.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func inspect(t *testing.T, cfg pulse.Config) pulse.Inspection {
	t.Helper()
	return check.Must(pulse.Inspect(t.Context(), cfg))(t)
}

func TestInspect_findsSinks(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	r := inspect(t, pulse.Config{Server: "unix:/nowhere/native " + server.Address})
	check.That(t, len(r.Attempts) == 2 && r.Attempts[0].Failure == pulse.NotFound && r.Attempts[1].Failure == "",
		"attempts: %+v", r.Attempts)
	check.Require(t, r.Default == "speaker" && r.Server != "" && len(r.Sinks) == 1, "%+v", r)
	s := r.Sinks[0]
	check.That(t, s.Name == "speaker" && !s.Muted && s.Volume == 100 && s.Null && !s.Unplugged, "the sink: %+v", s)
	server.Pactl("set-sink-mute", "speaker", "1")
	server.Pactl("set-sink-volume", "speaker", "30%")
	s = inspect(t, pulse.Config{Server: server.Address}).Sinks[0]
	check.That(t, s.Muted && s.Volume == 30, "the sink, muted and turned down: %+v", s)
	server.Pactl("unload-module", "module-null-sink")
	r = inspect(t, pulse.Config{Server: server.Address})
	check.That(t, len(r.Sinks) == 0 && r.Server != "", "without a sink: %+v", r)
}

func TestInspect_failures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, tcp := startTCP(t, file(t, bytes.Repeat([]byte("secret! "), 32)))
	stopped := pulsetest.Start(t, pulsetest.Config{})
	stopped.Signal(syscall.SIGSTOP)
	dead := filepath.Join(dir, "dead")
	l := check.Must(net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: dead}))(t)
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	for server, want := range map[string]pulse.Failure{
		"unix:" + filepath.Join(dir, "none"): pulse.NotFound,
		"unix:" + dead:                       pulse.Refused,
		tcp:                                  pulse.AccessDenied,
		stopped.Address:                      pulse.Timeout,
		listen(t, say("HTTP/1.1 400 Bad Request")): pulse.Other,
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			r := inspect(t, pulse.Config{Server: server})
			if len(r.Attempts) != 1 || r.Attempts[0].Failure != want || r.Attempts[0].Detail == "" || r.Server != "" {
				t.Errorf("%s: %+v, want %s", server, r, want)
			}
		})
	}
	check.That(t, check.Err(pulse.Inspect(t.Context(), pulse.Config{Server: "unix:relative"})) != nil,
		"Inspect accepts a configuration without a server")
}
