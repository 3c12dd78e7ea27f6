package device_test

import (
	"strings"
	"testing"

	"pressbox/daemon/mqtt/device"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ topic, payload, err string }{
		{"say", "Dinner is ready.", ""},
		{"say", `{"message": "Dinner", "rate": 150, "id": "a"}`, ""},
		{"say", `{"message": "Dinner", "id": "` + strings.Repeat("x", 200) + `"}`, ""},
		{"say", `{"message": "Dinner", "id": "` + strings.Repeat("x", 201) + `"}`, "id with 201 bytes"},
		{"say", `{"message": "Dinner", "volum": 3}`, ""}, // refused as an announcement
		{"say", `{"message"`, "JSON"},
		{"say", "\xff", "UTF-8"},
		{"volume/set", "0", ""},
		{"volume/set", "100", ""},
		{"volume/set", "42.0", ""},
		{"volume/set", "101", "expected 0 to 100"},
		{"volume/set", "-1", "expected 0 to 100"},
		{"volume/set", "NaN", "expected 0 to 100"},
		{"volume/set", "", "expected 0 to 100"},
		{"voice/set", "en_US-pressbox-medium", ""},
		{"voice/set", "", "expected 1 to 200"},
		{"voice/set", strings.Repeat("x", 200), ""},
		{"voice/set", strings.Repeat("x", 201), "expected 1 to 200"},
		{"dnd/set", "ON", ""},
		{"dnd/set", "OFF", ""},
		{"dnd/set", "on", "expected ON or OFF"},
		{"stop", "PRESS", ""},
		{"stop", "", "expected PRESS"},
		{"clear", "PRESS", ""},
		{"clear", "x", "expected PRESS"},
		{"status", "online", "not the topic of a command"},
	} {
		_, err := device.Decode(tt.topic, []byte(tt.payload))
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s %.60q: %v, want %q", tt.topic, tt.payload, err, tt.err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, topic := range []string{"say", "say/urgent", "volume/set", "voice/set", "dnd/set", "stop", "clear"} {
		for _, payload := range []string{
			"Hello.", `{"message":"Hello.","id":"1","urgent":"true"}`, "50", "ON", "PRESS",
		} {
			f.Add(topic, []byte(payload))
		}
	}
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		c, err := device.Decode(topic, payload)
		switch {
		case err != nil && c != (device.Command{}):
			t.Errorf("%s %q: a command and %v", topic, payload, err)
		case err != nil:
		case c.Volume < 0 || c.Volume > 100 || len(c.Voice) > 200 || len(c.ID) > 200 ||
			strings.HasPrefix(topic, "say") != (c.Draft != nil):
			t.Errorf("%s %q: %+v", topic, payload, c)
		}
	})
}
