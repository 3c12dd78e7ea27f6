package audio

import (
	"fmt"
	"math"
)

// Parameters of the resampler's filter: a sinc under a Kaiser window, tabulated for a fixed number of
// positions between two samples and interpolated linearly between those.
const (
	lobes    = 32    // zero crossings on either side, at the lower rate
	phases   = 512   // positions between two samples
	passband = 0.915 // of the lower rate's half, where the filter is at −6 dB
	kaiser   = 9.0   // the window's β: side lobes below −90 dB

	minRate, maxRate = 4_000, 192_000 // samples per second
)

// A Resampler changes the sample rate of a stream. Output sample n has the time of input position n·from/to:
// the filter's delay is removed. The zero value is not usable.
type Resampler struct {
	from, to int
	half     int       // input samples that the filter covers on either side
	filter   []float32 // (phases+1) rows of 2·half taps; nil when from = to
	pending  []float32 // input that later output samples need
	next     int       // index in pending of the next output sample's left edge
	fraction int       // distance of that sample from the index, in 1/to
	in, out  int64     // samples read and written
}

// NewResampler returns a resampler between two rates in samples per second, each from 4,000 to 192,000.
func NewResampler(from, to int) (*Resampler, error) {
	if min(from, to) < minRate || max(from, to) > maxRate {
		return nil, fmt.Errorf("resample from %d to %d Hz: rates are from %d to %d", from, to, minRate, maxRate)
	}
	r := &Resampler{from: from, to: to}
	if from == to {
		return r, nil
	}
	cutoff := passband * min(1, float64(to)/float64(from))
	r.half = int(math.Ceil(lobes / cutoff))
	r.filter = newFilter(r.half, cutoff)
	r.pending = make([]float32, r.half-1, 4*r.half) // silence before the first sample
	return r, nil
}

// newFilter tabulates the windowed sinc: row p holds the taps of a sample at p/phases between the half-th and
// the next input sample. Every row sums to 1, so that a constant signal is unchanged.
func newFilter(half int, cutoff float64) []float32 {
	taps := 2 * half
	filter := make([]float32, (phases+1)*taps)
	row := make([]float64, taps)
	for p := range phases + 1 {
		sum := 0.0
		for t := range row {
			x := float64(t-half+1) - float64(p)/phases // distance from the sample
			row[t] = cutoff * sinc(cutoff*x) * window(x/float64(half))
			sum += row[t]
		}
		for t, v := range row {
			filter[p*taps+t] = float32(v / sum)
		}
	}
	return filter
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// window returns the Kaiser window at x in [-1, 1].
func window(x float64) float64 {
	if x < -1 || x > 1 {
		return 0
	}
	return bessel(kaiser*math.Sqrt(1-x*x)) / bessel(kaiser)
}

// bessel returns the modified Bessel function of the first kind, order zero, computed by its power series.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= (x / 2 / k) * (x / 2 / k)
		sum += term
	}
	return sum
}

// Append reads src and appends to dst the output samples that are complete.
func (r *Resampler) Append(dst, src []float32) []float32 {
	r.in += int64(len(src))
	if r.filter == nil {
		return append(dst, src...)
	}
	r.pending = append(r.pending, src...)
	for r.next+2*r.half <= len(r.pending) {
		dst = append(dst, r.sample())
		r.step()
	}
	r.forget()
	return dst
}

// Flush appends the rest to dst: the output then has as many samples as the input lasts, rounded up. The
// resampler must not be used afterwards.
func (r *Resampler) Flush(dst []float32) []float32 {
	if r.filter == nil {
		return dst
	}
	total := (r.in*int64(r.to) + int64(r.from) - 1) / int64(r.from)
	r.pending = append(r.pending, make([]float32, 2*r.half)...)
	for r.out < total {
		dst = append(dst, r.sample())
		r.step()
	}
	return dst
}

// sample returns the output sample at the current position.
func (r *Resampler) sample() float32 {
	taps := 2 * r.half
	place := float32(r.fraction) * phases / float32(r.to)
	p := min(int(place), phases-1)
	between := place - float32(p)
	input := r.pending[r.next : r.next+taps]
	low := r.filter[p*taps : (p+1)*taps]
	high := r.filter[(p+1)*taps : (p+2)*taps]
	var a, b float32
	for i, s := range input {
		a += s * low[i]
		b += s * high[i]
	}
	return clamp(a + (b-a)*between)
}

// step advances by one output sample.
func (r *Resampler) step() {
	r.out++
	r.fraction += r.from
	r.next += r.fraction / r.to
	r.fraction %= r.to
}

// forget drops the input that no later output sample needs.
func (r *Resampler) forget() {
	used := min(r.next, len(r.pending))
	r.pending = r.pending[:copy(r.pending, r.pending[used:])]
	r.next -= used
}
