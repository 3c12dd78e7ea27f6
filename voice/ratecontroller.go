package voice

import "time"

const (
	// maxStep limits the change of the scale from one segment to the next, so that it is not noticed;
	// maxDrift limits the change from the first one.
	maxStep, maxDrift = 0.06, 0.15
	// trust is the weight of the calibration against the measured duration, in seconds of speech.
	trust = 2.0
)

// A rateController adjusts the length scale of each segment, and the pauses between segments once the scale
// is at its limit, so that the message has the requested rate.
type rateController struct {
	calibration      Calibration
	slow             bool       // the rate is below what maxScale permits
	remaining        textLength // not yet spoken
	seconds          float64    // left for the remaining text
	first, last      float64    // scales of segments; 0 before the first
	spoken, expected float64    // seconds of the segments so far
}

// paced returns the controller for a message at a rate in words per minute, and the clauses to be spoken: as
// they are, or cut into phrases if the rate is below what [maxScale] permits.
func paced(s clauses, c Calibration, rate int) (clauses, *rateController) {
	m := s.length()
	seconds := c.targetSeconds(m, rate)
	slow := seconds > c.duration(m).at(maxScale)
	if slow {
		s = s.phrases()
		m = s.length()
	}
	return s, &rateController{calibration: c, slow: slow, remaining: m, seconds: seconds}
}

// foresee returns the segments of the message, of which the first sentence has the number from.
func (r *rateController) foresee(s clauses, from int) []Foreseen {
	scale := r.calibration.scale(r.remaining, r.seconds)
	var all []Foreseen
	for seg := range s.segments() {
		seconds := r.calibration.duration(seg.length()).plus(1, r.calibration.Ends).at(scale)
		all = append(all, Foreseen{from + seg.sentence, time.Duration(seconds * float64(time.Second))})
	}
	return all
}

// nextPause returns the silence before the next segment: a [Pause] between sentences, and in slow speech an
// equal share of the time that the remaining text leaves at [maxScale].
func (r *rateController) nextPause(next segment) time.Duration {
	pause := time.Duration(0)
	if next.pause > 0 {
		pause = r.calibration.pause(next.pause)
	}
	spare := r.seconds - r.bias()*r.calibration.duration(r.remaining).at(maxScale)
	if !r.slow || r.first == 0 || spare <= 0 {
		return pause
	}
	return pause + time.Duration(spare/float64(r.remaining.segments)*float64(time.Second))
}

// bias returns how much longer the segments have lasted than expected.
func (r *rateController) bias() float64 { return (r.spoken + trust) / (r.expected + trust) }

// nextScale returns the scale of the next segment.
func (r *rateController) nextScale() float64 {
	scale := r.calibration.scale(r.remaining, r.seconds/r.bias())
	if r.first == 0 {
		r.first, r.last = scale, scale
	}
	scale = within(scale, r.last, maxStep)
	r.last = within(scale, r.first, maxDrift)
	return r.last
}

// within returns x, limited to a relative distance share from base.
func within(x, base, share float64) float64 {
	return min(max(x, base*(1-share)), base*(1+share))
}

// advance subtracts a segment of length m that lasted so many seconds, and the pause before it.
func (r *rateController) advance(m textLength, seconds float64, pause time.Duration) {
	r.remaining = r.remaining.minus(m)
	r.seconds -= seconds + pause.Seconds()
	m.pauses, m.longer = 0, 0
	r.spoken += seconds
	r.expected += r.calibration.duration(m).plus(1, r.calibration.Ends).at(r.last)
}
