package announce

import "pressbox/voice/announce/policy"

// A rank orders kinds of announcements in the queue.
type rank int

// The ranks, first the one that is spoken first.
const (
	rankUrgent rank = iota
	rankUsual
	rankLow // spoken only when no other waits
	ranks
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

// A place is what a new announcement takes of the limits.
type place struct {
	rank    rank
	queued  bool // one of the queue
	planned bool // one of [MaxScheduled]
}

// placeOf returns the place that a planned item needs.
func placeOf(it *item) place {
	return place{rank: it.rank(), queued: it.Status == Queued && !it.Rooms.Only, planned: it.planned()}
}

// reservations counts places of announcements that are being saved.
type reservations struct {
	queued  [ranks]int
	planned int
}

// add reserves a place, or releases one if by is -1.
func (r *reservations) add(p place, by int) {
	if p.queued {
		r.queued[p.rank] += by
	}
	if p.planned {
		r.planned += by
	}
}

// total returns the number of reserved places in the queue.
func (r *reservations) total() int { return r.before(ranks - 1) }

// before returns how many reserved places are spoken before a new one of a rank.
func (r *reservations) before(own rank) (n int) {
	for _, reserved := range r.queued[:own+1] {
		n += reserved
	}
	return n
}
