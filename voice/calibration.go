package voice

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// A Calibration holds the measurements of one speaker of a voice, which correct its speed and level. The zero
// value means the defaults. It is stored as JSON.
//
// The model: a segment of speech lasts Segment + Letter × letters + Mark × marks inside it. Each of these has
// a fixed part and a part that grows with the length scale, because models round the length of every phoneme
// up.
type Calibration struct {
	Gain    float32 `json:"gain"`   // brings the voice to the common level
	Segment Span    `json:"piece"`  // per segment, including its silent ends
	Letter  Span    `json:"letter"` // per letter
	Mark    Span    `json:"mark"`   // per mark inside a segment
	Ends    Span    `json:"ends"`   // the silent part of Segment
}

// A Span is a duration as a linear function of the length scale.
type Span struct {
	Fixed  float64 `json:"fixed"`  // seconds
	Scaled float64 `json:"scaled"` // seconds, times the voice's own length scale
}

// at returns the duration in seconds at a scale.
func (s Span) at(scale float64) float64 { return s.Fixed + s.Scaled*scale }

// plus returns s plus n times o.
func (s Span) plus(n float64, o Span) Span {
	return Span{s.Fixed + n*o.Fixed, s.Scaled + n*o.Scaled}
}

// defaultCalibration holds typical values of Piper's English voices.
var defaultCalibration = Calibration{ //nolint:gochecknoglobals // never changes
	Gain:    0.6,
	Segment: Span{Scaled: 0.35},
	Letter:  Span{Fixed: 0.008, Scaled: 0.052},
	Mark:    Span{Scaled: 0.28},
	Ends:    Span{Scaled: 0.25},
}

// orDefault returns c, or the defaults if c is zero.
func (c Calibration) orDefault() Calibration {
	if c == (Calibration{}) {
		return defaultCalibration
	}
	return c
}

// Limits of the length scale at which a voice is intelligible.
const minScale, maxScale = 0.4, 2.6

// exactWords is the number of words from which a message has exactly the requested rate. A single word is
// spoken at the speed of one of average length; between the two the speed is interpolated. The rate is that
// of prose: a message in which one word of maxNumbers is a number is spoken at the average speed, because its
// words are long.
const exactWords, maxNumbers = 50, 8

// WordsPerMinute returns the speed of ordinary text at the voice's own length scale.
func (c Calibration) WordsPerMinute() float64 {
	m := passageLength()
	return 60 * float64(m.words) / c.orDefault().duration(m).at(1)
}

// duration returns the duration of text of length m from its first to its last audible sample.
func (c Calibration) duration(m textLength) Span {
	return Span{Fixed: (c.pause(Pause)*time.Duration(m.pauses) + m.longer).Seconds()}.
		plus(float64(m.segments), c.Segment).
		plus(float64(m.letters), c.Letter).
		plus(float64(m.marks), c.Mark).
		plus(-1, c.Ends)
}

// pause returns the silence that is inserted between sentences that are to be so far apart.
func (c Calibration) pause(apart time.Duration) time.Duration {
	return max(leastPause, apart-time.Duration(c.Ends.at(1)*float64(time.Second)))
}

// scale returns the scale at which text of length m lasts so many seconds, within the limits.
func (c Calibration) scale(m textLength, seconds float64) float64 {
	s := c.duration(m)
	if s.Scaled <= 0 {
		return 1 // the voice ignores the scale
	}
	return min(max((seconds-s.Fixed)/s.Scaled, minScale), maxScale)
}

// targetSeconds returns the intended duration of text of length m at a rate in words per minute.
func (c Calibration) targetSeconds(m textLength, rate int) float64 {
	ordinary := passageLength()
	perWord := 60 / float64(rate)
	average := c.duration(m).at(c.scale(ordinary, float64(ordinary.words)*perWord))
	exact := min(float64(m.words)/exactWords, 1) * max(0, 1-maxNumbers*float64(m.numbers)/float64(max(m.words, 1)))
	return exact*float64(m.words)*perWord + (1-exact)*average
}

