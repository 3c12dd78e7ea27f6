package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/packaging/check"
	"pressbox/voice/announce/webhook"
)

func never(string) bool { return false }

// The bodies in testdata have the members that the senders' sources name:
//   - alertmanager-firing and -resolved were recorded from Alertmanager 0.25.0;
//     -group has the members of its type Message (notify/webhook/webhook.go,
//     template/template.go, types Data and Alert);
//   - grafana: the members of the tables "Body" and "Alert" of its documentation
//     (configure-notifications/manage-contact-points/integrations/webhook-notifier);
//   - uptime-kuma: server/notification-providers/webhook.js posts {heartbeat,
//     monitor, msg}, with the toJSON of server/model/heartbeat.js and monitor.js;
//   - apprise was recorded from Apprise 1.2.0, json://…?:rate=170.
func TestRead_golden(t *testing.T) {
	t.Parallel()
	for _, row := range check.Table(t, "testdata/golden.txt") {
		file, want := row[0], row[1]
		matches := func(format string) bool { return strings.HasPrefix(file, format) }
		format := webhook.Formats()[slices.IndexFunc(webhook.Formats(), matches)]
		body := check.Must(os.ReadFile("testdata/" + file + ".json"))(t)
		result, err := webhook.Read(format, body, never)
		got := fmt.Sprint(result.Fields, result.Repeated, result.Unknown)
		check.That(t, err == nil && got == want, "%s:\n%s, %v; want\n%s", file, got, err, want)
	}
}

