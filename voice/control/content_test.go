package control_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/control"
)

// The rooms of a schedule or favorite are a name or a list, and reach the request.
func TestContent_rooms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"message": "x", "room": "kitchen"}`:           {"kitchen"},
		`{"message": "x", "room": ["kitchen", "hall"]}`: {"kitchen", "hall"},
		`{"message": "x"}`:                              nil,
	} {
		var c control.Content
		check.NoError(t, json.Unmarshal([]byte(text), &c))
		if got := c.Request().Rooms; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		var again control.Content
		check.NoError(t, json.Unmarshal(check.Must(json.Marshal(c))(t), &again))
		if !reflect.DeepEqual(again, c) {
			t.Errorf("%s: read again %+v", text, again)
		}
	}
	if err := json.Unmarshal([]byte(`{"room": 7}`), &control.Content{}); err == nil {
		t.Error("a number was read as a room")
	}
}
