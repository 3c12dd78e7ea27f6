package pulse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jfreymuth/pulse/proto"

	"pressbox/audio"
)

// A serverSink is a sink of the sound server. Its Name is "" if there is none.
type serverSink struct {
	SinkInfo
	index    uint32
	volumes  []uint32
	quiet    bool          // its volume is below 1 %
	wakeTime time.Duration // of silence that wakes it from suspension
}

// States of a sink.
const (
	running   = "running"
	idle      = "idle"
	suspended = "suspended"
)

// A listing is what a sound server says about itself: its name and version, the name of its default sink, and its
// sinks.
type listing struct {
	server, standard string
	sinks            []serverSink
}

// list returns what the server says about itself; an error may come with its name.
func (c *connection) list() (l listing, err error) {
	var about proto.GetServerInfoReply
	if err := c.request(new(proto.GetServerInfo), &about); err != nil {
		return l, fmt.Errorf("query the sound server: %w", err)
	}
	l.server, l.standard = about.PackageName+" "+about.PackageVersion, about.DefaultSinkName
	var list proto.GetSinkInfoListReply
	if err := c.request(new(proto.GetSinkInfoList), &list); err != nil {
		return l, fmt.Errorf("list the sound server's sinks: %w", err)
	}
	for _, sink := range list {
		l.sinks = append(l.sinks, newServerSink(sink))
	}
	return l, nil
}

// sinkNamed returns a sink as it is now; its Name is "" if there is none.
func (c *connection) sinkNamed(name string) (serverSink, error) {
	l, err := c.list()
	if i := slices.IndexFunc(l.sinks, func(s serverSink) bool { return s.Name == name }); i >= 0 {
		return l.sinks[i], err
	}
	return serverSink{}, err
}

// query returns the state of the server; its error is why nothing can be played.
func (c *connection) query(want []string) state {
	l, err := c.list()
	if err != nil {
		return state{conn: c, server: l.server, err: err}
	}
	var names []string
	for _, sink := range l.sinks {
		names = append(names, sink.Name)
	}
	i := choose(names, want, l.standard)
	switch {
	case len(names) == 0:
		err = fmt.Errorf("%s has no sink", l.server)
	case i < 0:
		err = fmt.Errorf("no sink named %q; %s has %s",
			strings.Join(want, ", "), l.server, strings.Join(names, ", "))
	default:
		return state{conn: c, server: l.server, sink: l.sinks[i], fallback: l.fallback(want)}
	}
	return state{conn: c, server: l.server, err: err}
}

// fallback returns the first wanted sink that is there and audible; its name is "" if there is none.
func (l listing) fallback(want []string) serverSink {
	for _, name := range want {
		i := slices.IndexFunc(l.sinks, func(s serverSink) bool { return s.Name == name && s.silence() == "" })
		if i >= 0 {
			return l.sinks[i]
		}
	}
	return serverSink{}
}

// choose returns the index of the sink that plays: of the first wanted one that is there, or, if none is wanted, of the
// standard one; -1 if there is none.
func choose(names, want []string, standard string) int {
	for _, name := range want {
		if i := slices.Index(names, name); i >= 0 {
			return i
		}
	}
	if len(want) > 0 || len(names) == 0 {
		return -1
	}
	return max(0, slices.Index(names, standard)) // PipeWire without a session manager has no default
}

// silence returns why a sink is not heard; "" if it is.
func (s serverSink) silence() audio.Silence {
	switch {
	case s.Name == "", s.Name == DummyName:
		return audio.NoOutput
	case s.Muted:
		return audio.Muted
	case s.quiet:
		return audio.NoVolume
	default:
		return ""
	}
}

// unavailable is the state of a port without a plug.
const unavailable = 1

func newServerSink(sink *proto.GetSinkInfoReply) serverSink {
	s := serverSink{index: sink.SinkIndex, volumes: sink.ChannelVolumes, wakeTime: wakeTimeOf(sink)}
	s.Name, s.Description, s.State, s.Muted = sink.SinkName, sink.Device, idle, sink.Mute
	switch sink.State {
	case 0:
		s.State = running
	case 2:
		s.State = suspended
	}
	loudest := uint32(0)
	for _, v := range sink.ChannelVolumes {
		loudest = max(loudest, v)
	}
	s.Volume = int((uint64(loudest)*100 + uint64(proto.VolumeNorm)/2) / uint64(proto.VolumeNorm))
	s.quiet = uint64(loudest)*100 < uint64(proto.VolumeNorm)
	for _, port := range sink.Ports {
		if port.Name == sink.ActivePortName {
			s.Port, s.Unplugged = port.Description, port.Available == unavailable
		}
	}
	s.Null = sink.SinkName == DummyName || strings.Contains(sink.Driver, "null-sink") ||
		sink.Properties["device.class"].String() == "abstract" ||
		sink.Properties["factory.name"].String() == "support.null-audio-sink"
	return s
}

// wakeTimeOf returns how long a sink of this kind swallows sound after it was suspended: displays and
// Bluetooth speakers take the longest.
func wakeTimeOf(sink *proto.GetSinkInfoReply) time.Duration {
	name := strings.ToLower(sink.SinkName)
	bus := sink.Properties["device.bus"].String()
	switch {
	case strings.Contains(name, "hdmi"):
		return 1500 * time.Millisecond
	case bus == "bluetooth", strings.Contains(name, "bluez"):
		return time.Second
	case bus == "usb":
		return 500 * time.Millisecond
	default:
		return 250 * time.Millisecond
	}
}