func TestRead_bodies(t *testing.T) {
	t.Parallel()
	const prometheus = "alertmanager"
	long := strings.Repeat("word ", 100)
	alerts := func(n int) string { // with the summaries A0, A1 …
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"annotations": {"summary": "A%d"}}`, i))
		}
		return `{"alerts": [` + strings.Join(all, ",") + `]}`
	}
	same := strings.Repeat(`{"annotations": {"summary": "a"}},`, 9)
	for _, row := range append(check.Table(t, "testdata/bodies.txt"), // format, body, and the message or the error
		[]string{
			prometheus, `{"truncatedAlerts": -5, "alerts": [{"annotations": {"summary": "` + long + `"}}]}`,
			strings.TrimSpace(strings.Repeat("word ", 59)) + "…",
		},
		[]string{prometheus, `{"alerts": [` + same + `{"annotations": {"summary": "b"}}]}`, "10 alerts: a. b."},
		[]string{"grafana", alerts(5), "5 alerts: A0. A1. A2. A3. A4."},
		[]string{"grafana", alerts(6), "6 alerts: A0. A1. A2. A3. A4. And 1 more."}) {
		result, err := webhook.Read(row[0], []byte(row[1]), never)
		got := result.Fields["message"]
		check.That(t, got == row[2] || err != nil && strings.Contains(err.Error(), row[2]),
			"%s %s: %q, %v; want %q", row[0], row[1], got, err, row[2])
		wrong, ok := errors.AsType[*webhook.BodyError](err)
		check.That(t, !ok || wrong.Detail != "", "%s %s: %v has no detail", row[0], row[1], err)
	}
}

// An event that was announced is left out of the next announcement. The same alert is a new event when it is
// resolved, and when it fires again.
func TestRead_repeated(t *testing.T) {
	t.Parallel()
	announced := map[string]bool{}
	known := func(event string) bool {
		defer func() { announced[event] = true }()
		return announced[event]
	}
	body := func(alerts ...string) []byte {
		return []byte(`{"status": "firing", "alerts": [` + strings.Join(alerts, ",") + `]}`)
	}
	const (
		summary  = `"annotations": {"summary": "Door."}`
		door     = `{"fingerprint": "1", "startsAt": "10:00", ` + summary + `, "labels": {"severity": "critical"}}`
		washer   = `{"labels": {"alertname": "Washer", "room": "cellar"}}`
		dryer    = `{"labels": {"alertname": "Washer", "room": "attic"}}`
		closed   = `{"fingerprint": "1", "startsAt": "10:00", "status": "resolved", ` + summary + `}`
		reopened = `{"fingerprint": "1", "startsAt": "10:05", ` + summary + `}`
	)
	for i, tt := range []struct {
		body []byte
		want string
	}{
		{body(door), "map[message:Door. priority:5] 0"},
		{body(door), "map[] 1"},
		{body(door, washer), "map[message:Alert: Washer. priority:3] 1"},
		{body(washer, door, dryer), "map[message:Alert: Washer. priority:3] 2"},
		{body(closed, washer), "map[message:Resolved: Door. priority:3] 1"},
		{body(reopened), "map[message:Door. priority:3] 0"},
		{body(closed, reopened), "map[] 2"},
	} {
		result, err := webhook.Read("alertmanager", tt.body, known)
		got := fmt.Sprint(result.Fields, result.Repeated)
		check.That(t, err == nil && got == tt.want, "%d: %s, %v; want %s", i, got, err, tt.want)
	}
}

func TestRead_priorities(t *testing.T) {
	t.Parallel()
	for severity, want := range map[string]string{
		"critical": "5", " Critical ": "5", "page": "5", "warning": "4", "error": "4", "info": "3", "": "3",
		"none": "3",
	} {
		for status, want := range map[string]string{"firing": want, "resolved": "3"} {
			body := fmt.Sprintf(
				`{"status": %q, "alerts": [{"labels": {"severity": "info"}}, {"labels": {"severity": %q}}]}`, status,
				severity,
			)
			result, err := webhook.Read("alertmanager", []byte(body), never)
			check.That(t, err == nil && result.Fields["priority"] == want,
				"%s %q: %v, %v; want priority %s", status, severity, result.Fields, err, want)
		}
	}
}

func TestRead_unknownMembers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ format, body string }{
		{"alertmanager", `{"zone": 1, "version": [], "groupKey": {}, "color": 2, "alerts": [{"x": 1}]}`},
		{"grafana", `{"zone": 1, "orgId": 1, "title": "", "state": "", "message": "", "color": 2, "alerts": [{}]}`},
		{"uptime-kuma", `{"zone": 1, "color": 2, "msg": "x", "monitor": {"x": 1}}`},
	} {
		result, err := webhook.Read(tt.format, []byte(tt.body), never)
		got := fmt.Sprint(result.Unknown)
		check.That(t, err == nil && got == "[color zone]", "%s: %s, %v", tt.format, got, err)
	}
}

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "door-bell-2": true, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false, "": false,
		"A": false, "a.b": false, "../x": false, "ü": false, "a\n": false,
	} {
		check.That(t, webhook.ValidName(name) == want, "%q is valid: %t", name, !want)
	}
	for _, format := range webhook.Formats() {
		check.That(t, webhook.ValidName(format), "%q is not valid", format)
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	const form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	part := func(name, value string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	for _, row := range append(check.Table(t, "testdata/objects.txt"), // media type, body, object or error
		[]string{form, "\uFEFF {\"a\": 1}\n", `{"a": 1}`},
		[]string{"", "\xff", `{"message":"\ufffd"}`},
		[]string{parts, part("message", "x") + part("type", "y") + "--x--\r\n", `{"message":"x","type":"y"}`},
		[]string{parts, part("data", ` {"heartbeat": null} `) + "--x--\r\n", `{"heartbeat": null}`},
		[]string{parts, part("data", `{"heartbeat": null`) + "--x--\r\n", "unexpected EOF"},
		[]string{parts, part("data", "x") + "--x--\r\n", `{"data":"x"}`},
		[]string{parts, "--x\r\nContent-", ": must be a multipart form"}) {
		object, err := webhook.Object(row[0], []byte(row[1]))
		if err != nil {
			_, ok := errors.AsType[*webhook.BodyError](err)
			check.That(t, ok, "%s %q: %v is no BodyError", row[0], row[1], err)
			check.Contains(t, err.Error(), row[2], "%s %q: the error", row[0], row[1])
			continue
		}
		var got, want map[string]any
		check.NoError(t, json.Unmarshal(object, &got))
		check.NoError(t, json.Unmarshal([]byte(row[2]), &want))
		check.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "%s %q", row[0], row[1])
	}
}

// The example of each format is announced.
func TestExample(t *testing.T) {
	t.Parallel()
	for _, format := range webhook.Formats() {
		result, err := webhook.Read(format, []byte(webhook.Example(format)), never)
		check.That(t, err == nil && result.Fields["message"] != "", "%s: %v, %v", format, result, err)
	}
	check.That(t, webhook.Example("other") == "", "an unknown format has an example")
}

func FuzzWebhook(f *testing.F) {
	for _, file := range check.Must(os.ReadDir("testdata"))(f) {
		if body, err := os.ReadFile("testdata/" + file.Name()); err == nil {
			f.Add("application/json", body)
		}
	}
	f.Add("application/x-www-form-urlencoded", []byte("message=a+b&data=%7B%22msg%22%3A1%7D"))
	f.Add("multipart/form-data; boundary=x",
		[]byte("--x\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\n{}\r\n--x--\r\n"))
	f.Fuzz(func(t *testing.T, mediaType string, sent []byte) {
		body, err := webhook.Object(mediaType, sent)
		if err != nil {
			wrong, ok := errors.AsType[*webhook.BodyError](err)
			check.Require(t, ok && wrong.Detail != "", "error %v", err)
			return
		}
		for _, format := range webhook.Formats() {
			var events []string
			result, err := webhook.Read(format, body, func(event string) bool {
				events = append(events, event)
				return len(events)%3 == 0
			})
			if err != nil {
				wrong, ok := errors.AsType[*webhook.BodyError](err)
				check.Require(t, ok && wrong.Detail != "", "%s: error %v", format, err)
				continue
			}
			if format == "apprise" {
				continue // its fields are those of the body
			}
			message := result.Fields["message"]
			n := utf8.RuneCountInString(message)
			check.Require(t, n <= webhook.MaxOutput && utf8.ValidString(message) && (n != 0 || result.Repeated != 0),
				"%s: a message of %d characters: %q", format, n, message)
			p := result.Fields["priority"]
			check.Require(t, message == "" || p == "3" || p == "4" || p == "5", "%s: priority %q", format, p)
		}
	})
}

// body holds what the templates of the tests read.
const body = `{
	"name": "Door", "open": true, "shut": false, "nothing": null, "count": 3, "level": 21.5, "big": 12345678901,
	"large": 1234567.5, "tags": ["hall", "north"], "numbers": [1, 2.5], "empty": [], "labels": {"b": "2", "a": "1"},
	"alerts": [{"name": "A", "items": [1, 2]}, {"name": "B", "items": [3]}]
}`

// outputs are templates, and what they make of the body.
func outputs(tb testing.TB) [][]string {
	tb.Helper()
	marked := []string{"\uFEFF{{/* a comment */}}\n {{- .name}}\n", "Door"}
	return append(check.Table(tb, "testdata/templates.txt"), marked)
}

func TestTemplate_output(t *testing.T) {
	t.Parallel()
	for _, tt := range outputs(t) {
		result, err := check.Must(webhook.ParseTemplate("t", tt[0]))(t).Read([]byte(body))
		got := strings.ReplaceAll(result.Fields["message"], `"items":[1,2],"name":"A"`, `"name":"A","items":[1,2]`)
		got = strings.ReplaceAll(got, `"items":[3],"name":"B"`, `"name":"B","items":[3]`) // members have no order
		if err != nil || got != tt[1] || (result.Fields == nil) != (tt[1] == "") {
			t.Errorf("%s: %q, %v; want %q", tt[0], got, err, tt[1])
		}
	}
}

// A template whose text begins with a brace writes JSON; what a field contains never makes it one, or less of one.
func TestTemplate_json(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, body, want string }{
		{`{"message": {{json .m}}, "rate": {{.p}}}`, `{"m": "a \"b\" {", "p": 4}`, `map[message:a "b" { rate:4]`},
		{
			`{{if .p}} {{- /* a } */ -}} {"message": "x", "rate": 1.5, "a": null, "b": true, "repeat": {"times": ` +
				`2}}{{end}}`,
			`{"p": 4}`,
			`map[b:true message:x rate:1.5 repeat:{"times": 2}]`,
		},
		{`{{if .p}}{"message": "x"}{{end}}`, `{}`, `map[]`},
		{`{{range .p}}{"message": {{json .}}}{{break}}{{end}}`, `{"p": ["y"]}`, `map[message:y]`},
		{`{{.m}}`, `{"m": "{\"message\": \"x\"}"}`, `map[message:{"message": "x"}]`},
	} {
		result, err := check.Must(webhook.ParseTemplate("t", tt.source))(t).Read([]byte(tt.body))
		got := fmt.Sprint(result.Fields)
		check.That(t, err == nil && got == tt.want, "%s of %s: %s, %v; want %s", tt.source, tt.body, got, err, tt.want)
	}
}

// A message is cut after a sentence, or a word; a template that writes more than 20 kB is stopped.
func TestTemplate_long(t *testing.T) {
	t.Parallel()
	const sentence = "Es läutet. "
	whole := strings.TrimSpace(strings.Repeat(sentence, webhook.MaxOutput/11))
	for _, tt := range []struct{ source, field, want string }{
		{"{{.a}}", strings.Repeat("é", webhook.MaxOutput), strings.Repeat("é", webhook.MaxOutput)},
		{"{{.a}}", strings.Repeat("é", webhook.MaxOutput+1), strings.Repeat("é", webhook.MaxOutput-1) + "…"},
		{"{{.a}}", strings.Repeat("word ", 5000), strings.Repeat("word ", webhook.MaxOutput/5-2) + "word…"},
		{"{{.a}}", strings.Repeat(sentence, 1000), whole},
		{`{"message": {{json .a}}}`, strings.Repeat(sentence, 1000), whole},
		{"{{range $}}{{range $}}{{$.a}}{{end}}{{end}}", strings.Repeat(sentence, 10_000), whole},
	} {
		parsed := check.Must(webhook.ParseTemplate("t", tt.source))(t)
		result, err := parsed.Read([]byte(`{"a": "` + tt.field + `"}`))
		if got := result.Fields["message"]; err != nil || got != tt.want {
			t.Errorf("%s: %d bytes, %v; want %d: %.100s", tt.source, len(got), err, len(tt.want), got)
		}
	}
}

// A template that is wrong, or fails, is named with its line.
func TestTemplate_errors(t *testing.T) {
	t.Parallel()
	large := `{"a": {{range .tags}}` + strings.Repeat("1", 12<<10) + "{{end}}}"
	for _, row := range append(check.Table(t, "testdata/template-errors.txt"),
		[]string{large, "t: what the template writes is not a JSON object: "},
		[]string{strings.Repeat("x", webhook.MaxTemplate+1), "t: the template has 16385 bytes, at most 16384"},
		[]string{"{{\xff}}", "t: the template is not UTF-8"}) {
		parsed, err := webhook.ParseTemplate("t", row[0])
		if err == nil {
			_, err = parsed.Read([]byte(body))
		}
		check.That(t, err != nil && strings.Contains(err.Error(), row[1]) && strings.HasPrefix(err.Error(), "t:"),
			"%.100s: error %v, want %q", row[0], err, row[1])
	}
}

// Whatever is posted, a message is never too long, and an error begins with the template's name.
func FuzzTemplate(f *testing.F) {
	var templates []*webhook.Template
	for _, tt := range outputs(f) {
		templates = append(templates, check.Must(webhook.ParseTemplate("t", tt[0]))(f))
		f.Add(tt[0], body)
	}
	f.Fuzz(func(t *testing.T, source, body string) {
		if _, err := webhook.ParseTemplate("t", source); err != nil && !strings.HasPrefix(err.Error(), "t:") {
			t.Fatalf("an error without the name: %v", err)
		}
		for _, parsed := range templates {
			result, err := parsed.Read([]byte(body))
			check.Require(t, err == nil || result.Fields == nil, "fields with an error: %v", err)
			n := utf8.RuneCountInString(result.Fields["message"])
			check.Require(t, n <= webhook.MaxOutput, "%d characters", n)
		}
	})
}
