package device

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/homeassistant"
	"pressbox/game/protocol"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control"
)

// refused is the kind of event of an announcement, or of another command, that was not accepted, or not in full.
const refused = "refused"

// announcementEvents returns the kinds of events of announcements.
func announcementEvents() []string {
	return []string{
		string(announce.Scheduled), string(announce.Queued), string(announce.Playing), string(announce.Done),
		string(announce.Failed),
		string(announce.Cancelled), string(announce.Expired), string(announce.Unheard),
		string(announce.Silenced), refused,
	}
}

// The numbers of messages about games, and of refused commands, that the device may be behind.
const lobbyQueue, refusedQueue = 64, 8

// Run publishes what changes until ctx ends. It sleeps while nothing changes.
func (d *Device) Run(ctx context.Context) error {
	s := d.watch()
	defer s.end()
	published := map[string]string{}
	for s.next(ctx) {
		if d.all.Swap(false) {
			clear(published)
		}
		for _, m := range d.retained(time.Now()) {
			if string(m.Payload) != published[m.Topic] && d.Publish(ctx, m) == nil {
				published[m.Topic] = string(m.Payload)
			}
		}
	}
	return nil
}

// sources are the sources of what a device publishes.
type sources struct {
	*Device

	events                <-chan announce.Event // nil: the announcer has ended
	changes               <-chan control.Change
	games                 chan *protocol.Message
	endEvents, endChanges func()
	leave                 func() // the lobby
	unfinished            games
}

// watch subscribes to the sources.
func (d *Device) watch() *sources {
	s := &sources{Device: d, games: make(chan *protocol.Message, lobbyQueue)}
	s.events, s.endEvents = d.Announcer.Watch()
	s.changes, s.endChanges = d.Changes()
	unfinished, leave := d.Lobby(func(m *protocol.Message) bool {
		select {
		case s.games <- m:
		default: // events of games are dropped while the broker is slow
		}
		return true
	})
	s.leave, s.unfinished = leave, games{protocol.NewEntries(unfinished)}
	return s
}

func (s *sources) end() {
	s.endEvents()
	s.endChanges()
	s.leave()
}

// next waits until the state may have changed, and publishes events meanwhile. It reports false when ctx has
// ended.
func (s *sources) next(ctx context.Context) bool {
	for {
		select {
		case <-s.refresh:
			return true
		case e, more := <-s.events:
			if more {
				s.publishEvent(ctx, e.View)
			} else {
				s.watchEvents(ctx)
			}
			return true
		case _, more := <-s.changes:
			if !more { // some were lost
				s.endChanges()
				s.changes, s.endChanges = s.Changes()
			}
			return true
		case m := <-s.games:
			for _, e := range s.unfinished.events(m) {
				s.publish(ctx, "game", e)
			}
		case why := <-s.refusals:
			s.publish(ctx, "event", refusedEvent{refused, why})
		case <-ctx.Done():
			return false
		}
	}
}

// watchEvents subscribes to announcements again, after some events were lost. If the announcer has ended, there
// are no more.
func (s *sources) watchEvents(ctx context.Context) {
	s.endEvents()
	s.events, s.endEvents = s.Announcer.Watch()
	select {
	case e, more := <-s.events:
		if !more {
			s.events = nil
		} else {
			s.publishEvent(ctx, e.View)
		}
	default:
	}
}

