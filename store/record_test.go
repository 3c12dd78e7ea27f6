package store

import (
	"bytes"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/store/clock"
	"pressbox/voice/announce"
)

// at returns a moment.
func at(wall time.Time, boot string, since time.Duration) clock.Moment {
	return clock.Moment{Wall: wall, Instant: clock.Instant{Boot: boot, Since: since}}
}

var sample = announce.Announcement{
	ID: "4tqlrn3pfdbfx5ldx2iuykvsce", Seq: 7, Title: "Ballpark", Voice: "en_US-pressbox-medium",
	Message: "Now batting — number 24, \"Ada\" <Lovelace>.",
	Rate:    170, Urgent: true, Priority: 5, Volume: 80, Chime: "alert", TTL: 10 * time.Minute,
	At: time.Unix(1_750_000_000, 7).UTC(), FixedTime: true,
	Repeat: announce.Repeat{Times: 3, Every: time.Minute}, Spoken: 2, Acknowledged: true, Quiet: true,
	Sender: announce.Sender{Kind: announce.FromToken, Name: "kitchen"},
	Rooms: announce.Rooms{From: "hall", Only: true, Voice: "anna", Rate: 90, Cancelled: true}.With(
		map[string]announce.RoomState{"kitchen": announce.RoomWaiting, "küche": "done"}),
	Created: time.Unix(1_750_000_000, 123).UTC(), Expires: time.Unix(1_750_000_600, 123).UTC(),
	Status: announce.Failed, Error: "no phonemes", InitialPosition: 3,
	Started: time.Unix(1_750_000_002, 0).UTC(), Ended: time.Unix(1_750_000_009, 0).UTC(),
}

func TestEncode_decode(t *testing.T) {
	t.Parallel()
	data := check.Must(encode(sample, at(sample.Ended.Add(time.Minute), "b1", time.Hour)))(t)
	n, then, err := decode(data)
	if err != nil || n != sample {
		t.Errorf("decoded %+v, %v, want %+v", n, err, sample)
	}
	if want := at(sample.Ended, "b1", time.Hour-time.Minute); then != want {
		t.Errorf("it ended at %+v, want %+v", then, want)
	}
}

func FuzzDecode(f *testing.F) {
	data := check.Must(encode(sample, at(sample.Ended, "b1", time.Hour)))(f)
	f.Add(data)
	f.Add([]byte{})
	f.Add([]byte{recordFormat})
	f.Add([]byte("\x01{\"status\":\"done\",\"created\":-1,\"boot\":\"\xff\"}"))
	f.Add([]byte("\x02{}"))
	f.Add([]byte("\x01{\"status\":\"queued\",\"at\":5,\"changed\":7,\"repeat\":{},\"sender\":{},\"boot\":\"\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, then, err := decode(data)
		if err != nil {
			return
		}
		// A decoded announcement is encoded and decoded without a change.
		encode := encode
		if !n.Status.Ended() && !then.Wall.Equal(n.Created) {
			encode = encodeChanged
		}
		again, err := encode(n, then)
		if err != nil {
			t.Fatalf("encode %+v: %v", n, err)
		}
		same, thenSame, err := decode(again)
		if err != nil || same != n || thenSame != then {
			t.Errorf("%+v at %+v\nbecame %+v at %+v, %v", n, then, same, thenSame, err)
		}
		third, err := encode(same, thenSame)
		if err != nil || !bytes.Equal(again, third) {
			t.Errorf("%s\nbecame %s, %v", again, third, err)
		}
	})
}
