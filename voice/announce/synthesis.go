package announce

import (
	"context"
	"time"

	"pressbox/audio"
)

// A synthesis produces the sound of one announcement, one clip ahead of
// playback. It holds at most three clips: one offered to the sink, one ready
// and one just finished.
type synthesis struct {
	id    string
	clips chan Clip     // closed at the end
	done  chan struct{} // closed at the end, after clips
	stop  context.CancelFunc
	err   error // why clips are missing; read after clips is closed

	// Used by feed only:
	pending    Clip // received from clips and not yet played
	hasPending bool
	started    bool // the first clip was played
	complete   bool // every clip was played
}

// synthesize starts the synthesis of an announcement at its volume. It ends
// with ctx.
func (p *playout) synthesize(ctx context.Context, ann Announcement) *synthesis {
	ctx, stop := context.WithCancel(ctx)
	syn := &synthesis{
		id:    ann.ID,
		clips: make(chan Clip, 1),
		done:  make(chan struct{}),
		stop:  stop,
	}
	gain := gain(p.a.decide(ann, time.Now()).Volume, ann.Urgent)
	p.running.Go(func() {
		defer close(syn.done)
		defer close(syn.clips)
		syn.err = syn.run(ctx, p.a.speaker, ann, gain)
	})
	return syn
}

func (s *synthesis) run(ctx context.Context, speaker Speaker, ann Announcement, gain float32) error {
	for clip, err := range speaker.Speak(ctx, Utterance{Voice: ann.Voice, Message: ann.text(), Rate: ann.Rate}) {
		if err != nil {
			return err
		}
		audio.Scale(clip.Samples, gain)
		select {
		case s.clips <- clip:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// feed sends the clips to out, calls onStart when the first is received, and
// closes out. It reports whether every clip was sent; false if ctx ended or
// the synthesis failed.
func (s *synthesis) feed(ctx context.Context, out chan<- audio.Clip, onStart func()) bool {
	defer close(out)
	for s.next(ctx) {
		select {
		case out <- s.pending.Clip:
			s.pending, s.hasPending = Clip{}, false
		case <-ctx.Done():
			return false
		}
		if !s.started {
			s.started = true
			onStart()
		}
	}
	return s.complete
}

// next receives the next clip into pending unless one is there. It returns
// false if there are no more or ctx has ended.
func (s *synthesis) next(ctx context.Context) bool {
	if s.hasPending {
		return true
	}
	select {
	case s.pending, s.hasPending = <-s.clips:
		s.complete = !s.hasPending && s.err == nil
		return s.hasPending
	case <-ctx.Done():
		return false
	}
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

// gain returns the factor for the speaker's samples: the volume in percent, times
// [audio.UrgentGain] for urgent announcements.
func gain(volume int, urgent bool) float32 {
	gain := float32(volume) / 100
	if urgent {
		gain *= audio.UrgentGain
	}
	return gain
}
