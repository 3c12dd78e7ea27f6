package announce

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
)

// ErrRoomUnreachable reports that another room cannot be reached at the moment: the
// broker is not connected.
var ErrRoomUnreachable = errors.New("other rooms cannot be reached: no connection to the MQTT broker")

// An UnknownRoomError reports that there is no room of a name, and which there are.
type UnknownRoomError struct {
	Name  string
	Known []string
}

func (e *UnknownRoomError) Error() string {
	return "room " + quoted(e.Name) + " is unknown; known rooms: " + joinNames(e.Known)
}

// quoted returns a name of at most 64 bytes in quotes.
func quoted(name string) string {
	return `"` + strings.ToValidUTF8(name[:min(len(name), 64)], "") + `"`
}

// RoomNames are the rooms that a request can name. See package rooms.
type RoomNames interface {
	// Own returns the name of this room.
	Own() string
	// Resolve returns whether names include this room, and the other rooms that they
	// include. Its error is an [*UnknownRoomError] or [ErrRoomUnreachable].
	Resolve(names []string) (here bool, others []string, err error)
}

// A RoomState is what has become of an announcement in another room: one of the
// following, or a final [Status].
type RoomState string

// The states before the end.
const (
	RoomWaiting RoomState = "waiting" // the room has not confirmed it, and it is sent again until it expires
	RoomSent    RoomState = "sent"    // the room has saved it
)

// Enum returns all values.
func (RoomState) Enum() []any {
	return []any{RoomWaiting, RoomSent, Done, Failed, Cancelled, Expired, Silenced}
}

// Ended reports whether the state is final.
func (s RoomState) Ended() bool { return Status(s).Ended() }

// Rooms holds what an announcement has to do with other rooms. The zero value means
// nothing. It is comparable and never changed in place.
type Rooms struct {
	From      string // the room in which it was posted; "" means this one
	Only      bool   // it is spoken in other rooms only
	Voice     string // that was requested; "" means the default voice of each room
	Rate      int    // that was requested, in words per minute; 0 means the default of each room
	Cancelled bool   // it is cancelled in the other rooms, after it ended in this one

	states string // "hall=done kitchen=sent", ordered by name
}

// With returns r with the states of some rooms changed or added. A name has no spaces
// and no "=".
func (r Rooms) With(states map[string]RoomState) Rooms {
	all := r.States()
	maps.Copy(all, states)
	words := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		word := name + "=" + string(all[name])
		if strings.Count(word, "=") == 1 && len(strings.Fields(word)) == 1 && !strings.HasPrefix(word, "=") {
			words = append(words, word)
		}
	}
	r.states = strings.Join(words, " ")
	return r
}

// States returns the states by the names of the rooms.
func (r Rooms) States() map[string]RoomState {
	all := map[string]RoomState{}
	for word := range strings.FieldsSeq(r.states) {
		name, state, _ := strings.Cut(word, "=")
		all[name] = RoomState(state)
	}
	return all
}

// Open reports whether a state is not final.
func (r Rooms) Open() bool {
	for _, state := range r.States() {
		if !state.Ended() {
			return true
		}
	}
	return false
}

// outcome returns the status of an announcement for other rooms only, from their final
// states: done if one has spoken it.
func (r Rooms) outcome() Status {
	states := slices.Collect(maps.Values(r.States()))
	for _, status := range []Status{Done, Failed, Expired, Silenced} {
		if slices.Contains(states, RoomState(status)) {
			return status
		}
	}
	return Cancelled
}

// resolveRooms returns the rooms of an announcement that is requested.
func (a *Announcer) resolveRooms(r Request) (Rooms, error) {
	if len(r.Rooms) == 0 {
		return Rooms{From: r.From}, nil
	}
	if a.rooms == nil {
		return Rooms{}, &UnknownRoomError{Name: r.Rooms[0]}
	}
	here, others, err := a.rooms.Resolve(r.Rooms)
	if err != nil || len(others) == 0 {
		return Rooms{}, err
	}
	states := map[string]RoomState{}
	for _, name := range others {
		states[name] = RoomWaiting
	}
	return Rooms{Only: !here, Voice: r.Voice, Rate: r.Rate}.With(states), nil
}

// roomNames returns the names of the rooms in which an announcement was to be spoken;
// nil means that it named none.
func (a *Announcer) roomNames(ann Announcement) []string {
	names := slices.Sorted(maps.Keys(ann.Rooms.States()))
	if len(names) > 0 && !ann.Rooms.Only {
		names = append(names, a.rooms.Own())
	}
	return names
}

// SetRoom records the state of an announcement in another room. A final state is saved,
// and never changed. An announcement for other rooms only ends when it has ended in
// each. The error is [ErrNotFound], also if it was not sent to that room, or wraps
// [ErrUnavailable].
func (a *Announcer) SetRoom(ctx context.Context, id, room string, state RoomState) error {
	a.mu.Lock()
	it, ok := a.byID[id]
	if !ok {
		a.mu.Unlock()
		return ErrNotFound
	}
	before, ok := it.Rooms.States()[room]
	if !ok || before.Ended() || before == state {
		a.mu.Unlock()
		if !ok {
			return ErrNotFound
		}
		return nil
	}
	it.Rooms = it.Rooms.With(map[string]RoomState{room: state})
	ends := it.Rooms.Only && !it.Rooms.Open() && !it.ending && !it.Status.Ended()
	outcome := it.Rooms.outcome()
	it.ending = it.ending || ends
	a.publish(it)
	a.mu.Unlock()
	switch {
	case ends:
		return outboxError(ctx, a.recordEnd(ctx, outcome, "", it))
	case state.Ended():
		return outboxError(ctx, a.saveRooms(ctx, it))
	default:
		return nil // the room reports it again after a restart
	}
}

// saveRooms stores it, of which Rooms or Acknowledged has changed. If it ends at the same
// moment, the change may be missing in the store: the other room then reports it again.
func (a *Announcer) saveRooms(ctx context.Context, it *item) error {
	if err := a.save(ctx, it); err != nil {
		return err
	}
	ann := a.read(it)
	if !ann.Status.Ended() {
		return nil
	}
	signal(a.timesChanged) // its texts may not be needed any longer
	return a.outbox.Done(context.WithoutCancel(ctx), ann)
}

// changeRooms makes a change that only other rooms have still to follow, saves it, and
// returns the announcement. a.mu must be held; changeRooms unlocks it.
func (a *Announcer) changeRooms(ctx context.Context, it *item, change func()) (View, error) {
	change()
	a.publish(it)
	v := a.view(it)
	a.mu.Unlock()
	return v, outboxError(ctx, a.saveRooms(ctx, it))
}
