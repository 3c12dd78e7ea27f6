package device

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"pressbox/voice/announce/draft"
)

// A Command is what a message asks for.
type Command struct {
	Name   string       // the topic below the device's
	Draft  *draft.Draft // of an announcement
	ID     string       // given by the sender of an announcement: equal ones are spoken once; "" means none
	Volume int          // percent
	On     bool         // do not disturb, mute
	Voice  string
}

// The topics of commands, below the device's topic.
const (
	say       = "say"
	sayUrgent = "say/urgent"
	setVolume = "volume/set"
	setVoice  = "voice/set"
	setQuiet  = "dnd/set"
	setMute   = "mute/set"
	stop      = "stop"
	cancelAll = "clear"
	ack       = "ack"
)

const (
	maxVoice = 200 // bytes of the name of a voice
	maxID    = 200 // bytes of an announcement's id
)

// commands returns the topics of commands, below the device's topic.
func commands() []string {
	return []string{say, sayUrgent, setVolume, setVoice, setQuiet, setMute, stop, cancelAll, ack}
}

// Decode returns the command that was published to a topic below the device's. An announcement is text, or a
// JSON object with the fields of POST /notify, of which one is its message or its sound, and "id".
func Decode(name string, payload []byte) (Command, error) {
	c := Command{Name: name}
	payload = bytes.TrimSpace(payload)
	if !utf8.Valid(payload) {
		return Command{}, errors.New("must be UTF-8")
	}
	var err error
	switch name {
	case say, sayUrgent:
		err = c.decodeAnnouncement(payload)
	case setVolume:
		n, parseErr := strconv.ParseFloat(string(payload), 64)
		if parseErr != nil || !(n >= 0 && n <= 100) {
			err = fmt.Errorf("volume %.20q, expected 0 to 100", payload)
		}
		c.Volume = int(math.Round(n))
	case setVoice:
		if c.Voice = string(payload); c.Voice == "" || len(c.Voice) > maxVoice {
			err = fmt.Errorf("name of a voice with %d bytes, expected 1 to %d", len(c.Voice), maxVoice)
		}
	case setQuiet, setMute:
		if c.On = string(payload) == on; !c.On && string(payload) != off {
			err = fmt.Errorf("switch %.20q, expected %s or %s", payload, on, off)
		}
	case stop, cancelAll, ack:
		if string(payload) != press {
			err = fmt.Errorf("button %.20q, expected %s", payload, press)
		}
	default:
		err = errors.New("not the topic of a command")
	}
	if err != nil {
		return Command{}, err
	}
	return c, nil
}

// decodeAnnouncement decodes the payload of an announcement.
func (c *Command) decodeAnnouncement(payload []byte) error {
	d, others, err := draft.JSON(payload, "id")
	if err == nil && (d.Given("message") || d.Given("sound")) {
		c.Draft, c.ID = d, others["id"]
		if len(c.ID) > maxID {
			return fmt.Errorf("id with %d bytes, expected at most %d", len(c.ID), maxID)
		}
	} else {
		c.Draft = &draft.Draft{}
		c.Draft.Set("message", string(payload))
	}
	if c.Name == sayUrgent {
		c.Draft.Request.Urgent = true
	}
	return nil
}
