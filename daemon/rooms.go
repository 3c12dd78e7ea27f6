package main

import (
	"context"
	"strings"

	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/device"
	"pressbox/store"
	"pressbox/voice/rooms"
)

// newRooms returns the rooms; without MQTT there is only this one.
func (a *app) newRooms() (*rooms.Rooms, error) {
	own := a.Config.RoomName()
	if a.Config.MQTT.URL == "" {
		return rooms.New(own, "", nil, a.Log), nil
	}
	record, err := device.OpenRecord(context.Background(), a.store, store.KeyMQTT)
	if err != nil {
		return nil, err
	}
	return rooms.New(own, record.ID(), roomBus{a}, a.Log), nil
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
