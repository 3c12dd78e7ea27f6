package audio

import (
	"math"
	"slices"
)

// Parameters of the stretcher, in seconds.
const (
	stretchHop   = 0.015 // half of the length of a frame
	stretchReach = 0.010 // by which a frame may be taken from elsewhere, a period of a low voice
)

// A Stretcher changes the tempo of speech and keeps its pitch: WSOLA (Verhelst and Roelands, "An overlap-add technique
// based on waveform similarity", ICASSP 1993). Frames overlap by half; each is taken from where the sound is most like
// what would have followed the one before.
type Stretcher struct {
	speed      float64
	hop, reach int // samples
	window     []float32
	in         []float32 // from sample first of the stream on
	first      int
	frame      int       // number of the next one
	last       int       // sample at which the one before begins
	tail       []float32 // its second half, in its window
	read, made int       // samples
}

// NewStretcher returns a stretcher of a stream of so many samples per second that becomes so many times as fast; speed
// is positive.
func NewStretcher(rate int, speed float64) *Stretcher {
	s := &Stretcher{speed: speed, hop: int(stretchHop * float64(rate)), reach: int(stretchReach * float64(rate))}
	s.tail = make([]float32, s.hop)
	s.window = make([]float32, s.hop)
	for i := range s.window {
		s.window[i] = float32(1-math.Cos(math.Pi*float64(i)/float64(s.hop))) / 2
	}
	return s
}

// Append reads src and appends to dst what is complete.
func (s *Stretcher) Append(dst, src []float32) []float32 {
	s.read += len(src)
	before := len(dst)
	dst = s.process(dst, src)
	s.made += len(dst) - before
	return dst
}

// Flush appends what is left to dst, so that the whole has the length of the input, divided by the speed.
func (s *Stretcher) Flush(dst []float32) []float32 {
	left := int(math.Round(float64(s.read)/s.speed)) - s.made
	var rest []float32
	for len(rest) < left {
		rest = s.process(rest, make([]float32, 4*(s.hop+s.reach)))
	}
	return append(dst, rest[:max(0, left)]...)
}

func (s *Stretcher) process(dst, src []float32) []float32 {
	s.in = append(s.in, src...)
	for {
		nominal := int(math.Round(float64(s.frame*s.hop) * s.speed))
		if s.first+len(s.in) < max(nominal+s.reach, s.last+s.hop)+2*s.hop {
			return dst
		}
		at := s.place(nominal) - s.first
		for i, w := range s.window {
			if s.frame == 0 {
				w = 1 // nothing precedes it
			}
			dst = append(dst, s.tail[i]+w*s.in[at+i])
			s.tail[i] = (1 - s.window[i]) * s.in[at+s.hop+i]
		}
		s.last, s.frame = at+s.first, s.frame+1
		next := int(math.Round(float64(s.frame*s.hop) * s.speed))
		if done := min(next-s.reach, s.last+s.hop) - s.first; done > 0 {
			done = min(done, len(s.in))
			s.in, s.first = slices.Clone(s.in[done:]), s.first+done
		}
	}
}

// place returns where the frame begins that is to begin near a sample.
func (s *Stretcher) place(nominal int) int {
	if s.frame == 0 {
		return nominal
	}
	follows := s.in[s.last+s.hop-s.first:][:s.hop]
	best, most := nominal, math.Inf(-1)
	for at := max(nominal-s.reach, s.first); at <= nominal+s.reach; at++ {
		product, energy := 0.0, 1e-9
		candidate := s.in[at-s.first:][:s.hop]
		for i := 0; i < s.hop; i += 2 { // half of the samples suffice
			product += float64(follows[i] * candidate[i])
			energy += float64(candidate[i] * candidate[i])
		}
		if likeness := product / math.Sqrt(energy); likeness > most {
			best, most = at, likeness
		}
	}
	return best
}
