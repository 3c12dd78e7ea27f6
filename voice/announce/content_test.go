package announce_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
		check.That(t, !reflect.DeepEqual(r.Request(), announce.Request{}), "%s does not reach the request", f.Name)
		var again announce.AnnouncementRequest
		check.NoError(t, json.Unmarshal(check.Must(json.Marshal(r))(t), &again))
		check.That(t, reflect.DeepEqual(again, r), "%s: read again %+v, want %+v", f.Name, again, r)
		check.That(t, f.Name == "message" || f.Name == "repeat" || f.Tag.Get("help") != "",
			"%s has no help for the command line", f.Name)
	}
	for _, f := range announce.Fields(reflect.TypeFor[announce.Repetition]()) {
		r := announce.Repetition{}
		check.Fill(reflect.ValueOf(&r).Elem().FieldByIndex(f.Index).Addr().Interface())
		check.That(t, (announce.Payload{Repeat: &r}).Request().Repeat != (announce.Repeat{}),
			"%s does not reach the request", f.Name)
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
		other, ok := digests[digest]
		check.That(t, !ok, "requests with another %s and %s have one digest", name, other)
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
		got := c.Request().Rooms
		check.That(t, reflect.DeepEqual(got, want), "%s: %q, want %q", text, got, want)
	}
	err := json.Unmarshal([]byte(`{"room": 7}`), &announce.Payload{})
	check.That(t, err != nil, "a number was read as a room")
}

// said returns a content that has only a message.
func said(message string) announce.Content { return announce.Content{Message: message} }

// violations returns the paths and codes of a request's violations; other errors as they are.
func violations(err error) string {
	wrong, ok := errors.AsType[*announce.RequestError](err)
	if !ok {
		return fmt.Sprint(err)
	}
	var all []string
	for _, v := range wrong.Violations {
		all = append(all, v.Path+" "+v.Code)
	}
	return strings.Join(all, ", ")
}

// refusal returns the violations of a request: members of JSON, as of noon.
func refusal(t *testing.T, clockSet bool, members string) string {
	t.Helper()
	var body announce.AnnouncementRequest
	check.NoError(t, json.Unmarshal([]byte("{"+members+"}"), &body))
	r, found := body.Request(), announce.Found{}
	if r.Voice == "zoe" {
		found.VoiceErr = &announce.UnknownVoiceError{Name: r.Voice}
	}
	_, err := r.Check(announce.Conditions{
		Config: announce.Config{TTL: time.Minute, Rate: 170}, ClockSet: clockSet,
		Now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC),
	}, found)
	return violations(err)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const none = "<nil>"
	for _, tt := range []struct{ members, want string }{
		{`"message": " hello\n"`, none},
		{`"message": "` + strings.Repeat("ä", 5000) + ` "`, none},
		{`"message": "` + strings.Repeat("ä", 5001) + `"`, "message too_long"},
		{`"message": " \t\n"`, "message required"},
		{`"message": "… — !"`, "message not_speakable"},
		{`"message": "a", "title": "` + strings.Repeat("ä", 250) + ` "`, none},
		{`"message": "a", "title": "` + strings.Repeat("ä", 251) + `"`, "title too_long"},
		{`"sound": "bell"`, none},
		{`"sound": "bell", "message": "…"`, "message not_speakable"},
		{`"message": "a", "at": "2027-11-25T12:00:00Z"`, none},
		{`"message": "a", "at": "2027-11-25T12:00:01Z"`, "at out_of_range"},
		{`"message": "a", "at": "2026-11-24T11:59:01Z"`, none},
		{`"message": "a", "at": "2026-11-24T11:59:00Z"`, "at too_late"},
		{`"message": "a", "at": "2026-11-24T13:00:00Z", "in": 9`, "in conflict"},
		{`"rate": -1, "ttl": -1`, "message required, rate out_of_range, ttl out_of_range"},
		{`"rate": -1, "voice": "zoe"`, "message required, rate out_of_range, voice unknown_voice"},
	} {
		check.Equal(t, refusal(t, true, tt.members), tt.want, "%.80s", tt.members)
	}
	long := announce.Request{Content: said("a"), IdempotencyKey: strings.Repeat("k", 256)}
	_, err := long.Check(announce.Conditions{Config: announce.Config{TTL: time.Minute, Rate: 170}}, announce.Found{})
	check.That(t, violations(err) == "Idempotency-Key too_long", "a long key: %v", err)
	for year, want := range map[int]string{1970: "at out_of_range", 1971: none, 2199: none, 2200: "at out_of_range"} {
		check.Equal(t, refusal(t, false, fmt.Sprintf(`"message": "a", "at": "%d-06-01T00:00:00Z"`, year)), want,
			"the year %d, before the clock is set", year)
	}
}

// Of the control characters, texts may have line breaks and tabs, so that none acts on a terminal.
func TestCheck_controlCharacters(t *testing.T) {
	t.Parallel()
	for r := range rune(0x100) {
		permitted := r == '\n' || r == '\t' || r >= 0x20 && r < 0x7f || r >= 0xa0
		for _, field := range []string{"title", "message"} {
			members := fmt.Sprintf(`"message": "a", %q: "a%sb"`, field, fmt.Sprintf(`\u%04x`, r))
			want := field + " control_character"
			if permitted {
				want = "<nil>"
			}
			check.Equal(t, refusal(t, true, members), want, "%U in the %s", r, field)
		}
	}
	check.Equal(t, refusal(t, true, `"message": "a\r\nb"`), "<nil>", "a line break of two characters")
}

// Every number is accepted in the range of its tags and nowhere else, every text with an enum only as one of it.
func TestCheck_ranges(t *testing.T) {
	t.Parallel()
	fields := announce.Fields(reflect.TypeFor[announce.AnnouncementRequest]())
	for _, f := range slices.Concat(fields, announce.Fields(reflect.TypeFor[announce.Repetition]())) {
		least, most, ok := f.Range()
		for _, name := range f.Enum() {
			if got := refusal(t, true, fmt.Sprintf(`"message": "a", %q: %q`, f.Name, name)); got != "<nil>" {
				t.Errorf("%s %s: %s", f.Name, name, got)
			}
		}
		if !ok {
			continue
		}
		for n, want := range map[int]string{least: "", most: "", least - 1: "out_of_range", most + 1: "out_of_range"} {
			members := fmt.Sprintf(`"message": "a", %q: %d`, f.Name, n)
			switch f.Name {
			case "times":
				members = fmt.Sprintf(`"message": "a", "repeat": {"times": %d, "every": 60}`, n)
			case "every":
				members = fmt.Sprintf(`"message": "a", "repeat": {"times": 2, "every": %d}`, n)
			}
			got := refusal(t, true, members)
			if n != 0 && (want == "" && got != "<nil>" || !strings.HasSuffix(got, want)) { // 0 is the default
				t.Errorf("%s: %s, want %s", members, got, want)
			}
		}
	}
}
