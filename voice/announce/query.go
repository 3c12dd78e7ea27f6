package announce

import (
	"cmp"
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

// Stats holds the state of the queue.
type Stats struct {
	Waiting   int       // announcements, without the current one
	Scheduled int       // announcements that wait for a time
	Away      int       // announcements that only other rooms still have to speak
	Max       int       // limit of Waiting
	Current   string    // id of the announcement being synthesized or played; "" means none
	Playing   bool      // the current one is played
	Oldest    time.Time // acceptance of the longest waiting announcement; zero means none
	SinkError error     // of the last attempt to play, if the sink was lost; else nil
	Unsaved   int       // ends that the outbox has not saved yet
}

// Find returns an announcement that is waiting, current or recently ended, or [ErrNotFound].
func (q *Queue) Find(id string, c Conditions) (View, error) {
	it, ok := q.byID[id]
	if !ok {
		return View{}, ErrNotFound
	}
	return q.view(it, c), nil
}

// Accepted returns an accepted announcement as it is now, also one that is being saved; only its ID and Status
// if it is not in memory.
func (q *Queue) Accepted(earlier Accepted, c Conditions) View {
	if it := cmp.Or(q.byID[earlier.ID], q.saving[earlier.ID]); it != nil {
		return q.view(it, c)
	}
	return View{Announcement: Announcement{ID: earlier.ID, Status: earlier.Status}}
}

// List returns all announcements.
func (q *Queue) List(c Conditions) List {
	views := func(items []*item) (all []View) {
		for _, it := range items {
			all = append(all, q.view(it, c))
		}
		return all
	}
	latest := slices.Clone(q.ended)
	slices.Reverse(latest)
	l := List{Scheduled: views(slices.SortedFunc(slices.Values(q.scheduled), byTime)), Recent: views(latest)}
	if q.current != nil {
		l.Queue = views([]*item{q.current})
	}
	l.Queue = append(l.Queue, views(slices.Concat(q.waiting, q.away))...)
	return l
}

// Stats returns the state of the queue.
func (q *Queue) Stats(c Conditions) Stats {
	s := Stats{Waiting: len(q.waiting), Scheduled: len(q.scheduled), Away: len(q.away), Max: c.Max}
	if q.current != nil {
		s.Current, s.Playing = q.current.ID, q.current.Status == Playing
	} else if s.Waiting > 0 {
		s.Waiting--
	}
	for _, it := range q.waiting {
		s.Oldest = earlier(s.Oldest, it.Created)
	}
	return s
}

// view returns it with its position.
func (q *Queue) view(it *item, c Conditions) View {
	v := View{Announcement: it.Announcement}
	switch {
	case it.Status.Ended(), it.Rooms.Only:
	case it.Status == Scheduled:
		v.ClockUnset = c.unset(it.Announcement)
	case it == q.current:
		v.Position = new(int)
	default:
		position := q.waiting.place(it)
		if q.current != nil {
			position++
		}
		v.Position = &position
	}
	return v
}

// byTime orders scheduled items by the time at which they are spoken; those that wait for the wall clock come last.
func byTime(x, y *item) int {
	if x.SpeaksAt.IsZero() != y.SpeaksAt.IsZero() {
		if x.SpeaksAt.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(x.SpeaksAt.Compare(y.SpeaksAt), cmp.Compare(x.Seq, y.Seq))
}
