package pulse

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

const (
	width   = 4                      // bytes of a sample
	ahead   = time.Second            // of sound that the server keeps for when we are late
	pace    = 50 * time.Millisecond  // of sound that it asks for at once, and that its sink keeps
	longest = 200 * time.Millisecond // of silence before samples that come late
	piece   = 4096                   // samples that are sent at once, at most
	tail    = 20 * time.Millisecond  // of silence that pushes the last samples through the server, at least

	least, most = 5 * time.Millisecond, 100 * time.Millisecond // between two questions to the server
)

// A stream plays mono samples of one rate on a connection. The server keeps
// an empty stream waiting, silent, and plays on as soon as samples arrive.
// One goroutine at a time may use it.
type stream struct {
	conn  *connection
	index uint32
	rate  int // samples per second
	feed  *feed
	bytes []byte // for what is being sent
	first func() // called once, when samples were sent; may be nil
	count *atomic.Uint64

	sounding bool          // some of a clip was written and not yet waited for
	until    time.Time     // about when the server will have read all that was written
	padding  time.Duration // of silence written after the last clip
}

// open makes a stream on the sink of the given name, or the default one for
// "", which counts the samples that are sent. Its volume is always 100 % of the sink's and it is never muted, whatever
// the server remembers of the last one.
func (c *connection) open(rate int, sink string, count *atomic.Uint64) (*stream, error) {
	bytes := func(d time.Duration) uint32 {
		return uint32(d*time.Duration(rate)/time.Second) * width //nolint:gosec // a rate is positive and small
	}
	ask := proto.CreatePlaybackStream{
		SampleSpec:            proto.SampleSpec{Format: proto.FormatFloat32LE, Channels: 1, Rate: uint32(rate)}, //nolint:gosec // as above
		ChannelMap:            proto.ChannelMap{proto.ChannelMono},
		SinkIndex:             proto.Undefined,
		SinkName:              sink,
		BufferMaxLength:       proto.Undefined,
		BufferTargetLength:    bytes(ahead),
		BufferPrebufferLength: width, // plays from the first sample on; with 0 what comes late would be dropped
		BufferMinimumRequest:  bytes(pace),
		EarlyRequests:         true, // makes pace, and not ahead, decide the sink's latency
		ChannelVolumes:        proto.ChannelVolumes{uint32(proto.VolumeNorm)},
		VolumeSet:             true,
		RelativeVolume:        true, // with "flat volumes" 100 % would else be the sink's loudest
		MutedSet:              true,
		Properties: proto.PropList{
			"media.name":      proto.PropListString("Announcement"),
			"media.role":      proto.PropListString("a11y"),
			"media.icon_name": proto.PropListString("audio-speakers"),
		},
	}
	var reply proto.CreatePlaybackStreamReply
	if err := c.request(&ask, &reply); err != nil {
		return nil, refusal(fmt.Sprintf("open a stream of %d Hz", rate), err)
	}
	s := &stream{
		conn:  c,
		index: reply.StreamIndex,
		rate:  rate,
		feed:  c.feed(reply.StreamIndex),
		bytes: make([]byte, 0, piece*width),
		count: count,
	}
	s.feed.move(placement{
		sink:   reply.SinkIndex,
		target: int(reply.BufferTargetLength),
		least:  int(reply.BufferMinimumRequest),
		lag:    lag(reply.SinkLatency),
	})
	s.feed.grant(int(reply.Missing))
	return s, nil
}

// lag returns a sink's latency, within reason.
func lag(latency proto.Microseconds) time.Duration {
	return time.Duration(min(latency, proto.Microseconds(longest.Microseconds()))) * time.Microsecond //nolint:gosec // bounded
}

// refusal says whose fault a refused request is: only for one that is wrong
// in itself is it no use to try again.
func refusal(doing string, err error) error {
	err = fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, proto.ErrInvalidArgument) || errors.Is(err, proto.ErrNotSupported) {
		return err
	}
	return lost(err)
}

// write sends the samples as fast as the server asks for them.
func (s *stream) write(ctx context.Context, samples []float32) error {
	for len(samples) > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n := s.feed.take(min(len(samples), piece))
		var err error
		if n > 0 {
			err = s.send(samples[:n])
			samples = samples[n:]
		} else {
			err = s.wait(ctx, patience, s.feed.told)
		}
		switch {
		case errors.Is(err, errQuiet):
			return lost(err)
		case err != nil:
			return err
		}
	}
	return nil
}

func (s *stream) send(samples []float32) error {
	s.bytes = s.bytes[:0]
	for _, v := range samples {
		s.bytes = binary.LittleEndian.AppendUint32(s.bytes, math.Float32bits(v))
	}
	if err := s.conn.client.Send(s.index, s.bytes); err != nil {
		<-s.conn.gone
		return lost(s.conn.link.why())
	}
	s.count.Add(uint64(len(samples)))
	if now := time.Now(); now.After(s.until) {
		s.until = now
	}
	s.until = s.until.Add(s.duration(len(samples) * width))
	if s.first != nil {
		s.first()
		s.first = nil
	}
	return nil
}

