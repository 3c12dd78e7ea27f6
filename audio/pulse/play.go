package pulse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pressbox/audio"
)

// Play plays the clips as they arrive and returns when the last sample has been
// heard; clips is then closed and empty. When ctx ends, it stops the sound at
// once and returns ctx's error. The error is [audio.ErrSinkLost] if the sound
// server or its sink is not available; before it receives the first clip, Play
// waits up to 5 s for them. played is about the duration of the clips that had
// been heard. Concurrent calls play one after another.
func (s *Sink) Play(ctx context.Context, clips <-chan audio.Clip) (played time.Duration, err error) {
	select {
	case s.slot <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-s.slot }()
	ready, err := s.awaitState(ctx)
	if err != nil {
		return 0, err
	}
	out, err := s.prepare(ctx, ready)
	if err == nil {
		out, err = s.playClips(ctx, ready, out, clips)
	}
	if out == nil {
		return 0, err
	}
	played = out.played(time.Now())
	if err != nil {
		out.abort()
		return played, err
	}
	out.sent = 0
	s.cached = out
	signal(s.streamCached)
	return played, nil
}

// awaitState returns the state once sound can be played.
func (s *Sink) awaitState(ctx context.Context) (state, error) {
	tooLong := time.NewTimer(timeout)
	defer tooLong.Stop()
	for first := true; ; first = false {
		s.mu.Lock()
		now := s.state
		s.mu.Unlock()
		if now.conn != nil && now.err == nil {
			return now, ctx.Err()
		}
		if first {
			signal(s.reconnect)
		}
		select {
		case <-now.changed:
		case <-ctx.Done():
			return state{}, ctx.Err()
		case <-tooLong.C:
			if now.err == nil {
				now.err = lost(errors.New("not connected to a sound server yet"))
			}
			return state{}, now.err
		}
	}
}

// prepare returns the cached stream if it is usable, otherwise a new one with
// the last clip's rate, so that the sink wakes up while the first clip is still
// being made. It returns nil if no rate is known.
func (s *Sink) prepare(ctx context.Context, ready state) (*stream, error) {
	if out := s.cached; out != nil {
		s.cached = nil
		if out.alive() && out.flow.current().sink == ready.sink.index {
			return out, nil
		}
		out.close()
	}
	if s.lastRate == 0 {
		return nil, nil
	}
	return s.open(ctx, ready, s.lastRate)
}

// open returns a new stream. If the sink is suspended, it writes the silence
// that wakes it.
func (s *Sink) open(ctx context.Context, ready state, rate int) (*stream, error) {
	out, err := ready.conn.open(rate, s.cfg.Sink, &s.written)
	if err != nil {
		return nil, err
	}
	if ready.sink.state != suspended || s.cfg.LeadIn < 0 {
		return out, nil
	}
	lead := s.cfg.LeadIn
	if lead == 0 {
		lead = ready.sink.wakeTime
	}
	return out, out.writeSilence(ctx, lead)
}

// playClips plays the clips on out and returns the stream that it used last,
// nil if there was neither a stream nor a clip.
func (s *Sink) playClips(ctx context.Context, ready state, out *stream, clips <-chan audio.Clip) (*stream, error) {
	first := s.cfg.OnFirstWrite
	for {
		clip, more, err := nextClip(ctx, ready.conn, out, clips)
		switch {
		case err != nil:
			return out, err
		case !more:
			return out, out.finish(ctx)
		case len(clip.Samples) == 0:
			continue
		case clip.Rate <= 0:
			return out, fmt.Errorf("play a clip of %d Hz: the rate must be positive", clip.Rate)
		}
		if out, err = s.streamFor(ctx, ready, out, clip.Rate); err != nil {
			return out, err
		}
		if err := out.playClip(ctx, clip.Samples, first); err != nil {
			return out, err
		}
		first = nil
	}
}

// nextClip waits for a clip; more is false after the last one. It pads a stream
// that is about to run dry.
func nextClip(ctx context.Context, conn *connection, out *stream, clips <-chan audio.Clip) (clip audio.Clip, more bool, err error) {
	var ended chan struct{}
	var dry <-chan time.Time
	if out != nil {
		ended = out.flow.killed
		dry = time.After(time.Until(out.playedUntil) - 2*requestTime)
	}
	for {
		select {
		case clip, more = <-clips:
			return clip, more, ctx.Err()
		case <-ctx.Done():
			return clip, false, ctx.Err()
		case <-conn.closed:
			return clip, false, lost(conn.link.closeCause())
		case <-ended:
			return clip, false, lost(errKilled)
		case <-dry:
			if err := out.pad(ctx); err != nil {
				return clip, false, err
			}
		}
	}
}

// streamFor returns a stream of the given rate: out if it has that rate,
// otherwise a new one after out has been played.
func (s *Sink) streamFor(ctx context.Context, ready state, out *stream, rate int) (*stream, error) {
	sent := time.Duration(0)
	if out != nil {
		if out.rate == rate {
			return out, nil
		}
		if err := out.finish(ctx); err != nil {
			return out, err
		}
		sent = out.sent
		out.close()
	}
	s.lastRate = rate
	out, err := s.open(ctx, ready, rate)
	if out != nil {
		out.sent = sent
	}
	return out, err
}
