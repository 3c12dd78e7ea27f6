package voice_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice"
)

// A recorder records the inputs of a model.
type recorder struct {
	voice.Model
	inputs []voice.Input
}

func (r *recorder) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	r.inputs = append(r.inputs, in)
	return r.Model.Infer(ctx, in)
}

// recordInputs returns the model inputs for a message.
func recordInputs(b *testing.B, v *voice.Voice, text string) []voice.Input {
	b.Helper()
	r := &recorder{Model: v.Model}
	with := *v
	with.Model = r
	speak(b, &with, text, 170)
	return r.inputs
}

func infer(b *testing.B, v *voice.Voice, inputs []voice.Input) {
	b.Helper()
	for _, in := range inputs {
		check.Must(v.Model.Infer(b.Context(), in))(b)
	}
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// longMessage returns a message of at least 500 words.
func longMessage(b *testing.B) string {
	b.Helper()
	all := passages(b)
	one := strings.Join([]string{all["household"], all["baseball"], all["news"], all["story"], all["technical"]}, " ")
	return one + " " + one
}

// BenchmarkSpeakLong compares speaking a long message with the runs of the model and one espeak call alone;
// the limit of the ratio is 1.05.
func BenchmarkSpeakLong(b *testing.B) {
	v := calibrated(b)
	text := longMessage(b)
	inputs := recordInputs(b, v, text)
	var whole, bare []time.Duration
	for b.Loop() {
		begun := time.Now()
		clips := speak(b, v, text, 170)
		whole = append(whole, time.Since(begun))
		begun = time.Now()
		check.Must(v.Phonemizer.Phonemes(b.Context(), "en-us", "Good morning everyone"))(b)
		infer(b, v, inputs)
		bare = append(bare, time.Since(begun))
		b.ReportMetric(seconds(clips)/median(whole).Seconds(), "x-realtime")
	}
	b.ReportMetric(float64(median(whole))/float64(median(bare)), "x-bare")
}
