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

	"pressbox/audio"
)

const (
	sampleBytes  = 4
	bufferTime   = time.Second            // of sound that the server buffers
	requestTime  = 15 * time.Millisecond  // of sound that the server requests at once, and that its sink buffers
	maxLatency   = 200 * time.Millisecond // of silence before samples that come late
	chunkSamples = 4096                   // sent at once, at most
	drainPadding = 20 * time.Millisecond  // of silence that pushes the last samples through the server, at least

	minPoll, maxPoll = 5 * time.Millisecond, 100 * time.Millisecond // between latency queries
)

// A stream plays mono samples of one rate on a connection. The server plays samples as soon as they arrive;
// an empty stream is silent. Only one goroutine may use it at a time.
type stream struct {
	conn    *connection
	index   uint32
	rate    int // samples per second
	flow    *flow
	bytes   []byte // buffer for sending
	written *atomic.Uint64
	history history // of about what the server buffers
	sent    int     // samples, of clips and of silence
	clips   int     // samples of clips that were sent since the last Play began

	fader *audio.Fader
	moved <-chan struct{} // closed when the fader has moved since its gain was read
	level level

	corked      bool          // it does not run
	undrained   bool          // samples of a clip were written and have not been drained
	playedUntil time.Time     // about when the server will have read all written samples
	padding     time.Duration // of silence, written after the last clip
}

// open opens a stream on the sink of the given name, or on the default sink for "". It adds the samples that are sent
// to written. [stream.begin] follows. Its volume is always 100 % of the sink's and it is never muted, whatever the
// server has stored for the application.
func (c *connection) open(rate int, sink string, written *atomic.Uint64) (*stream, error) {
	bytes := func(d time.Duration) uint32 {
		return uint32(d*time.Duration(rate)/time.Second) * sampleBytes //nolint:gosec // rates are positive and small
	}
	args := proto.CreatePlaybackStream{
		//nolint:gosec // as above
		SampleSpec:            proto.SampleSpec{Format: proto.FormatFloat32LE, Channels: 1, Rate: uint32(rate)},
		ChannelMap:            proto.ChannelMap{proto.ChannelMono},
		SinkIndex:             proto.Undefined,
		SinkName:              sink,
		BufferMaxLength:       proto.Undefined,
		BufferTargetLength:    bytes(bufferTime),
		BufferPrebufferLength: sampleBytes, // plays from the first sample on; with 0 the server would drop late samples
		BufferMinimumRequest:  bytes(requestTime),
		EarlyRequests:         true, // requestTime, not bufferTime, determines the sink's latency
		ChannelVolumes:        proto.ChannelVolumes{uint32(proto.VolumeNorm)},
		VolumeSet:             true,
		RelativeVolume:        true, // otherwise 100 % would be the sink's maximum with "flat volumes"
		MutedSet:              true,
		Properties: proto.PropList{
			"media.name":      proto.PropListString("Announcement"),
			"media.role":      proto.PropListString("a11y"),
			"media.icon_name": proto.PropListString("audio-speakers"),
		},
	}
	var reply proto.CreatePlaybackStreamReply
	if err := c.request(&args, &reply); err != nil {
		return nil, requestError(fmt.Sprintf("open a stream of %d Hz", rate), err)
	}
	s := &stream{
		conn:    c,
		index:   reply.StreamIndex,
		rate:    rate,
		flow:    c.flow(reply.StreamIndex),
		bytes:   make([]byte, 0, chunkSamples*sampleBytes),
		written: written,
		history: history{limit: 2 * int(reply.BufferTargetLength) / sampleBytes},
	}
	s.flow.move(placement{
		sink:         reply.SinkIndex,
		bufferTarget: int(reply.BufferTargetLength),
		minRequest:   int(reply.BufferMinimumRequest),
		latency:      boundedLatency(reply.SinkLatency),
	})
	s.flow.grant(int(reply.Missing))
	return s, nil
}

