package audio

import (
	"math"
	"time"
)

// A Chime is a short sound that precedes an announcement.
type Chime string

// The chimes. The zero Chime is not one of them.
const (
	NoChime  Chime = "none"
	Ding     Chime = "ding"      // one stroke
	DingDong Chime = "ding-dong" // two, a major third down
	Alert    Chime = "alert"     // three of the same pitch, in quick succession
	Alarm    Chime = "alarm"     // eight of two pitches in turn

	// Cue precedes an announcement that goes on after an interruption. It is not one of those that a client can name.
	Cue Chime = "cue"
)

// Chimes returns all chimes that a client can name, first none.
func Chimes() []Chime { return []Chime{NoChime, Ding, DingDong, Alert, Alarm} }

const (
	longDecay   = 120 * time.Millisecond // in which a stroke that rings falls to 1/e
	shortDecay  = 80 * time.Millisecond  // and one of a quick succession
	chimeAttack = 4 * time.Millisecond   // in which a stroke rises
	chimeFade   = 30 * time.Millisecond  // to silence, at the end
	dingTime    = 450 * time.Millisecond // of one stroke
	cueTime     = 200 * time.Millisecond // of that of what goes on
	chimeTime   = 600 * time.Millisecond // of several
	alarmTime   = 200 * time.Millisecond // of each of the alarm's
)

// A stroke is a struck bell: three decaying sines.
type stroke struct {
	at    time.Duration
	pitch float64       // of its first sine, in Hz
	decay time.Duration // in which its first sine falls to 1/e
}

// partials are the sines of a stroke: multiples of its pitch, and levels that sum up to 1.
var partials = [...]struct{ multiple, level float64 }{{1, 0.7}, {2, 0.2}, {3, 0.1}} //nolint:gochecknoglobals // a table

// strokes returns the strokes and the duration of a chime.
func (c Chime) strokes() ([]stroke, time.Duration) {
	switch c {
	case Ding:
		return []stroke{{0, 1046.5, longDecay}}, dingTime
	case Cue:
		return []stroke{{0, 784, shortDecay}}, cueTime
	case DingDong:
		return []stroke{{0, 1046.5, longDecay}, {220 * time.Millisecond, 830.6, longDecay}}, chimeTime
	case Alert:
		return []stroke{
			{0, 1318.5, shortDecay},
			{130 * time.Millisecond, 1318.5, shortDecay},
			{260 * time.Millisecond, 1318.5, shortDecay},
		}, chimeTime
	case Alarm:
		var all []stroke
		for i := range 8 {
			all = append(all, stroke{time.Duration(i) * alarmTime, []float64{1318.5, 987.8}[i%2], shortDecay})
		}
		return all, 8 * alarmTime
	default:
		return nil, 0
	}
}

// Samples returns a chime's samples at so many per second, of the root mean square [Level]; none for [NoChime]. They
// begin and end with silence.
func (c Chime) Samples(rate int) []float32 {
	strokes, length := c.strokes()
	count := func(d time.Duration) int { return int(d.Seconds() * float64(rate)) }
	sum := make([]float64, count(length))
	for _, s := range strokes {
		s.addTo(sum[count(s.at):], rate)
	}
	peak, square := 0.0, 0.0
	for i := range sum {
		sum[i] *= min(1, float64(len(sum)-1-i)/float64(max(1, count(chimeFade))))
		peak, square = max(peak, math.Abs(sum[i])), square+sum[i]*sum[i]
	}
	samples := make([]float32, len(sum))
	if square == 0 {
		return samples
	}
	gain := min(Level/math.Sqrt(square/float64(len(sum))), Ceiling/peak)
	for i, v := range sum {
		samples[i] = float32(v * gain)
	}
	return samples
}

// addTo adds a stroke to samples of the given rate, from the first on. It omits sines that the rate cannot
// express.
func (s stroke) addTo(samples []float64, rate int) {
	for _, p := range partials {
		pitch := s.pitch * p.multiple
		if 2*pitch >= float64(rate) {
			continue
		}
		for i := range samples {
			t := float64(i) / float64(rate)
			envelope := min(1, t/chimeAttack.Seconds()) * math.Exp(-t/s.decay.Seconds()*p.multiple)
			samples[i] += p.level * envelope * math.Sin(2*math.Pi*pitch*t)
		}
	}
}
