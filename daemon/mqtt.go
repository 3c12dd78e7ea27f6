package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pressbox/auth/netblock"
	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/device"
	"pressbox/daemon/mqtt/homeassistant"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/voice/rooms"
)

// noDiscovery is the value of MQTT_DISCOVERY for none; an empty one selects the default.
const noDiscovery = "off"

// A broker holds the parts of MQTT; nil if MQTT_URL is not set.
type broker struct {
	session *mqtt.Session
	device  *device.Device
}

// newBroker connects the parts of MQTT. It starts nothing.
func (a *app) newBroker() (*broker, error) {
	cfg := a.Config.MQTT
	if cfg.URL == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	address, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("MQTT_URL: %w", err)
	}
	b, record := &broker{}, a.record
	discovery := cfg.Discovery
	if discovery == noDiscovery {
		discovery = ""
	}
	topic := cfg.Topic + "/" + record.ID()
	b.device = device.New(device.Config{
		Device: homeassistant.Device{
			ID: record.ID(), Name: "Pressbox " + a.Config.RoomName(), Area: a.Config.Room,
			Version: version, URL: a.pageURL(), Topic: topic,
		},
		Discovery: discovery,
		Texts:     cfg.Text,
	}, device.Parts{
		Announcer: a.announcer, Controls: a.controls,
		Changes: a.controls.Hub().Watch, Voices: a.selectableVoices(record),
		Sound: func() string { return a.monitor.Sound().Detail },
		Next:  a.nextSchedule,
		Lobby: func(send func(*protocol.Message) bool) ([]protocol.Game, func()) {
			return a.games.WatchLobby(live.Send(send))
		},
		Publish: func(ctx context.Context, m mqtt.Message) error { return b.session.Publish(ctx, m) },
		Log:     a.Log,
	})
	b.session = mqtt.New(mqtt.Config{
		URL: address, ClientID: "pressbox-" + record.ID(),
		Username: cfg.Username, Password: cfg.Password, CAFile: cfg.CAFile,
		Will:          mqtt.Message{Topic: topic + "/status", Payload: []byte(device.Offline)},
		InstanceTopic: topic + "/instance",
		Subscriptions: slices.Concat(b.device.Subscriptions(), a.roomSubscriptions()),
		OnConnect:     []func(){b.device.Connected, a.rooms.Connected},
		PerMinute:     netblock.Share * a.Config.NotifyRate, // the broker's clients are a network of them
		Token:         record.Token(), SaveToken: record.SaveToken, Log: a.Log,
	})
	return b, nil
}

// runBroker runs MQTT until ctx ends.
func (a *app) runBroker(ctx context.Context) error {
	b := a.broker
	if b == nil {
		<-ctx.Done()
		return nil
	}
	var group errgroup.Group
	group.Go(func() error { return b.device.Run(ctx) })
	group.Go(func() error { return b.session.Run(ctx) })
	group.Go(func() error { return b.watch(ctx, a.voices.Changed) })
	group.Go(func() error { return b.watch(ctx, a.sink.Changed) })
	return group.Wait()
}

// watch makes the device look again after each change until ctx ends. changed returns a
// channel that is closed at the next one.
func (b *broker) watch(ctx context.Context, changed func() <-chan struct{}) error {
	for {
		next := changed()
		b.device.Changed()
		select {
		case <-next:
		case <-ctx.Done():
			return nil
		}
	}
}

// selectableVoices returns the voices that MQTT clients can select.
func (a *app) selectableVoices(record *device.Record) device.Voices {
	current := func() string {
		if selected, err := a.voices.Voice(record.Voice()); err == nil {
			return selected
		}
		byDefault, _ := a.voices.Voice("") // "" if there is none
		return byDefault
	}
	return device.Voices{
		List: func() []string {
			var names []string
			for _, v := range a.voices.Voices() {
				if v.Error == "" {
					names = append(names, v.Name)
				}
			}
			return names
		},
		Voice: current,
		Select: func(ctx context.Context, name string) error {
			if _, err := a.voices.Voice(name); err != nil {
				return err
			}
			return record.SaveVoice(ctx, name)
		},
	}
}

// nextSchedule returns when a schedule is due; zero: none is.
func (a *app) nextSchedule() time.Time {
	if all := a.schedules.List(); len(all) > 0 {
		return all[0].Next
	}
	return time.Time{}
}

// hostName returns the host's name without its domain.
func hostName() string {
	name, _ := os.Hostname() // "" if it fails
	name, _, _ = strings.Cut(name, ".")
	return name
}

// pageURL returns the address of the page, for people on the local network.
func (a *app) pageURL() string {
	if a.Config.PublicURL != "" {
		return a.Config.PublicURL
	}
	return "http://" + net.JoinHostPort(hostName()+".local", strconv.Itoa(a.Config.Port))
}

// newRooms returns the rooms; without MQTT there is only this one.
func (a *app) newRooms() *rooms.Rooms {
	own := a.Config.RoomName()
	if a.Config.MQTT.URL == "" {
		return rooms.New(own, "", nil, a.Log)
	}
	return rooms.New(own, a.record.ID(), roomBus{a}, a.Log)
}

// A roomBus publishes messages of rooms below MQTT_TOPIC.
type roomBus struct{ app *app }

// Connected reports whether the session has a connection.
func (b roomBus) Connected() bool { return b.app.broker.session.Status().Connected }

// Publish returns nil when the broker has acknowledged the message.
func (b roomBus) Publish(ctx context.Context, m rooms.Message) error {
	return b.app.broker.session.Publish(ctx, mqtt.Message{
		Topic: b.app.Config.MQTT.Topic + "/" + m.Topic, Payload: m.Payload, Retained: m.Retain, Expiry: m.Expiry,
	})
}

// roomSubscriptions subscribe to the topics of the rooms. A message that is refused is
// acknowledged: the room that sent it asks again if it has to.
func (a *app) roomSubscriptions() []mqtt.Subscription {
	var all []mqtt.Subscription
	prefix := a.Config.MQTT.Topic + "/"
	for _, topic := range a.rooms.Topics() {
		all = append(all, mqtt.Subscription{
			Filter: prefix + topic, Retained: strings.HasSuffix(topic, "/status"),
			Handle: func(ctx context.Context, m mqtt.Message) error {
				if err := a.rooms.Receive(ctx, strings.TrimPrefix(m.Topic, prefix), m.Payload, m.Expiry); err != nil {
					a.Log.Warn("message of another room refused", "topic", m.Topic, "err", err)
				}
				return nil
			},
		})
	}
	return all
}
