package draft

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pressbox/voice/announce"
	"pressbox/voice/control/boolean"
)

// message is the name of the only field that is required.
const message = "message"

// noChime is the chime of an announcement without one.
const noChime = "none"

// Codes of violations, in addition to those of [announce.Violation].
const (
	codeWrongType    = "wrong_type"
	codeUnknownField = "unknown_field"
	codeGivenTwice   = "given_twice"
	codeInvalid      = "invalid"
)

// fieldIn returns the field of a struct with a name in JSON; ok is false if there is none.
func fieldIn(of reflect.Value, name string) (f reflect.Value, ok bool) {
	field, ok := announce.FieldOf(of.Type(), name)
	if !ok {
		return reflect.Value{}, false
	}
	return of.FieldByIndex(field.Index), true
}

// set sets a field, or adds a violation at path.
func (d *Draft) set(f reflect.Value, path string, v value) {
	switch f := f.Addr().Interface().(type) {
	case *string:
		if on, ok := v.truth(); ok && !on && path == "chime" { // YAML's off is false
			*f = noChime
			return
		}
		if v.kind != '"' {
			d.wrongType(path, "text", v)
			return
		}
		*f = v.text
	case *int:
		n, ok := v.whole()
		if !ok {
			d.wrongType(path, "a whole number", v)
			return
		}
		*f = n
	case *bool:
		b, ok := v.truth()
		if !ok {
			d.wrongType(path, "true or false", v)
			return
		}
		*f = b
		if path == "urgent" {
			d.urgent = &b
		}
	case *time.Time:
		d.setTime(f, path, v)
	case *announce.RoomList:
		d.setRooms(f, path, v)
	case **announce.Repetition:
		d.setRepeat(f, path, v)
	}
}

func (d *Draft) setTime(at *time.Time, path string, v value) {
	if v.kind != '"' {
		d.wrongType(path, "text", v)
		return
	}
	if err := at.UnmarshalText([]byte(v.text)); err != nil || at.Before(time.Unix(0, 0)) {
		*at = time.Time{}
		d.Refuse(path, codeInvalid, "must be a date and time of RFC 3339, such as 2026-11-22T18:30:00+01:00")
	}
}

// setRooms sets the rooms from a list of names, or from text.
func (d *Draft) setRooms(rooms *announce.RoomList, path string, v value) {
	const most = 50
	var names announce.RoomList
	switch {
	case v.kind == '"':
		names = announce.ParseRooms(v.text)
	case v.kind != '[' || json.Unmarshal([]byte(v.text), &names) != nil:
		d.wrongType(path, "a name or a list of names", v)
		return
	}
	if len(names) == 0 || len(names) > most {
		d.Refuse(path, announce.CodeOutOfRange, "must be 1 to "+strconv.Itoa(most)+" names of rooms")
		return
	}
	*rooms = names
}

// setRepeat sets a repetition from an object, or from text that is one. All its fields are required.
func (d *Draft) setRepeat(repeat **announce.Repetition, path string, v value) {
	offset := v.position
	if v.kind == '"' {
		v.kind, offset = jsontext.Value(v.text).Kind(), unknownPosition
	}
	members, err := membersOf([]byte(v.text))
	if v.kind != '{' || err != nil {
		d.wrongType(path, "an object with times and every", v)
		return
	}
	before := len(d.violations)
	one := &announce.Repetition{}
	given := map[string]bool{}
	for _, m := range members {
		at := path + "/" + escaped(m.name)
		if offset != unknownPosition {
			d.locate(at, offset+m.position)
		}
		f, ok := fieldIn(reflect.ValueOf(one).Elem(), m.name)
		if !ok {
			d.Refuse(at, codeUnknownField, "unknown field")
			continue
		}
		d.set(f, at, m.value)
		given[m.name] = true
	}
	for _, f := range announce.Fields(reflect.TypeFor[announce.Repetition]()) {
		if !given[f.Name] {
			d.Refuse(path+"/"+f.Name, announce.CodeRequired, "required field is missing")
		}
	}
	if len(d.violations) == before { // else the announcer would add to them
		*repeat = one
	}
}

// A value is the value of a field.
type value struct {
	kind     jsontext.Kind // of text, '"'
	text     string        // without quotes; of an object or array, the JSON
	position int           // as in [Violation]
}

// most bounds numbers, so that seconds are a [time.Duration].
const most = 1_000_000_000

// whole returns a whole number, at most [most] in either direction. 0, which means absent in a request, is
// returned as -1: no field accepts either.
func (v value) whole() (n int, ok bool) {
	digits := v.text
	if v.kind == '"' {
		digits = strings.TrimSpace(digits)
		if digits == "" || strings.Trim(digits, "+-.0123456789eE") != "" {
			return 0, false
		}
	} else if v.kind != '0' {
		return 0, false
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil && !math.IsInf(x, 0) || x != math.Trunc(x) {
		return 0, false
	}
	if n = int(max(-most, min(most, x))); n == 0 {
		n = -1
	}
	return n, true
}

// truth returns a truth value.
func (v value) truth() (b, ok bool) {
	switch v.kind {
	case 't', 'f':
		return v.kind == 't', true
	case '"':
	default:
		return false, false
	}
	return boolean.Parse(v.text)
}

func (d *Draft) wrongType(path, want string, v value) {
	got := shortened(v.text)
	if v.kind == '"' {
		got = strconv.Quote(got)
	}
	d.Refuse(path, codeWrongType, "must be "+want+", not "+got)
}

// shortened returns the beginning of a text.
func shortened(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}
