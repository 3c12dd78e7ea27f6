package pulse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pressbox/audio"
)

// Play plays the clips as they arrive, at the gain of the fader, and returns when the last sample has been heard; clips
// is then closed and empty. A move of the fader fades what the server has not played yet. The error is or wraps an
// [audio.UnheardError] if the sink was muted or silent all the time. When ctx ends, it fades the sound out and returns
// ctx's error. The error is [audio.ErrSinkLost] if the sound server or its sink is not available; before it receives
// the first clip, Play waits up to 5 s for them. played is the duration of the clips, or the parts of them, that had
// been heard; it is estimated if the server was lost. Concurrent calls play one after another.
func (s *Sink) Play(
	ctx context.Context, clips <-chan audio.Clip, fader *audio.Fader,
) (played time.Duration, err error) {
	return s.play(ctx, clips, fader, func(*state) func() { return func() {} })
}

// play is Play. prepare may change the sink that plays, or the server's, and returns what undoes the latter.
func (s *Sink) play(
	ctx context.Context, clips <-chan audio.Clip, fader *audio.Fader, prepare func(*state) (restore func()),
) (played time.Duration, err error) {
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
	defer prepare(&ready)()
	s.listen(ready.sink)
	p := playback{sink: s, ready: ready, fader: fader}
	if p.out, err = s.prepare(ctx, ready, fader); err == nil {
		err = p.play(ctx, clips)
	}
	if p.out == nil {
		return p.played, err
	}
	if err != nil {
		return p.played + p.out.stop(ctx), errors.Join(err, s.audible())
	}
	s.cached = p.out
	signal(s.streamCached)
	if played = p.played + p.out.clipTime(); played == 0 {
		return 0, nil
	}
	return played, s.audible()
}

// A playback is one call of Play.
type playback struct {
	sink   *Sink
	ready  state
	fader  *audio.Fader
	out    *stream       // nil while there is none
	played time.Duration // on the streams before out
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

// prepare returns the cached stream if it is usable, otherwise a new one with the last clip's rate, so that
// the sink wakes up while the first clip is still being made. It returns nil if no rate is known.
func (s *Sink) prepare(ctx context.Context, ready state, fader *audio.Fader) (*stream, error) {
	if out := s.cached; out != nil {
		s.cached = nil
		if out.alive() && out.flow.current().sink == ready.sink.index {
			out.begin(fader)
			if err := out.uncork(); err == nil {
				return out, wake(ctx, ready, out)
			}
		}
		out.close()
	}
	if s.lastRate == 0 {
		return nil, nil
	}
	return s.open(ctx, ready, s.lastRate, fader)
}

// open returns a new stream.
func (s *Sink) open(ctx context.Context, ready state, rate int, fader *audio.Fader) (*stream, error) {
	name := "" // follows the default sink
	if len(s.cfg.Sinks) > 0 {
		name = ready.sink.Name
	}
	out, err := ready.conn.open(rate, name, &s.written)
	if err != nil {
		return nil, err
	}
	out.begin(fader)
	return out, wake(ctx, ready, out)
}

// wake writes the silence that wakes the sink if it is suspended.
func wake(ctx context.Context, ready state, out *stream) error {
	if ready.sink.State != suspended {
		return nil
	}
	return out.writeSilence(ctx, ready.sink.wakeTime)
}

// play plays the clips. Neither a stream nor a clip is an error.
func (p *playback) play(ctx context.Context, clips <-chan audio.Clip) error {
	for {
		clip, more, err := nextClip(ctx, p.ready.conn, p.out, clips)
		switch {
		case err != nil:
			return err
		case !more:
			return p.out.finish(ctx)
		case len(clip.Samples) == 0:
			continue
		case clip.Rate <= 0:
			return fmt.Errorf("play a clip of %d Hz: the rate must be positive", clip.Rate)
		}
		if err := p.setRate(ctx, clip.Rate); err != nil {
			return err
		}
		if err := p.out.playClip(ctx, clip.Samples); err != nil {
			return err
		}
	}
}

// nextClip waits for a clip; more is false after the last one. It pads a stream that is about to run dry.
func nextClip(
	ctx context.Context, conn *connection, out *stream, clips <-chan audio.Clip,
) (clip audio.Clip, more bool, err error) {
	var ended chan struct{}
	var dry <-chan time.Time
	if out != nil {
		ended = out.flow.killed
		dry = time.After(time.Until(out.playedUntil) - 2*requestTime)
	}
	for {
		var moved <-chan struct{}
		if out != nil {
			moved = out.moved
		}
		select {
		case clip, more = <-clips:
			return clip, more, ctx.Err()
		case <-moved:
			if err := out.follow(); err != nil {
				return clip, false, err
			}
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

// setRate replaces a stream of another rate after it has been played.
func (p *playback) setRate(ctx context.Context, rate int) error {
	if p.out != nil {
		if p.out.rate == rate {
			return nil
		}
		if err := p.out.finish(ctx); err != nil {
			return err
		}
		p.played += p.out.clipTime()
		p.out.close()
		p.out = nil
	}
	p.sink.lastRate = rate
	var err error
	p.out, err = p.sink.open(ctx, p.ready, rate, p.fader)
	return err
}
