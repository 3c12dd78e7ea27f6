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
	place  place // that was reserved for it

	// Of the current item only:
	stop     context.CancelCauseFunc // stops its sound; the cause says why
	finished chan struct{}           // closed when it has ended or is queued again
	saveErr  error                   // why its end was not saved; read after finished is closed
}

// size returns the approximate bytes of it in memory.
func (it *item) size() int64 {
	const fixed = 1024 // the struct, its short texts and its place in the index
	return fixed + int64(len(it.Title)+len(it.Message)+len(it.Error)+len(it.Sender.Name))
}

// A queue holds the waiting items in the order in which they are spoken.
type queue []*item

// compareItems orders items by rank, then by acceptance.
func compareItems(x, y *item) int {
	return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(x.Seq, y.Seq))
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
