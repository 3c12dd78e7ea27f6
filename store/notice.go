package store

import (
	"encoding/json"
	"fmt"
	"time"

	"pressbox/clock"
	"pressbox/voice/announce"
)

// noticeFormat is the first byte of an encoded notice; JSON follows. JSON
// costs a few microseconds where the sync costs hundreds, and can be read in
// an emergency.
const noticeFormat = 1

// A notice is how a notice is kept. Times are Unix nanoseconds, 0 means none.
type notice struct {
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

	// When it was created or, once it has ended, when that was.
	Boot string        `json:"boot"`
	Up   time.Duration `json:"up"`
}

// encode returns n as it is kept at the moment now.
func encode(n announce.Announcement, now clock.Moment) ([]byte, error) {
	since := n.Created
	if n.Status.Ended() {
		since = n.Ended
	}
	then := now.Add(-now.Wall.Sub(since))
	data, err := json.Marshal(notice{
		ID: n.ID, Seq: n.Seq, Message: n.Message, Voice: n.Voice, Rate: n.Rate, Urgent: n.Urgent,
		Created: nanos(n.Created), Expires: nanos(n.Expires), Status: n.Status, Error: n.Error,
		Place: n.InitialPosition, Started: nanos(n.Started), Ended: nanos(n.Ended),
		Boot: then.Boot, Up: then.Since,
	})
	if err != nil {
		return nil, fmt.Errorf("encode announcement %s: %w", n.ID, err)
	}
	return append([]byte{noticeFormat}, data...), nil
}

// decode returns a notice and when it was created or, once it has ended, when
// that was.
func decode(data []byte) (announce.Announcement, clock.Moment, error) {
	if len(data) == 0 || data[0] != noticeFormat {
		return announce.Announcement{}, clock.Moment{}, fmt.Errorf("%w: an announcement in an unknown format", ErrCorrupt)
	}
	var k notice
	if err := json.Unmarshal(data[1:], &k); err != nil {
		return announce.Announcement{}, clock.Moment{}, fmt.Errorf("%w: decode an announcement: %w", ErrCorrupt, err)
	}
	n := announce.Announcement{
		ID: k.ID, Seq: k.Seq, Message: k.Message, Voice: k.Voice, Rate: k.Rate, Urgent: k.Urgent,
		Created: moments(k.Created), Expires: moments(k.Expires), Status: k.Status, Error: k.Error,
		InitialPosition: k.Place, Started: moments(k.Started), Ended: moments(k.Ended),
	}
	then := clock.Moment{Wall: n.Created, Instant: clock.Instant{Boot: k.Boot, Since: k.Up}}
	if n.Status.Ended() {
		then.Wall = n.Ended
	}
	return n, then, nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moments(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}
