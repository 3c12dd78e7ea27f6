package voice

import (
	"context"
	"errors"
	"math"
)

// A Calibration is what has been measured of one speaker of a voice, so that
// its words per minute are true and its level is that of the others. The zero
// value stands for what is usual. It is kept as JSON.
//
// The model behind it: what the voice makes of a piece of speech lasts
// Piece + Letter × letters + Mark × marks inside it, and each of these grows
// with the length scale from a fixed part, because models round the length of
// every phoneme up.
type Calibration struct {
	Gain   float32 `json:"gain"`   // brings the voice to the level of all voices
	Piece  Span    `json:"piece"`  // for each piece of speech, its silent ends included
	Letter Span    `json:"letter"` // for each letter
	Mark   Span    `json:"mark"`   // for each mark inside a piece
	Ends   Span    `json:"ends"`   // of Piece, what is silent
}

// A Span is a length of time at any length scale.
type Span struct {
	Fixed  float64 `json:"fixed"`  // seconds
	Scaled float64 `json:"scaled"` // seconds at the voice's own length scale
}

// at returns the length at a scale of the voice's own.
func (s Span) at(scale float64) float64 { return s.Fixed + s.Scaled*scale }

// plus returns s and n times o, one after the other.
func (s Span) plus(n float64, o Span) Span {
	return Span{s.Fixed + n*o.Fixed, s.Scaled + n*o.Scaled}
}

// usual is what Piper's English voices are like, for one not yet measured.
var usual = Calibration{ //nolint:gochecknoglobals // never changes
	Gain:   0.6,
	Piece:  Span{Scaled: 0.35},
	Letter: Span{Fixed: 0.008, Scaled: 0.052},
	Mark:   Span{Scaled: 0.28},
	Ends:   Span{Scaled: 0.25},
}

// orUsual returns c, or what is usual when nothing was measured.
func (c Calibration) orUsual() Calibration {
	if c == (Calibration{}) {
		return usual
	}
	return c
}

const (
	// How far a voice may be stretched and still be understood.
	minScale, maxScale = 0.4, 2.6
	// maxStep is how much the pace may change from one piece to the next
	// without being noticed, and maxDrift how far it may get from the first.
	maxStep, maxDrift = 0.06, 0.15
	// trust is how many seconds must be spoken before a text that does not
	// sound as its letters foretell is believed as much as the calibration.
	trust = 2.0
)

// exactWords is how many words a message needs for its words per minute to be
// its own. A word alone is spoken as fast as one of average length; what lies
// between goes from the one to the other.
const exactWords = 50

// WordsPerMinute returns how fast the voice speaks ordinary text at its own
// length scale.
func (c Calibration) WordsPerMinute() float64 {
	m := newScript(passage).measure()
	return 60 * float64(m.words) / c.orUsual().length(m).at(1)
}

// length returns how long text of measure m lasts from its first to its last
// audible sample.
func (c Calibration) length(m measure) Span {
	return Span{Fixed: Pause.Seconds() * float64(m.pauses)}.
		plus(float64(m.pieces), c.Piece).
		plus(float64(m.letters), c.Letter).
		plus(float64(m.marks), c.Mark).
		plus(-1, c.Ends)
}

// scale returns the scale at which text of measure m lasts so many seconds, as
// near as the voice allows.
func (c Calibration) scale(m measure, seconds float64) float64 {
	s := c.length(m)
	if s.Scaled <= 0 {
		return 1 // a voice that does not heed the scale
	}
	return min(max((seconds-s.Fixed)/s.Scaled, minScale), maxScale)
}

// seconds returns how long text of measure m is to last at so many words per
// minute.
func (c Calibration) seconds(m measure, rate int) float64 {
	ordinary := newScript(passage).measure()
	perWord := 60 / float64(rate)
	average := c.length(m).at(c.scale(ordinary, float64(ordinary.words)*perWord))
	exact := min(float64(m.words)/exactWords, 1)
	return exact*float64(m.words)*perWord + (1-exact)*average
}

// A pace keeps a message at its rate: before each piece it says how fast the
// rest must be.
type pace struct {
	calibration Calibration
	left        measure // of what is not spoken yet
	seconds     float64 // that are left for it
	first, last float64 // scales of pieces; 0 before the first
	took, meant float64 // seconds that were spoken, and that were foreseen
}

func newPace(c Calibration, m measure, rate int) *pace {
	c = c.orUsual()
	return &pace{calibration: c, left: m, seconds: c.seconds(m, rate)}
}

