package draft_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
)

// announcer accepts requests with a message, and stores the last one.
type announcer struct{ got announce.Request }

func (a *announcer) Announce(_ context.Context, r announce.Request) (announce.View, error) {
	if _, err := a.Check(r); err != nil {
		return announce.View{}, err
	}
	a.got = r
	return announce.View{}, nil
}

func (*announcer) Warnings(announce.View) []string { return nil }

func (*announcer) Check(r announce.Request) (announce.Announcement, error) {
	var wrong announce.RequestError
	if r.Message == "" {
		wrong.Violations = append(wrong.Violations, announce.Violation{Path: "message", Code: "required"})
	}
	if r.Rate != 0 && (r.Rate < 60 || r.Rate > 400) {
		wrong.Violations = append(wrong.Violations, announce.Violation{Path: "rate", Code: "out_of_range"})
	}
	if wrong.Violations != nil {
		return announce.Announcement{}, &wrong
	}
	return announce.Announcement{}, nil
}

const multipart = "multipart/form-data; boundary=x"

func part(name, text string) string {
	return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + text + "\r\n"
}

// Every form leads to the same request.
func TestRead_forms(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	long := strings.Repeat("x", 70)
	for _, tt := range []struct {
		media, body, query string
		want               string // message, title, rate, urgent, priority, ttl and warnings
	}{
		{
			"", `{"message": "A & B", "title": "T", "rate": "170", "urgent": "True", "ttl": "60"}`, "",
			"A & B|T|170|true|0|1m0s|[]",
		},
		{"text/plain", "\ufeff {\"message\": \"x\", \"rate\": 1.7e2}", "", "x||170|false|0|0s|[]"},
		{form, ` {"message": "x"}`, "", "x||0|false|0|0s|[]"},
		{form, "message=A+%26+B&title=T&rate=170&urgent=on&ttl=60", "", "A & B|T|170|true|0|1m0s|[]"},
		{"", "title=T&message=50% of %zz %41%e4%b8%ad\n", "", "50% of %zz A中|T|0|false|0|0s|[]"},
		{form, "message=x&color=red&rate=&color=blue&" + long + "=1", "", "x||0|false|0|0s|[color " + long[:64] + "]"},
		{form, "Dinner is ready. 1+1=2", "", "Dinner is ready. 1+1=2||0|false|0|0s|[]"},
		{form, "messages=none", "", "messages=none||0|false|0|0s|[]"},
		{"text/plain", "message=x", "", "message=x||0|false|0|0s|[]"},
		{
			"text/plain; charset=utf-8", "\ufeffGrüß Gott", "title=T&urgent=0&priority=5&x=1",
			"Grüß Gott|T|0|false|4|0s|[x]",
		},
		{"text/plain; charset=iso-8859-1", "Gr\xfc\xdf Gott", "", "Grüß Gott||0|false|0|0s|[]"},
		{"application/json; charset=ISO-8859-15", "{\"message\": \"Gr\xfc\xdfe\"}", "", "Grüße||0|false|0|0s|[]"},
		{form + "; charset=latin1", "message=50+\xa3", "", "50 £||0|false|0|0s|[]"},
		{"", "\xff\xfeH\x00\xfc\x00", "", "Hü||0|false|0|0s|[]"}, // a file of PowerShell
		{"text/plain; charset=utf-8", "\xfe\xff\x00H\x00i", "", "Hi||0|false|0|0s|[]"},
		{"text/plain; charset=utf-16", "H\x00i\x00", "", "Hi||0|false|0|0s|[]"},
		{
			"application/json; charset=utf-16", strings.Join(strings.Split(`{"message":"x"}`, ""), "\x00") + "\x00", "",
			"x||0|false|0|0s|[]",
		},
		{"", "", "message=x%0Ay", "x\ny||0|false|0|0s|[]"},
		{
			multipart,
			part("message", "A & B") + part("title", "T") + part("rate", "170") + part("urgent", "yes") +
				part("ttl", "60") + part("a", "") + "--x--\r\n",
			"", "A & B|T|170|true|0|1m0s|[a]",
		},
		{
			multipart,
			strings.Replace(part("picture", "\xff\xd8"), "picture\"", "picture\"; filename=\"p.jpg\"", 1) +
				part("message", "\xff") + "--x--",
			"", "\ufffd||0|false|0|0s|[picture]",
		},
	} {
		a := &announcer{}
		d, err := draft.Read(tt.media, []byte(tt.body), tt.query)
		if err == nil {
			by := announce.Request{Content: announce.Content{Message: "ignored"}, IdempotencyKey: "k"}
			_, err = d.Announce(t.Context(), a, by)
		}
		if err != nil {
			t.Errorf("%s %q ?%s: %v", tt.media, tt.body, tt.query, err)
			continue
		}
		got := fmt.Sprintf(
			"%s|%s|%d|%t|%d|%s|%v", a.got.Message, a.got.Title, a.got.Rate, a.got.Urgent, a.got.Priority, a.got.TTL,
			d.Warnings,
		)
		check.That(t, got == tt.want && a.got.IdempotencyKey == "k",
			"%s %q ?%s: %s, want %s", tt.media, tt.body, tt.query, got, tt.want)
	}
}

