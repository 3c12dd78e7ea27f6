package pulse

import (
	"fmt"
	"strings"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// A device is a sink of the sound server's, as it was last seen.
type device struct {
	index       uint32
	name        string // "" means that there is none
	description string
	state       string
	muted       bool
	volume      int           // percent
	lead        time.Duration // how much silence wakes it
}

// The states of a sink, in the protocol's order.
const (
	running   = "running"
	idle      = "idle"
	suspended = "suspended"
)

// look asks the server for its name and for the sink of the given name, or
// its default one for "".
func (c *connection) look(want string) (server string, found device, err error) {
	var about proto.GetServerInfoReply
	if err := c.request(new(proto.GetServerInfo), &about); err != nil {
		return "", device{}, fmt.Errorf("ask the sound server who it is: %w", err)
	}
	server = about.PackageName + " " + about.PackageVersion
	var sinks proto.GetSinkInfoListReply
	if err := c.request(new(proto.GetSinkInfoList), &sinks); err != nil {
		return server, device{}, fmt.Errorf("ask the sound server for its sinks: %w", err)
	}
	name := want
	if want == "" {
		name = about.DefaultSinkName
	}
	var others []string
	for _, sink := range sinks {
		if sink.SinkName == name {
			return server, newDevice(sink), nil
		}
		others = append(others, sink.SinkName)
	}
	switch {
	case len(sinks) == 0:
		return server, device{}, fmt.Errorf("%s has no sink at all", server)
	case want == "":
		return server, newDevice(sinks[0]), nil // PipeWire without a session manager names none
	default:
		return server, device{}, fmt.Errorf("no sink is called %q; %s has %s", want, server, strings.Join(others, ", "))
	}
}

func newDevice(sink *proto.GetSinkInfoReply) device {
	loudest := uint32(0)
	for _, v := range sink.ChannelVolumes {
		loudest = max(loudest, v)
	}
	d := device{
		index:       sink.SinkIndex,
		name:        sink.SinkName,
		description: sink.Device,
		state:       idle,
		muted:       sink.Mute,
		volume:      int((uint64(loudest)*100 + uint64(proto.VolumeNorm)/2) / uint64(proto.VolumeNorm)),
		lead:        wakeTime(sink),
	}
	switch sink.State {
	case 0:
		d.state = running
	case 2:
		d.state = suspended
	}
	return d
}

// wakeTime says how long a sink of this kind swallows sound after it slept:
// screens and Bluetooth speakers take the longest.
func wakeTime(sink *proto.GetSinkInfoReply) time.Duration {
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
