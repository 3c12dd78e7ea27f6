package announce

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// An item is an announcement with its state in the announcer.
type item struct {
	Announcement
	// ending is set before the end is recorded or the playout is asked to
	// stop. Only the goroutine that set it may end the item.
	ending bool
	place  place // that was reserved for it
	// interrupted is true from its interruption by an urgent one until it is
	// audible again. Meanwhile it does not expire.
	interrupted bool

	// Of the current item only:
	stop     context.CancelCauseFunc // stops its sound; the cause says why
	cause    error                   // of the latest call of stop
	finished chan struct{}           // closed when it has ended or is queued again
	saveErr  error                   // why its end was not saved; read after finished is closed
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

// A queue holds the waiting items in the order in which they are spoken.
type queue []*item

// compareItems orders items by rank, then an interrupted one first, then by
// acceptance.
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

func (q *queue) add(it *item) {
	i, _ := slices.BinarySearchFunc(*q, it, compareItems)
	*q = slices.Insert(*q, i, it)
}

func (q *queue) remove(it *item) {
	if i, ok := slices.BinarySearchFunc(*q, it, compareItems); ok {
		*q = slices.Delete(*q, i, i+1)
	}
}

// resuming returns how many items go on after an interruption.
func (q queue) resuming() (n int) {
	for _, it := range q {
		if it.resumes() {
			n++
		}
	}
	return n
}

// place returns how many waiting items are spoken before it, which need not be
// in the queue.
func (q queue) place(it *item) int {
	i, _ := slices.BinarySearchFunc(q, it, compareItems)
	return i
}