// next returns the scale of the next piece.
func (p *pace) next() float64 {
	bias := (p.took + trust) / (p.meant + trust)
	scale := p.calibration.scale(p.left, p.seconds/bias)
	if p.first == 0 {
		p.first, p.last = scale, scale
	}
	scale = within(scale, p.last, maxStep)
	p.last = within(scale, p.first, maxDrift)
	return p.last
}

// within returns the value nearest to x that is at most a share away from base.
func within(x, base, share float64) float64 {
	return min(max(x, base*(1-share)), base*(1+share))
}

// spent takes away a piece of measure m that lasted so many seconds, and the
// pause before it.
func (p *pace) spent(m measure, seconds float64) {
	p.left = p.left.minus(m)
	p.seconds -= seconds + float64(m.pauses)*Pause.Seconds()
	m.pauses = 0
	p.took += seconds
	p.meant += p.calibration.length(m).plus(1, p.calibration.Ends).at(p.last)
}

// passage is what a voice reads to be measured: ordinary text, in sentences of
// all lengths.
const passage = "Good morning, everyone. The coffee is ready. " +
	"There is fresh bread on the kitchen table, and the butter is next to it. " +
	"It will be warm today with some rain in the late afternoon. " +
	"We need milk, bread, eggs, butter, apples, tea, and salt. " +
	"Who left the garage door open last night? " +
	"The bus to the city leaves from the corner in about twenty minutes, so there is time to wash the dishes, feed the cat and water the plants. " +
	"Wait! " +
	"The game begins at seven, and the home team has won nine of its last twelve games. " +
	"Thank you for listening."

// The scales at which a voice is measured; what lies between and beyond them
// follows a straight line.
const slowScale, fastScale = 1.4, 0.7

// Calibrate has the voice read a passage of about a hundred words twice and
// measures it.
func (v *Voice) Calibrate(ctx context.Context) (Calibration, error) {
	fast, err := v.read(ctx, fastScale)
	if err != nil {
		return Calibration{}, err
	}
	slow, err := v.read(ctx, slowScale)
	if err != nil {
		return Calibration{}, err
	}
	f, s := fast.fit(), slow.fit()
	return Calibration{
		Gain:   levelGain(append(fast.loudness, slow.loudness...)),
		Piece:  through(f[0], s[0]),
		Letter: through(f[1], s[1]),
		Mark:   through(f[2], s[2]),
		Ends:   through(fast.ends, slow.ends),
	}, nil
}

// through returns the span that has the two lengths at the two scales.
func through(fast, slow float64) Span {
	slope := (slow - fast) / (slowScale - fastScale)
	return Span{Fixed: fast - slope*fastScale, Scaled: slope}
}

// A reading is what was measured of the passage at one scale.
type reading struct {
	rows     [][3]float64 // of each piece: 1, its letters, the marks inside it
	seconds  []float64    // how long each lasted
	ends     float64      // mean silence at the two ends of a piece
	loudness []float64    // mean square of each window
}

// errSilent says that a model makes no sound, or nothing that is one.
var errSilent = errors.New("the voice made no sound of its calibration passage")

// read has the voice read the passage.
func (v *Voice) read(ctx context.Context, scale float32) (reading, error) {
	var r reading
	for p := range newScript(passage).pieces() {
		samples, err := v.infer(ctx, v.encode(ctx, p), scale)
		if err != nil {
			return reading{}, err
		}
		m := measureOf(p.clauses)
		r.rows = append(r.rows, [3]float64{1, float64(m.letters), float64(m.marks)})
		r.seconds = append(r.seconds, v.seconds(samples))
		r.ends += silentEnds(samples) / float64(v.Config.SampleRate)
		r.loudness = appendLoudness(r.loudness, samples, v.Config.SampleRate/50)
	}
	if math.IsNaN(sum(r.loudness)) || math.IsInf(sum(r.loudness), 0) {
		return reading{}, errSilent
	}
	r.ends /= float64(len(r.rows))
	return r, nil
}

// fit returns the seconds for a piece, a letter and a mark that fit what was
// read best, by least squares.
func (r reading) fit() [3]float64 {
	var normal [3][4]float64
	for k, row := range r.rows {
		for i := range normal {
			for j := range row {
				normal[i][j] += row[i] * row[j]
			}
			normal[i][3] += row[i] * r.seconds[k]
		}
	}
	return solve(normal)
}

// solve solves three linear equations whose matrix is positive definite, by
// elimination.
func solve(m [3][4]float64) [3]float64 {
	for i := range m {
		for j := range m {
			if j == i {
				continue
			}
			f := m[j][i] / m[i][i]
			for k := range m[j] {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	return [3]float64{m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]}
}
