package pulse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pressbox/audio"
)

// Play plays the clips as they arrive and returns when the last sample has
// been heard; clips is then closed and empty. When ctx ends it falls silent
// at once and returns ctx's error. An error that is audio.ErrSinkLost
// means that the sound server or its sink is away, or went away; before the
// first clip is taken Play waits up to 5 s for it. Of several calls one plays
// at a time.
func (s *Sink) Play(ctx context.Context, clips <-chan audio.Clip) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	ready, err := s.await(ctx)
	if err != nil {
		return err
	}
	out, err := s.prepare(ctx, ready)
	if err == nil {
		out, err = s.perform(ctx, ready, out, clips)
	}
	if out == nil {
		return err
	}
	if err != nil {
		out.cut()
		return err
	}
	s.kept = out
	notify(s.played)
	return nil
}

// await returns the state once something can be played.
func (s *Sink) await(ctx context.Context) (state, error) {
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	for first := true; ; first = false {
		s.mu.Lock()
		now := s.now
		s.mu.Unlock()
		if now.conn != nil && now.err == nil {
			return now, ctx.Err()
		}
		if first {
			notify(s.wake)
		}
		select {
		case <-now.changed:
		case <-ctx.Done():
			return state{}, ctx.Err()
		case <-tooLong.C:
			if now.err == nil {
				now.err = lost(errors.New("no sound server has been reached yet"))
			}
			return state{}, now.err
		}
	}
}

// prepare returns the kept stream when it still is what we want, else a new
// one of the last clip's rate, so that the sink wakes while the first clip is
// still being made. It returns nil when no rate is known.
func (s *Sink) prepare(ctx context.Context, ready state) (*stream, error) {
	if out := s.kept; out != nil {
		s.kept = nil
		if out.alive() && out.feed.place().sink == ready.sink.index {
			return out, nil
		}
		out.close()
	}
	if s.rate == 0 {
		return nil, nil
	}
	return s.open(ctx, ready, s.rate)
}

// open returns a new stream. When the sink sleeps it has been given the
// silence that wakes it.
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
		lead = ready.sink.lead
	}
	return out, out.silence(ctx, lead)
}

// perform plays the clips on out and returns the stream that it ended with,
// nil when there was neither a stream nor a clip.
func (s *Sink) perform(ctx context.Context, ready state, out *stream, clips <-chan audio.Clip) (*stream, error) {
	first := s.cfg.OnFirstWrite
	for {
		clip, more, err := next(ctx, ready.conn, out, clips)
		switch {
		case err != nil:
			return out, err
		case !more:
			return out, out.finish(ctx)
		case len(clip.Samples) == 0:
			continue
		case clip.Rate <= 0:
			return out, fmt.Errorf("play a clip of %d Hz: a rate is positive", clip.Rate)
		}
		if out, err = s.fit(ctx, ready, out, clip.Rate); err != nil {
			return out, err
		}
		if err := out.say(ctx, clip.Samples, first); err != nil {
			return out, err
		}
		first = nil
	}
}

// next waits for a clip; more is false when there will be none. A stream that
// is about to run dry meanwhile is padded.
func next(ctx context.Context, conn *connection, out *stream, clips <-chan audio.Clip) (clip audio.Clip, more bool, err error) {
	var ended chan struct{}
	var dry <-chan time.Time
	if out != nil {
		ended = out.feed.ended
		dry = time.After(time.Until(out.until) - 2*pace)
	}
	for {
		select {
		case clip, more = <-clips:
			return clip, more, ctx.Err()
		case <-ctx.Done():
			return clip, false, ctx.Err()
		case <-conn.gone:
			return clip, false, lost(conn.link.why())
		case <-ended:
			return clip, false, lost(errKilled)
		case <-dry:
			if err := out.pad(ctx); err != nil {
				return clip, false, err
			}
		}
	}
}

// fit returns a stream of the given rate: out when it is one, else a new one
// once out has been heard.
func (s *Sink) fit(ctx context.Context, ready state, out *stream, rate int) (*stream, error) {
	if out != nil {
		if out.rate == rate {
			return out, nil
		}
		if err := out.finish(ctx); err != nil {
			return out, err
		}
		out.close()
	}
	s.rate = rate
	return s.open(ctx, ready, rate)
}
