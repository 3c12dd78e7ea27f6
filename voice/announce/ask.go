package announce

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A View is a notice as it stands at one moment.
type View struct {
	Announcement
	Position *int // 0 the head, 1… those that wait, in speaking order; nil once it ended
}

// Find returns an announcement that waits, is spoken or is remembered, or
// [ErrNotFound].
func (a *Announcer) Find(id string) (View, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, ok := a.byID[id]
	if !ok {
		return View{}, ErrNotFound
	}
	return a.view(e), nil
}

// Queue returns what is spoken and waits, in speaking order, and what ended
// and is still remembered, latest first.
func (a *Announcer) Queue() (queue, recent []View) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.head != nil {
		queue = append(queue, a.view(a.head))
	}
	for _, e := range a.line {
		queue = append(queue, a.view(e))
	}
	for _, e := range slices.Backward(a.ended) {
		recent = append(recent, a.view(e))
	}
	return queue, recent
}

// Cancel ends an announcement, in the middle of a word if it is being spoken,
// and returns it once that is kept. The error is [ErrNotFound], [ErrEnded],
// ctx's, or wraps [ErrUnavailable] when the disk did not take it: then it is silent
// all the same, but would be spoken after a crash.
func (a *Announcer) Cancel(ctx context.Context, id string) (View, error) {
	a.mu.Lock()
	e, ok := a.byID[id]
	if !ok {
		a.mu.Unlock()
		return View{}, ErrNotFound
	}
	if e.ending || e.Status.Ended() {
		a.mu.Unlock()
		return View{}, ErrEnded
	}
	e.ending = true
	if a.head == e {
		e.silence(errCancelled)
		a.mu.Unlock()
		return a.awaitCancelled(ctx, e)
	}
	a.mu.Unlock()
	err := a.endCancelled(ctx, e)
	return View{Announcement: e.Announcement}, err
}

// awaitCancelled waits until the stage has settled the head.
func (a *Announcer) awaitCancelled(ctx context.Context, e *entry) (View, error) {
	if !wait(ctx, e.settled) {
		return View{}, ctx.Err()
	}
	if e.Status != Cancelled {
		return View{}, ErrEnded
	}
	return View{Announcement: e.Announcement}, refusal(ctx, e.unsaved)
}

// CancelWaiting ends all announcements that wait, but not the one that is
// spoken, and returns how many. Its errors are those of [Announcer.Cancel].
func (a *Announcer) CancelWaiting(ctx context.Context) (int, error) {
	a.mu.Lock()
	var es []*entry
	for _, e := range a.line {
		if !e.ending {
			e.ending = true
			es = append(es, e)
		}
	}
	a.mu.Unlock()
	if len(es) == 0 {
		return 0, nil
	}
	return len(es), a.endCancelled(ctx, es...)
}

// endCancelled ends waiting entries that the caller has marked as ending.
func (a *Announcer) endCancelled(ctx context.Context, es ...*entry) error {
	err := a.end(ctx, Cancelled, "", es...)
	a.log.Info("announcements cancelled", "count", len(es))
	if err != nil {
		return refusal(ctx, fmt.Errorf("keep the cancellation: %w", err))
	}
	return nil
}

// Stats is how the queue stands.
type Stats struct {
	Waiting   int       // behind the head
	Max       int       // how many may
	Current   string    // id of the one that is synthesised or played; "" means none
	Oldest    time.Time // when the longest waiting one was accepted; zero means that none waits
	SinkError error     // why nothing can be heard now, as the last attempt met it; nil means none did
	Unsaved   int       // ends that the disk has not taken so far
}

// Stats returns how the queue stands.
func (a *Announcer) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := Stats{Waiting: len(a.line), Max: a.config.Load().Max, SinkError: a.lost, Unsaved: len(a.unkept)}
	if a.head != nil {
		s.Current = a.head.ID
	} else if s.Waiting > 0 {
		s.Waiting--
	}
	for _, e := range a.line {
		s.Oldest = earlier(s.Oldest, e.Created)
	}
	return s
}

// view returns e with its position. a.mu must be held.
func (a *Announcer) view(e *entry) View {
	v := View{Announcement: e.Announcement}
	switch {
	case e.Status.Ended():
	case e == a.head:
		v.Position = new(int)
	default:
		place := a.line.place(e)
		if a.head != nil {
			place++
		}
		v.Position = &place
	}
	return v
}
