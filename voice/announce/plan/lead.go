package plan

import "time"

// A Segment is a part of the speech that is synthesized at once.
type Segment struct {
	Sentence int           // that it belongs to
	Length   time.Duration // of its sound; foreseen while it is not synthesized
}

const (
	// MaxLead limits the synthesized speech that waits to be played.
	MaxLead = time.Minute
	// maxWait limits the synthesis of a message before it begins although its later sentences are foreseen to
	// be late.
	maxWait = 15 * time.Second
	// margin is the share by which synthesis may become slower, or speech shorter, than foreseen.
	margin = 1.2
	// lazy is the factor up to which one segment is synthesized ahead, not as many as possible.
	lazy = 0.5
)

// A Lead is the state of speech between its synthesis and its playback. If synthesis is slow, playback is held
// back until the rest is foreseen to keep up: at the beginning the rest of the message, but for at most
// [maxWait], and at each sentence the rest of the sentence, so that gaps are only between sentences.
type Lead struct {
	Ready  []Segment     // synthesized, and not yet played
	Rest   []Segment     // foreseen to follow
	Factor float64       // time to synthesize speech, per its length
	Spent  time.Duration // on the synthesis so far
	Begun  bool          // some of it was played
	Last   int           // sentence that was played last, if it has begun
}

// MayPlay reports whether the first segment that is ready may be played.
func (l Lead) MayPlay() bool {
	if len(l.Ready) == 0 {
		return false
	}
	next := l.Ready[0].Sentence
	switch {
	case l.Begun && next == l.Last, total(l.Ready) >= MaxLead:
		return true
	case !keepsUp(of(next, l.Ready), of(next, l.Rest), l.Factor*margin):
		return false
	}
	return l.Begun || l.Spent >= maxWait || keepsUp(l.Ready, l.Rest, l.Factor*margin)
}

// MaySynthesize reports whether one more segment is needed now.
func (l Lead) MaySynthesize() bool {
	switch {
	case len(l.Ready) == 0 || !l.MayPlay():
		return true
	case l.Factor > lazy:
		return total(l.Ready) < MaxLead
	}
	return false
}

// keepsUp reports whether what is ready can be played now without a gap: each segment of the rest is
// synthesized, in factor times its length, before all that precedes it has been played.
func keepsUp(ready, rest []Segment, factor float64) bool {
	played, made := total(ready), time.Duration(0)
	for _, s := range rest {
		if made += time.Duration(factor * float64(s.Length)); made > played {
			return false
		}
		played += s.Length
	}
	return true
}

// of returns the first of the segments, as far as they belong to a sentence.
func of(sentence int, all []Segment) []Segment {
	for i, s := range all {
		if s.Sentence != sentence {
			return all[:i]
		}
	}
	return all
}

func total(all []Segment) (sum time.Duration) {
	for _, s := range all {
		sum += s.Length
	}
	return sum
}

// recent is the length of the speech of which the speed is measured.
const recent = 20 * time.Second

// A Speed is the measured speed of the synthesis of a voice, mostly of recent speech. The zero value has
// measured nothing.
type Speed struct {
	voice       string
	spent, made time.Duration
}

// Add returns the speed after so much speech of a voice was made in the time spent.
func (s Speed) Add(voice string, spent, made time.Duration) Speed {
	if voice != s.voice {
		s = Speed{voice: voice}
	}
	s.spent, s.made = s.spent+spent, s.made+made
	if s.made > recent {
		s.spent, s.made = s.spent/2, s.made/2
	}
	return s
}

// Factor returns the time to synthesize speech of a voice, per its length, 0 if it was not measured.
func (s Speed) Factor(voice string) float64 {
	if s.voice != voice || s.made == 0 {
		return 0
	}
	return float64(s.spent) / float64(s.made)
}
