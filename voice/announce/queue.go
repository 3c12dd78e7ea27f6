package announce

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"pressbox/voice/announce/policy"
)

// Limits of the queue.
const (
	// MaxScheduled limits the announcements with a time, repetitions or only other rooms that have not ended.
	MaxScheduled     = 200
	MaxScheduledEach = 50                   // of them, of one client
	MaxAhead         = 366 * 24 * time.Hour // from now to their time
	UrgentPlaces     = 10                   // places beyond Config.Max for urgent announcements
)

// Causes for which a [Step] stops the sound of the current announcement.
var (
	ErrCancelled   = errors.New("cancelled")
	ErrExpired     = errors.New("expired")
	ErrInterrupted = errors.New("interrupted by an urgent announcement, or held by quiet")
	ErrSilenced    = errors.New("silenced")
)

// Conditions hold on what a step of the queue depends besides the queue.
type Conditions struct {
	Config
	Now      time.Time
	ClockSet bool // the wall clock has been set since the host was started
	// State is the state at a moment, present or future; nil: the volume of the Config, and never quiet.
	State func(at time.Time) policy.State
}

// Decide returns what happens to an announcement at a moment.
func (c Conditions) Decide(ann Announcement, at time.Time) policy.Decision {
	state := policy.State{Volume: c.Volume}
	if c.State != nil {
		state = c.State(at)
	}
	return policy.Decide(policy.Announcement{
		Urgent: ann.Urgent, Priority: ann.Priority, Volume: ann.Volume, Expires: ann.Expires,
	}, state, at)
}

// unset reports whether an announcement waits for the wall clock to be set.
func (c Conditions) unset(ann Announcement) bool { return ann.FixedTime && !c.ClockSet }

// A Step is what is to be done after a change of the queue, in this order.
type Step struct {
	Events []Event // to be published
	Stop   error   // why the sound of the current announcement is to be stopped; nil: it is not
	Wake   bool    // there may be something else to speak
	Retime bool    // something may be due before the moment that Advance returned

	// What is to be saved. Ends are ids of announcements that end with Status; they are passed to
	// [Queue.Ending] before and to [Queue.End] after they are saved. Save is the id of one that has changed; ""
	// means none.
	Ends   []string
	Status Status
	Save   string
	View   View // of the announcement that has changed, if Save is set
}

// An Event reports a change of an announcement.
type Event struct {
	View *View // after the change; all watchers share it
}

// A Queue is the announcements and comments that wait, the current announcement, and those that have recently
// ended. It is a state machine: its methods take the present conditions, change the queue, and return what is
// to be done. It has neither lock nor clock. The zero Queue is empty and usable.
//
// Saving takes time, so that it has two steps: a place is reserved, then the announcement is saved, then it is
// enqueued; an announcement is marked as ending, then its end is saved, then it ends. Meanwhile other steps may
// follow.
type Queue struct {
	seq        uint64 // of the newest announcement
	waiting    order
	scheduled  []*item   // those that wait for their time, in no order
	away       []*item   // those for other rooms only, oldest first
	comments   []Comment // waiting, oldest first; at most one per topic
	current    *item     // being synthesized or played; nil if none
	byID       map[string]*item
	saving     map[string]*item // reserved and not yet in byID
	ended      []*item          // recently ended, oldest end first
	endedBytes int64            // sum of their sizes
	next       time.Time        // what Advance returned; zero means never
	step       Step             // what is to be done after the current step
}

// An item is an announcement with its state in the queue.
type item struct {
	Announcement
	// ending is set before the end is saved or the sound is stopped. Only the one who set it may end the item.
	ending bool
	// interrupted is true from its interruption by an urgent one until it is audible again. Meanwhile it does
	// not expire.
	interrupted bool
	heard       bool // a part of it can have been heard
}

// resumes reports whether a part of it has been spoken already.
func (it *item) resumes() bool { return it.interrupted || it.Sentence > 0 }

// overdue reports whether it was not spoken in time.
func (it *item) overdue(now time.Time) bool { return !it.interrupted && !now.Before(it.Expires) }

// size returns the approximate bytes of it in memory.
func (it *item) size() int64 {
	const fixed = 1024 // the struct, its short texts and its place in the index
	return fixed + int64(len(it.Title)+len(it.Message)+len(it.Error)+len(it.Sender.Name))
}

