// Package webhook turns the bodies that other programs post to a webhook into
// announcements: with a reader for each of the known formats, or with a template
// of the operator.
//
// One law: whatever a body or a template contains, a result is at most
// [MaxOutput] characters, and is computed in bounded time and memory.
package webhook

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxBody is the size limit of bodies, in bytes.
const MaxBody = 1 << 20

// A Result is what the body of a webhook asks for.
type Result struct {
	// Fields are the fields of an announcement, as in a form that POST /notify
	// accepts. Without any, nothing is announced.
	Fields   map[string]string
	Repeated int      // alerts that are left out, because they were announced before
	Unknown  []string // members of the body that its format does not have, sorted
}

// A Known reports whether an event was announced before. An event is one change
// of the state of one alert.
type Known func(event string) bool

// Formats returns the names of the webhooks whose format is known, sorted.
func Formats() []string { return []string{"alertmanager", "apprise", "grafana", "uptime-kuma"} }

var nameForm = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// ValidName reports whether a webhook may have the name: 1 to 64 of a–z, 0–9
// and the hyphen.
func ValidName(name string) bool { return nameForm.MatchString(name) }

// Read returns what a body of one of the [Formats] asks for. The body is one JSON
// object. An error about it is a [*BodyError].
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

// A BodyError reports a body that does not have the format of its webhook.
type BodyError struct {
	Path   string // JSON pointer to what is wrong; "" is the body itself
	Detail string // what would be right
	Err    error  // of the JSON decoder; nil otherwise
}

func (e *BodyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Path, e.Detail, e.Err)
	}
	return e.Path + ": " + e.Detail
}

func (e *BodyError) Unwrap() error { return e.Err }

// decode decodes a body into v.
func decode(body []byte, v any, options ...json.Options) error {
	if jsontext.Value(body).Kind() != '{' {
		return &BodyError{Detail: "must be a JSON object"}
	}
	err := json.Unmarshal(body, v, options...)
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		return &BodyError{Path: string(wrong.JSONPointer), Detail: "must be " + kindName(wrong.GoType), Err: err}
	}
	if err != nil {
		return &BodyError{Detail: "must be a JSON object", Err: err}
	}
	return nil
}

// kindName returns what JSON has for values of a type.
func kindName(t reflect.Type) string {
	if t == nil {
		return "valid"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}

// plain decodes a body into maps, lists, strings, booleans and numbers: int64 for
// whole ones, otherwise float64. Members that are null are left out, so that they
// are as missing ones.
func plain(body []byte) (map[string]any, error) {
	var tree map[string]any
	if err := decode(body, &tree, json.WithUnmarshalers(json.UnmarshalFromFunc(readNumber))); err != nil {
		return nil, err
	}
	dropNull(tree)
	return tree, nil
}

func readNumber(in *jsontext.Decoder, v *any) error {
	if in.PeekKind() != '0' {
		return json.SkipFunc
	}
	text, err := in.ReadValue()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*v = n
		return nil
	}
	n, err := strconv.ParseFloat(string(text), 64)
	*v = n
	return err
}

func dropNull(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
			}
			dropNull(member)
		}
	case []any:
		for _, element := range v {
			dropNull(element)
		}
	}
}

// readApprise reads what the plug-ins json:// and form:// of Apprise send: title,
// message, and the fields of an announcement that the user added.
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

// readFields returns the members of a JSON object as the fields of a form: strings
// as they are, other values in JSON, without those that are null.
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

// unknownNames returns the names of members, sorted, without those that a format
// has.
func unknownNames(members map[string]jsontext.Value, unused ...string) []string {
	names := slices.Sorted(maps.Keys(members))
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(unused, name) })
}
