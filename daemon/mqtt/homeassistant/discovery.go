// Package homeassistant describes a Pressbox to Home Assistant, in the form of MQTT device discovery
// (https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery).
package homeassistant

import "encoding/json"

// A Device is what Home Assistant is to know of a Pressbox.
type Device struct {
	ID       string   // 8 hex digits
	Name     string   // such as "Pressbox kitchen"
	Version  string   // of the server
	URL      string   // of the page; "" means none
	Topic    string   // below which the device's topics are
	Voices   []string // that can be selected; none: there is no such entity
	Statuses []string // of announcements, in events
	Games    []string // kinds of events of games
}

// States are the states of the sensor "State".
const (
	Idle     = "idle"
	Speaking = "speaking"
	Quiet    = "quiet"
)

// object is a JSON object. The encoder sorts its members, so that equal devices have equal messages.
type object map[string]any

// Topic returns the topic of the discovery message, which is retained; an empty message there removes the
// device.
func Topic(prefix, id string) string { return prefix + "/device/pressbox_" + id + "/config" }

// Birth returns the topic at which Home Assistant publishes "online" after it has started.
func Birth(prefix string) string { return prefix + "/status" }

// Discovery returns the discovery message.
func Discovery(d Device) []byte {
	device := object{
		"ids": []string{"pressbox_" + d.ID}, "name": d.Name, "mf": "Pressbox", "mdl": "Pressbox",
		"sw": d.Version,
	}
	if d.URL != "" {
		device["cu"] = d.URL
	}
	body, err := json.Marshal(object{
		"dev": device, "o": object{"name": "pressbox", "sw": d.Version},
		"avty_t": d.Topic + "/status", "qos": 1, "cmps": d.components(),
	})
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return body
}

func (d Device) components() object {
	all := object{
		"say":    d.entity("say", "notify", nil, object{"command_topic": d.Topic + "/say"}),
		"urgent": d.entity("urgent", "notify", "Urgent", object{"command_topic": d.Topic + "/say/urgent"}),
		"volume": d.entity("volume", "number", "Volume", object{
			"min": 0, "max": 100, "step": 1, "mode": "slider", "unit_of_measurement": "%", "icon": "mdi:volume-high",
			"state_topic": d.Topic + "/volume", "command_topic": d.Topic + "/volume/set",
		}),
		"dnd": d.entity("dnd", "switch", "Do not disturb", object{
			"icon": "mdi:bell-off", "state_topic": d.Topic + "/dnd", "command_topic": d.Topic + "/dnd/set",
		}),
		"stop": d.entity("stop", "button", "Stop", object{"icon": "mdi:stop", "command_topic": d.Topic + "/stop"}),
		"clear": d.entity(
			"clear", "button", "Cancel all",
			object{"icon": "mdi:playlist-remove", "command_topic": d.Topic + "/clear"},
		),
		"state": d.entity("state", "sensor", "State", object{
			"device_class": "enum", "options": []string{Idle, Speaking, Quiet}, "icon": "mdi:bullhorn",
			"state_topic": d.Topic + "/state", "json_attributes_topic": d.Topic + "/state/attributes",
		}),
		"waiting": d.entity("waiting", "sensor", "Waiting", object{
			"state_class": "measurement", "icon": "mdi:tray-full", "state_topic": d.Topic + "/waiting",
		}),
		"sound": d.entity("sound", "binary_sensor", "Sound", object{
			"device_class": "problem", "ent_cat": "diagnostic", "state_topic": d.Topic + "/problem",
		}),
		"said": d.entity(
			"said", "event", "Announcement", object{"event_types": d.Statuses, "state_topic": d.Topic + "/event"},
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

// entity returns an entity; name nil means that of the device.
func (d Device) entity(id, platform string, name any, options object) object {
	options["p"], options["unique_id"], options["name"] = platform, "pressbox_"+d.ID+"_"+id, name
	return options
}
