package announce_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// with returns a request that has one more field, as all of its JSON can have.
func with(r announce.AnnouncementRequest, f announce.Field) announce.AnnouncementRequest {
	check.Fill(reflect.ValueOf(&r).Elem().FieldByIndex(f.Index).Addr().Interface())
	return r
}

// Every field reaches the request, and has what the documents and the command line need.
func TestAnnouncementRequest_fields(t *testing.T) {
	t.Parallel()
	all := announce.Fields(reflect.TypeFor[announce.AnnouncementRequest]())
	for _, f := range all {
		r := with(announce.AnnouncementRequest{}, f)
		if reflect.DeepEqual(r.Request(), announce.Request{}) {
			t.Errorf("%s does not reach the request", f.Name)
		}
		var again announce.AnnouncementRequest
		check.NoError(t, json.Unmarshal(check.Must(json.Marshal(r))(t), &again))
		if !reflect.DeepEqual(again, r) {
			t.Errorf("%s: read again %+v, want %+v", f.Name, again, r)
		}
		if f.Name != "message" && f.Name != "repeat" && f.Tag.Get("help") == "" {
			t.Errorf("%s has no help for the command line", f.Name)
		}
	}
	for _, f := range announce.Fields(reflect.TypeFor[announce.Repetition]()) {
		r := announce.Repetition{}
		check.Fill(reflect.ValueOf(&r).Elem().FieldByIndex(f.Index).Addr().Interface())
		if (announce.Payload{Repeat: &r}).Request().Repeat == (announce.Repeat{}) {
			t.Errorf("%s does not reach the request", f.Name)
		}
	}
}

// Limits that stand elsewhere as well agree with those of the fields.
func TestAnnouncementRequest_limits(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[announce.AnnouncementRequest]()
	in, _ := announce.FieldOf(of, "in")
	if _, most, _ := in.Range(); time.Duration(most)*time.Second != announce.MaxAhead {
		t.Errorf("in has at most %d s, want %s", most, announce.MaxAhead)
	}
	chime, _ := announce.FieldOf(of, "chime")
	var chimes []string
	for _, c := range audio.Chimes() {
		chimes = append(chimes, string(c))
	}
	if got, want := strings.Join(chime.Enum(), " "), strings.Join(chimes, " "); got != want {
		t.Errorf("chimes %s, want %s", got, want)
	}
}

// The rooms of a schedule or favorite are a name or a list.
func TestRoomList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"message": "x", "room": "kitchen"}`:           {"kitchen"},
		`{"message": "x", "room": ["kitchen", "hall"]}`: {"kitchen", "hall"},
		`{"message": "x"}`:                              nil,
	} {
		var c announce.Payload
		check.NoError(t, json.Unmarshal([]byte(text), &c))
		if got := c.Request().Rooms; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if err := json.Unmarshal([]byte(`{"room": 7}`), &announce.Payload{}); err == nil {
		t.Error("a number was read as a room")
	}
}