// begin makes the stream ready for clips whose gain is that of a fader.
func (s *stream) begin(fader *audio.Fader) {
	s.clips, s.fader = 0, fader
	gain, moved := fader.Gain()
	s.level, s.moved = level{from: gain, to: gain}, moved
}

// boundedLatency returns a sink's latency, at most maxLatency.
func boundedLatency(latency proto.Microseconds) time.Duration {
	return min(microseconds(latency), maxLatency)
}

// microseconds returns a duration of the protocol, at most an hour.
func microseconds(n proto.Microseconds) time.Duration {
	const limit = proto.Microseconds(time.Hour / time.Microsecond)
	return time.Duration(min(n, limit)) * time.Microsecond
}

// requestError wraps the error of a request as lost, unless the request itself is invalid and a retry is
// useless.
func requestError(doing string, err error) error {
	err = fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, proto.ErrInvalidArgument) || errors.Is(err, proto.ErrNotSupported) {
		return err
	}
	return lost(err)
}

// write sends the samples, of a clip or of silence, as fast as the server requests them.
func (s *stream) write(ctx context.Context, samples []float32, clip bool) error {
	for len(samples) > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n := s.flow.take(min(len(samples), chunkSamples))
		var err error
		if n > 0 {
			err = s.send(samples[:n], clip)
			samples = samples[n:]
		} else {
			err = s.wait(ctx, timeout, s.flow.granted)
		}
		switch {
		case errors.Is(err, errStalled):
			return lost(err)
		case err != nil:
			return err
		}
	}
	return nil
}

func (s *stream) send(samples []float32, clip bool) error {
	if err := s.transmit(samples, s.sent); err != nil {
		return err
	}
	s.sent += len(samples)
	s.written.Add(uint64(len(samples)))
	s.history.add(samples, clip)
	if clip {
		s.clips += len(samples)
	}
	if now := time.Now(); now.After(s.playedUntil) {
		s.playedUntil = now
	}
	s.playedUntil = s.playedUntil.Add(s.duration(len(samples) * sampleBytes))
	return nil
}

// transmit sends the samples, of which the first one has a number, to the server's buffer.
func (s *stream) transmit(samples []float32, first int) error {
	s.bytes = s.bytes[:0]
	for i, v := range samples {
		v = max(-1, min(1, v*s.level.gain(first+i)))
		s.bytes = binary.LittleEndian.AppendUint32(s.bytes, math.Float32bits(v))
	}
	if err := s.conn.client.Send(s.index, s.bytes); err != nil {
		<-s.conn.closed
		return lost(s.conn.link.closeCause())
	}
	return nil
}

// duration returns the playing time of n bytes.
func (s *stream) duration(bytes int) time.Duration {
	return time.Duration(bytes) * time.Second / time.Duration(sampleBytes*s.rate)
}

// samples returns how many samples are played in d.
func (s *stream) samples(d time.Duration) int { return int(d * time.Duration(s.rate) / time.Second) }

// errKilled reports that the server has ended a stream, with its sink or on another client's request.
var errKilled = errors.New("the sound server ended the stream")

// errStalled reports that the wait for the server has timed out.
var errStalled = errors.New("the sound server accepts no samples; its sink may be suspended")

// wait waits for a token in event, and follows the fader meanwhile. It returns an error if ctx or the stream ends, or
// errStalled after the limit.
func (s *stream) wait(ctx context.Context, limit time.Duration, event <-chan struct{}) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-event:
			return nil
		case <-s.moved:
			if err := s.follow(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-s.conn.closed:
			return lost(s.conn.link.closeCause())
		case <-s.flow.killed:
			return lost(errKilled)
		case <-timer.C:
			return errStalled
		}
	}
}

