package voice

const (
	// maxStep limits the change of the scale from one segment to the next, so
	// that it is not noticed; maxDrift limits the change from the first one.
	maxStep, maxDrift = 0.06, 0.15
	// trust is the weight of the calibration against the measured duration, in
	// seconds of speech.
	trust = 2.0
)

// A rateController adjusts the length scale of each segment so that the message
// has the requested rate.
type rateController struct {
	calibration      Calibration
	remaining        textLength // not yet spoken
	seconds          float64    // left for the remaining text
	first, last      float64    // scales of segments; 0 before the first
	spoken, expected float64    // seconds of the segments so far
}

// newRateController returns the controller for a message of length m at a rate in
// words per minute.
func newRateController(c Calibration, m textLength, rate int) *rateController {
	c = c.orDefault()
	return &rateController{calibration: c, remaining: m, seconds: c.targetSeconds(m, rate)}
}

// nextScale returns the scale of the next segment.
func (r *rateController) nextScale() float64 {
	bias := (r.spoken + trust) / (r.expected + trust)
	scale := r.calibration.scale(r.remaining, r.seconds/bias)
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

// advance subtracts a segment of length m that lasted so many seconds, and the
// pause before it.
func (r *rateController) advance(m textLength, seconds float64) {
	r.remaining = r.remaining.minus(m)
	r.seconds -= seconds + float64(m.pauses)*Pause.Seconds()
	m.pauses = 0
	r.spoken += seconds
	r.expected += r.calibration.duration(m).plus(1, r.calibration.Ends).at(r.last)
}
