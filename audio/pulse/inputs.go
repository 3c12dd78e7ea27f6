package pulse

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jfreymuth/pulse/proto"
)

// inputs returns all streams on the server.
func (c *connection) inputs() ([]sinkInput, error) {
	var list proto.GetSinkInputInfoListReply
	if err := c.request(new(proto.GetSinkInputInfoList), &list); err != nil {
		return nil, fmt.Errorf("list the sound server's streams: %w", err)
	}
	inputs := make([]sinkInput, len(list))
	for i, in := range list {
		property := func(name string) string { return propertyOf(in.Properties, name) }
		inputs[i] = sinkInput{
			streamID: streamID{
				Server: c.cookie, Index: in.SinkInputIndex, Name: property("application.name"),
				Process: property("application.process.id"), Serial: property("object.serial"),
			},
			sink: in.SinkIndex, client: in.ClientIndex, memory: memoryKey(in.Properties),
			pressbox: property("application.id") == applicationID,
			channels: in.ChannelMap, volumes: in.ChannelVolumes, muted: in.Muted, fixed: !in.VolumeWritable,
		}
	}
	return inputs, nil
}

// memoryKey returns the key under which PulseAudio's module-stream-restore, or WirePlumber, remembers the
// volume of a stream; "" if it does not.
func memoryKey(properties proto.PropList) string {
	const id = "module-stream-restore.id"
	if _, found := properties[id]; found {
		return propertyOf(properties, id)
	}
	for _, p := range []struct{ property, name string }{
		{"media.role", "media-role"},
		{"application.id", "application-id"},
		{"application.name", "application-name"},
		{"media.name", "media-name"},
	} {
		if _, found := properties[p.property]; !found {
			continue
		}
		if value := propertyOf(properties, p.property); value != "" {
			return "sink-input-by-" + p.name + ":" + value
		}
		return "" // too long
	}
	return ""
}

// maxProperty limits what is used of a stream's properties, in bytes, so that all lowered streams can be
// saved.
const maxProperty = 128

// propertyOf returns a property, "" if there is none or it is too long.
func propertyOf(properties proto.PropList, name string) string {
	if value, found := properties[name]; found && len(value) <= maxProperty {
		return value.String()
	}
	return ""
}

// setInputVolume sets the volume of a stream. A stream that has ended is no error.
func (c *connection) setInputVolume(index uint32, volumes proto.ChannelVolumes) error {
	err := c.request(&proto.SetSinkInputVolume{SinkInputIndex: index, ChannelVolumes: volumes}, nil)
	if err != nil && !errors.Is(err, proto.ErrNoSuchEntity) {
		return fmt.Errorf("set the volume of stream %d: %w", index, err)
	}
	return nil
}

// A writeMemory request changes what module-stream-restore remembers of a stream that has ended. PipeWire
// passes it on to WirePlumber. The embedded field only names the command; it is not sent.
type writeMemory struct {
	proto.Extension

	Module     uint32
	ModuleName string
	Subcommand uint32
	Mode       uint32
	Apply      bool // to streams of now
	Key        string
	Channels   proto.ChannelMap
	Volumes    proto.ChannelVolumes
	Device     string
	Muted      bool
}

// remember makes the server remember the own volume of a lowered stream that has ended. A server without a
// memory is no error.
func (c *connection) remember(s *duckedStream) error {
	if s.Memory == "" {
		return nil
	}
	const write, replace = 2, 2
	request := writeMemory{
		Module: proto.Undefined, ModuleName: "module-stream-restore", Subcommand: write, Mode: replace, Key: s.Memory,
		Muted: s.Muted,
	}
	var err error
	if c.pipeWire { // it passes on a change only: without the volumes, and then with them
		err = c.request(&request, nil)
	}
	request.Channels, request.Volumes = s.Channels, s.Volumes
	err = cmp.Or(err, c.request(&request, nil))
	if _, refused := errors.AsType[proto.Error](err); refused {
		return nil
	}
	return err
}
