package control

import (
	"encoding/json"
	"reflect"
	"time"

	"pressbox/voice/announce"
)

// A Content holds the fields of an announcement that schedules and favorites
// have, as clients send them and as they are stored.
type Content struct {
	Title    string  `json:"title,omitempty"`
	Message  string  `json:"message" required:"true"`
	Voice    string  `json:"voice,omitempty"`
	Rate     int     `json:"rate,omitempty" minimum:"60" maximum:"400"` // words per minute
	Urgent   bool    `json:"urgent,omitempty"`
	Priority int     `json:"priority,omitempty" minimum:"1" maximum:"5"`
	Volume   int     `json:"volume,omitempty" minimum:"1" maximum:"100"` // percent
	Chime    string  `json:"chime,omitempty" enum:"none,ding,ding-dong,alert"`
	TTL      int     `json:"ttl,omitempty" minimum:"5" maximum:"86400"` // seconds
	Repeat   *Repeat `json:"repeat,omitempty"`
	Room     Rooms   `json:"room,omitempty" type:"string,array" minItems:"1" maxItems:"50"`
}

// Rooms are names of rooms. In JSON they are a list, or one name; none means this room.
type Rooms []string

// UnmarshalJSON accepts a name or a list of names.
func (r *Rooms) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*r = Rooms{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(r))
}

// A Repeat asks for repetitions until the announcement is acknowledged.
type Repeat struct {
	Times int `json:"times" required:"true" minimum:"2" maximum:"10"`
	Every int `json:"every" required:"true" minimum:"10" maximum:"3600"` // seconds
}

// Equal reports whether both contents have the same fields.
func (c Content) Equal(other Content) bool { return reflect.DeepEqual(c, other) }

// Request returns the request for the announcement.
func (c Content) Request() announce.Request {
	r := announce.Request{
		Title: c.Title, Message: c.Message, Voice: c.Voice, Rate: c.Rate, Urgent: c.Urgent, Priority: c.Priority,
		Volume: c.Volume, Chime: c.Chime, TTL: time.Duration(c.TTL) * time.Second, Rooms: c.Room,
	}
	if c.Repeat != nil {
		r.Repeat = announce.Repeat{Times: c.Repeat.Times, Every: time.Duration(c.Repeat.Every) * time.Second}
	}
	return r
}
