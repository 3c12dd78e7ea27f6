package esphome

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"pressbox/daemon/esphome/frame"
)

// The types of the messages that are read or sent, as in ESPHome's api.proto; others are ignored.
const (
	helloRequest           = 1
	helloResponse          = 2
	authenticationRequest  = 3
	authenticationResponse = 4
	disconnectRequest      = 5
	disconnectResponse     = 6
	pingRequest            = 7
	pingResponse           = 8
	deviceInfoRequest      = 9
	deviceInfoResponse     = 10
	listEntitiesRequest    = 11
	listEntitiesDone       = 19
	subscribeStates        = 20
	listMediaPlayer        = 63
	mediaPlayerState       = 64
	mediaPlayerCommand     = 65
	announceRequest        = 119
	announceFinished       = 120
	configurationRequest   = 121
	configurationResponse  = 122
)

// The version of the API that is served, and one of ESPHome's that has it.
const (
	apiMajor, apiMinor = 1, 12
	esphomeVersion     = "2026.1.0"
)

// Features of a media player.
const (
	volumeSet     = 1 << 2
	volumeMute    = 1 << 3
	playMedia     = 1 << 9
	volumeStep    = 1 << 10
	stop          = 1 << 12
	play          = 1 << 14
	browseMedia   = 1 << 17
	mediaAnnounce = 1 << 20
)

// Features of a voice assistant: it announces, and hears nothing.
const voiceAssistant, apiAudio, announces = 1 << 0, 1 << 2, 1 << 4

// States of a media player.
const stateIdle, statePlaying = 1, 2

// Commands for a media player; others are ignored.
const (
	commandPlay       = 0
	commandStop       = 2
	commandMute       = 3
	commandUnmute     = 4
	commandVolumeUp   = 6
	commandVolumeDown = 7
)

// playerKey identifies the media player, the only entity.
const playerKey = 1

// A body is a protobuf message that is being written. Fields with the value zero are left out, as proto3 does.
type body []byte

func (b body) text(field protowire.Number, s string) body {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func (b body) number(field protowire.Number, n uint64) body {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func (b body) truth(field protowire.Number, t bool) body {
	return b.number(field, protowire.EncodeBool(t))
}

func (b body) fixed(field protowire.Number, n uint32) body {
	return protowire.AppendFixed32(protowire.AppendTag(b, field, protowire.Fixed32Type), n)
}

func (b body) fraction(field protowire.Number, x float32) body {
	return b.fixed(field, math.Float32bits(x))
}

func (b body) message(field protowire.Number, inner body) body {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), inner)
}

// fields calls set with each field of a message that is a number or a text, in order. Others are skipped.
func fields(b []byte, set func(field protowire.Number, n uint64, text string)) error {
	for len(b) > 0 {
		field, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return frame.ErrMalformed
		}
		b = b[size:]
		var n uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var bits uint32
			bits, size = protowire.ConsumeFixed32(b)
			n = uint64(bits)
		case protowire.BytesType:
			text, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(field, kind, b)
		}
		if size < 0 {
			return frame.ErrMalformed
		}
		b = b[size:]
		set(field, n, string(text))
	}
	return nil
}

// A playerCommand is what a client asks of the media player.
type playerCommand struct {
	hasCommand, hasVolume, hasURL, announcement bool
	command                                     uint64
	volume                                      float32 // 0–1
	url                                         string
}

func decodePlayerCommand(b []byte) (c playerCommand, err error) {
	err = fields(b, func(field protowire.Number, n uint64, text string) {
		switch int(field) {
		case 2:
			c.hasCommand = n != 0
		case 3:
			c.command = n
		case 4:
			c.hasVolume = n != 0
		case 5:
			c.volume = math.Float32frombits(uint32(n)) //nolint:gosec // it has 32 bits
		case 6:
			c.hasURL = n != 0
		case 7:
			c.url = text
		case 9:
			c.announcement = n != 0
		}
	})
	return c, err
}

// An announcement is what a client asks of the voice assistant.
type announcement struct {
	url      string // of its sound
	text     string
	preamble string // the URL of the sound before it; "" means none
}

func decodeAnnouncement(b []byte) (a announcement, err error) {
	err = fields(b, func(field protowire.Number, _ uint64, text string) {
		switch int(field) {
		case 1:
			a.url = text
		case 2:
			a.text = text
		case 3:
			a.preamble = text
		}
	})
	return a, err
}
