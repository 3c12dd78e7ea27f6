// Package webhook turns the bodies that other programs post to a webhook into announcements: with a reader
// for each of the known formats, or with a template of the operator.
//
// One law: whatever a body or a template contains, a result is at most [MaxOutput] characters, and is
// computed in bounded time and memory.
package webhook

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBody is the size limit of bodies, in bytes.
const MaxBody = 1 << 20

// A Result is what the body of a webhook asks for.
type Result struct {
	// Fields are the fields of an announcement, as in a form that POST /notify accepts. Without any, nothing
	// is announced.
	Fields   map[string]string
	Repeated int      // alerts that are left out, because they were announced before
	Unknown  []string // members of the body that its format does not have, sorted
}

// A Known reports whether an event was announced before. An event is one change of the state of one alert.
type Known func(event string) bool

// Formats returns the names of the webhooks whose format is known, sorted.
func Formats() []string { return []string{"alertmanager", "apprise", "grafana", "uptime-kuma"} }

var nameForm = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// ValidName reports whether a webhook may have the name: 1 to 64 of a–z, 0–9 and the hyphen.
func ValidName(name string) bool { return nameForm.MatchString(name) }

// Example returns a body of one of the [Formats] that is announced; "" for another name.
func Example(format string) string {
	switch format {
	case "alertmanager", "grafana":
		return `{"status": "firing", "alerts": [{"annotations": {"summary": "The doorbell rang."}}]}`
	case "apprise":
		return `{"title": "Kitchen", "message": "Dinner is ready."}`
	case "uptime-kuma":
		return `{"msg": "The printer is out of paper."}`
	default:
		return ""
	}
}

// Read returns what a body of one of the [Formats] asks for. The body is one JSON object. An error about it
// is a [*BodyError].
func Read(format string, body []byte, known Known) (Result, error) {
	switch format {
	case "alertmanager", "grafana":
		return readAlerts(body, known)
	case "apprise":
		return readApprise(body)
	case "uptime-kuma":
		return readUptimeKuma(body)
	default:
		return Result{}, fmt.Errorf("the format %q is not known", format)
	}
}

// readApprise reads what the plug-ins json:// and form:// of Apprise send: title, message, and the fields of
// an announcement that the user added.
func readApprise(body []byte) (Result, error) {
	fields, err := readFields(body)
	if err != nil {
		return Result{}, err
	}
	if _, given := fields["priority"]; fields["type"] == "failure" && !given {
		fields["priority"] = important
	}
	for _, name := range []string{"version", "type", "attachments"} {
		delete(fields, name)
	}
	return Result{Fields: fields}, nil
}

// readFields returns the members of a JSON object as the fields of a form: strings as they are, other values
// in JSON, without those that are null.
func readFields(body []byte) (map[string]string, error) {
	var members map[string]jsontext.Value
	if err := decode(body, &members); err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for name, value := range members {
		switch value.Kind() {
		case 'n':
		case '"':
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				return nil, fmt.Errorf("read the member %s: %w", name, err)
			}
			fields[name] = string(text)
		default:
			fields[name] = string(value)
		}
	}
	return fields, nil
}

// Priorities of announcements, as text.
const (
	usual     = "3"
	important = "4"
	critical  = "5" // urgent, unless the setting NTFY_URGENT says otherwise
)

// unknownNames returns the names of members, sorted, without those that a format has.
func unknownNames(members map[string]jsontext.Value, unused ...string) []string {
	names := slices.Sorted(maps.Keys(members))
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(unused, name) })
}
