// Package device is the Pressbox that programs on an MQTT broker see: commands become announcements and changes
// of controls, and what happens becomes states and events.
//
// One law: everything that is retained is a function of the present state. It is published again after each
// connection and when Home Assistant has started, and else where it has changed.
//
//	TOPIC/ID/say, say/urgent                        text or JSON, as POST /notify
//	TOPIC/ID/volume/set, voice/set                  0–100, a voice
//	TOPIC/ID/mute/set, dnd/set                      ON or OFF
//	TOPIC/ID/stop, clear, ack                       PRESS
//	TOPIC/ID/status, state, state/attributes,
//	         waiting, last, next, volume, voice,
//	         mute, dnd, problem                     retained
//	TOPIC/ID/event, game                            one message for each event
package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/homeassistant"
	"pressbox/game/protocol"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
	"pressbox/voice/announce/policy"
	"pressbox/voice/announce/webhook"
	"pressbox/voice/control"
)

// Payloads.
const (
	on, off, press = "ON", "OFF", "PRESS"
	online         = "online"

	Offline = "offline" // Offline is the payload of the topic status without a connection.
)

// An Announcer speaks announcements; [*announcer.Announcer] does.
type Announcer interface {
	draft.Announcer
	Queue
	Cancel(ctx context.Context, id string) (announce.View, error)
	CancelWaiting(ctx context.Context, scheduled func(announce.Sender) bool) (int, error)
	Acknowledge(ctx context.Context, id string) (announce.View, error)
}

// A Queue is the announcements that an [Announcer] has.
type Queue interface {
	List() announce.List
	Silenced() policy.Cause
	Stats() announce.Stats
	Watch() (events <-chan announce.Event, stop func())
}

// Controls hold what clients may change; [*control.Controls] does.
type Controls interface {
	State(at time.Time) policy.State
	SetVolume(ctx context.Context, volume *int, muted *bool) (control.Volume, error)
	SwitchOn(ctx context.Context, duration time.Duration, mode policy.Mode) (policy.Quiet, error)
	SwitchOff(ctx context.Context) error
}

// Voices are the installed voices and the one of announcements that name none.
type Voices struct {
	List  func() []string // usable ones
	Voice func() string   // of announcements without a voice
	// Select saves it; the error wraps [control.ErrUnavailable], or the voice is refused
	Select func(ctx context.Context, voice string) error
}

// Parts holds the parts of a device. All are required.
type Parts struct {
	Announcer Announcer
	Controls  Controls
	Changes   func() (changes <-chan control.Change, stop func())
	Voices    Voices
	Sound     func() (problem string) // why nothing can be heard; "" means that it can
	Next      func() time.Time        // when a schedule is due; zero: none is
	Lobby     func(send func(*protocol.Message) bool) (games []protocol.Game, leave func())
	Publish   func(ctx context.Context, m mqtt.Message) error
	Log       *slog.Logger
}

// A Config describes a device.
type Config struct {
	homeassistant.Device        // the lists are filled in
	Discovery            string // the prefix of Home Assistant's topics; "" means none
	Texts                bool   // events have the texts of announcements
}

// A Device is a Pressbox on the broker. Its methods may be called concurrently.
type Device struct {
	config Config
	Parts

	refresh  chan struct{} // capacity 1: something may have changed
	refusals chan string   // why commands were refused
	refused  atomic.Uint64 // commands
	all      atomic.Bool   // everything is to be published again
}

// New returns a device. It starts nothing.
func New(c Config, p Parts) *Device {
	c.Events, c.Games = announcementEvents(), gameEvents()
	return &Device{config: c, Parts: p, refresh: make(chan struct{}, 1), refusals: make(chan string, refusedQueue)}
}

// Subscriptions returns what the device's session subscribes to.
func (d *Device) Subscriptions() []mqtt.Subscription {
	var all []mqtt.Subscription
	for _, name := range commands() {
		all = append(all, mqtt.Subscription{Filter: d.config.Topic + "/" + name, Handle: d.handle})
	}
	if d.config.Discovery != "" {
		birth := func(_ context.Context, m mqtt.Message) error {
			if string(m.Payload) == online {
				d.Connected()
			}
			return nil
		}
		filter := homeassistant.Birth(d.config.Discovery)
		all = append(all, mqtt.Subscription{Filter: filter, Retained: true, Handle: birth})
	}
	return all
}