// duration returns how long so many bytes sound.
func (s *stream) duration(bytes int) time.Duration {
	return time.Duration(bytes) * time.Second / time.Duration(width*s.rate)
}

// errKilled says that the server has ended a stream, with its sink or because
// somebody wanted it silent.
var errKilled = errors.New("the sound server has ended the stream")

// errQuiet says that nothing has happened for as long as we wait.
var errQuiet = errors.New("the sound server takes no sound; its sink may be suspended")

// wait waits for a token in news. It returns an error at the end of ctx or of
// the stream, or when the limit has passed (errQuiet).
func (s *stream) wait(ctx context.Context, limit time.Duration, news <-chan struct{}) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-news:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.conn.gone:
		return lost(s.conn.link.why())
	case <-s.feed.ended:
		return lost(errKilled)
	case <-timer.C:
		return errQuiet
	}
}

// prime makes sure that samples written now are heard from the first on. A
// server that has run dry has rendered some silence ahead, and takes back
// from it what it can when samples come after all; who listens at the sink's
// monitor has already heard that silence and misses as much of the samples.
// So silence of that length goes before them.
func (s *stream) prime(ctx context.Context) error {
	if !s.feed.dry() {
		return nil
	}
	return s.silence(ctx, s.feed.place().lag)
}

// silence writes that much of nothing.
func (s *stream) silence(ctx context.Context, d time.Duration) error {
	return s.write(ctx, make([]float32, int(d*time.Duration(s.rate)/time.Second)))
}

// say writes a clip's samples and calls first, unless it is nil, once some of
// them were sent.
func (s *stream) say(ctx context.Context, samples []float32, first func()) error {
	if err := s.prime(ctx); err != nil {
		return err
	}
	s.first, s.sounding, s.padding = first, true, 0
	return s.write(ctx, samples)
}

// pad writes silence after a clip, unless it has: what a resampler keeps back
// is then heard, and so is the last part of a clip that is shorter than what
// PipeWire reads at once, which it would else hold until more comes.
func (s *stream) pad(ctx context.Context) error {
	if !s.sounding || s.padding > 0 {
		return nil
	}
	d := tail + s.duration(s.feed.place().least)
	if err := s.silence(ctx, d); err != nil {
		return err
	}
	s.padding = d
	return nil
}

// finish waits until what was written of clips has been heard.
func (s *stream) finish(ctx context.Context) error {
	if s == nil || !s.sounding {
		return nil
	}
	if err := s.pad(ctx); err != nil {
		return err
	}
	if err := s.drain(ctx); err != nil {
		return err
	}
	s.sounding = false
	return nil
}

// drain returns when the last sample before the padding has been heard: when
// the server has read it, and what then lies before the ear has been played.
// The server's own drain request is no help: the library waits for an answer
// no longer than it waits for any.
func (s *stream) drain(ctx context.Context) error {
	read, since := int64(-1), time.Now()
	for {
		var at proto.GetPlaybackLatencyReply
		if err := s.conn.request(&proto.GetPlaybackLatency{StreamIndex: s.index}, &at); err != nil {
			return refusal("ask what has been played", err)
		}
		left := s.duration(int(at.WriteIndex-at.ReadIndex)) - s.padding
		if left <= 0 {
			return s.pass(ctx, time.Duration(at.Latency)*time.Microsecond) //nolint:gosec // far below the limit
		}
		if at.ReadIndex != read {
			read, since = at.ReadIndex, time.Now()
		}
		if time.Since(since) > patience {
			return lost(errQuiet)
		}
		if err := s.pass(ctx, max(least, min(left, most))); err != nil {
			return err
		}
	}
}

// pass lets time pass.
func (s *stream) pass(ctx context.Context, d time.Duration) error {
	if err := s.wait(ctx, d, nil); !errors.Is(err, errQuiet) {
		return err
	}
	return nil
}

// alive says whether samples written now would be played.
func (s *stream) alive() bool {
	select {
	case <-s.conn.gone:
		return false
	case <-s.feed.ended:
		return false
	default:
		return true
	}
}

// cut falls silent at once and ends the stream.
func (s *stream) cut() {
	if s.alive() {
		_ = s.conn.request(&proto.FlushPlaybackStream{StreamIndex: s.index}, nil) // it ends anyway
	}
	s.close()
}

// close ends the stream; what was not played yet is dropped.
func (s *stream) close() {
	if s.alive() {
		_ = s.conn.request(&proto.DeletePlaybackStream{StreamIndex: s.index}, nil) // it ends anyway
	}
	s.conn.forget(s.index)
}