// passage is the text for calibration: ordinary sentences of various lengths.
const passage = "Good morning, everyone. The coffee is ready. " +
	"There is fresh bread on the kitchen table, and the butter is next to it. " +
	"It will be warm today with some rain in the late afternoon. " +
	"We need milk, bread, eggs, butter, apples, tea, and salt. " +
	"Who left the garage door open last night? " +
	"The bus to the city leaves from the corner in about twenty minutes, so there is time to wash the dishes, " +
	"feed the cat and water the plants. " +
	"Wait! " +
	"The game begins at seven, and the home team has won nine of its last twelve games. " +
	"Thank you for listening."

// cyrillic is the same for voices of the languages below, to which espeak-ng would read the other one in English.
const cyrillic = "Доброе утро всем. Кофе готов. " +
	"На столе в кухне лежит свежий хлеб, а масло стоит рядом. " +
	"Сегодня будет тепло, ближе к вечеру пройдёт небольшой дождь. " +
	"Нам нужны молоко, хлеб, яйца, масло, яблоки, чай и соль. " +
	"Кто вчера вечером оставил открытой дверь гаража? " +
	"Автобус в город уходит с угла примерно через двадцать минут, так что есть время помыть посуду, " +
	"накормить кошку и полить цветы. " +
	"Подождите! " +
	"Игра начинается в семь, и хозяева выиграли девять из последних двенадцати игр. " +
	"Спасибо за внимание."

// passage returns the text that the voice reads for its calibration.
func (v *Voice) passage() string {
	switch v.Config.Espeak {
	case "bg", "kk", "ru", "uk":
		return cyrillic
	}
	return passage
}

//
//nolint:gochecknoglobals // computed once: every estimate needs it
var passageLength = sync.OnceValue(func() textLength { return newClauses(passage).length() })

// Scales at which a voice is measured; other scales are interpolated and extrapolated linearly.
const slowScale, fastScale = 1.4, 0.7

// Calibrate synthesizes a passage of about a hundred words twice and measures it.
func (v *Voice) Calibrate(ctx context.Context) (Calibration, error) {
	fast, err := v.readPassage(ctx, fastScale)
	if err != nil {
		return Calibration{}, err
	}
	slow, err := v.readPassage(ctx, slowScale)
	if err != nil {
		return Calibration{}, err
	}
	f, s := fast.fit(), slow.fit()
	return Calibration{
		Gain:    levelGain(append(fast.loudness, slow.loudness...)),
		Segment: spanThrough(f[0], s[0]),
		Letter:  spanThrough(f[1], s[1]),
		Mark:    spanThrough(f[2], s[2]),
		Ends:    spanThrough(fast.ends, slow.ends),
	}, nil
}

// spanThrough returns the span with the given durations at the two scales.
func spanThrough(fast, slow float64) Span {
	slope := (slow - fast) / (slowScale - fastScale)
	return Span{Fixed: fast - slope*fastScale, Scaled: slope}
}

// A reading holds the measurements of the passage at one scale.
type reading struct {
	rows     [][3]float64 // of each segment: 1, letters, marks inside it
	seconds  []float64    // duration of each segment
	ends     float64      // mean silence at the ends of a segment, in seconds
	loudness []float64    // mean square of each window
}

// errSilent reports that a model produces silence or invalid samples.
var errSilent = errors.New("the voice produced no sound for the calibration passage")

// readPassage synthesizes and measures the passage.
func (v *Voice) readPassage(ctx context.Context, scale float32) (reading, error) {
	var r reading
	for seg := range newClauses(v.passage()).segments() {
		samples, err := v.infer(ctx, v.encode(ctx, seg), scale)
		if err != nil {
			return reading{}, err
		}
		m := lengthOf(seg.clauses)
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

// fit returns the seconds per segment, letter and mark by least squares.
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

// solve solves three linear equations with a positive definite matrix by elimination.
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
