package announce

import "slices"

// Cancel cancels an announcement: the step ends it, or stops its sound if it is the current one. One that has
// ended here is cancelled in the other rooms that it was sent to. The error is [ErrNotFound] or [ErrEnded].
func (q *Queue) Cancel(id string, c Conditions) (Step, error) {
	it, ok := q.byID[id]
	switch {
	case !ok:
		return Step{}, ErrNotFound
	case it.Status.Ended() && it.Rooms.Open() && !it.Rooms.Cancelled && it.Status != Cancelled:
		it.Rooms.Cancelled = true
		return q.changed(it, c), nil
	case it.ending || it.Status.Ended():
		return Step{}, ErrEnded
	case q.current == it:
		it.ending = true
		q.step.Stop = ErrCancelled
	default:
		q.end(it)
	}
	q.step.Status = Cancelled
	return q.done(), nil
}

// CancelWaiting ends all announcements that wait, those that wait for their next repetition, and the scheduled ones of
// the senders for which scheduled reports true; nil means none.
func (q *Queue) CancelWaiting(scheduled func(Sender) bool) Step {
	q.step.Status = Cancelled
	for _, it := range slices.Concat(q.waiting, q.scheduled, q.away) {
		waits := it.Status != Scheduled || it.Spoken > 0
		if !it.ending && (waits || scheduled != nil && scheduled(it.Sender)) {
			q.end(it)
		}
	}
	return q.done()
}

// Acknowledge ends the repetitions of an announcement: one that is being spoken is spoken to its end, one that
// waits ends, as done if it was spoken before and otherwise as cancelled. The error is [ErrNotFound],
// [ErrEnded] or [ErrNotRepeated].
func (q *Queue) Acknowledge(id string, c Conditions) (Step, error) {
	it, ok := q.byID[id]
	switch {
	case !ok:
		return Step{}, ErrNotFound
	case it.Repeat.Times > 0 && it.Rooms.Open() && (it.Rooms.Only && !it.ending || it.Status.Ended()):
		it.Acknowledged = true
		return q.changed(it, c), nil
	case it.ending || it.Status.Ended():
		return Step{}, ErrEnded
	case it.Repeat.Times == 0:
		return Step{}, ErrNotRepeated
	}
	it.Acknowledged = true
	if q.current == it {
		q.step.Save, q.step.View = id, q.view(it, c)
		return q.done(), nil
	}
	q.end(it)
	q.step.Status = Done
	if it.Spoken == 0 {
		q.step.Status = Cancelled
	}
	return q.done(), nil
}

// changed publishes and saves a change that only other rooms have still to follow.
func (q *Queue) changed(it *item, c Conditions) Step {
	q.publish(it, c)
	q.step.Save, q.step.View = it.ID, q.view(it, c)
	return q.done()
}

// SetRoom records the state of an announcement in another room. A final state is saved, and never changed. An
// announcement for other rooms only ends when it has ended in each. The error is [ErrNotFound], also if it was
// not sent to that room.
func (q *Queue) SetRoom(id, room string, state RoomState, c Conditions) (Step, error) {
	it, ok := q.byID[id]
	if !ok {
		return Step{}, ErrNotFound
	}
	before, ok := it.Rooms.States()[room]
	if !ok {
		return Step{}, ErrNotFound
	}
	if before.Ended() || before == state {
		return Step{}, nil
	}
	it.Rooms = it.Rooms.With(map[string]RoomState{room: state})
	q.publish(it, c)
	switch {
	case it.Rooms.Only && !it.Rooms.Open() && !it.ending && !it.Status.Ended():
		q.end(it)
		q.step.Status = it.Rooms.outcome()
	case state.Ended():
		q.step.Save = id
	default: // the room reports it again after a restart
	}
	return q.done(), nil
}

// Changed returns an announcement that has changed as it is to be saved. While it has not ended, that is as it
// waits. ok is false if it is no longer in memory.
func (q *Queue) Changed(id string) (ann Announcement, ok bool) {
	it, ok := q.byID[id]
	if !ok {
		return Announcement{}, false
	}
	return it.Announcement, true
}
