package announce_test

import (
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
		{`"message": "a", "chime": "gong"`, "chime not_offered"},
		{`"message": "a", "at": "2027-11-25T12:00:00Z"`, none},
		{`"message": "a", "at": "2027-11-25T12:00:01Z"`, "at out_of_range"},
		{`"message": "a", "at": "2026-11-24T11:59:01Z"`, none},
		{`"message": "a", "at": "2026-11-24T11:59:00Z"`, "at too_late"},
		{`"message": "a", "at": "2026-11-24T13:00:00Z", "in": 9`, "in conflict"},
		{`"rate": -1, "ttl": -1`, "message required, rate out_of_range, ttl out_of_range"},
		{`"rate": -1, "voice": "zoe"`, "message required, rate out_of_range, voice unknown_voice"},
	} {
		if got := refusal(t, true, tt.members); got != tt.want {
			t.Errorf("%.80s: %s, want %s", tt.members, got, tt.want)
		}
	}
	long := announce.Request{Content: said("a"), IdempotencyKey: strings.Repeat("k", 256)}
	_, err := long.Check(announce.Conditions{Config: announce.Config{TTL: time.Minute, Rate: 170}}, announce.Found{})
	if violations(err) != "Idempotency-Key too_long" {
		t.Errorf("a long key: %v", err)
	}
	for year, want := range map[int]string{1970: "at out_of_range", 1971: none, 2199: none, 2200: "at out_of_range"} {
		if got := refusal(t, false, fmt.Sprintf(`"message": "a", "at": "%d-06-01T00:00:00Z"`, year)); got != want {
			t.Errorf("the year %d, before the clock is set: %s, want %s", year, got, want)
		}
	}
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
