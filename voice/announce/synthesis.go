package announce

import (
	"context"

	"pressbox/audio"
)

// A synthesis produces the clips of one announcement or comment, one clip ahead of
// playback. It holds at most three: one offered to the sink, one ready and one just
// finished.
type synthesis struct {
	id    string    // of the announcement; "" for a comment
	clips chan Clip // closed at the end
	done  chan struct{}
	stop  context.CancelFunc
	err   error // why clips are missing; read after clips is closed

	// Used by the playback only:
	pending    Clip // received from clips and not yet played
	hasPending bool
	scaled     bool    // pending has its gain
	gain       float32 // of pending, if it is scaled
	started    bool    // the first clip was played
	complete   bool    // every clip was played
}

// synthesize starts a synthesis. It ends when stop is called.
func (p *playout) synthesize(ctx context.Context, id string, u Utterance) *synthesis {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	syn := &synthesis{id: id, clips: make(chan Clip, 1), done: make(chan struct{}), stop: stop}
	p.running.Go(func() {
		defer close(syn.done)
		defer close(syn.clips)
		syn.err = syn.run(ctx, p.a.speaker, u)
	})
	return syn
}

func (s *synthesis) run(ctx context.Context, speaker Speaker, u Utterance) error {
	for clip, err := range speaker.Speak(ctx, u) {
		if err != nil {
			return err
		}
		select {
		case s.clips <- clip:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// next receives the next clip into pending unless one is there. It returns false
// if there are no more, or none in time.
func (s *synthesis) next(giveUp <-chan struct{}) bool {
	if s.hasPending {
		return true
	}
	select {
	case s.pending, s.hasPending = <-s.clips:
		s.complete = !s.hasPending && s.err == nil
		return s.hasPending
	case <-giveUp:
		return false
	}
}

// scale multiplies the pending clip by a gain, once.
func (s *synthesis) scale(gain float32) {
	if !s.scaled {
		audio.Scale(s.pending.Samples, gain)
		s.gain, s.scaled = gain, true
	}
}

// take removes the pending clip, which was played.
func (s *synthesis) take() {
	s.pending, s.hasPending, s.scaled, s.started = Clip{}, false, false, true
}

// fits reports whether the synthesis can be played at a gain.
func (s *synthesis) fits(gain float32) bool { return !s.scaled || s.gain == gain }

// failure returns the error of a synthesis that has ended, otherwise nil.
func (s *synthesis) failure() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}
