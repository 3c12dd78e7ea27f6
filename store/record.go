package store

import (
	"encoding/json"
	"fmt"
	"time"

	"pressbox/store/clock"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
)

// recordFormat is the first byte of an encoded announcement; JSON follows. JSON
// takes a few microseconds where the sync takes hundreds, and people can read it.
const recordFormat = 1

// A record is a stored announcement. Times are Unix nanoseconds, 0 means none;
// durations are nanoseconds.
type record struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`
	announce.Content
	Created  int64           `json:"created"`
	TTL      time.Duration   `json:"ttl,omitempty"`
	Expires  int64           `json:"expires"`
	At       int64           `json:"at,omitempty"`
	Fixed    bool            `json:"fixed,omitempty"`
	Repeat   *repeatRecord   `json:"repeat,omitempty"`
	Sender   *senderRecord   `json:"sender,omitempty"`
	Rooms    *roomsRecord    `json:"rooms,omitempty"`
	Recorded time.Duration   `json:"recorded,omitempty"` // length of its recording
	Status   announce.Status `json:"status"`
	Quiet    bool            `json:"quiet,omitempty"`
	Reason   policy.Cause    `json:"reason,omitempty"`
	Sentence int             `json:"sentence,omitempty"`
	Error    string          `json:"error,omitempty"`
	Place    int             `json:"place,omitempty"`
	Started  int64           `json:"started,omitempty"`
	Ended    int64           `json:"ended,omitempty"`

	// The instant of its end if it has ended, of its last change if Changed is
	// that time, otherwise of its creation.
	Boot    string        `json:"boot"`
	Up      time.Duration `json:"up"`
	Changed int64         `json:"changed,omitempty"`
}

type repeatRecord struct {
	Times        int           `json:"times"`
	Every        time.Duration `json:"every"`
	Spoken       int           `json:"spoken,omitempty"`
	Acknowledged bool          `json:"acknowledged,omitempty"`
}

type senderRecord struct {
	Kind announce.SenderKind `json:"kind"`
	Name string              `json:"name,omitempty"`

	Client string `json:"client,omitempty"`
	Topic  string `json:"topic,omitempty"`

	Sequence string `json:"sequence,omitempty"`
}

type roomsRecord struct {
	From      string                        `json:"from,omitempty"`
	Only      bool                          `json:"only,omitempty"`
	Voice     string                        `json:"voice,omitempty"`
	Rate      int                           `json:"rate,omitempty"`
	Cancelled bool                          `json:"cancelled,omitempty"`
	States    map[string]announce.RoomState `json:"states,omitempty"`
}

// newRecord returns the record of n without its instant.
func newRecord(n announce.Announcement) record {
	r := record{
		ID: n.ID, Seq: n.Seq, Content: n.Content,
		Created: unixNano(n.Created), TTL: n.TTL, Expires: unixNano(n.Expires), At: unixNano(n.At), Fixed: n.FixedTime,
		Recorded: n.Recording, Status: n.Status, Quiet: n.Quiet, Reason: n.Reason, Sentence: n.Sentence,
		Error: n.Error, Place: n.InitialPosition,
		Started: unixNano(n.Started), Ended: unixNano(n.Ended),
	}
	if n.Repeat.Times > 0 {
		r.Repeat = &repeatRecord{n.Repeat.Times, n.Repeat.Every, n.Spoken, n.Acknowledged}
	}
	if n.Sender != (announce.Sender{}) {
		sender := senderRecord(n.Sender)
		r.Sender = &sender
	}
	if o := n.Rooms; o != (announce.Rooms{}) {
		r.Rooms = &roomsRecord{o.From, o.Only, o.Voice, o.Rate, o.Cancelled, o.States()}
	}
	return r
}

// encode returns the stored form of n at the moment now.
func encode(n announce.Announcement, now clock.Moment) ([]byte, error) {
	since := n.Created
	if n.Status.Ended() {
		since = n.Ended
	}
	then := now.Add(-now.Wall.Sub(since))
	r := newRecord(n)
	r.Boot, r.Up = then.Boot, then.Since
	return r.encode()
}

// encodeChanged returns the stored form of n, which was changed now and has not
// ended. The time until At and Expires counts from now, and not from the creation,
// since which the wall clock may have been set.
func encodeChanged(n announce.Announcement, now clock.Moment) ([]byte, error) {
	r := newRecord(n)
	r.Boot, r.Up, r.Changed = now.Boot, now.Since, unixNano(now.Wall)
	r.Expires, r.At = shownBy(n.Expires, now.Wall), shownBy(n.At, now.Wall)
	return r.encode()
}

// shownBy returns t by the wall clock that shows now: a time with a monotonic
// reading may come from before the clock was set.
func shownBy(t, now time.Time) int64 {
	if t != t.Round(0) {
		t = now.Add(t.Sub(now))
	}
	return unixNano(t)
}

func (r record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode announcement %s: %w", r.ID, err)
	}
	return append([]byte{recordFormat}, data...), nil
}

// decode returns an announcement and the moment of its end if it has ended, else
// of its last change or its creation.
func decode(data []byte) (announce.Announcement, clock.Moment, error) {
	if len(data) == 0 || data[0] != recordFormat {
		err := fmt.Errorf("%w: an announcement has an unknown format", ErrCorrupt)
		return announce.Announcement{}, clock.Moment{}, err
	}
	var r record
	if err := json.Unmarshal(data[1:], &r); err != nil {
		return announce.Announcement{}, clock.Moment{}, fmt.Errorf("%w: decode an announcement: %w", ErrCorrupt, err)
	}
	n := r.announcement()
	then := clock.Moment{Wall: n.Created, Instant: clock.Instant{Boot: r.Boot, Since: r.Up}}
	switch {
	case n.Status.Ended():
		then.Wall = n.Ended
	case r.Changed != 0:
		then.Wall = fromUnixNano(r.Changed)
	}
	return n, then, nil
}

func (r record) announcement() announce.Announcement {
	n := announce.Announcement{
		ID: r.ID, Seq: r.Seq, Content: r.Content,
		Created: fromUnixNano(r.Created), TTL: r.TTL, Expires: fromUnixNano(r.Expires),
		At: fromUnixNano(r.At), FixedTime: r.Fixed,
		Recording: r.Recorded, Status: r.Status, Quiet: r.Quiet, Reason: r.Reason, Sentence: r.Sentence,
		Error: r.Error, InitialPosition: r.Place,
		Started: fromUnixNano(r.Started), Ended: fromUnixNano(r.Ended),
	}
	if r.Repeat != nil && r.Repeat.Times > 0 {
		n.Repeat = announce.Repeat{Times: r.Repeat.Times, Every: r.Repeat.Every}
		n.Spoken, n.Acknowledged = r.Repeat.Spoken, r.Repeat.Acknowledged
	}
	if r.Sender != nil {
		n.Sender = announce.Sender(*r.Sender)
	}
	if o := r.Rooms; o != nil {
		n.Rooms = announce.Rooms{
			From: o.From, Only: o.Only, Voice: o.Voice, Rate: o.Rate, Cancelled: o.Cancelled,
		}.With(o.States)
	}
	return n
}

func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromUnixNano(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}
