package announce

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Content is what an announcement says, and how: the fields that are the same wherever an announcement is
// requested, queued, stored, sent to another room, repeated, scheduled or kept as a favorite. All of these
// embed it, so that a new field is one line here. The JSON is that of the API, of stored announcements and of
// messages between rooms; the comments and limits are those of the API's documents. A zero value means the
// default.
//
// Tags: help is for the command line, with what a value is or counts in quotes; example is a valid value. A
// number with a minimum and a maximum, and text with an enum, are checked by [Request.Check].
type Content struct {
	// Spoken before the message, as a sentence: at most 250 characters after trimming.
	Title string `json:"title,omitempty" example:"Kitchen" help:"'title' that is spoken before the text"`

	// Text to speak: 1 to 5,000 characters after trimming, at least one of them speakable, and with the title
	// at most 10 minutes of speech. Markdown, currency, units, times, dates and URLs are expanded to words. Where there
	// is a sound, it may be absent.
	Message string `json:"message" example:"Dinner is ready."`

	// Name of a sound in GET /sounds that is played after the chime, before the message.
	Sound string `json:"sound,omitempty" example:"ding" help:"'name' of a sound before the text"`

	// Name of a voice in GET /voices; default: the default voice.
	Voice string `json:"voice,omitempty" help:"'name' of an installed voice"`

	// Words of prose per minute; default DEFAULT_RATE. Numbers are spoken at the same speed, so at fewer words.
	Rate int `json:"rate,omitempty" minimum:"60" maximum:"400" example:"170" help:"'words per minute'"`

	// Speak it at once, at 1.5 times the volume of others, also while muted or quiet. One that is being spoken
	// and not urgent is interrupted, and goes on afterwards from its interrupted sentence. Takes precedence
	// over priority.
	Urgent bool `json:"urgent,omitempty" default:"false" example:"true" help:"play it before others, and louder"`

	// 5: urgent. 3 and 4: usual. 2: without a chime, and only when no other announcement waits. 1: listed, not
	// spoken (ends as silenced).
	Priority int `json:"priority,omitempty" minimum:"1" maximum:"5" default:"3" example:"3" help:"5: urgent, 1: silent"`

	// Volume of this announcement in percent; default: the volume of all announcements.
	Volume int `json:"volume,omitempty" minimum:"1" maximum:"100" example:"50" help:"'percent' of the full volume"`

	// Name of a sound in GET /sounds that is played first, or none; default CHIME, of urgent ones CHIME_URGENT.
	Chime string `json:"chime,omitempty" example:"ding" help:"'name' of the sound that announces it, or none"`
}

// A Payload is what clients send of an announcement that is not bound to one time: the JSON of schedules and
// favorites.
type Payload struct {
	Content

	// Seconds after which the announcement expires if it has not been spoken, from its time or its acceptance;
	// default NOTIFY_TTL.
	TTL int `json:"ttl,omitempty" minimum:"5" maximum:"86400" example:"600" help:"'seconds' after which it expires"`

	// Repeat it until a client acknowledges it.
	Repeat *Repetition `json:"repeat,omitempty" example:"{\"times\": 3, \"every\": 60}"`

	// Names of rooms in GET /rooms, or all; default: this room. In text, names are separated by commas or spaces.
	Room RoomList `json:"room,omitempty" minItems:"1" maxItems:"50" example:"all" help:"'names' of rooms, or all"`
}

// A Repetition asks for repetitions until the announcement is acknowledged.
type Repetition struct {
	// How often it is spoken.
	Times int `json:"times" required:"true" minimum:"2" maximum:"10" help:"'times' it is spoken, if not acknowledged"`

	// Seconds from the end of one repetition to the next. ttl counts from there.
	Every int `json:"every" required:"true" minimum:"10" maximum:"3600" help:"'seconds' between repetitions"`
}

