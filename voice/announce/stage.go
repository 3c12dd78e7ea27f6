package announce

import (
	"context"
	"errors"
	"sync"
	"time"

	"pressbox/audio"
)

const (
	grace    = 5 * time.Second        // for the last sentence when Run's ctx ends
	minPause = 200 * time.Millisecond // before another try after the sink was lost
	maxPause = 2 * time.Second        // the pause doubles up to this
)

// Why the head was silenced: the cause in the context of its sound.
var (
	errCancelled = errors.New("cancelled")
	errExpired   = errors.New("expired")
	errStopping  = errors.New("stopping")
)

// A stage is where notices become sound, one after another. It belongs to
// Run's goroutine; what it starts, running waits for.
type stage struct {
	a       *Announcer
	ahead   *making       // what is made for a notice that waits; nil means nothing
	pause   time.Duration // before the next try; 0 means that the sink was there
	running sync.WaitGroup
}

// step speaks the next notice, waiting for one if none waits. It returns
// false when ctx has ended.
func (s *stage) step(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	sound, silence := context.WithCancelCause(context.WithoutCancel(ctx))
	defer silence(nil)
	e := s.a.take(silence)
	if e == nil {
		s.drop()
		if r, ok := s.a.nextRemark(time.Now()); ok {
			return s.utter(ctx, r)
		}
		return wait(ctx, s.a.changed)
	}
	m := s.making(ctx, e)
	p := s.perform(ctx, sound, m, func() { s.a.begin(e) }, func(played <-chan error, _ func()) error {
		return s.attend(ctx, m, e, played)
	})
	status, why := p.verdict(ctx, sound)
	if status == Queued && !s.a.requeue(e, p.played) {
		status, why = p.verdict(ctx, sound) // somebody ended it at the last moment
	}
	if status == Queued {
		s.park(m)
		return s.rest(ctx)
	}
	m.stop()
	s.pause = 0
	s.a.settle(ctx, e, status, why)
	return true
}

// A performance is how an attempt to speak a notice ended.
type performance struct {
	all    bool  // the sink was given every clip
	played error // of the sink
	made   error // of the speaker
}

// perform plays m until it was heard, or sound or the sink ends. It calls begin
// at the first sample. When ctx ends, or attend, which waits for the end, says
// that it is enough, it gives the sink no more.
func (s *stage) perform(ctx, sound context.Context, m *making, begin func(), attend func(played <-chan error, enough func()) error) performance {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	clips := make(chan audio.Clip)
	played := make(chan error, 1)
	fed := make(chan bool, 1)
	s.running.Go(func() { played <- s.a.sink.Play(sound, clips) })
	s.running.Go(func() { fed <- m.feed(feeding, clips, begin) })

	p := performance{played: attend(played, stop)}
	stop()
	p.all = <-fed
	p.made = m.failure()
	return p
}

// attend waits until the head has been played. Once the head is made, it has
// the beginning of the next notice made, of another one when the order
// changes. Once ctx ends, the head has a few seconds left.
func (s *stage) attend(ctx context.Context, m *making, e *entry, played <-chan error) error {
	made, stopping := m.made, ctx.Done()
	var changed <-chan struct{}
	var late <-chan time.Time
	for {
		select {
		case err := <-played:
			return err
		case <-made:
			made, changed = nil, s.a.changed
			s.lookAhead(ctx)
		case <-changed:
			s.lookAhead(ctx)
		case <-stopping:
			stopping, late = nil, time.After(grace)
		case <-late:
			e.silence(errStopping)
		}
	}
}

// verdict says what becomes of the notice. Queued means that it is to be
// spoken again.
func (p performance) verdict(ctx, sound context.Context) (status Status, why string) {
	switch cause := context.Cause(sound); {
	case p.all && p.played == nil:
		return Done, ""
	case errors.Is(cause, errCancelled):
		return Cancelled, ""
	case errors.Is(cause, errExpired):
		return Expired, ""
	case errors.Is(p.played, audio.ErrSinkLost), ctx.Err() != nil:
		return Queued, ""
	case p.made != nil:
		return Failed, p.made.Error()
	case p.played != nil:
		return Failed, p.played.Error()
	default:
		return Failed, "the sink ended before the message"
	}
}

// rest pauses after the sink was lost, longer each time, so that its absence
// keeps nobody busy. It returns false when ctx has ended.
func (s *stage) rest(ctx context.Context) bool {
	s.pause = min(max(2*s.pause, minPause), maxPause)
	return wait(ctx, time.After(s.pause))
}

// making returns what is made for e, which is begun now unless it was made
// ahead.
func (s *stage) making(ctx context.Context, e *entry) *making {
	if m := s.ahead; m != nil && m.id == e.ID {
		s.ahead = nil
		return m
	}
	return s.start(ctx, e.Announcement)
}

// lookAhead has the beginning made of the notice that would be spoken next,
// and drops what was made for another one. It holds as much sound as one
// making does.
func (s *stage) lookAhead(ctx context.Context) {
	next, ok := s.a.peek()
	if s.ahead != nil && (!ok || s.ahead.id != next.ID) {
		s.drop()
	}
	if ok && s.ahead == nil {
		s.ahead = s.start(ctx, next)
	}
}

// park keeps what was made for the next try, if nothing of it was played.
func (s *stage) park(m *making) {
	if m.begun {
		m.stop()
		return
	}
	s.drop()
	s.ahead = m
}

func (s *stage) drop() {
	if s.ahead != nil {
		s.ahead.stop()
		s.ahead = nil
	}
}

// wait waits for an event. It returns false when ctx ended before.
func wait[T any](ctx context.Context, event <-chan T) bool {
	select {
	case <-event:
		return true
	case <-ctx.Done():
		return false
	}
}
