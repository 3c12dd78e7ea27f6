package homeassistant_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/mqtt/homeassistant"
	"pressbox/packaging/check"
)

var device = homeassistant.Device{
	ID: "4f1c09ab", Name: "Pressbox kitchen", Version: "0.5.0", URL: "http://kitchen.local:8888",
	Topic:  "pressbox/4f1c09ab",
	Voices: []string{"en_US-heart-medium"}, Statuses: []string{"queued", "done"}, Games: []string{"started"},
}

func TestDiscovery_schema(t *testing.T) {
	t.Parallel()
	schema := check.Must(jsonschema.NewCompiler().Compile("testdata/discovery.schema.json"))(t)
	without := device
	without.URL, without.Voices = "", nil
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
