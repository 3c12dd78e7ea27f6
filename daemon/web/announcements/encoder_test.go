package announcements

import (
	"slices"
	"testing"

	"pressbox/audio"
	"pressbox/check"
)

// A voice of another rate that speaks the rest is converted to the rate of the stream.
func TestEncoder_otherRate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format string
		rate   int
	}{{"wav", 22050}, {"pcm", pcmRate}} {
		e := &encoder{format: tt.format}
		var data []byte
		for _, rate := range []int{22050, 22050, 16000, 22050} {
			clip := audio.Clip{Rate: rate, Samples: slices.Repeat([]float32{0.25}, rate)} // a second
			data = append(data, check.Must(e.add(clip))(t)...)
		}
		data = append(data, e.end()...)
		if tt.format == "wav" {
			data = data[len(audio.WAVHeader(tt.rate)):]
		}
		if got, want := len(data)/2, 4*tt.rate; got < want-2 || got > want+2 {
			t.Errorf("%s: %d samples of 4 s, want %d", tt.format, got, want)
		}
	}
	if _, err := (&encoder{format: "pcm"}).add(audio.Clip{Rate: 1}); err == nil {
		t.Error("a rate that cannot be converted has no error")
	}
}
