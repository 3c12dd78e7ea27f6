package draft

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

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

// A field sets a field of d, or adds a violation at path.
type field func(d *Draft, path string, v value)

// fieldOf returns the field of an announcement with a name; nil if there is none.
func fieldOf(name string) field {
	switch name {
	case "title":
		return text(func(d *Draft) *string { return &d.Request.Title })
	case message:
		return text(func(d *Draft) *string { return &d.Request.Message })
	case "voice":
		return text(func(d *Draft) *string { return &d.Request.Voice })
	case "chime":
		return setChime
	case "rate":
		return number(func(d *Draft) *int { return &d.Request.Rate })
	case "priority":
		return number(func(d *Draft) *int { return &d.Request.Priority })
	case "volume":
		return number(func(d *Draft) *int { return &d.Request.Volume })
	case "in":
		return seconds(func(d *Draft) *time.Duration { return &d.Request.In })
	case "ttl":
		return seconds(func(d *Draft) *time.Duration { return &d.Request.TTL })
	case "urgent":
		return setUrgent
	case "at":
		return setAt
	case "repeat":
		return setRepeat
	case "room":
		return setRooms
	}
	return nil
}

// repeatFieldOf returns the field of a repetition with a name; nil if there is none. All
// are required.
func repeatFieldOf(name string) field {
	switch name {
	case "times":
		return number(func(d *Draft) *int { return &d.Request.Repeat.Times })
	case "every":
		return seconds(func(d *Draft) *time.Duration { return &d.Request.Repeat.Every })
	}
	return nil
}

func text(of func(*Draft) *string) field {
	return func(d *Draft, path string, v value) {
		if v.kind == '"' {
			*of(d) = v.text
			return
		}
		d.wrongType(path, "text", v)
	}
}

func number(of func(*Draft) *int) field {
	return func(d *Draft, path string, v value) {
		if n, ok := v.whole(); ok {
			*of(d) = n
			return
		}
		d.wrongType(path, "a whole number", v)
	}
}

func seconds(of func(*Draft) *time.Duration) field {
	return func(d *Draft, path string, v value) {
		var n int
		number(func(*Draft) *int { return &n })(d, path, v)
		*of(d) = time.Duration(n) * time.Second
	}
}

// setChime sets the chime from its name, or from a boolean that is false, which is none: YAML's off is
// one.
func setChime(d *Draft, path string, v value) {
	if on, ok := v.truth(); ok && !on {
		d.Request.Chime = noChime
		return
	}
	text(func(d *Draft) *string { return &d.Request.Chime })(d, path, v)
}

func setUrgent(d *Draft, path string, v value) {
	b, ok := v.truth()
	if !ok {
		d.wrongType(path, "true or false", v)
		return
	}
	d.urgent = &b
}

func setAt(d *Draft, path string, v value) {
	if v.kind != '"' {
		d.wrongType(path, "text", v)
		return
	}
	var at time.Time
	if err := at.UnmarshalText([]byte(v.text)); err != nil || at.Before(time.Unix(0, 0)) {
		d.Refuse(path, codeInvalid, "must be a date and time of RFC 3339, such as 2026-11-22T18:30:00+01:00")
		return
	}
	d.Request.At = at
}

// setRooms sets the rooms from a list of names, or from text: names that are separated by
// commas or spaces.
func setRooms(d *Draft, path string, v value) {
	const most = 50
	var names []string
	switch v.kind {
	case '"':
		names = strings.FieldsFunc(v.text, func(c rune) bool { return c == ',' || unicode.IsSpace(c) })
	case '[':
		if json.Unmarshal([]byte(v.text), &names) != nil {
			d.wrongType(path, "a name or a list of names", v)
			return
		}
	default:
		d.wrongType(path, "a name or a list of names", v)
		return
	}
	if len(names) == 0 || len(names) > most {
		d.Refuse(path, announce.CodeOutOfRange, "must be 1 to "+strconv.Itoa(most)+" names of rooms")
		return
	}
	d.Request.Rooms = names
}

// setRepeat sets a repetition from an object, or from text that is one.
func setRepeat(d *Draft, path string, v value) {
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
	missing := map[string]bool{"times": true, "every": true}
	for _, m := range members {
		at := path + "/" + escaped(m.name)
		if offset != unknownPosition {
			d.locate(at, offset+m.position)
		}
		delete(missing, m.name)
		if f := repeatFieldOf(m.name); f != nil {
			f(d, at, m.value)
			continue
		}
		d.Refuse(at, codeUnknownField, "unknown field")
	}
	for name := range missing {
		d.Refuse(path+"/"+name, announce.CodeRequired, "required field is missing")
	}
	if len(d.violations) > before { // the announcer would add to them
		d.Request.Repeat = announce.Repeat{}
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

// whole returns a whole number, at most [most] in either direction. 0, which means absent
// in a request, is returned as -1: no field accepts either.
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
