package announce

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A View is an announcement at one moment.
type View struct {
	Announcement
	Position   *int // 0: current; 1…: waiting, in speaking order; nil: ended, scheduled, or for other rooms only
	ClockUnset bool // it waits for the wall clock to be set
}

// A List is all announcements at one moment.
type List struct {
	Queue     []View // in speaking order, first the current one; last those for other rooms only
	Scheduled []View // by the time at which they are spoken
	Recent    []View // ended, latest first
}

// Find returns an announcement that is waiting, current or recently ended, or
// [ErrNotFound].
func (a *Announcer) Find(id string) (View, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	it, ok := a.byID[id]
	if !ok {
		return View{}, ErrNotFound
	}
	return a.view(it), nil
}

// List returns all announcements.
func (a *Announcer) List() List {
	a.mu.Lock()
	defer a.mu.Unlock()
	var l List
	if a.current != nil {
		l.Queue = append(l.Queue, a.view(a.current))
	}
	for _, it := range a.queue {
		l.Queue = append(l.Queue, a.view(it))
	}
	for _, it := range a.away {
		l.Queue = append(l.Queue, a.view(it))
	}
	for _, it := range slices.SortedFunc(slices.Values(a.scheduled), byTime) {
		l.Scheduled = append(l.Scheduled, a.view(it))
	}
	for _, it := range slices.Backward(a.ended) {
		l.Recent = append(l.Recent, a.view(it))
	}
	return l
}

// Cancel ends an announcement, in the middle of a word if it is being spoken,
// and returns it once that is saved; one that has ended here is cancelled in the other
// rooms that it was sent to. The error is [ErrNotFound], [ErrEnded] or
// ctx's, or it wraps [ErrUnavailable] if the end could not be saved: the
// announcement is silent then but would be spoken after a crash.
func (a *Announcer) Cancel(ctx context.Context, id string) (View, error) {
	a.mu.Lock()
	it, ok := a.byID[id]
	if !ok {
		a.mu.Unlock()
		return View{}, ErrNotFound
	}
	if it.Status.Ended() && it.Rooms.Open() && !it.Rooms.Cancelled && it.Status != Cancelled {
		return a.changeRooms(ctx, it, func() { it.Rooms.Cancelled = true })
	}
	if it.ending || it.Status.Ended() {
		a.mu.Unlock()
		return View{}, ErrEnded
	}
	it.ending = true
	if a.current == it {
		it.stop(errCancelled)
		a.mu.Unlock()
		return a.awaitCancelled(ctx, it)
	}
	a.mu.Unlock()
	err := a.endCancelled(ctx, it)
	return View{Announcement: a.read(it)}, err
}

// awaitCancelled waits until the playout has finished the current item.
func (a *Announcer) awaitCancelled(ctx context.Context, it *item) (View, error) {
	if !wait(ctx, it.finished) {
		return View{}, ctx.Err()
	}
	if it.Status != Cancelled {
		return View{}, ErrEnded
	}
	return View{Announcement: a.read(it)}, outboxError(ctx, it.saveErr)
}

// CancelWaiting ends all announcements in the queue, except the current one, and
// those that wait for their next repetition, and returns their number. Its errors
// are those of [Announcer.Cancel].
func (a *Announcer) CancelWaiting(ctx context.Context) (int, error) {
	a.mu.Lock()
	var items []*item
	for _, it := range slices.Concat(a.queue, a.scheduled, a.away) {
		if !it.ending && (it.Status != Scheduled || it.Spoken > 0) {
			it.ending = true
			items = append(items, it)
		}
	}
	a.mu.Unlock()
	if len(items) == 0 {
		return 0, nil
	}
	return len(items), a.endCancelled(ctx, items...)
}

// endCancelled ends waiting items that the caller has marked as ending.
func (a *Announcer) endCancelled(ctx context.Context, items ...*item) error {
	err := a.recordEnd(ctx, Cancelled, "", items...)
	a.log.Info("announcements cancelled", "count", len(items))
	if err != nil {
		return outboxError(ctx, fmt.Errorf("save the cancellation: %w", err))
	}
	return nil
}

// Stats holds the state of the queue.
type Stats struct {
	Waiting   int       // announcements, without the current one
	Scheduled int       // announcements that wait for a time
	Away      int       // announcements that other rooms have still to speak, and this one not
	Max       int       // limit of Waiting
	Current   string    // id of the announcement being synthesized or played; "" means none
	Oldest    time.Time // acceptance of the longest waiting announcement; zero means none
	SinkError error     // of the last attempt to play, if the sink was lost; else nil
	Unsaved   int       // ends that the outbox has not saved yet
}

// Stats returns the state of the queue.
func (a *Announcer) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := Stats{Waiting: len(a.queue), Scheduled: len(a.scheduled), Away: len(a.away), Max: a.config.Load().Max, SinkError: a.sinkErr, Unsaved: len(a.unsaved)}
	if a.current != nil {
		s.Current = a.current.ID
	} else if s.Waiting > 0 {
		s.Waiting--
	}
	for _, it := range a.queue {
		s.Oldest = earlier(s.Oldest, it.Created)
	}
	return s
}

// read returns the announcement of it; what other rooms report changes it at any time.
func (a *Announcer) read(it *item) Announcement {
	a.mu.Lock()
	defer a.mu.Unlock()
	return it.Announcement
}

// view returns it with its position. a.mu must be held.
func (a *Announcer) view(it *item) View {
	v := View{Announcement: it.Announcement}
	switch {
	case it.Status.Ended(), it.Rooms.Only:
	case it.Status == Scheduled:
		v.ClockUnset = a.clockUnset(it.Announcement)
	case it == a.current:
		v.Position = new(int)
	default:
		position := a.queue.place(it)
		if a.current != nil {
			position++
		}
		v.Position = &position
	}
	return v
}
