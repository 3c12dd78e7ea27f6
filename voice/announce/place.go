package announce

import (
	"maps"
	"slices"

	"pressbox/voice/announce/policy"
)

// A rank orders kinds of announcements in the queue.
type rank int

// The ranks, first the one that is spoken first.
const (
	rankUrgent rank = iota
	rankUsual
	rankLow // spoken only when no other waits
)

func (it *item) rank() rank {
	switch {
	case it.Urgent:
		return rankUrgent
	case it.Priority == policy.Low:
		return rankLow
	default:
		return rankUsual
	}
}

// queued reports whether an item that is planned takes a place of the queue.
func (it *item) queued() bool { return it.Status == Queued && !it.Rooms.Only }

// planned reports whether it counts to [MaxScheduled].
func (it *item) planned() bool {
	return it.Rooms.Only || it.Status == Scheduled || it.Repeat.Times > 0 || it.At.After(it.Created)
}

// checkPlace returns an error if there is no place for a new item, or if it is limited and its client has its share.
func (q *Queue) checkPlace(it *item, limited bool, c Conditions) error {
	all := func(*item) bool { return true }
	own := func(other *item) bool { return other.Sender.Client == it.Sender.Client }
	most, share := c.Max, max(1, c.Max/2)
	if it.Urgent {
		most, share = most+UrgentPlaces, share+UrgentPlaces/2
	}
	switch {
	case it.planned() && q.countPlanned(all) >= MaxScheduled:
		return ErrScheduleFull
	case it.queued() && q.countWaiting(all) >= most:
		return ErrFull
	case limited && it.planned() && q.countPlanned(own) >= MaxScheduledEach:
		return &ShareError{ErrScheduleFull, MaxScheduledEach}
	case limited && it.queued() && q.countWaiting(own) >= share:
		return &ShareError{ErrFull, share}
	}
	return nil
}

// countWaiting returns the number of certain announcements that wait behind the current one, with those being saved
// and without interrupted ones, which were accepted before and come first.
func (q *Queue) countWaiting(counts func(*item) bool) (n int) {
	next := q.current == nil && q.waiting.resuming() == 0 // the first of them becomes the current one
	saving := slices.SortedFunc(maps.Values(q.saving), compareItems)
	for _, it := range slices.Concat(q.waiting, saving) {
		if it.resumes() || !it.queued() {
			continue
		}
		if counts(it) && !next {
			n++
		}
		next = false
	}
	if next { // a new one becomes the current one
		n--
	}
	return n
}

// countPlanned returns the number of certain announcements for which planned is true.
func (q *Queue) countPlanned(counts func(*item) bool) (n int) {
	all := slices.AppendSeq(slices.Concat(q.scheduled, q.away, q.waiting), maps.Values(q.saving))
	if q.current != nil {
		all = append(all, q.current)
	}
	for _, it := range all {
		if it.planned() && counts(it) {
			n++
		}
	}
	return n
}

// countSaving returns how many announcements that are being saved are spoken before a new one.
func (q *Queue) countSaving(it *item) (n int) {
	for _, other := range q.saving {
		if other.queued() && other.rank() <= it.rank() {
			n++
		}
	}
	return n
}
