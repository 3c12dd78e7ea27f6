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
	Voices: []string{"en_US-pressbox-medium"}, Statuses: []string{"queued", "done"}, Games: []string{"started"},
}

func TestDiscovery_schema(t *testing.T) {
	t.Parallel()
	schema := check.Must(jsonschema.NewCompiler().Compile("testdata/discovery.schema.json"))(t)
	without := device
	without.URL, without.Voices = "", nil
	for _, d := range []homeassistant.Device{device, without} {
		message := homeassistant.Discovery(d)
		if err := schema.Validate(decoded(t, message)); err != nil {
			t.Errorf("%v\n%s", err, message)
		}
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
		if schema.Validate(decoded(t, message)) == nil {
			t.Errorf("the schema permits %s instead of %s", wrong[1], wrong[0])
		}
	}
}

func decoded(t *testing.T, message []byte) any {
	t.Helper()
	return check.Must(jsonschema.UnmarshalJSON(bytes.NewReader(message)))(t)
}

func TestDiscovery_stable(t *testing.T) {
	t.Parallel()
	if a, b := homeassistant.Discovery(device), homeassistant.Discovery(device); !bytes.Equal(a, b) {
		t.Errorf("two messages of one device differ:\n%s\n%s", a, b)
	}
	if got := homeassistant.Topic("homeassistant", device.ID); got != "homeassistant/device/pressbox_4f1c09ab/config" {
		t.Errorf("topic %s", got)
	}
}