// prime makes sure that samples written now are heard from the first one on. A server that has run dry has
// rendered silence ahead and, when samples arrive, rewinds over as much of it as it can; a client that
// records the sink's monitor has already received that silence and misses as many samples. So prime writes
// silence of that length first.
func (s *stream) prime(ctx context.Context) error {
	if !s.flow.empty() {
		return nil
	}
	return s.writeSilence(ctx, s.flow.current().latency)
}

// writeSilence writes silence of that duration.
func (s *stream) writeSilence(ctx context.Context, d time.Duration) error {
	return s.write(ctx, make([]float32, s.samples(d)), false)
}

// playClip writes a clip's samples.
func (s *stream) playClip(ctx context.Context, samples []float32) error {
	if err := s.prime(ctx); err != nil {
		return err
	}
	s.undrained, s.padding = true, 0
	return s.write(ctx, samples, true)
}

// pad writes silence after a clip, once: it flushes the server's resampler, and the last part of a clip that
// is shorter than what PipeWire reads at once.
func (s *stream) pad(ctx context.Context) error {
	if !s.undrained || s.padding > 0 {
		return nil
	}
	d := drainPadding + s.duration(s.flow.current().minRequest)
	if err := s.writeSilence(ctx, d); err != nil {
		return err
	}
	s.padding = d
	return nil
}

// finish waits until the written clips have been heard.
func (s *stream) finish(ctx context.Context) error {
	if s == nil || !s.undrained {
		return nil
	}
	if err := s.pad(ctx); err != nil {
		return err
	}
	if err := s.drain(ctx); err != nil {
		return err
	}
	s.undrained = false
	return nil
}

// drain returns when the last sample before the padding has been heard: when the server has read it and its
// latency has passed. The protocol's own drain request cannot be used, because the library times out its
// reply like any other.
func (s *stream) drain(ctx context.Context) error {
	read, since := int64(-1), time.Now()
	for {
		at, err := s.position()
		if err != nil {
			return err
		}
		left := s.duration(int(at.WriteIndex-at.ReadIndex)) - s.padding
		if left <= 0 {
			return s.sleep(ctx, microseconds(at.Latency))
		}
		if at.ReadIndex != read {
			read, since = at.ReadIndex, time.Now()
		}
		if time.Since(since) > timeout {
			return lost(errStalled)
		}
		if err := s.sleep(ctx, max(minPoll, min(left, maxPoll))); err != nil {
			return err
		}
	}
}

// position returns how far the server has read and written.
func (s *stream) position() (at proto.GetPlaybackLatencyReply, err error) {
	if err := s.conn.request(&proto.GetPlaybackLatency{StreamIndex: s.index}, &at); err != nil {
		return at, requestError("query the playback latency", err)
	}
	return at, nil
}

// sleep waits for d. It returns an error if ctx or the stream ends.
func (s *stream) sleep(ctx context.Context, d time.Duration) error {
	if err := s.wait(ctx, d, nil); !errors.Is(err, errStalled) {
		return err
	}
	return nil
}

// cork stops an idle stream, so that it is no reason for the server to run the sink, or to lower or pause
// others.
func (s *stream) cork() error { return s.setCorked(true) }

// uncork lets the stream run again.
func (s *stream) uncork() error { return s.setCorked(false) }

func (s *stream) setCorked(corked bool) error {
	if s.corked == corked {
		return nil
	}
	if err := s.conn.request(&proto.CorkPlaybackStream{StreamIndex: s.index, Corked: corked}, nil); err != nil {
		return requestError("cork or uncork a stream", err)
	}
	s.corked = corked
	return nil
}

// alive reports whether samples written now would be played.
func (s *stream) alive() bool {
	select {
	case <-s.conn.closed:
		return false
	case <-s.flow.killed:
		return false
	default:
		return true
	}
}

// close closes the stream and drops samples that have not been played.
func (s *stream) close() {
	if s.alive() {
		_ = s.conn.request(&proto.DeletePlaybackStream{StreamIndex: s.index}, nil) // the stream ends anyway
	}
	s.conn.forget(s.index)
}
