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
	Content: announce.Content{
		Title: "Ballpark", Message: "Now batting — number 24, \"Ada\" <Lovelace>.", Voice: "en_US-pressbox-medium",
		Rate: 170, Urgent: true, Priority: 5, Volume: 80, Chime: "alert",
	},
	ID: "4tqlrn3pfdbfx5ldx2iuykvsce", Seq: 7, TTL: 10 * time.Minute,
	At: time.Unix(1_750_000_000, 7).UTC(), FixedTime: true,
	Repeat: announce.Repeat{Times: 3, Every: time.Minute}, Spoken: 2, Acknowledged: true, Quiet: true,
	Sender: announce.Sender{Kind: announce.FromToken, Name: "kitchen"},
	Rooms: announce.Rooms{From: "hall", Only: true, Voice: "anna", Rate: 90, Cancelled: true}.With(
		map[string]announce.RoomState{"kitchen": announce.RoomWaiting, "küche": "done"}),
	Created: time.Unix(1_750_000_000, 123).UTC(), Expires: time.Unix(1_750_000_600, 123).UTC(),
	Status: announce.Failed, Error: "no phonemes", InitialPosition: 3,
	Started: time.Unix(1_750_000_002, 0).UTC(), Ended: time.Unix(1_750_000_009, 0).UTC(),
}

// An announcement is stored as in version 0.5.0, and with every field that it has.
func TestEncode_decode(t *testing.T) {
	t.Parallel()
	now := at(sample.Ended.Add(time.Minute), "b1", time.Hour)
	data := check.Must(encode(sample, now))(t)
	const stored = "\x01" + `{"id":"4tqlrn3pfdbfx5ldx2iuykvsce","seq":7,"title":"Ballpark",` +
		`"message":"Now batting — number 24, \"Ada\" \u003cLovelace\u003e.","voice":"en_US-pressbox-medium",` +
		`"rate":170,"urgent":true,"priority":5,"volume":80,"chime":"alert","created":1750000000000000123,` +
		`"ttl":600000000000,"expires":1750000600000000123,"at":1750000000000000007,"fixed":true,` +
		`"repeat":{"times":3,"every":60000000000,"spoken":2,"acknowledged":true},` +
		`"sender":{"kind":"token","name":"kitchen"},"rooms":{"from":"hall","only":true,"voice":"anna","rate":90,` +
		`"cancelled":true,"states":{"kitchen":"waiting","küche":"done"}},"status":"failed","quiet":true,` +
		`"error":"no phonemes","place":3,"started":1750000002000000000,"ended":1750000009000000000,` +
		`"boot":"b1","up":3540000000000}`
	check.That(t, string(data) == stored, "stored as %s\nwant      %s", data, stored)
	_, then, err := decode(data)
	check.That(t, err == nil && then == at(sample.Ended, "b1", time.Hour-time.Minute), "it ended at %+v, %v", then, err)
	all := sample
	check.Fill(&all)
	all.SpeaksAt, all.Status = time.Time{}, announce.Done // the first follows from the others
	n, _, err := decode(check.Must(encode(all, now))(t))
	check.That(t, err == nil && n == all, "decoded %+v, %v, want %+v", n, err, all)
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
		check.Require(t, err == nil, "encode %+v: %v", n, err)
		same, thenSame, err := decode(again)
		check.That(t, err == nil && same == n && thenSame == then,
			"%+v at %+v\nbecame %+v at %+v, %v", n, then, same, thenSame, err)
		third, err := encode(same, thenSame)
		check.That(t, err == nil && bytes.Equal(again, third), "%s\nbecame %s, %v", again, third, err)
	})
}
