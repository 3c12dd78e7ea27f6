// Package draft reads announcements in the forms in which clients send them: JSON, forms, plain text, and the
// parameters of an address.
//
// One law: every form is read into the same [Draft], by the same table of fields. What was accepted in one form
// would be accepted in every other.
package draft

import (
	"context"
	"reflect"
	"slices"

	"pressbox/voice/announce"
)

// A Draft is an announcement as a client sent it, which may have violations. The zero Draft is empty and
// usable.
type Draft struct {
	// Request has the values of the fields that are valid. It may be changed.
	Request announce.AnnouncementRequest
	// Warnings has the names of the fields that are unknown and were ignored, sorted; after Announce also those of the
	// announcer.
	Warnings []string

	urgent     *bool          // as given; it takes precedence over the priority
	where      map[string]int // positions of the given fields, by path; see [Violation]
	violations []announce.Violation
}

// An Announcer accepts announcements; [*announcer.Announcer] does.
type Announcer interface {
	Announce(ctx context.Context, r announce.Request) (announce.View, error)
	Check(r announce.Request) (announce.Announcement, error)
	Warnings(v announce.View) []string
}

// Announce accepts the announcement of the draft, by a sender and under an idempotency key: those of by, of which
// Stored, ID and Recording count too, and the other fields are ignored. If the draft or the announcement has
// violations, the error is an
// [*Error] with all of them; otherwise it is that of [announcer.Announcer.Announce].
func (d *Draft) Announce(ctx context.Context, a Announcer, by announce.Request) (announce.View, error) {
	r := d.request(by)
	if len(d.violations) > 0 {
		_, err := a.Check(r)
		return announce.View{}, d.refused(err)
	}
	view, err := a.Announce(ctx, r)
	if err != nil {
		return announce.View{}, d.refused(err)
	}
	d.Warnings = append(d.Warnings, a.Warnings(view)...)
	return view, nil
}

// request returns the request of the draft with the sender and the key of by, and whether it was stored.
func (d *Draft) request(by announce.Request) announce.Request {
	r := d.Request.Request()
	r.Sender, r.Limited, r.IdempotencyKey, r.Stored = by.Sender, by.Limited, by.IdempotencyKey, by.Stored
	r.ID, r.Recording = by.ID, by.Recording
	if d.urgent != nil {
		r.Urgent = *d.urgent
		if !r.Urgent {
			r.Priority = min(r.Priority, notUrgent)
		}
	}
	return r
}

// Priorities of announcements.
const (
	urgent    = 5
	notUrgent = urgent - 1 // the highest that is not urgent
)

// Prioritize sets a priority of 1 to 5 by a sender for whom urgent begins at from (the setting NTFY_URGENT);
// from 0 means never.
func (d *Draft) Prioritize(priority, from int) {
	d.Request.Priority = min(priority, notUrgent)
	if from > 0 && priority >= from {
		d.Request.Priority = urgent
	}
}

// Default sets the fields that were not given to those of a payload.
func (d *Draft) Default(p announce.Payload) {
	to, from := reflect.ValueOf(&d.Request.Payload).Elem(), reflect.ValueOf(p)
	for _, f := range announce.Fields(from.Type()) {
		if !d.Given(f.Name) {
			to.FieldByIndex(f.Index).Set(from.FieldByIndex(f.Index))
		}
	}
}

// Set sets a field from text. An unknown one is added to the warnings. Text for a field that is not text may
// have its value in words (true, yes, on) and digits, and is ignored if it is empty.
func (d *Draft) Set(name, text string) {
	f, ok := d.field(name)
	switch {
	case !ok:
		d.Warn(name)
	case d.Given(name):
		d.Refuse(name, codeGivenTwice, "must be given once")
	default:
		d.locate(name, unknownPosition)
		if text != "" || name == message {
			d.set(f, name, value{kind: '"', text: text})
		}
	}
}

// field returns the field of the request with a name; ok is false if there is none.
func (d *Draft) field(name string) (f reflect.Value, ok bool) {
	return fieldIn(reflect.ValueOf(&d.Request).Elem(), name)
}

// Given reports whether the draft has a field, valid or not.
func (d *Draft) Given(name string) bool {
	_, ok := d.where[name]
	return ok
}

// Warn adds the name of an unknown field to the warnings, if it has less than 20.
func (d *Draft) Warn(name string) {
	const longest, most = 64, 20
	if r := []rune(name); len(r) > longest {
		name = string(r[:longest])
	}
	if at, known := slices.BinarySearch(d.Warnings, name); !known && len(d.Warnings) < most {
		d.Warnings = slices.Insert(d.Warnings, at, name)
	}
}

// Refuse adds a violation of the field at a path.
func (d *Draft) Refuse(path, code, detail string) {
	d.violations = append(d.violations, announce.Violation{Path: path, Code: code, Detail: detail})
}
