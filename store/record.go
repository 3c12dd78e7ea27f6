package store

import (
	"encoding/json"
	"fmt"
	"time"

	"pressbox/clock"
	"pressbox/voice/announce"
)

// recordFormat is the first byte of an encoded announcement; JSON follows. JSON
// takes a few microseconds where the sync takes hundreds, and people can read it.
const recordFormat = 1

// A record is a stored announcement. Times are Unix nanoseconds, 0 means none.
type record struct {
	ID      string          `json:"id"`
	Seq     uint64          `json:"seq"`
	Message string          `json:"message"`
	Voice   string          `json:"voice"`
	Rate    int             `json:"rate"`
	Urgent  bool            `json:"urgent,omitempty"`
	Created int64           `json:"created"`
	Expires int64           `json:"expires"`
	Status  announce.Status `json:"status"`
	Error   string          `json:"error,omitempty"`
	Place   int             `json:"place,omitempty"`
	Started int64           `json:"started,omitempty"`
	Ended   int64           `json:"ended,omitempty"`

	// The instant of its end if it has ended, else of its creation.
	Boot string        `json:"boot"`
	Up   time.Duration `json:"up"`
}

// encode returns the stored form of n at the moment now.
func encode(n announce.Announcement, now clock.Moment) ([]byte, error) {
	since := n.Created
	if n.Status.Ended() {
		since = n.Ended
	}
	then := now.Add(-now.Wall.Sub(since))
	data, err := json.Marshal(record{
		ID: n.ID, Seq: n.Seq, Message: n.Message, Voice: n.Voice, Rate: n.Rate, Urgent: n.Urgent,
		Created: unixNano(n.Created), Expires: unixNano(n.Expires), Status: n.Status, Error: n.Error,
		Place: n.InitialPosition, Started: unixNano(n.Started), Ended: unixNano(n.Ended),
		Boot: then.Boot, Up: then.Since,
	})
	if err != nil {
		return nil, fmt.Errorf("encode announcement %s: %w", n.ID, err)
	}
	return append([]byte{recordFormat}, data...), nil
}

// decode returns an announcement and the moment of its end if it has ended, else
// of its creation.
func decode(data []byte) (announce.Announcement, clock.Moment, error) {
	if len(data) == 0 || data[0] != recordFormat {
		return announce.Announcement{}, clock.Moment{}, fmt.Errorf("%w: an announcement has an unknown format", ErrCorrupt)
	}
	var r record
	if err := json.Unmarshal(data[1:], &r); err != nil {
		return announce.Announcement{}, clock.Moment{}, fmt.Errorf("%w: decode an announcement: %w", ErrCorrupt, err)
	}
	n := announce.Announcement{
		ID: r.ID, Seq: r.Seq, Message: r.Message, Voice: r.Voice, Rate: r.Rate, Urgent: r.Urgent,
		Created: fromUnixNano(r.Created), Expires: fromUnixNano(r.Expires), Status: r.Status, Error: r.Error,
		InitialPosition: r.Place, Started: fromUnixNano(r.Started), Ended: fromUnixNano(r.Ended),
	}
	then := clock.Moment{Wall: n.Created, Instant: clock.Instant{Boot: r.Boot, Since: r.Up}}
	if n.Status.Ended() {
		then.Wall = n.Ended
	}
	return n, then, nil
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
