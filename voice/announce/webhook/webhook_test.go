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
	for file, want := range map[string]string{
		"alertmanager-firing":   `map[message:The doorbell rang. priority:5] 0 []`,
		"alertmanager-resolved": `map[message:Resolved: The doorbell rang. priority:3] 0 []`,
		"alertmanager-group": `map[message:5 alerts: The disk of the NAS is almost full. High CPU Load on fd00::1. ` +
			`And 2 more. Resolved: Last night's backup failed! priority:4] 0 []`,
		"grafana-firing":   `map[message:2 alerts: The freezer is too warm. Power meter. priority:3] 0 []`,
		"grafana-resolved": `map[message:Resolved: The freezer is too warm. priority:3] 0 []`,
		"uptime-kuma-down": `map[message:nas is down: connect ECONNREFUSED 192.168.1.10:22. priority:4] 0 []`,
		"uptime-kuma-up":   `map[message:nas is up. priority:3] 0 []`,
		"uptime-kuma-test": `map[message:My Notification Testing priority:3] 0 []`,
		"apprise":          `map[message:Dinner is ready — now "quick". priority:4 rate:170 title:The title] 0 []`,
	} {
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
	const prometheus, kuma = "alertmanager", "uptime-kuma"
	one := func(alert string) string { return `{"alerts": [{` + alert + `}]}` }
	long := strings.Repeat("word ", 100)
	alerts := func(n int) string { // with the summaries A0, A1 …
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"annotations": {"summary": "A%d"}}`, i))
		}
		return `{"alerts": [` + strings.Join(all, ",") + `]}`
	}
	for _, tt := range []struct{ format, body, want string }{ // want is the message, or the error
		{prometheus, one(`"labels": {"alertname": "Washer"}`), "Alert: Washer."},
		{prometheus, one(`"labels": {"alertname": "disk_full", "instance": "nas"}`), "Alert: disk full on nas."},
		{prometheus, one(`"labels": {"alertname": "x"}, "annotations": {"summary": " "}`), "Alert: x."},
		{prometheus, one(`"status": "resolved", "labels": {"alertname": "HTTPDown"}`), "Resolved: HTTP Down."},
		{prometheus, `{"status": "resolved", "alerts": [{}, {}]}`, "2 alerts are resolved: an alert without a name."},
		{prometheus, `{"commonAnnotations": {"summary": "Common."}}`, "Common."},
		{
			prometheus, `{"status": "resolved", "truncatedAlerts": 1, "alerts": [{"annotations": {"message": "A?"}}]}`,
			"2 alerts are resolved: A? And 1 more.",
		},
		{
			prometheus, `{"truncatedAlerts": -5, "alerts": [{"annotations": {"summary": "` + long + `"}}]}`,
			strings.TrimSpace(strings.Repeat("word ", 59)) + "…",
		},
		{
			prometheus, `{"alerts": [` + strings.Repeat(`{"annotations": {"summary": "a"}},`, 9) +
				`{"annotations": {"summary": "b"}}]}`,
			"10 alerts: a. b.",
		},
		{"grafana", alerts(5), "5 alerts: A0. A1. A2. A3. A4."},
		{"grafana", alerts(6), "6 alerts: A0. A1. A2. A3. A4. And 1 more."},
		{prometheus, `{}`, "/alerts: must list at least one alert"},
		{prometheus, `{"alerts": null}`, "/alerts: must list at least one alert"},
		{prometheus, `{"alerts": "x"}`, "/alerts: must be a list"},
		{prometheus, `{"alerts": [{"labels": {"a": 1}}]}`, "/alerts/0/labels/a: must be a string"},
		{prometheus, `{"alerts": [7]}`, "/alerts/0: must be an object"},
		{prometheus, `{"truncatedAlerts": "x"}`, "/truncatedAlerts: must be a number"},
		{prometheus, `[]`, ": must be one JSON object"},
		{prometheus, `{"a": 1} x`, ": must be one JSON object"},
		{prometheus, `{"alerts": [], "alerts": []}`, ": must be one JSON object"},
		{kuma, `{"monitor": {"name": "nas"}, "heartbeat": {"status": 0}}`, "nas is down."},
		{kuma, `{"monitor": {"name": "nas"}, "heartbeat": {"status": 2}}`, "nas does not respond at the moment."},
		{kuma, `{"monitor": {"name": "nas"}, "heartbeat": {"status": 3}}`, "nas is under maintenance."},
		{kuma, `{"monitor": {"name": "nas"}, "heartbeat": {"status": 4}, "msg": "new"}`, "new"},
		{kuma, `{"monitor": {"name": " "}, "heartbeat": {"status": 0}, "msg": "[x] down"}`, "[x] down"},
		{kuma, `{"heartbeat": null, "monitor": null}`, "/msg: must not be empty"},
		{kuma, `{"heartbeat": {"status": "down"}}`, "/heartbeat/status: must be a number"},
		{"apprise", `{"message": "a", "type": "info", "attachments": [{"base64": ""}]}`, "a"},
		{"apprise", `{"message": 7, "title": null}`, "7"},
		{"apprise", ``, ": must be one JSON object"},
		{"other", `{}`, `the format "other" is not known`},
	} {
		result, err := webhook.Read(tt.format, []byte(tt.body), never)
		if got := result.Fields["message"]; got != tt.want && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s %s: %q, %v; want %q", tt.format, tt.body, got, err, tt.want)
		}
		if wrong, ok := errors.AsType[*webhook.BodyError](err); ok && wrong.Detail == "" {
			t.Errorf("%s %s: %v has no detail", tt.format, tt.body, err)
		}
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
	for _, tt := range []struct{ media, body, want string }{ // want is the object, or the error
		{"", `{"a": 1}`, `{"a": 1}`},
		{form, "\uFEFF {\"a\": 1}\n", `{"a": 1}`},
		{"application/json", `{"a": 1} 2`, "data after the object"},
		{"", `{"a": 1, "a": 2}`, "duplicate object member name"},
		{"", `{"a": `, "unexpected EOF"},
		{"", `[{"a": 1}]`, ": must be one JSON object"},
		{"", "", ": must not be empty"},
		{"", " \n", ": must not be empty"},
		{form, "message=a+b&type=info&message=c", `{"message":"a b","type":"info"}`},
		{form, "message=%ff&%ff=1", `{"message":"\ufffd","\ufffd":"1"}`},
		{form, "Dinner is ready", `{"message":"Dinner is ready"}`},
		{form, "a=%zz", ": must be a form or JSON"},
		{"text/plain", "a=b", `{"message":"a=b"}`},
		{"", "\xff", `{"message":"\ufffd"}`},
		{parts, part("message", "x") + part("type", "y") + "--x--\r\n", `{"message":"x","type":"y"}`},
		{parts, part("data", ` {"heartbeat": null} `) + "--x--\r\n", `{"heartbeat": null}`},
		{parts, part("data", `{"heartbeat": null`) + "--x--\r\n", "unexpected EOF"},
		{parts, part("data", "x") + "--x--\r\n", `{"data":"x"}`},
		{parts, "--x\r\nContent-", ": must be a multipart form"},
		{"multipart/form-data", "x", ": must be a multipart form"},
	} {
		object, err := webhook.Object(tt.media, []byte(tt.body))
		if err != nil {
			if _, ok := errors.AsType[*webhook.BodyError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s %q: error %v, want %q", tt.media, tt.body, err, tt.want)
			}
			continue
		}
		var got, want map[string]any
		check.NoError(t, json.Unmarshal(object, &got))
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s %q: %s, want %s", tt.media, tt.body, object, tt.want)
		}
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
			if n := utf8.RuneCountInString(message); n > webhook.MaxOutput || !utf8.ValidString(message) ||
				n == 0 && result.Repeated == 0 {
				t.Fatalf("%s: a message of %d characters: %q", format, n, message)
			}
			if p := result.Fields["priority"]; message != "" && p != "3" && p != "4" && p != "5" {
				t.Fatalf("%s: priority %q", format, p)
			}
		}
	})
}
