package homeassistant_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/mqtt/homeassistant"
	"pressbox/packaging/check"
)

var device = homeassistant.Device{
	ID: "4f1c09ab", Name: "Pressbox kitchen", Version: "0.5.0", URL: "http://kitchen.local:8888",
	Topic: "pressbox/4f1c09ab", Area: "Kitchen",
	Voices: []string{"en_US-heart-medium"}, Events: []string{"queued", "done"}, Games: []string{"started"},
}

func TestDiscovery_schema(t *testing.T) {
	t.Parallel()
	schema := check.Must(jsonschema.NewCompiler().Compile("testdata/discovery.schema.json"))(t)
	without := device
	without.URL, without.Area, without.Voices = "", "", nil
	for _, d := range []homeassistant.Device{device, without} {
		message := homeassistant.Discovery(d)
		check.NoError(t, schema.Validate(decoded(t, message)))
	}
	for _, wrong := range [][2]string{
		{`"command_topic":"pressbox/4f1c09ab/say"`, `"topic":"x"`},
		{`"p":"select"`, `"p":"selection"`},
		{`"p":"select"`, `"p":"number"`},
		{`"event_types"`, `"types"`},
		{`"o":`, `"origin_of":`},
		{`"unique_id":"pressbox_4f1c09ab_stop"`, `"unique":1`},
	} {
		message := bytes.Replace(homeassistant.Discovery(device), []byte(wrong[0]), []byte(wrong[1]), 1)
		check.That(t, schema.Validate(decoded(t, message)) != nil, "the schema permits %s for %s", wrong[1], wrong[0])
	}
}

// What announces is always there, with QoS 1 and an expiry, whatever Home Assistant's version; only the one that is not
// urgent is spoken to with the device or its area. All others are there while the server is.
func TestDiscovery_notify(t *testing.T) {
	t.Parallel()
	type component struct {
		Platform string `json:"p"`
		Command  string `json:"command_topic"`
		State    string `json:"state_topic"`
		There    string `json:"avty_t"`
		QoS      int    `json:"qos"`
		Expiry   int    `json:"message_expiry_interval"`
		Category string `json:"ent_cat"`
		EntityID string `json:"default_entity_id"`
	}
	var message struct {
		Components map[string]component `json:"cmps"`
	}
	check.NoError(t, json.Unmarshal(homeassistant.Discovery(device), &message))
	targets := 0
	for id, c := range message.Components {
		check.Equal(t, c.QoS, map[bool]int{true: 1}[c.Command != ""], "%s: QoS", id)
		check.That(t, strings.HasPrefix(c.EntityID, c.Platform+".pressbox_kitchen"), "%s: %s", id, c.EntityID)
		if c.Platform != "notify" {
			check.Equal(t, c.There, device.Topic+"/status", "%s: availability", id)
			continue
		}
		check.That(t, c.There == "" && c.Expiry == 600, "%s: %+v", id, c)
		if c.Category == "" {
			targets++
		}
	}
	check.Equal(t, targets, 1, "entities that are spoken to with the device")
}

// The entities' ids do not depend on the area, as far as they are written in ASCII.
func TestDiscovery_entityIDs(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		Pressbox kitchen     | notify.pressbox_kitchen     | notify.pressbox_kitchen_urgent
		Pressbox living-room | notify.pressbox_living_room | notify.pressbox_living_room_urgent
		Pressbox küche       | notify.pressbox_kuche       | notify.pressbox_kuche_urgent
		Pressbox кухня       |                             |
	`) {
		d := device
		d.Name = row[0]
		var message struct {
			Components map[string]struct {
				EntityID string `json:"default_entity_id"`
			} `json:"cmps"`
		}
		check.NoError(t, json.Unmarshal(homeassistant.Discovery(d), &message))
		check.Equal(t, message.Components["say"].EntityID, row[1], "%s: say", row[0])
		check.Equal(t, message.Components["urgent"].EntityID, row[2], "%s: urgent", row[0])
	}
}

func decoded(t *testing.T, message []byte) any {
	t.Helper()
	return check.Must(jsonschema.UnmarshalJSON(bytes.NewReader(message)))(t)
}

func TestDiscovery_stable(t *testing.T) {
	t.Parallel()
	first, second := homeassistant.Discovery(device), homeassistant.Discovery(device)
	check.Equal(t, string(second), string(first), "the second message of a device")
	const want = "homeassistant/device/pressbox_4f1c09ab/config"
	check.Equal(t, homeassistant.Topic("homeassistant", device.ID), want, "topic")
}
