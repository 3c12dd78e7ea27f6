package rooms

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"pressbox/voice/announce"
)

// The orders.
const (
	doSay    = "say"
	doCancel = "cancel"
	doAck    = "ack"
)

// An order is a message to a room. Members that it does not have, a later version may.
type order struct {
	Do   string `json:"do"`
	ID   string `json:"id"`
	From string `json:"from"` // the room that orders, and receives the reports

	// Of say only; nil otherwise.
	*announce.Content
	At       time.Time `json:"at,omitzero"`        // time of day
	TTL      int       `json:"ttl,omitempty"`      // seconds, from At or from its delay
	Left     int       `json:"left,omitempty"`     // seconds until it expires, when it was published; 0: only report
	Times    int       `json:"times,omitempty"`    // of its repetitions
	Interval int       `json:"interval,omitempty"` // seconds between them
}

var idPattern = regexp.MustCompile(`^[a-z2-7]{26}$`)

// newOrder returns what is to be published for an announcement now.
func newOrder(ann announce.Announcement, from string, now time.Time) order {
	o := order{Do: orderOf(ann), ID: ann.ID, From: from}
	if o.Do != doSay {
		return o
	}
	content := ann.Content
	content.Voice, content.Rate = ann.Rooms.Voice, ann.Rooms.Rate
	o.Content = &content
	o.TTL, o.Left = seconds(ann.TTL), seconds(max(0, ann.Expires.Sub(now)))
	o.Times, o.Interval = ann.Repeat.Times, seconds(ann.Repeat.Every)
	if ann.FixedTime {
		o.At = ann.At
	}
	return o
}

// seconds returns a duration, rounded up.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// orderOf returns what rooms are to do with an announcement.
func orderOf(ann announce.Announcement) string {
	switch {
	case ann.Status == announce.Cancelled || ann.Rooms.Cancelled:
		return doCancel
	case ann.Acknowledged:
		return doAck
	default:
		return doSay
	}
}

// request returns the request of a say that has the given time left.
func (o order) request(left time.Duration) announce.Request {
	r := announce.Request{
		ID: o.ID, From: o.From, IdempotencyKey: o.ID,
		Content: *cmp.Or(o.Content, &announce.Content{}), At: o.At, TTL: time.Duration(o.TTL) * time.Second,
		Sender: announce.Sender{Kind: announce.FromMQTT, Name: o.From, Client: "room:" + o.From},
	}
	if o.Times > 0 {
		r.Repeat = announce.Repeat{Times: o.Times, Every: time.Duration(o.Interval) * time.Second}
	}
	const least = 5 * time.Second // of a time to live
	if delay := left - r.TTL; o.At.IsZero() && delay >= time.Second {
		r.In = delay
	} else if o.At.IsZero() {
		r.TTL = max(least, min(r.TTL, left))
	}
	return r
}

// maxLeft is the longest time until an announcement expires.
const maxLeft = announce.MaxAhead + 24*time.Hour

func parseOrder(payload []byte) (order, error) {
	var o order
	if err := json.Unmarshal(payload, &o); err != nil {
		return order{}, fmt.Errorf("read an order: %w", err)
	}
	switch {
	case o.Do != doSay && o.Do != doCancel && o.Do != doAck:
		return order{}, fmt.Errorf("order %.20q, expected say, cancel or ack", o.Do)
	case !idPattern.MatchString(o.ID):
		return order{}, fmt.Errorf("id %.40q, expected 26 letters and digits of base32", o.ID)
	case min(o.Left, o.TTL, o.Interval) < 0 || max(o.Left, o.TTL, o.Interval) > seconds(maxLeft):
		return order{}, errors.New("a duration of an order is out of range")
	}
	return o, CheckName(o.From)
}

// A report is a message to the room that ordered an announcement.
type report struct {
	ID           string `json:"id"`
	Room         string `json:"room"`   // that reports
	Status       string `json:"status"` // of the announcement there; "waiting": it could not be accepted now
	Acknowledged bool   `json:"acknowledged,omitempty"`
}

func parseReport(payload []byte) (report, error) {
	var p report
	if err := json.Unmarshal(payload, &p); err != nil {
		return report{}, fmt.Errorf("read a report: %w", err)
	}
	if !idPattern.MatchString(p.ID) {
		return report{}, fmt.Errorf("id %.40q, expected 26 letters and digits of base32", p.ID)
	}
	return p, CheckName(p.Room)
}

// state returns the state of the announcement in the room that reports.
func (p report) state() announce.RoomState {
	switch {
	case announce.Status(p.Status).Ended():
		return announce.RoomState(p.Status)
	case p.Status == string(announce.RoomWaiting):
		return announce.RoomWaiting
	default:
		return announce.RoomSent
	}
}

// presence is the retained status of a room.
type presence struct {
	Host string `json:"host"`
}

// status returns the message that a room is this host; "" deletes the room.
func (r *Rooms) status(room, host string) Message {
	m := Message{Topic: "rooms/" + room + "/status", Retain: true}
	if host != "" {
		m.Payload = encode(presence{host})
	}
	return m
}

// report adds a report to what is published next.
func (r *Rooms) report(to string, p report) {
	p.Room = r.own
	r.mu.Lock()
	defer r.mu.Unlock()
	const most = 1000 // what is dropped, the other room asks for when it connects
	if len(r.outgoing) < most {
		m := Message{Topic: "rooms/" + to + "/report", Payload: encode(p), Expiry: time.Hour}
		r.outgoing = append(r.outgoing, m)
	}
	r.signal()
}

// encode returns v as JSON.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // not for the types of this package
	}
	return data
}

// roomOf returns the middle of a topic of the form rooms/NAME/last.
func roomOf(topic, last string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(topic, "rooms/")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "/"+last)
}
