package mdns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

// A Service is one that Avahi announces on the local network (RFC 6763).
type Service struct {
	Name string // for people; Avahi appends a number to one that is in use
	Type string // such as "_http._tcp"
	Port uint16
	TXT  map[string]string
}

// Names of Avahi on the system's message bus.
const (
	avahi      = "org.freedesktop.Avahi"
	server     = avahi + ".Server."
	entryGroup = avahi + ".EntryGroup"
	ownership  = "org.freedesktop.DBus"
)

// States of an entry group (avahi-common/defs.h).
const collision, failure = 3, 4

// The times after which a bus that is not there is tried again.
const firstPause, longestPause = 5 * time.Second, 10 * time.Minute

// Announce makes Avahi announce a service until ctx ends, also after Avahi or the bus was restarted. changed is called
// when that has begun (with nil), and when it has failed.
func Announce(ctx context.Context, s Service, changed func(error)) error {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		began := time.Now()
		err := s.announce(ctx, func() { changed(nil) })
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end of ctx ended the connection
		}
		changed(err)
		if time.Since(began) > time.Minute {
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// announce announces the service by one connection to the bus, until that or ctx ends.
func (s Service) announce(ctx context.Context, begun func()) error {
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("connect to the system's message bus: %w", err)
	}
	defer bus.Close() //nolint:errcheck // Avahi forgets the service
	signals, err := watch(ctx, bus)
	if err != nil {
		return err
	}
	for name, again := s.Name, true; ; {
		if again {
			switch err := s.add(ctx, bus, name); {
			case err == nil:
				begun()
			case !errors.Is(err, errAbsent):
				return err
			}
		}
		select {
		case signal, ok := <-signals:
			if !ok {
				return errors.New("the system's message bus has ended")
			}
			if again, err = s.react(ctx, bus, signal, &name); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch returns the signals of Avahi, and of the bus about it.
func watch(ctx context.Context, bus *dbus.Conn) (<-chan *dbus.Signal, error) {
	signals := make(chan *dbus.Signal, 16)
	bus.Signal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface(ownership), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, avahi)},
		{dbus.WithMatchSender(avahi), dbus.WithMatchInterface(entryGroup), dbus.WithMatchMember("StateChanged")},
	} {
		if err := bus.AddMatchSignalContext(ctx, match...); err != nil {
			return nil, fmt.Errorf("watch Avahi: %w", err)
		}
	}
	return signals, nil
}

// react reports whether the service is to be added again: Avahi has started, or another host has its name.
func (s Service) react(ctx context.Context, bus *dbus.Conn, signal *dbus.Signal, name *string) (again bool, err error) {
	if signal.Name != entryGroup+".StateChanged" {
		var owner string
		if len(signal.Body) == 3 {
			owner, _ = signal.Body[2].(string)
		}
		return owner != "", nil
	}
	state := int32(0)
	if len(signal.Body) > 0 {
		state, _ = signal.Body[0].(int32)
	}
	switch state {
	case collision:
		err := bus.Object(avahi, "/").CallWithContext(ctx, server+"GetAlternativeServiceName", 0, *name).Store(name)
		return true, err
	case failure:
		return false, fmt.Errorf("the service is not announced by Avahi: %v", signal.Body)
	default:
		return false, nil
	}
}

// errAbsent reports that Avahi does not run.
var errAbsent = errors.New("there is no Avahi that runs")

// add adds the service under a name.
func (s Service) add(ctx context.Context, bus *dbus.Conn, name string) error {
	var group dbus.ObjectPath
	err := bus.Object(avahi, "/").CallWithContext(ctx, server+"EntryGroupNew", dbus.FlagNoAutoStart).Store(&group)
	if err != nil {
		return fmt.Errorf("%w: %w", errAbsent, err)
	}
	var records [][]byte
	for key, value := range s.TXT {
		records = append(records, []byte(key+"="+value))
	}
	const anyInterface, anyProtocol, noFlags, anyDomain, ownHost = int32(-1), int32(-1), uint32(0), "", ""
	object := bus.Object(avahi, group)
	err = object.CallWithContext(ctx, entryGroup+".AddService", 0, anyInterface, anyProtocol, noFlags,
		name, s.Type, anyDomain, ownHost, s.Port, records).Err
	if err == nil {
		err = object.CallWithContext(ctx, entryGroup+".Commit", 0).Err
	}
	if err != nil {
		return fmt.Errorf("announce %s by Avahi: %w", s.Type, err)
	}
	return nil
}
