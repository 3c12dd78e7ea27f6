package announce

import (
	"context"

	"pressbox/audio"
)

// A making is the sound of one notice while it is made. It is made one clip
// ahead of what is asked for, so it never holds more than three: one that is
// offered, one that is ready, one that has just been made.
type making struct {
	id    string
	clips chan audio.Clip // closed when all are made
	made  chan struct{}   // closed then, too
	stop  context.CancelFunc
	err   error // why not all were made; read after clips was closed

	// What follows belongs to feed.
	hand    audio.Clip // taken from clips and not yet played
	holding bool       // hand has one
	begun   bool       // the first was played
	all     bool       // there are no more
}

// start begins to make n's sound at n's level. The making ends with ctx.
func (s *stage) start(ctx context.Context, n Announcement) *making {
	ctx, stop := context.WithCancel(ctx)
	m := &making{
		id:    n.ID,
		clips: make(chan audio.Clip, 1),
		made:  make(chan struct{}),
		stop:  stop,
	}
	gain := s.a.config.Load().gain(n.Urgent)
	s.running.Go(func() {
		defer close(m.made)
		defer close(m.clips)
		m.err = m.run(ctx, s.a.speaker, n, gain)
	})
	return m
}

func (m *making) run(ctx context.Context, sp Speaker, n Announcement, gain float32) error {
	for clip, err := range sp.Speak(ctx, n.Voice, n.Message, n.Rate) {
		if err != nil {
			return err
		}
		audio.Scale(clip.Samples, gain)
		select {
		case m.clips <- clip:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// feed hands the clips to out, tells when the first was taken, and closes out.
// It returns whether out took all; not so when ctx ended before, or not all
// were made.
func (m *making) feed(ctx context.Context, out chan<- audio.Clip, begin func()) bool {
	defer close(out)
	for m.next(ctx) {
		select {
		case out <- m.hand:
			m.hand, m.holding = audio.Clip{}, false
		case <-ctx.Done():
			return false
		}
		if !m.begun {
			m.begun = true
			begin()
		}
	}
	return m.all
}

// next takes the next clip into the hand, unless it holds one. It returns
// false when there is none or ctx ended.
func (m *making) next(ctx context.Context) bool {
	if m.holding {
		return true
	}
	select {
	case m.hand, m.holding = <-m.clips:
		m.all = !m.holding && m.err == nil
		return m.holding
	case <-ctx.Done():
		return false
	}
}

// failure returns why not all was made, if the maker has ended; nil otherwise.
func (m *making) failure() error {
	select {
	case <-m.made:
		return m.err
	default:
		return nil
	}
}

// gain returns the factor on the speaker's samples: the volume, and half as
// much again for urgent ones.
func (c Config) gain(urgent bool) float32 {
	gain := float32(c.Volume) / 100
	if urgent {
		gain *= audio.UrgentGain
	}
	return gain
}
