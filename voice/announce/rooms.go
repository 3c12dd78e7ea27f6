package announce

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// ErrRoomUnreachable reports that another room cannot be reached at the moment: the broker is not connected.
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

// A RoomState is what has become of an announcement in another room: one of the following, or a final [Status].
type RoomState string

// The states before the end.
const (
	RoomWaiting RoomState = "waiting" // the room has not confirmed it, and it is sent again until it expires
	RoomSent    RoomState = "sent"    // the room has saved it
)

// Enum returns all values.
func (RoomState) Enum() []any {
	return []any{RoomWaiting, RoomSent, Done, Failed, Cancelled, Expired, Unheard, Silenced}
}

// Ended reports whether the state is final.
func (s RoomState) Ended() bool { return Status(s).Ended() }

// Rooms holds what an announcement has to do with other rooms. The zero value means nothing. It is comparable
// and never changed in place.
type Rooms struct {
	From      string // the room in which it was posted; "" means this one
	Only      bool   // it is spoken in other rooms only
	Voice     string // that was requested; "" means the default voice of each room
	Rate      int    // that was requested, in words per minute; 0 means the default of each room
	Cancelled bool   // it is cancelled in the other rooms, after it ended in this one

	states string // "hall=done kitchen=sent", ordered by name
}

// With returns r with the states of some rooms changed or added. A name has no spaces and no "=".
func (r Rooms) With(states map[string]RoomState) Rooms {
	all := r.States()
	maps.Copy(all, states)
	words := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		word := name + "=" + string(all[name])
		spaced := strings.ContainsFunc(word, unicode.IsSpace)
		if strings.Count(word, "=") == 1 && !spaced && !strings.HasPrefix(word, "=") {
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

// outcome returns the status of an announcement for other rooms only, from their final states: done if one has
// spoken it.
func (r Rooms) outcome() Status {
	states := slices.Collect(maps.Values(r.States()))
	for _, status := range []Status{Done, Failed, Unheard, Expired, Silenced} {
		if slices.Contains(states, RoomState(status)) {
			return status
		}
	}
	return Cancelled
}