// A chime that is false, as YAML reads off, is none.
func TestRead_chime(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"message=x&chime=OFF":               "none",
		`{"message": "x", "chime": false}`:  "none",
		`{"message": "x", "chime": "no"}`:   "none",
		`{"message": "x", "chime": "ding"}`: "ding",
		`{"message": "x", "chime": "on"}`:   "on", // which the announcer refuses
	} {
		a := &announcer{}
		d, err := draft.Read("", []byte(body), "")
		if err == nil {
			_, err = d.Announce(t.Context(), a, announce.Request{})
		}
		check.That(t, err == nil && a.got.Chime == want, "%s: chime %q, want %q: %v", body, a.got.Chime, want, err)
	}
}

// Rooms are a name, names in text, or a list.
func TestRead_rooms(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"message": "x", "room": "all"}`:               `["all"]`,
		`{"message": "x", "room": "hall, kitchen den"}`: `["hall" "kitchen" "den"]`,
		`{"message": "x", "room": ["hall", "den"]}`:     `["hall" "den"]`,
		"message=x&room=hall":                           `["hall"]`,
		"message=x&room=" + strings.Repeat("a,", 50):    fmt.Sprintf("%q", slices.Repeat([]string{"a"}, 50)),
		`{"message": "x"}`:                              `[]`,
	} {
		a := &announcer{}
		d, err := draft.Read("", []byte(body), "")
		if strings.HasPrefix(body, "message") {
			d, err = draft.Read("application/x-www-form-urlencoded", []byte(body), "")
		}
		if err == nil {
			_, err = d.Announce(t.Context(), a, announce.Request{})
		}
		got := fmt.Sprintf("%q", a.got.Rooms)
		check.That(t, err == nil && got == want, "%s: %s, %v, want %s", body, got, err, want)
	}
}

// A refusal names each field, the position of its value, and an example that is accepted.
func TestRead_refused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ media, body, query, want string }{
		{"", "", "", "message required -1"},
		{"", "\ufeff ", "", "message required -1"},
		{"", "{}", "", "message required -1"},
		{"", `{"message": 7}`, "", "message wrong_type 12"},
		{"", `{"message": "x", "rate": "170.5"}`, "", "rate wrong_type 25"},
		{"", `{"message": "x", "rate": "0x10"}`, "", "rate wrong_type 25"},
		{"", `{"message": "x", "rate":0}`, "", "rate out_of_range 24"},
		{"", `{"message": "x", "rate":-0}`, "", "rate out_of_range 24"},
		{"", `{"message": "x", "rate":1e300}`, "", "rate out_of_range 24"},
		{"", `{"message": "x", "rate":-1e999}`, "", "rate out_of_range 24"},
		{"", `{"message": "x", "rate":null, "title":["x"]}`, "", "rate wrong_type 24, title wrong_type 38"},
		{"", `{"message": "x", "urgent": 1, "a/b~": {}}`, "", "urgent wrong_type 27, a~1b~0 unknown_field 38"},
		{
			"", `{"message": "x", "repeat": {"times": true, "x/y": 1}}`, "",
			"repeat/times wrong_type 37, repeat/x~1y unknown_field 50, repeat/every required -1",
		},
		{"", `{"message": "x", "repeat": 7}`, "", "repeat wrong_type 27"},
		{"", `{"message": "x", "chime": true}`, "", "chime wrong_type 26"},
		{"", `{"message": "x", "at": "soon"}`, "", "at invalid 23"},
		{"", `{"message": "x", "at": "2026-11-22 18:30"}`, "", "at invalid 23"},
		{"", `{"message": "x", "at": "2026-11-22T18:30:00"}`, "", "at invalid 23"},
		{"", `{"message": "x", "at": "0001-01-01T00:00:00Z"}`, "", "at invalid 23"},
		{"", `{"message": "x", "repeat": {}}`, "", "repeat/times required -1, repeat/every required -1"},
		{"", `{"message": "x", "room": 7}`, "", "room wrong_type 25"},
		{"", `{"message": "x", "room": ["hall", 7]}`, "", "room wrong_type 25"},
		{"", `{"message": "x", "room": []}`, "", "room out_of_range 25"},
		{"", "", "message=x&room=" + strings.Repeat("a,", 51), "room out_of_range -1"},
		{"", `{"message": "x"}`, "message=y", "message given_twice 12"},
		{"", "message=x&message=y&repeat=2", "rate=1", "message given_twice -1, repeat wrong_type -1, rate " +
			"out_of_range -1"},
		{multipart, part("title", "x") + "--x--", "", "message required -1"},
		{"", `[]`, "", "not_json 0"},
		{"", `{"message": "x"`, "", "not_json 15"},
		{"", `{"message": "x"} {}`, "", "not_json 18"},
		{"", `{"message": "x", "message": "y"}`, "", "not_json 17"},
		{"", "{\"message\": \"\xff\"}", "", "not_json 13"},
		{"", "Gr\xfc\xdf Gott", "", "not_text 2"},
		{"text/plain; charset=klingon", "x", "", "not_text -1"},
		{"multipart/form-data", "x", "", "not_form 0"},
		{multipart, "--x\r\nContent-Disp", "", "not_form -1"},
	} {
		d, err := draft.Read(tt.media, []byte(tt.body), tt.query)
		if err == nil {
			_, err = d.Announce(t.Context(), &announcer{}, announce.Request{})
		}
		refused, ok := errors.AsType[*draft.Error](err)
		if !ok {
			t.Errorf("%s %q ?%s: %v", tt.media, tt.body, tt.query, err)
			continue
		}
		var got []string
		for _, v := range refused.Violations {
			got = append(got, fmt.Sprint(v.Path, " ", v.Code, " ", v.Position))
		}
		if refused.Code != "" {
			got = append(got, fmt.Sprint(refused.Code, " ", refused.Position))
		}
		check.Equal(t, strings.Join(got, ", "), tt.want, "%s %q ?%s", tt.media, tt.body, tt.query)
		example, _, err := draft.JSON([]byte(refused.Example))
		if err == nil {
			_, err = example.Announce(t.Context(), &announcer{}, announce.Request{})
		}
		check.That(t, err == nil, "the example %s of %s: %v", refused.Example, err, refused)
	}
}

func TestJSON_more(t *testing.T) {
	t.Parallel()
	d, more, err := draft.JSON([]byte(`{"message": "x", "id": "7"}`), "id", "topic")
	check.That(t, err == nil && d.Request.Message == "x" && more["id"] == "7" && more["topic"] == "",
		"%+v, %v, %v", d, more, err)
	d, _, _ = draft.JSON([]byte(`{"message": "x", "id": 7}`), "id")
	if _, err := d.Announce(t.Context(), &announcer{}, announce.Request{}); err == nil ||
		err.Error() != "id: must be text, not 7" {
		t.Errorf("an id that is a number: %v", err)
	}
}

func TestDraft_prioritize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		priority, from, want int
	}{{5, 5, 5}, {4, 5, 4}, {4, 4, 5}, {5, 0, 4}, {1, 5, 1}, {1, 1, 5}} {
		var d draft.Draft
		if d.Prioritize(tt.priority, tt.from); d.Request.Priority != tt.want {
			t.Errorf("priority %d, urgent from %d: %d, want %d", tt.priority, tt.from, d.Request.Priority, tt.want)
		}
	}
}

// Every body is read as a request or refused with a reason; nothing but UTF-8 passes, an accepted JSON object
// has the values that encoding/json reads, and its fields lead to the same request in a form.
func FuzzDraft(f *testing.F) {
	for _, seed := range []struct{ media, body, query string }{
		{"", `{"message": "x", "rate": 170, "voice": "v", "urgent": true, "ttl": 60}`, "title=t"},
		{"", `{"message": "x", "repeat": {"times": 2, "every": 10}, "at": "2026-11-22T18:30:00Z"}`, ""},
		{"", `{"message": "x", "rate": -1e999, "a/b~": {}, "message": 1} x`, "&=&%"},
		{"text/plain", "\ufeffx\xff", "message=%"},
		{"application/x-www-form-urlencoded", "message=%zz+&rate=%31", "x=y"},
		{multipart, part("message", "x") + part("rate", "60") + "--x--", ""},
	} {
		f.Add(seed.media, []byte(seed.body), seed.query)
	}
	f.Fuzz(func(t *testing.T, media string, body []byte, query string) {
		a := &announcer{}
		d, err := draft.Read(media, body, query)
		if err == nil {
			_, err = d.Announce(t.Context(), a, announce.Request{})
		}
		if err != nil {
			refused, ok := errors.AsType[*draft.Error](err)
			if !ok || refused.Error() == "" || (refused.Code == "") == (len(refused.Violations) == 0) ||
				refused.Position > len(body) {
				t.Fatalf("%q: %#v", body, err)
			}
			return
		}
		r := a.got
		if r.TTL < -2e9*time.Second || r.TTL > 2e9*time.Second || !utf8.ValidString(r.Message) ||
			!utf8.ValidString(r.Title) || r.Message == "" {
			t.Fatalf("%q was read as %+v", body, r)
		}
		var object struct {
			Message string
			Title   string
		}
		check.Require(t, query != "" || json.Unmarshal(body, &object) != nil || object.Message == r.Message,
			"%q was read as %+v", body, r)
	})
}