// An AnnouncementRequest asks for an announcement. Numbers and truth values may also be text, such as "170" and
// "true". In a form, repeat is JSON.
//
//	{"message": "Dinner is ready."}
//
// Or:
//
//	{"title": "Laundry", "message": "The washer is done.", "in": 3600, "chime": "ding"}
type AnnouncementRequest struct {
	Payload

	// Time at which it is spoken, at most 366 days ahead. A time in the past is accepted if it is not longer
	// ago than ttl.
	At time.Time `json:"at,omitzero" help:"'time' at which it is spoken, as 2026-11-22T18:30:00+01:00"`

	// Seconds until it is spoken, instead of at.
	In int `json:"in,omitempty" minimum:"1" maximum:"31622400" example:"600" help:"'seconds' until it is spoken"`
}

// A RoomList is names of rooms. In JSON it is a list, or one name; none means this room.
type RoomList []string

// JSONSchemaBytes returns the schema of a name or a list of names.
func (RoomList) JSONSchemaBytes() ([]byte, error) {
	return []byte(`{"type": ["string", "array"], "items": {"type": "string"}}`), nil
}

// UnmarshalJSON accepts a name or a list of names.
func (r *RoomList) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*r = RoomList{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(r))
}

// ParseRooms returns the names in a text, which are separated by commas or spaces.
func ParseRooms(text string) RoomList {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || unicode.IsSpace(c) })
}

// Equal reports whether both payloads have the same fields.
func (p Payload) Equal(other Payload) bool { return reflect.DeepEqual(p, other) }

// Request returns the request for the announcement.
func (p Payload) Request() Request {
	r := Request{Content: p.Content, TTL: seconds(p.TTL), Rooms: p.Room}
	if p.Repeat != nil {
		r.Repeat = Repeat{Times: p.Repeat.Times, Every: seconds(p.Repeat.Every)}
	}
	return r
}

// Request returns the request for the announcement.
func (a AnnouncementRequest) Request() Request {
	r := a.Payload.Request()
	r.At, r.In = a.At, seconds(a.In)
	return r
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// A Field is a member of the JSON of an announcement or a repetition.
type Field struct {
	Name string
	reflect.StructField
}

// Fields returns the members of a struct of this file, such as an [AnnouncementRequest], with those that it
// embeds, in order.
func Fields(of reflect.Type) (all []Field) {
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			all = append(all, Field{name, f})
		}
	}
	return all
}

// Range returns the least and the greatest number of a field; ok is false if it has no limits.
func (f Field) Range() (least, most int, ok bool) {
	least, errLeast := strconv.Atoi(f.Tag.Get("minimum"))
	most, errMost := strconv.Atoi(f.Tag.Get("maximum"))
	return least, most, errLeast == nil && errMost == nil
}

// Unit returns what a number counts, such as seconds; "" means nothing.
func (f Field) Unit() string {
	_, after, _ := strings.Cut(f.Tag.Get("help"), "'")
	unit, _, _ := strings.Cut(after, "'")
	return unit
}

// Enum returns the texts that a field may have; none means any.
func (f Field) Enum() []string {
	return strings.FieldsFunc(f.Tag.Get("enum"), func(c rune) bool { return c == ',' })
}

// FieldOf returns the member of a struct with a name; ok is false if there is none. See [Fields].
func FieldOf(of reflect.Type, name string) (f Field, ok bool) {
	all := Fields(of)
	if i := slices.IndexFunc(all, func(f Field) bool { return f.Name == name }); i >= 0 {
		return all[i], true
	}
	return Field{}, false
}

// fieldAt returns the member of an announcement's JSON at a path, such as "repeat/times".
func fieldAt(path string) Field {
	of := reflect.TypeFor[AnnouncementRequest]()
	name, nested := strings.CutPrefix(path, "repeat/")
	if nested {
		of = reflect.TypeFor[Repetition]()
	}
	f, _ := FieldOf(of, name)
	return f
}
