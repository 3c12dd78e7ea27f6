package pulse

import (
	"context"
	"math"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

const (
	fadeTime  = 20 * time.Millisecond
	fadeSlack = 5 * time.Millisecond   // for a request and the samples that follow it
	fadeLimit = 500 * time.Millisecond // for a sink that does not play
)

// A level is the gain of a stream's samples, which are numbered from its first one: it fades from one gain to another
// over some samples, along a raised cosine.
type level struct {
	from, to float32
	at       int // sample at which the fade begins
	length   int // samples of it
}

// gain returns the gain of a sample.
func (l level) gain(sample int) float32 {
	switch n := sample - l.at; {
	case n < 0:
		return l.from
	case n >= l.length:
		return l.to
	default:
		rest := (1 + math.Cos(math.Pi*float64(n+1)/float64(l.length))) / 2
		return l.to + (l.from-l.to)*float32(rest)
	}
}

// setGain fades to a gain and returns from where: how far the server was, and how many of the last samples have
// another gain since. Silence is reached within those; another gain also by samples that are written later.
//
// The server has samples for a second, and none of them can be taken back without a click. So the last samples are
// overwritten, from a position that the sink cannot reach before they arrive.
func (s *stream) setGain(gain float32) (at proto.GetPlaybackLatencyReply, changed int, err error) {
	if at, err = s.position(); err != nil {
		return at, 0, err
	}
	ahead := s.samples(fadeLead(at, s.flow.current()))
	buffered := int(at.WriteIndex-at.ReadIndex) / sampleBytes
	tail := s.history.last(max(0, buffered-ahead))
	begin, length := s.sent-len(tail), s.samples(fadeTime)
	if gain == 0 {
		length = min(length, len(tail))
	}
	s.level = level{from: s.level.gain(begin), to: gain, at: begin, length: length}
	if len(tail) == 0 {
		return at, 0, nil
	}
	s.conn.link.overwrite(s.index, len(tail)*sampleBytes)
	if s.conn.pipeWire {
		s.flow.overwrite(len(tail) * sampleBytes)
	}
	return at, len(tail), s.transmit(tail, begin)
}

// follow sets the gain to that of the fader.
func (s *stream) follow() (err error) {
	var gain float32
	if gain, s.moved = s.fader.Gain(); gain != s.level.to {
		_, _, err = s.setGain(gain)
	}
	return err
}

// stop closes the stream and returns for how long clips were heard. It fades their sound out first, if ctx
// has ended.
func (s *stream) stop(ctx context.Context) (played time.Duration) {
	defer s.close()
	unplayed := s.samples(time.Until(s.playedUntil)) // about; the server may be lost
	if ctx.Err() != nil && s.alive() {
		if left, err := s.fadeOut(context.WithoutCancel(ctx)); err == nil {
			unplayed = left
		}
	}
	return s.clipTime() - s.duration(s.history.clips(max(0, unplayed))*sampleBytes)
}

// clipTime returns the duration of the clips that were written since Play began.
func (s *stream) clipTime() time.Duration { return s.duration(s.clips * sampleBytes) }

// fadeOut fades the sound out and returns when that has been heard. It returns how many of the last samples
// were not heard.
func (s *stream) fadeOut(ctx context.Context) (unplayed int, err error) {
	at, changed, err := s.setGain(0)
	if err != nil {
		return 0, err
	}
	silent := int64(max(0, changed-s.level.length)) * sampleBytes // of what was written
	read, err := s.awaitRead(ctx, at.WriteIndex-silent)
	return int(at.WriteIndex-read) / sampleBytes, err
}

// fadeLead returns how far behind the server's read index a fade must begin. A sink reads ahead by at most
// its latency, so that it cannot read beyond a sample that is heard later than that.
func fadeLead(at proto.GetPlaybackLatencyReply, p placement) time.Duration {
	return max(0, p.latency-microseconds(at.Latency)) + fadeSlack
}

// awaitRead returns when the server has read everything before an index, and the sink has played it. It
// returns the index that was reached.
func (s *stream) awaitRead(ctx context.Context, index int64) (int64, error) {
	ctx, stop := context.WithTimeout(ctx, fadeLimit)
	defer stop()
	for {
		at, err := s.position()
		if err != nil {
			return 0, err
		}
		left := s.duration(int(index - at.ReadIndex))
		if left <= 0 {
			return index, s.sleep(ctx, max(0, microseconds(at.Latency)+left))
		}
		if s.sleep(ctx, max(minPoll, left)) != nil {
			return at.ReadIndex, nil // the sink plays nothing
		}
	}
}
