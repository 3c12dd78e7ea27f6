package announcer

import (
	"context"
	"time"

	"pressbox/voice/announce"
)

// A synthesis produces the clips of one announcement or comment, ahead of playback: one clip, or as many as
// [plan.Lead] says if synthesis is slow. It holds two more: one offered to the sink and one just finished.
type synthesis struct {
	id    string             // of the announcement; "" for a comment
	clips chan announce.Clip // closed at the end, after done
	done  chan struct{}
	stop  context.CancelFunc
	err   error // why clips are missing; read after done is closed
	cut   bool  // clips are missing because it was stopped; read after clips is closed

	// Used by the playback only:
	pending    announce.Clip // received from clips and not yet played
	hasPending bool
	started    bool // the first clip was played
	complete   bool // every clip was played
}

// synthesize starts a synthesis. It ends when stop is called.
func (p *playout) synthesize(ctx context.Context, id string, u announce.Utterance) *synthesis {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	syn := &synthesis{id: id, clips: make(chan announce.Clip), done: make(chan struct{}), stop: stop}
	made := make(chan madeClip)
	p.running.Go(func() {
		defer close(made)
		defer close(syn.done)
		syn.err = run(ctx, p.a.parts.Speaker, u, made)
	})
	p.running.Go(func() {
		defer close(syn.clips)
		syn.cut = !(&lookahead{all: &p.a.speed}).pass(ctx, made, syn.clips)
	})
	return syn
}

// run sends the clips of u and the times that they took to made.
func run(ctx context.Context, speaker Speaker, u announce.Utterance, made chan<- madeClip) error {
	if u.Message == "" {
		return nil // only a sound is played
	}
	began := time.Now()
	for clip, err := range speaker.Speak(ctx, u) {
		if err != nil {
			return err
		}
		select {
		case made <- madeClip{clip, time.Since(began)}:
		case <-ctx.Done():
			return ctx.Err()
		}
		began = time.Now()
	}
	return nil
}

// next receives the next clip into pending unless one is there. It returns false if there are no more, or none
// in time.
func (s *synthesis) next(giveUp <-chan struct{}) bool {
	if s.hasPending {
		return true
	}
	select {
	case s.pending, s.hasPending = <-s.clips:
		s.complete = !s.hasPending && !s.cut && s.err == nil
		return s.hasPending
	case <-giveUp:
		return false
	}
}

// take removes the pending clip, which was played.
func (s *synthesis) take() {
	s.pending, s.hasPending, s.started = announce.Clip{}, false, true
}

// failure returns the error of a synthesis that has ended, otherwise nil.
func (s *synthesis) failure() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}
