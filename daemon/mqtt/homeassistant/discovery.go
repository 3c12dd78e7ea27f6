// Package homeassistant describes a Pressbox to Home Assistant, in the form of MQTT device discovery
// (https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery).
package homeassistant

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A Device is what Home Assistant is to know of a Pressbox.
type Device struct {
	ID      string   // 8 hex digits
	Name    string   // such as "Pressbox kitchen"
	Area    string   // where it is suggested to be; "" means none
	Version string   // of the server
	URL     string   // of the page; "" means none
	Topic   string   // below which the device's topics are
	Voices  []string // that can be selected; none: there is no such entity
	Events  []string // kinds of events of announcements
	Games   []string // kinds of events of games
}

// States are the states of the sensor "State".
const (
	Idle     = "idle"
	Speaking = "speaking"
	Muted    = "muted" // or the volume is 0
	Quiet    = "quiet"
)

// object is a JSON object. The encoder sorts its members, so that equal devices have equal messages.
type object map[string]any

// Topic returns the topic of the discovery message, which is retained; an empty message there removes the
// device.
func Topic(prefix, id string) string { return prefix + "/device/pressbox_" + id + "/config" }

// Birth returns the topic at which Home Assistant publishes "online" after it has started.
func Birth(prefix string) string { return prefix + "/status" }

// expiry is after how many seconds the broker discards an announcement that waits for this server to be there.
const expiry = 600

// Discovery returns the discovery message.
func Discovery(d Device) []byte {
	device := object{
		"ids": []string{"pressbox_" + d.ID}, "name": d.Name, "mf": "Pressbox", "mdl": "Pressbox",
		"sw": d.Version,
	}
	origin := object{"name": "pressbox", "sw": d.Version}
	if d.URL != "" {
		device["cu"], origin["url"] = d.URL, d.URL
	}
	if d.Area != "" {
		device["sa"] = d.Area
	}
	body, err := json.Marshal(object{"dev": device, "o": origin, "cmps": d.components()})
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return body
}

// components returns the entities. Home Assistant calls no service of an entity that is not available, so that those
// which announce always are: the broker keeps what they send.
func (d Device) components() object {
	all := object{
		"say": d.notify("say", nil, object{"command_topic": d.Topic + "/say"}),
		// What is sent to the device or its area leaves entities with a category out.
		"urgent": d.notify("urgent", "Urgent", object{"command_topic": d.Topic + "/say/urgent", "ent_cat": "config"}),
		"volume": d.entity("volume", "number", "Volume", object{
			"min": 0, "max": 100, "step": 1, "mode": "slider", "unit_of_measurement": "%", "icon": "mdi:volume-high",
			"state_topic": d.Topic + "/volume", "command_topic": d.Topic + "/volume/set",
		}),
		"mute":  d.toggle("mute", "Mute", "mdi:volume-off"),
		"dnd":   d.toggle("dnd", "Do not disturb", "mdi:bell-off"),
		"stop":  d.button("stop", "Stop", "mdi:stop"),
		"clear": d.button("clear", "Cancel all", "mdi:playlist-remove"),
		"ack":   d.button("ack", "Acknowledge", "mdi:check"),
		"state": d.entity("state", "sensor", "State", object{
			"device_class": "enum", "options": []string{Idle, Speaking, Muted, Quiet}, "icon": "mdi:bullhorn",
			"state_topic": d.Topic + "/state", "json_attributes_topic": d.Topic + "/state/attributes",
		}),
		"waiting": d.entity("waiting", "sensor", "Waiting", object{
			"state_class": "measurement", "icon": "mdi:tray-full", "state_topic": d.Topic + "/waiting",
		}),
		"last": d.time("last", "Last", "mdi:clock-check"),
		"next": d.time("next", "Next", "mdi:clock-outline"),
		"sound": d.entity("sound", "binary_sensor", "Sound", object{
			"device_class": "problem", "ent_cat": "diagnostic", "state_topic": d.Topic + "/problem",
		}),
		"said": d.entity(
			"said", "event", "Announcement", object{"event_types": d.Events, "state_topic": d.Topic + "/event"},
		),
		"game": d.entity(
			"game", "event", "Game",
			object{"event_types": d.Games, "icon": "mdi:baseball", "state_topic": d.Topic + "/game"},
		),
	}
	if len(d.Voices) > 0 {
		all["voice"] = d.entity("voice", "select", "Voice", object{
			"options": d.Voices, "ent_cat": "config", "icon": "mdi:account-voice",
			"state_topic": d.Topic + "/voice", "command_topic": d.Topic + "/voice/set",
		})
	}
	return all
}

// notify returns an entity that announces.
func (d Device) notify(id string, name any, options object) object {
	options["message_expiry_interval"] = expiry
	o := d.entity(id, "notify", name, options)
	delete(o, "avty_t")
	return o
}

func (d Device) toggle(id, name, icon string) object {
	topic := d.Topic + "/" + id
	return d.entity(id, "switch", name, object{"icon": icon, "state_topic": topic, "command_topic": topic + "/set"})
}

func (d Device) button(id, name, icon string) object {
	return d.entity(id, "button", name, object{"icon": icon, "command_topic": d.Topic + "/" + id})
}

func (d Device) time(id, name, icon string) object {
	return d.entity(id, "sensor", name, object{
		"device_class": "timestamp", "icon": icon, "state_topic": d.Topic + "/" + id,
	})
}

// entity returns an entity; name nil means that of the device.
func (d Device) entity(id, platform string, name any, options object) object {
	options["p"], options["unique_id"], options["name"] = platform, "pressbox_"+d.ID+"_"+id, name
	options["avty_t"] = d.Topic + "/status"
	if options["command_topic"] != nil {
		options["qos"] = 1 // of the device, versions before 2026.6 ignore it
	}
	full := d.Name
	if suffix, ok := name.(string); ok {
		full += " " + suffix
	}
	if slug, ok := slug(full); ok { // the area would be a part of it otherwise
		options["default_entity_id"] = platform + "." + slug
	}
	return options
}

// slug returns the part of an entity's id that Home Assistant makes of a name; ok is false of a name that has letters
// of other alphabets.
func slug(name string) (slug string, ok bool) {
	plain := strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Mn, c) { // the accent of the letter before
			return -1
		}
		return c
	}, norm.NFD.String(strings.ToLower(name)))
	if strings.ContainsFunc(plain, func(c rune) bool { return c > unicode.MaxASCII }) {
		return "", false
	}
	words := strings.FieldsFunc(plain, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return strings.Join(words, "_"), true
}