// Connected makes the device publish everything.
func (d *Device) Connected() {
	d.all.Store(true)
	d.Changed()
}

// Refused returns the number of commands that were refused.
func (d *Device) Refused() uint64 { return d.refused.Load() }

// Changed makes the device publish what has changed.
func (d *Device) Changed() {
	select {
	case d.refresh <- struct{}{}:
	default: // the device will look again
	}
}

// handle processes a command. Its error means that it may be possible later.
func (d *Device) handle(ctx context.Context, m mqtt.Message) error {
	name := strings.TrimPrefix(m.Topic, d.config.Topic+"/")
	c, err := Decode(name, m.Payload)
	if err == nil {
		err = d.obey(ctx, c, m.Key)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, announce.ErrUnavailable) || errors.Is(err, control.ErrUnavailable) {
		return err
	}
	d.refused.Add(1)
	d.Log.Warn("MQTT command refused", "topic", m.Topic, "err", err)
	d.TellRefused(err.Error())
	return nil
}

// TellRefused publishes why a command was refused, or was not carried out in full, also one that came another way.
func (d *Device) TellRefused(why string) {
	select {
	case d.refusals <- why:
	default: // the broker is slow; the journal has it
	}
}

// obey carries a command out. key identifies the message that it came with.
func (d *Device) obey(ctx context.Context, c Command, key string) error {
	switch c.Name {
	case say, sayUrgent:
		return d.announce(ctx, c, key)
	case stop:
		return d.stop(ctx)
	case cancelAll:
		_, err := d.Announcer.CancelWaiting(ctx, nil)
		return errors.Join(err, d.stop(ctx))
	case ack:
		return d.acknowledge(ctx)
	}
	d.Log.Info("control changed", "control", strings.TrimSuffix(c.Name, "/set"), "sender", announce.FromMQTT)
	var err error
	switch c.Name {
	case setVolume:
		_, err = d.Controls.SetVolume(ctx, &c.Volume, new(bool)) // who moves a slider wants to hear something
	case setMute:
		_, err = d.Controls.SetVolume(ctx, nil, &c.On)
	case setVoice:
		err = d.Voices.Select(ctx, c.Voice)
		d.Changed()
	case setQuiet:
		if c.On {
			_, err = d.Controls.SwitchOn(ctx, control.MaxQuiet, "")
		} else {
			err = d.Controls.SwitchOff(ctx)
		}
	}
	return err
}

// announce accepts an announcement. What the broker delivers again has the same key, which is saved with the
// announcement.
func (d *Device) announce(ctx context.Context, c Command, key string) error {
	by := announce.Request{
		Sender: announce.Sender{Kind: announce.FromMQTT, Client: "mqtt"}, IdempotencyKey: key,
	}
	if c.ID != "" {
		by.IdempotencyKey = "id " + c.ID
	}
	if c.Draft.Request.Voice == "" {
		c.Draft.Request.Voice = d.Voices.Voice()
	}
	text := c.Draft.Request.Message
	c.Draft.Request.Message = webhook.Shorten(text)
	_, err := c.Draft.Announce(ctx, d.Announcer, by)
	if spoken := c.Draft.Request.Message; err == nil && spoken != text {
		n, most := utf8.RuneCountInString(text), utf8.RuneCountInString(spoken)
		d.Log.Warn("MQTT message too long, its beginning is spoken", "characters", n, "spoken", most)
		d.TellRefused(fmt.Sprintf("the message has %d characters: only the first %d are spoken", n, most))
	}
	return err
}

// acknowledge ends the repetitions of all announcements.
func (d *Device) acknowledge(ctx context.Context) (err error) {
	all := d.Announcer.List()
	for _, v := range slices.Concat(all.Queue, all.Scheduled, all.Recent) {
		if v.Repeat.Times == 0 || v.Acknowledged {
			continue
		}
		_, failed := d.Announcer.Acknowledge(ctx, v.ID)
		if !errors.Is(failed, announce.ErrEnded) && !errors.Is(failed, announce.ErrNotFound) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// stop cancels the announcement that is spoken, if there is one.
func (d *Device) stop(ctx context.Context) error {
	id := d.Announcer.Stats().Current
	if id == "" {
		return nil
	}
	_, err := d.Announcer.Cancel(ctx, id)
	if errors.Is(err, announce.ErrEnded) || errors.Is(err, announce.ErrNotFound) {
		return nil
	}
	return err
}
