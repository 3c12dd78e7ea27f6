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
//
// The server has samples for a second, and none of them can be taken back without a click. So the last
// samples are overwritten: from a position that the sink cannot reach before they arrive, by the same samples
// with a falling gain, and by silence after that.
func (s *stream) fadeOut(ctx context.Context) (unplayed int, err error) {
	at, err := s.position()
	if err != nil {
		return 0, err
	}
	ahead := s.samples(fadeLead(at, s.flow.current()))
	buffered := int(at.WriteIndex-at.ReadIndex) / sampleBytes
	tail := s.history.last(max(0, buffered-ahead))
	fade := min(len(tail), s.samples(fadeTime))
	if len(tail) > 0 {
		fadeSamples(tail, fade)
		s.conn.link.overwrite(s.index, len(tail)*sampleBytes)
		if err := s.transmit(tail); err != nil {
			return 0, err
		}
	}
	silent := int64(len(tail)-fade) * sampleBytes // of what was written
	read, err := s.awaitRead(ctx, at.WriteIndex-silent)
	return int(at.WriteIndex-read) / sampleBytes, err
}

// fadeLead returns how far behind the server's read index a fade must begin. A sink reads ahead by at most
// its latency, so that it cannot read beyond a sample that is heard later than that.
func fadeLead(at proto.GetPlaybackLatencyReply, p placement) time.Duration {
	return max(0, p.latency-microseconds(at.Latency)) + fadeSlack
}

// fadeSamples lowers the first n samples to silence, along a raised cosine, and silences the others.
func fadeSamples(samples []float32, n int) {
	for i := range samples[:n] {
		samples[i] *= float32(1+math.Cos(math.Pi*float64(i+1)/float64(n))) / 2
	}
	clear(samples[n:])
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
