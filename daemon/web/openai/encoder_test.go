package openai

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"pressbox/audio"
	"pressbox/packaging/check"
)

// A voice of another rate that speaks the rest is converted to the rate of the stream.
func TestEncoder_otherRate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format string
		rate   int
	}{{"wav", 22050}, {"pcm", pcmRate}} {
		var data bytes.Buffer
		f := formats[tt.format]
		start := func(rate int) (io.WriteCloser, error) { return f.start(&data, rate) }
		e := &encoder{joiner: audio.Joiner{Rate: f.rate}, start: start, speed: 1}
		for _, rate := range []int{22050, 22050, 16000, 22050} {
			clip := audio.Clip{Rate: rate, Samples: slices.Repeat([]float32{0.25}, rate)} // a second
			check.NoError(t, e.add(clip))
		}
		check.NoError(t, e.end())
		size := data.Len()
		if tt.format == "wav" {
			size -= len(audio.WAVHeader(tt.rate))
		}
		if got, want := size/2, 4*tt.rate; got < want-2 || got > want+2 {
			t.Errorf("%s: %d samples of 4 s, want %d", tt.format, got, want)
		}
	}
	start := func(int) (io.WriteCloser, error) { return startPCM(io.Discard, 0) }
	e := &encoder{joiner: audio.Joiner{Rate: pcmRate}, start: start, speed: 1}
	if err := e.add(audio.Clip{Rate: 1}); err == nil {
		t.Error("a rate that cannot be converted has no error")
	}
}
