package pulse

import (
	"fmt"
	"strings"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// A serverSink holds the properties of a sink of the sound server.
type serverSink struct {
	index       uint32
	name        string // "" means none
	description string
	state       string
	muted       bool
	volume      int           // percent
	wakeTime    time.Duration // of silence that wakes it from suspension
}

// States of a sink.
const (
	running   = "running"
	idle      = "idle"
	suspended = "suspended"
)

// query returns the server's name and version, and the sink of the given name, or the default sink for "".
func (c *connection) query(want string) (server string, sink serverSink, err error) {
	var about proto.GetServerInfoReply
	if err := c.request(new(proto.GetServerInfo), &about); err != nil {
		return "", serverSink{}, fmt.Errorf("query the sound server: %w", err)
	}
	server = about.PackageName + " " + about.PackageVersion
	var sinks proto.GetSinkInfoListReply
	if err := c.request(new(proto.GetSinkInfoList), &sinks); err != nil {
		return server, serverSink{}, fmt.Errorf("list the sound server's sinks: %w", err)
	}
	name := want
	if want == "" {
		name = about.DefaultSinkName
	}
	var others []string
	for _, sink := range sinks {
		if sink.SinkName == name {
			return server, newServerSink(sink), nil
		}
		others = append(others, sink.SinkName)
	}
	switch {
	case len(sinks) == 0:
		return server, serverSink{}, fmt.Errorf("%s has no sink", server)
	case want == "":
		return server, newServerSink(sinks[0]), nil // PipeWire without a session manager has no default
	default:
		return server, serverSink{}, fmt.Errorf("no sink named %q; %s has %s", want, server, strings.Join(others, ", "))
	}
}

func newServerSink(sink *proto.GetSinkInfoReply) serverSink {
	loudest := uint32(0)
	for _, v := range sink.ChannelVolumes {
		loudest = max(loudest, v)
	}
	d := serverSink{
		index:       sink.SinkIndex,
		name:        sink.SinkName,
		description: sink.Device,
		state:       idle,
		muted:       sink.Mute,
		volume:      int((uint64(loudest)*100 + uint64(proto.VolumeNorm)/2) / uint64(proto.VolumeNorm)),
		wakeTime:    wakeTimeOf(sink),
	}
	switch sink.State {
	case 0:
		d.state = running
	case 2:
		d.state = suspended
	}
	return d
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
