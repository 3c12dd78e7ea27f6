package announce

import (
	"cmp"
	"context"
	"slices"
)

// An item is an announcement with its state in the announcer.
type item struct {
	Announcement
	// ending is set before the end is recorded or the playout is asked to
	// stop. Only the goroutine that set it may end the item.
	ending bool

	// Of the current item only:
	stop     context.CancelCauseFunc // stops its sound; the cause says why
	finished chan struct{}           // closed when it has ended or is queued again
	saveErr  error                   // why its end was not saved; read after finished is closed
}

// size returns the approximate bytes of it in memory.
func (it *item) size() int64 {
	const fixed = 1024 // the struct, its short texts and its place in the index
	return fixed + int64(len(it.Message)+len(it.Error))
}

// A queue holds the waiting items in the order in which they are spoken.
type queue []*item

// compareItems orders urgent items first, then by acceptance.
func compareItems(x, y *item) int {
	if x.Urgent != y.Urgent {
		if x.Urgent {
			return -1
		}
		return 1
	}
	return cmp.Compare(x.Seq, y.Seq)
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

// place returns how many waiting items are spoken before it, which need not be
// in the queue.
func (q queue) place(it *item) int {
	i, _ := slices.BinarySearchFunc(q, it, compareItems)
	return i
}

// reservations counts places that are reserved in the queue.
type reservations struct{ urgent, ordinary int }

func (r reservations) total() int { return r.urgent + r.ordinary }

// add reserves one place, or releases one if by is -1.
func (r *reservations) add(urgent bool, by int) {
	if urgent {
		r.urgent += by
	} else {
		r.ordinary += by
	}
}

// before returns how many reserved places are spoken before a new one.
func (r reservations) before(urgent bool) int {
	if urgent {
		return r.urgent
	}
	return r.total()
}
