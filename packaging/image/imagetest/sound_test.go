//go:build image

package imagetest

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
)

const (
	wavRate   = 48000 // of a host's recording
	wavHeader = 44    // bytes before its samples, of which qemu writes the number only at its end
	wavFrame  = 4     // bytes; two channels of 16 bits

	voiceRate  = 24000 // of PCM from /v1/audio/speech
	searchRate = 8000  // at which sounds are compared
)

// A recording is what the sound card of a host plays. The card pauses it while nothing plays,
// so a position in it is no time.
type recording struct {
	path  string
	marks []mark
	done  chan struct{} // closed when marks are complete
}

// A mark says when a recording had grown to a size.
type mark struct {
	after time.Duration // since the host was switched on
	size  int64         // bytes
}

// record observes the growth of a recording until a host has ended.
func record(path string, began time.Time, ended <-chan struct{}) *recording {
	r := &recording{path: path, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			info, err := os.Stat(path)
			if err == nil && (len(r.marks) == 0 || info.Size() > r.marks[len(r.marks)-1].size) {
				r.marks = append(r.marks, mark{time.Since(began), info.Size()})
			}
			select {
			case <-ended:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return r
}

// samples returns the recording until now, in mono at searchRate.
func (r *recording) samples(t *testing.T) []float32 {
	t.Helper()
	data := check.Must(os.ReadFile(r.path))(t)
	data = data[min(wavHeader, len(data)):]
	mono := make([]float32, len(data)/wavFrame)
	for i := range mono {
		left, right := int16(binary.LittleEndian.Uint16(data[wavFrame*i:])),
			int16(binary.LittleEndian.Uint16(data[wavFrame*i+2:]))
		mono[i] = (float32(left) + float32(right)) / (2 * math.MaxInt16)
	}
	return resample(t, mono, wavRate)
}

// when returns how long after the switch a sample of a recording, at searchRate, was played. The host must be off.
func (r *recording) when(sample int) time.Duration {
	<-r.done
	end := wavHeader + int64(sample)*wavFrame*wavRate/searchRate
	for _, h := range r.marks {
		if h.size > end {
			return h.after
		}
	}
	return 0
}

// resample changes the rate of samples to searchRate.
func resample(t *testing.T, samples []float32, from int) []float32 {
	t.Helper()
	r := check.Must(audio.NewResampler(from, searchRate))(t)
	return r.Flush(r.Append(nil, samples))
}

// A finding is what a recording has of a sentence.
type finding struct {
	share float64 // of the sentence's audible parts, in their order
	begin int     // the sample at which the sentence begins
}

// recognized reports whether the sentence was spoken. Less than all of it counts, since a host that
// emulates too slowly leaves gaps, which break the parts around them.
func (f finding) recognized() bool { return f.share >= 0.5 }

// Parts of a sentence are compared by their normalized cross-correlation.
const (
	partLength = searchRate / 4
	alike      = 0.8               // parts that correlate so much are the same
	nearby     = searchRate / 20   // how far a part may be from where it is expected, before it is searched everywhere
	silent     = 0.001             // an RMS that is silence
	faint      = 0.2               // a share of the sentence's RMS below which a part says nothing
	refineBy   = searchRate / 1000 // how far beyond a first match the best one may be
)

// find searches for the parts of a sentence in a recording, one after the other.
func find(recorded, sentence []float32) finding {
	var f finding
	parts, found, position, offset := 0, 0, 0, 0
	floor := max(silent, faint*rms(sentence))
	for begin := 0; begin+partLength <= len(sentence); begin += partLength {
		part := sentence[begin : begin+partLength]
		if rms(part) < floor {
			continue
		}
		parts++
		at, ok := match(recorded, part, max(position, begin+offset-nearby), begin+offset+nearby)
		if !ok {
			at, ok = match(recorded, part, position, len(recorded))
		}
		if !ok {
			continue
		}
		if found == 0 {
			f.begin = max(0, at-begin)
		}
		found++
		position, offset = at+partLength/2, at-begin
	}
	if parts > 0 {
		f.share = float64(found) / float64(parts)
	}
	return f
}

// match returns the first position from begin to end at which the recording is like a part.
func match(recorded, part []float32, begin, end int) (at int, ok bool) {
	end = min(end, len(recorded)-len(part))
	best := 0.0
	for i := begin; i < end && (!ok || i < at+refineBy); i++ {
		if c := correlate(recorded[i:i+len(part)], part); c >= alike && c > best {
			best, at, ok = c, i, true
		}
	}
	return at, ok
}

// correlate returns the normalized correlation: 1 if sounds of the same length differ only in
// level, 0 if the first is silent.
func correlate(a, b []float32) float64 {
	var product, squareA, squareB float32
	for i, x := range a {
		y := b[i]
		product += x * y
		squareA += x * x
		squareB += y * y
	}
	if float64(squareA) < silent*silent*float64(len(a)) || squareB == 0 {
		return 0
	}
	return float64(product) / math.Sqrt(float64(squareA)*float64(squareB))
}

func rms(samples []float32) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(max(1, len(samples))))
}

// checkFind checks that find recognizes a recorded sentence, and neither silence nor the other
// sentence, nor anything in the parts of a sentence in another order.
func checkFind(t *testing.T, recorded, sentence, other []float32) {
	t.Helper()
	gap := make([]float32, 3*searchRate)
	half := len(sentence) / 2
	quiet := make([]float32, len(sentence))
	for i, s := range sentence {
		quiet[i] = s / 20
	}
	reversed := make([]float32, len(sentence))
	for i, s := range sentence {
		reversed[len(sentence)-1-i] = s
	}
	for _, tt := range []struct {
		what     string
		recorded []float32
		want     bool
	}{
		{"the recording", recorded, true},
		{"a quieter sentence", quiet, true},
		{"a sentence with a pause", slices.Concat(sentence[:half], gap, sentence[half:]), true},
		{"silence", gap, false},
		{"nothing", nil, false},
		{"another sentence", other, false},
		{"the sentence backwards", reversed, false},
	} {
		f := find(tt.recorded, sentence)
		t.Logf("recognized in %s: %.0f %%", tt.what, 100*f.share)
		check.Equal(t, f.recognized(), tt.want, "recognized in %s", tt.what)
	}
}