// retained returns the messages that describe the present state; the last one says that the device is there.
func (d *Device) retained(now time.Time) []mqtt.Message {
	var all []mqtt.Message
	add := func(topic, payload string) {
		all = append(all, mqtt.Message{Topic: topic, Payload: []byte(payload), Retained: true})
	}
	if d.config.Discovery != "" {
		device := d.config.Device
		device.Voices = d.Voices.List()
		add(homeassistant.Topic(d.config.Discovery, device.ID), string(homeassistant.Discovery(device)))
	}
	stats, controls, problem, why := d.Announcer.Stats(), d.Controls.State(now), d.Sound(), d.Announcer.Silenced()
	state := homeassistant.Idle
	switch {
	case stats.Playing:
		state = homeassistant.Speaking
	case why == policy.Muted, why == policy.Volume:
		state = homeassistant.Muted
	case controls.Quiet.Active:
		state = homeassistant.Quiet
	}
	attributes, _ := json.Marshal(stateAttributes{ //nolint:errchkjson // strings and numbers can always be encoded
		Announcement: stats.Current, Scheduled: stats.Scheduled, Muted: controls.Muted, Reason: why,
		QuietUntil: controls.Quiet.Until, Problem: problem,
	})
	last, next := d.times()
	topic := d.config.Topic + "/"
	add(topic+"state/attributes", string(attributes))
	add(topic+"state", state)
	add(topic+"waiting", strconv.Itoa(stats.Waiting))
	add(topic+"last", timestamp(last))
	add(topic+"next", timestamp(next))
	add(topic+"volume", strconv.Itoa(controls.Volume))
	add(topic+"voice", d.Voices.Voice())
	add(topic+"mute", toggle(controls.Muted))
	add(topic+"dnd", toggle(controls.Quiet.Active))
	add(topic+"problem", toggle(problem != ""))
	add(topic+"status", online)
	return all
}

// times returns when an announcement was spoken last, and when one that is planned is spoken next; zero: none.
func (d *Device) times() (last, next time.Time) {
	all := d.Announcer.List()
	for _, v := range slices.Concat(all.Queue, all.Recent) {
		if v.Started.After(last) {
			last = v.Started
		}
	}
	next = d.Next()
	if len(all.Scheduled) > 0 {
		if at := all.Scheduled[0].SpeaksAt; next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return last, next
}

// timestamp returns the payload of a time; Home Assistant does not know one that is "None".
func timestamp(t time.Time) string {
	if t.IsZero() {
		return "None"
	}
	return t.UTC().Format(time.RFC3339)
}

// toggle returns the payload of a switch.
func toggle(b bool) string {
	if b {
		return on
	}
	return off
}

// stateAttributes are the attributes of the sensor "State".
type stateAttributes struct {
	Announcement string       `json:"announcement"` // the id of the current one; "" means none
	Scheduled    int          `json:"scheduled"`
	Muted        bool         `json:"muted"`
	Reason       policy.Cause `json:"reason,omitzero"` // why a usual announcement would not be heard now
	QuietUntil   time.Time    `json:"quiet_until,omitzero"`
	Problem      string       `json:"problem,omitzero"` // why nothing can be heard
}

// An announcementEvent is the payload of an event of an announcement.
type announcementEvent struct {
	Type    string              `json:"event_type"`
	ID      string              `json:"id"`
	Urgent  bool                `json:"urgent"`
	Sender  announce.SenderKind `json:"sender,omitzero"`
	Error   string              `json:"error,omitzero"`
	Reason  policy.Cause        `json:"reason,omitzero"`
	Title   string              `json:"title,omitzero"`   // with MQTT_TEXT=on
	Message string              `json:"message,omitzero"` // with MQTT_TEXT=on
}

// A refusedEvent is the payload of an event of a command that was refused.
type refusedEvent struct {
	Type   string `json:"event_type"`
	Reason string `json:"reason"` // a text for people
}

func (d *Device) publishEvent(ctx context.Context, v *announce.View) {
	if v.Status == announce.Synthesizing {
		return
	}
	e := announcementEvent{
		Type: string(v.Status), ID: v.ID, Urgent: v.Urgent, Sender: v.Sender.Kind, Error: v.Error, Reason: v.Reason,
	}
	if d.config.Texts {
		e.Title, e.Message = v.Title, v.Message
	}
	d.publish(ctx, "event", e)
}

// publish publishes an event. One that cannot be delivered now is dropped: it would be late.
func (d *Device) publish(ctx context.Context, topic string, event any) {
	payload, err := json.Marshal(event)
	if err == nil {
		err = d.Publish(ctx, mqtt.Message{Topic: d.config.Topic + "/" + topic, Payload: payload})
	}
	if err != nil {
		d.Log.Debug("MQTT event dropped", "topic", topic, "err", err)
	}
}