// An order holds the waiting items in the order in which they are spoken.
type order []*item

// compareItems orders items by rank, then an interrupted one first, then by acceptance.
func compareItems(x, y *item) int {
	return cmp.Or(cmp.Compare(x.rank(), y.rank()), first(x.resumes(), y.resumes()), cmp.Compare(x.Seq, y.Seq))
}

// first orders what is true of x or y before what is not.
func first(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	default:
		return 1
	}
}

func (o *order) add(it *item) {
	i, _ := slices.BinarySearchFunc(*o, it, compareItems)
	*o = slices.Insert(*o, i, it)
}

func (o *order) remove(it *item) {
	if i, ok := slices.BinarySearchFunc(*o, it, compareItems); ok {
		*o = slices.Delete(*o, i, i+1)
	}
}

// resuming returns how many items go on after an interruption.
func (o order) resuming() (n int) {
	for _, it := range o {
		if it.resumes() {
			n++
		}
	}
	return n
}

// place returns how many waiting items are spoken before it, which need not be one of them.
func (o order) place(it *item) int {
	i, _ := slices.BinarySearchFunc(o, it, compareItems)
	return i
}

// done returns the step that has been made, and begins the next one.
func (q *Queue) done() Step {
	s := q.step
	q.step = Step{}
	return s
}

// publish adds the state of it to the events of the step.
func (q *Queue) publish(it *item, c Conditions) {
	view := q.view(it, c)
	q.step.Events = append(q.step.Events, Event{&view})
}

// Load adds stored announcements to an empty queue: those that have not ended, and the ended ones, newest
// first. One that was being spoken waits again, because it is stored as it was accepted.
func (q *Queue) Load(waiting, ended []Announcement, c Conditions) {
	q.byID, q.saving = map[string]*item{}, map[string]*item{}
	for _, ann := range waiting {
		it := &item{Announcement: ann}
		it.plan(c)
		q.insert(it)
		q.byID[ann.ID] = it
		q.seq = max(q.seq, ann.Seq)
	}
	for _, ann := range slices.Backward(ended) {
		q.addEnded(&item{Announcement: ann}, c.Now)
		q.seq = max(q.seq, ann.Seq)
	}
}

// Reserve numbers and plans an announcement, and reserves a place in the queue or among the scheduled ones; limited
// means [Request.Limited]. It returns the announcement as it is to be saved, [ErrFull], [ErrScheduleFull] or a
// [*ShareError]. [Queue.Enqueue] or [Queue.Release] follows.
func (q *Queue) Reserve(ann Announcement, limited bool, c Conditions) (Announcement, error) {
	it := &item{Announcement: ann}
	it.plan(c)
	if err := q.checkPlace(it, limited, c); err != nil {
		return Announcement{}, err
	}
	q.seq++
	it.Seq = q.seq
	if it.queued() {
		it.InitialPosition = q.waiting.place(it) + q.countSaving(it)
		if q.current != nil {
			it.InitialPosition++
		}
	}
	q.saving[it.ID] = it
	return it.Announcement, nil
}

// Release releases the place of an announcement that is not saved.
func (q *Queue) Release(id string) {
	delete(q.saving, id)
}

// Enqueue puts an announcement, which is saved, into its reserved place. It plans it again, because the
// conditions may have changed meanwhile.
func (q *Queue) Enqueue(id string, c Conditions) Step {
	it := q.saving[id]
	q.Release(id)
	it.plan(c)
	q.insert(it)
	q.byID[id] = it
	q.publish(it, c)
	q.step.Wake = true
	event := it.Expires
	if it.Status == Scheduled {
		event = it.SpeaksAt
	}
	q.step.Retime = q.next.IsZero() || event.Before(q.next)
	return q.done()
}

// insert adds a planned item to those that wait, to the scheduled ones or to those for other rooms only.
func (q *Queue) insert(it *item) {
	switch {
	case it.Rooms.Only:
		q.away = append(q.away, it)
	case it.Status == Scheduled:
		q.scheduled = append(q.scheduled, it)
	default:
		q.waiting.add(it)
	}
}
