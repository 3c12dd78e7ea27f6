package draft

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"pressbox/voice/announce"
)

// A Violation is an error in a field.
type Violation struct {
	announce.Violation
	// Position is the byte of the JSON body at which the field's value begins, from 0;
	// -1 in other forms, and of a field that is missing.
	Position int
}

// unknownPosition is the position of what is in no JSON body.
const unknownPosition = -1

// An Error reports why an announcement is refused.
type Error struct {
	// Code and Reason are set, for programs and people, if the body has no valid form. Otherwise the error is
	// about fields.
	Code       string
	Reason     string
	Position   int // byte of the body at which it was found, from 0; -1 if unknown
	Violations []Violation
	Example    string // a JSON body that would be accepted
	cause      error  // may be nil
}

func (e *Error) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	details := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		details[i] = v.Path + ": " + v.Detail
	}
	return strings.Join(details, "; ")
}

// Unwrap returns the error of the announcer or of the JSON decoder, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// refused returns err, or, if it or the draft has violations, an [*Error] with those of both. Fields in which
// the draft has one already have no other.
func (d *Draft) refused(err error) error {
	request, ok := errors.AsType[*announce.RequestError](err)
	if !ok && len(d.violations) == 0 {
		return err
	}
	all := slices.Clone(d.violations)
	if ok {
		for _, v := range request.Violations {
			if !slices.ContainsFunc(all, func(known announce.Violation) bool { return known.Path == v.Path }) {
				all = append(all, v)
			}
		}
	}
	refusal := &Error{Position: unknownPosition, Example: exampleOf(all), cause: err}
	for _, v := range all {
		refusal.Violations = append(refusal.Violations, Violation{v, d.position(v.Path)})
	}
	return refusal
}

// locate stores the position of the value at a path.
func (d *Draft) locate(path string, position int) {
	if d.where == nil {
		d.where = map[string]int{}
	}
	d.where[path] = position
}

// position returns the position of the value at a path.
func (d *Draft) position(path string) int {
	if at, ok := d.where[path]; ok {
		return at
	}
	return unknownPosition
}

// exampleMember returns a member of JSON for a field, with a value which every server accepts; "" if there is none.
func exampleMember(name string) string {
	if name == "at" { // no time is right for ever
		name = "in"
	}
	f, ok := announce.FieldOf(reflect.TypeFor[announce.AnnouncementRequest](), name)
	example := f.Tag.Get("example")
	if !ok || example == "" {
		return ""
	}
	if k := f.Type.Kind(); k == reflect.String || k == reflect.Slice {
		example = strconv.Quote(example)
	}
	return strconv.Quote(name) + ": " + example
}

// exampleOf returns a body with a valid value in each field that has a violation.
func exampleOf(violations []announce.Violation) string {
	members := []string{exampleMember(message)}
	for _, v := range violations {
		name, _, _ := strings.Cut(v.Path, "/")
		if example := exampleMember(name); example != "" && !slices.Contains(members, example) {
			members = append(members, example)
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// NotCreated returns the error of a request that looks like one to create an announcement and is not.
func NotCreated(reason string) error { return malformed("not_created", reason, unknownPosition, nil) }

// malformed returns the error of a body that has no valid form.
func malformed(code, reason string, position int, cause error) error {
	return &Error{Code: code, Reason: reason, Position: position, Example: exampleOf(nil), cause: cause}
}
