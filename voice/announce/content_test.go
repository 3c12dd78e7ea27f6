package announce_test

import (
	"crypto/sha256"
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

// An idempotency key belongs to a request with all of its fields, and has the digest that version 0.5.0 stored.
func TestRequest_key(t *testing.T) {
	t.Parallel()
	earlier := announce.Request{
		Content: announce.Content{Message: "m", Voice: "bert", Rate: 200, Urgent: true},
		TTL:     time.Minute, IdempotencyKey: "k",
	}
	if want := sha256.Sum256([]byte(`"m" "bert" 200 true 60000000000`)); earlier.Key().Digest != want {
		t.Error("the digest differs from that of version 0.5.0")
	}
	earlier.Rooms, earlier.In = []string{"hall"}, time.Second
	text := `"m" "bert" 200 true 60000000000 "" 0 0 "" 0 1000000000 0 0 rooms ["hall"]`
	if want := sha256.Sum256([]byte(text)); earlier.Key().Digest != want {
		t.Error("the digest with a delay and a room differs from that of version 0.5.0")
	}
	digests := map[[32]byte]string{}
	add := func(name string, r announce.AnnouncementRequest) {
		request := r.Request()
		request.IdempotencyKey = "k"
		digest := request.Key().Digest
		if other, ok := digests[digest]; ok {
			t.Errorf("requests with another %s and %s have one digest", name, other)
		}
		digests[digest] = name
	}
	body := announce.AnnouncementRequest{Payload: announce.Payload{Content: announce.Content{Message: "m"}}}
	add("nothing", body)
	for _, f := range announce.Fields(reflect.TypeFor[announce.AnnouncementRequest]()) {
		add(f.Name, with(body, f))
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

// said returns a content that has only a message.
func said(message string) announce.Content { return announce.Content{Message: message} }
