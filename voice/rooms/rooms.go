// Package rooms sends announcements to other rooms, which are other hosts with Pressbox, through a broker of
// MQTT.
//
// One law: what a broker acknowledges proves nothing. An announcement is saved here with the rooms that it is
// owed to, and published with its id until the room itself reports that it has saved it. A room that has an
// announcement already does not speak it again but reports what has become of it. So each side may lose
// everything that is on its way: when either connects again, it is asked again.
//
//	rooms/ROOM/status   retained: which host the room is
//	rooms/ROOM/say      orders to the room: say, cancel, ack
//	rooms/ROOM/report   to the room that ordered: what has become of an announcement
//
// What arrives from another room is spoken here and never passed on.
package rooms

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// All is the name that stands for all rooms.
const All = "all"

const maxName = 64 // bytes of a name

// CheckName returns an error unless name can be that of a room: at most 64 bytes of lower-case letters, digits,
// "-" and "_".
func CheckName(name string) error {
	bad := func(c rune) bool {
		return !unicode.IsDigit(c) && c != '-' && c != '_' && (!unicode.IsLetter(c) || unicode.ToLower(c) != c)
	}
	switch {
	case name == "" || len(name) > maxName || strings.ContainsFunc(name, bad):
		return fmt.Errorf("room %q, expected up to %d letters, digits, - and _", name, maxName)
	case name == All:
		return fmt.Errorf("room %q stands for all rooms, expected another name", name)
	}
	return nil
}

// NameOf returns the name of the room of a host, by the host's name.
func NameOf(host string) string {
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	name := strings.Map(func(c rune) rune {
		if CheckName(string(c)) != nil {
			return '-'
		}
		return c
	}, host)
	if CheckName(name) != nil {
		return "pressbox"
	}
	return name
}

// A Message is one to be published. The topic is below that of all Pressboxes.
type Message struct {
	Topic   string
	Payload []byte
	Retain  bool
	Expiry  time.Duration // after which the broker drops it; 0 means never
}

// A Bus publishes messages.
type Bus interface {
	// Publish returns nil when the broker has acknowledged the message. It fails soon if there is no
	// connection.
	Publish(ctx context.Context, m Message) error
	// Connected reports whether there is a connection.
	Connected() bool
}

// A Room is a known room.
type Room struct {
	Name   string
	Here   bool // it is this one
	Online bool // its host is connected to the broker
}

// Rooms knows the rooms, and sends announcements to them and receives those of them. Its methods may be called
// concurrently.
type Rooms struct {
	own  string // name of this room
	host string // identifies this host on the broker
	bus  Bus    // nil: there is no broker
	log  *slog.Logger

	announcer *announcer.Announcer // set by Attach

	changed chan struct{} // capacity 1: there is something to do

	mu       sync.Mutex           // guards the fields below
	ready    bool                 // since the latest connection, the statuses of the rooms have arrived
	hosts    map[string]string    // by room
	online   map[string]bool      // by host
	open     map[string]*delivery // by the announcement's id
	outgoing []Message            // reports, and statuses of this room
}

// New returns the rooms as they are known at first: this one only. host identifies this host on the broker; bus
// is nil if there is none.
func New(own, host string, bus Bus, log *slog.Logger) *Rooms {
	return &Rooms{
		own: own, host: host, bus: bus, log: log, changed: make(chan struct{}, 1),
		hosts: map[string]string{}, online: map[string]bool{}, open: map[string]*delivery{},
	}
}

// Attach sets the announcer of this room. It is called before Run and Receive.
func (r *Rooms) Attach(a *announcer.Announcer) { r.announcer = a }

// Own returns the name of this room.
func (r *Rooms) Own() string { return r.own }

// Has reports whether a room of this name is known.
func (r *Rooms) Has(name string) bool {
	name = strings.ToLower(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	return name == r.own || name == All || r.hosts[name] != ""
}

// List returns the known rooms, this one first, the others by name.
func (r *Rooms) List() []Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []Room{{Name: r.own, Here: true, Online: r.bus == nil || r.reachable()}}
	for _, name := range r.others() {
		all = append(all, Room{Name: name, Online: r.online[r.hosts[name]]})
	}
	return all
}

// others returns the names of the other rooms in order. r.mu must be held.
func (r *Rooms) others() []string {
	var names []string
	for name, host := range r.hosts {
		if name != r.own && host != r.host {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Namesake returns the other host that is online with the name of this room; "" means that there is none.
func (r *Rooms) Namesake() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if host := r.hosts[r.own]; host != r.host && r.online[host] {
		return host
	}
	return ""
}

// Resolve returns whether names include this room, and the other rooms that they include, in order; see
// [announcer.RoomNames].
func (r *Rooms) Resolve(names []string) (here bool, others []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case name == All && r.bus == nil, name == r.own:
			here = true
		case name == All:
			here, others = true, append(others, r.others()...)
			if !r.reachable() {
				err = announce.ErrRoomUnreachable
			}
		case r.bus != nil && !r.reachable():
			err = announce.ErrRoomUnreachable
		case r.hosts[name] == "":
			return false, nil, &announce.UnknownRoomError{
				Name: name, Known: append([]string{r.own, All}, r.others()...),
			}
		default:
			others = append(others, name)
		}
	}
	if err != nil {
		return false, nil, err
	}
	slices.SortFunc(others, cmp.Compare[string])
	return here, slices.Compact(others), nil
}

// reachable reports whether the rooms are known and can be sent to. r.mu must be held.
func (r *Rooms) reachable() bool { return r.ready && r.bus.Connected() }

// Topics returns the topics to subscribe to.
func (r *Rooms) Topics() []string {
	return []string{"+/status", "rooms/+/status", "rooms/" + r.own + "/say", "rooms/" + r.own + "/report"}
}

// Connected is called after each connection to the broker, when the topics are subscribed to. It does not
// block.
func (r *Rooms) Connected() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready = false
	r.outgoing = append(r.outgoing, r.status(r.own, r.host)) // comes back after the statuses of the others
	r.signal()
}

func (r *Rooms) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
