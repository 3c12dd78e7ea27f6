package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/packaging/check"
	"pressbox/store/clock"
	"pressbox/voice/announce"
	"pressbox/voice/control"
)

// The remaining time of an announcement survives restarts and corrections of the clock.
func TestMoved_clockChanges(t *testing.T) {
	t.Parallel()
	wall := time.Now()
	then := at(wall, "b1", time.Hour)
	const ttl = 10 * time.Minute
	for name, tt := range map[string]struct {
		boot       string
		passed, up time.Duration // on the wall clock; since the boot
		left       time.Duration
	}{
		"the server was restarted":         {"b1", time.Minute, time.Hour + time.Minute, 9 * time.Minute},
		"the clock was set 50 years ahead": {"b1", 50 * 365 * 24 * time.Hour, time.Hour + time.Minute, 9 * time.Minute},
		"the clock was set back":           {"b1", -24 * time.Hour, time.Hour + time.Minute, 9 * time.Minute},
		"the host was restarted":           {"b2", 4 * time.Minute, 10 * time.Second, 6 * time.Minute},
		"an hour without power":            {"b2", time.Hour, 10 * time.Second, -50 * time.Minute},
		"the clock was lost":               {"b2", -24 * time.Hour, 10 * time.Second, ttl},
	} {
		now := at(wall.Add(tt.passed), tt.boot, tt.up)
		got := moved(wall.Add(ttl), then, now)
		check.Equal(t, got.Sub(now.Wall), tt.left, "%s: left", name)
		check.Equal(t, got != got.Round(0), tt.boot == "b1", "%s: monotonic reading", name)
	}
}

// stopClock replaces the clock of s by the returned moment.
func stopClock(s *Store) *clock.Moment {
	present := s.now()
	s.now = func() clock.Moment { return present }
	return &present
}

// waiting returns an announcement that waits for a minute.
func waiting(now time.Time) announce.Announcement {
	return announce.Announcement{
		ID: "a", Seq: 1, Content: announce.Content{Message: "a"}, Created: now, Expires: now.Add(time.Minute),
		Status: announce.Queued,
	}
}

func appendOne(t *testing.T, s *Store, n announce.Announcement) {
	t.Helper()
	_, _, err := s.Append(t.Context(), n, announce.IdempotencyKey{})
	check.NoError(t, err)
}

// load returns the one announcement of a store.
func load(t *testing.T, s *Store) announce.Announcement {
	t.Helper()
	all, _, err := s.Load(t.Context())
	check.Require(t, err == nil && len(all) == 1, "load: %v, %v", all, err)
	return all[0]
}

func TestLoad_movesExpiry(t *testing.T) {
	s := NewForTest(t, Options{})
	present := stopClock(s)
	appendOne(t, s, waiting(present.Wall))
	present.Wall, present.Since = present.Wall.Add(1000*time.Hour), present.Since+time.Second
	left := load(t, s).Expires.Sub(present.Wall)
	check.Equal(t, left, 59*time.Second, "left after a second in which the clock was set")
}

// updated appends an announcement, changes it after a first correction of the clock, as one that waits for its
// next repetition, and returns it as it is loaded after a second one.
func updated(
	t *testing.T, s *Store, present *clock.Moment, n announce.Announcement, by [2]time.Duration,
) announce.Announcement {
	t.Helper()
	appendOne(t, s, n)
	*present = at(present.Wall.Add(by[0]), present.Boot, present.Since+time.Minute)
	n.Spoken++
	if !n.FixedTime {
		n.At, n.Expires = present.Wall.Add(time.Minute), present.Wall.Add(2*time.Minute)
	}
	check.NoError(t, s.Update(t.Context(), n))
	*present = at(present.Wall.Add(by[1]), present.Boot, present.Since+10*time.Second)
	got := load(t, s)
	check.Require(t, got.Spoken == n.Spoken, "loaded %+v", got)
	return got
}

// The time until the next repetition survives corrections of the clock before and
// after it was saved; a time of day is not moved by them.
func TestUpdate_clockChanges(t *testing.T) {
	t.Parallel()
	const far = 1000 * time.Hour
	for n := range 9 {
		by := [2]time.Duration{
			[]time.Duration{time.Minute, far, -far}[n/3], []time.Duration{10 * time.Second, far, -far}[n%3],
		}
		s := OpenForTest(t, "", Options{})
		present := stopClock(s)
		n := waiting(present.Wall)
		n.Repeat = announce.Repeat{Times: 3, Every: time.Minute}
		got := updated(t, s, present, n, by)
		next, left := got.At.Sub(present.Wall), got.Expires.Sub(present.Wall)
		check.That(t, next == 50*time.Second && left == 110*time.Second,
			"clock changed by %s: next in %s, expires in %s; want 50s, 1m50s", by, next, left)
		s = OpenForTest(t, "", Options{})
		present = stopClock(s)
		n.FixedTime = true
		n.At, n.Expires = present.Wall.Add(time.Hour).Round(0), present.Wall.Add(2*time.Hour).Round(0)
		got = updated(t, s, present, n, by)
		check.That(t, got.At.Equal(n.At) && got.Expires.Equal(n.Expires),
			"clock changed by %s: a time of day became %s to %s", by, got.At, got.Expires)
	}
}

// An announcement that has ended is not changed any more.
func TestUpdate_ended(t *testing.T) {
	s := NewForTest(t, Options{})
	n := waiting(time.Now())
	appendOne(t, s, n)
	end := n
	end.Status, end.Ended = announce.Done, time.Now()
	check.NoError(t, s.Done(t.Context(), end))
	check.NoError(t, s.Update(t.Context(), n))
	all, ended, err := s.Load(t.Context())
	check.That(t, err == nil && len(all) == 0 && len(ended) == 1,
		"%d wait, %d have ended, %v", len(all), len(ended), err)
}

// Scheduled announcements leave half of the share to those that are spoken soon.
func TestAppend_scheduledShare(t *testing.T) {
	s := NewForTest(t, Options{MaxSize: 8 << 20})
	post := func(seq uint64, change func(*announce.Announcement)) error {
		n := waiting(time.Now())
		n.ID, n.Seq, n.Message = fmt.Sprint(seq), seq, largest
		change(&n)
		_, _, err := s.Append(t.Context(), n, announce.IdempotencyKey{})
		return err
	}
	kinds := []func(*announce.Announcement){
		func(n *announce.Announcement) { n.At = time.Now().Add(time.Hour) },
		func(n *announce.Announcement) { n.Repeat.Times = 2 },
		func(n *announce.Announcement) { n.Status = announce.Scheduled },
	}
	seq, err := uint64(0), error(nil)
	for err == nil {
		seq++
		err = post(seq, kinds[seq%3])
	}
	check.Require(t, errors.Is(err, announce.ErrScheduleFull) && seq >= 20, "announcement %d: %v", seq, err)
	soon := func(*announce.Announcement) {}
	for range seq / 2 { // ended ones have the rest
		seq++
		check.NoError(t, post(seq, soon))
	}
	check.ErrorIs(t, post(seq+1, kinds[0]), announce.ErrScheduleFull, "one more scheduled")
	checkUsage(t, s)
}

// The count of ended announcements is right when one ends twice.
func TestDone_count(t *testing.T) {
	s := NewForTest(t, Options{})
	n := waiting(time.Now())
	n.Status, n.Ended = announce.Done, n.Created
	for seq := range uint64(250) {
		n.Seq = seq
		check.NoError(t, s.Done(t.Context(), n, n))
	}
	look(t, s, func(tx *bolt.Tx) {
		check.Equal(t, tx.Bucket(endedBucket).Sequence(), 250, "the count")
	})
	check.Equal(t, count(t, s, endedBucket), 250, "stored, as they are not a day old")
}

// largest is the longest message in its longest stored form: 30 KB.
var largest = strings.Repeat("<", announce.MaxMessage)

// postEnded appends an announcement with a key and ends it, as POST and DELETE do.
func postEnded(s *Store, seq uint64, key announce.IdempotencyKey, now clock.Moment) error {
	n := announce.Announcement{
		ID: fmt.Sprintf("%026d", seq), Seq: seq, Content: announce.Content{Message: largest},
		Created: now.Wall, Status: announce.Queued,
	}
	if _, _, err := s.Append(context.Background(), n, key); err != nil {
		return err
	}
	n.Status, n.Ended = announce.Cancelled, now.Wall
	return s.Done(context.Background(), n)
}

// A keyRig saves keys with consecutive seqs.
type keyRig struct {
	*Store
	t       *testing.T
	present *clock.Moment
	seq     uint64
}

func newKeyRig(t *testing.T) *keyRig {
	t.Helper()
	s := OpenForTest(t, "", Options{})
	return &keyRig{Store: s, t: t, present: stopClock(s)}
}

// keyOf returns the key with a number of a sender.
func keyOf(sender string, i int) announce.IdempotencyKey {
	return announce.IdempotencyKey{Sender: sender, Key: fmt.Sprint(i)}
}

// save saves the keys first to last of a sender, in one transaction, while all keys are limited.
func (r *keyRig) save(sender string, first, last, limit int) {
	r.t.Helper()
	check.NoError(r.t, r.update(r.t.Context(), func(tx *bolt.Tx) error {
		var errs []error
		for i := first; i <= last; i++ {
			r.seq++
			n := announce.Accepted{ID: fmt.Sprint(sender, i), Status: announce.Queued}
			errs = append(errs, keysOf(tx).save(keyOf(sender, i), n, r.seq, *r.present, limit))
		}
		return errors.Join(errs...)
	}))
}

// pass lets time pass.
func (r *keyRig) pass(d time.Duration) {
	r.present.Wall, r.present.Since = r.present.Wall.Add(d), r.present.Since+d
}

// expect fails the test unless exactly the keys first to last, of those up to last, are found.
func (r *keyRig) expect(sender string, first, last int) {
	r.t.Helper()
	for i := 1; i <= last; i++ {
		earlier, ok, err := r.Find(r.t.Context(), keyOf(sender, i))
		check.That(r.t, err == nil && ok == (i >= first) && (!ok || earlier.ID == fmt.Sprint(sender, i)),
			"key %d of %s: %+v, %v, %v; want %d to %d", i, sender, earlier, ok, err, first, last)
	}
}

// expectCount checks the number of keys in both buckets and the counter.
func (r *keyRig) expectCount(want int) {
	r.t.Helper()
	keys, seqs := count(r.t, r.Store, keysBucket), count(r.t, r.Store, keysBySeqBucket)
	look(r.t, r.Store, func(tx *bolt.Tx) {
		n := keysOf(tx).count()
		check.That(r.t, n == want && keys == want && seqs == want,
			"%d keys, %d by seq, counted %d, want %d", keys, seqs, n, want)
	})
}

func TestKeys_perSender(t *testing.T) {
	t.Parallel()
	r := newKeyRig(t)
	r.save("other", 1, 1, maxKeys)
	r.save("ann", 1, announce.KeysPerSender, maxKeys)
	r.expect("ann", 1, announce.KeysPerSender)
	r.save("ann", announce.KeysPerSender+1, announce.KeysPerSender+2, maxKeys)
	r.expect("ann", 3, announce.KeysPerSender+2)
	r.expect("other", 1, 1)
	r.expectCount(announce.KeysPerSender + 1)
}

// Beyond the limit of all keys, the sender that has most loses its oldest.
func TestKeys_total(t *testing.T) {
	t.Parallel()
	r := newKeyRig(t)
	r.save("bob", 1, 2, 8)
	r.save("eve", 1, 6, 8)
	r.expect("eve", 1, 6)
	r.save("ann", 1, 1, 8)
	r.expect("eve", 2, 6)
	r.save("eve", 7, 9, 8)
	r.expect("eve", 5, 9)
	r.save("bob", 3, 5, 8) // then bob has most
	r.expect("eve", 7, 9)
	r.expect("bob", 2, 5)
	r.expect("ann", 1, 1)
	r.expectCount(8)
	check.Equal(t, (&Store{maxSize: 512 << 20}).maxKeys(), maxKeys, "keys at 512 MiB")
	check.Equal(t, (&Store{maxSize: 8 << 20}).maxKeys(), 256, "keys at 8 MiB")
}

// All keys take at most keyCost bytes of the file each.
func TestKeys_size(t *testing.T) {
	t.Parallel()
	r := newKeyRig(t)
	const many = 2000
	for i := 1; i <= many; i += 100 {
		r.save(fmt.Sprint(i), 1, 100, maxKeys)
	}
	look(t, r.Store, func(tx *bolt.Tx) {
		size := 0
		for _, b := range []table{keysOf(tx).records, keysOf(tx).bySeq} {
			stats := b.Stats()
			size += stats.LeafAlloc + stats.BranchAlloc
		}
		check.That(t, size <= many*keyCost, "%d keys take %d bytes, want at most %d each", many, size, keyCost)
		t.Logf("%d bytes for each key", size/many)
	})
}

func TestKeys_expire(t *testing.T) {
	t.Parallel()
	r := newKeyRig(t)
	r.save("ann", 1, 3, maxKeys)
	r.pass(1)
	r.save("ann", 4, 4, maxKeys)
	r.pass(announce.KeyRetention - 2)
	r.expect("ann", 1, 4)
	r.pass(1)
	r.expect("ann", 4, 4)
	r.expectCount(4)
	r.save("ann", 3, 3, maxKeys) // it can be used again
	check.NoError(t, r.DeleteExpired(t.Context()))
	r.expect("ann", 3, 4)
	r.expectCount(2)
	commits := r.commits.Load()
	check.NoError(t, r.DeleteExpired(t.Context()))
	check.Equal(t, r.commits.Load(), commits, "a sweep without expired keys writes")
}

func TestRun_deletesExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newKeyRig(t)
		r.save("ann", 1, 3, maxKeys)
		r.pass(announce.KeyRetention)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(sweepInterval - 1)
		synctest.Wait()
		r.expectCount(3)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		r.expectCount(0)
		cancel()
		check.NoError(t, <-done)
	})
}

// A record is read as it was written, and one that is damaged is reported as such.
func FuzzDecodeKey(f *testing.F) {
	f.Add([]byte(`{"at":1750000000000000005,"boot":"b1","up":5,"digest":"AQ==","seq":7,"id":"a","status":"expired"}`))
	f.Add(slices.Concat(make([]byte, 56), []byte("\x02b1\x04a"))) // of 0.5.0
	f.Add(bytes.Repeat([]byte{255}, 400))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeKey(data)
		if err != nil {
			check.That(t, errors.Is(err, ErrCorrupt), "%v, want %v", err, ErrCorrupt)
			return
		}
		again, err := decodeKey(check.Must(json.Marshal(r))(t))
		check.That(t, err == nil && again.Seq == r.Seq && bytes.Equal(again.Digest, r.Digest),
			"%+v became %+v, %v", r, again, err)
	})
}

// at returns a moment.
func at(wall time.Time, boot string, since time.Duration) clock.Moment {
	return clock.Moment{Wall: wall, Instant: clock.Instant{Boot: boot, Since: since}}
}

var sample = announce.Announcement{
	Content: announce.Content{
		Title: "Ballpark", Message: "Now batting — number 24, \"Ada\" <Lovelace>.", Voice: "en_US-heart-medium",
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
		`"message":"Now batting — number 24, \"Ada\" \u003cLovelace\u003e.","voice":"en_US-heart-medium",` +
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
	f.Add([]byte("\x01" + `{"status":"failed","rooms":{"states":{"hall":"done"," den":"done"}},"sender":{},"boot":""}`))
	f.Add([]byte("\x01" + `{"status":"failed","repeat":{"every":60,"spoken":2},"sender":{},"boot":""}`))
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

// Schedules take at most a quarter of the share of announcements; then they can
// still be replaced and deleted, and the volume can be set.
func TestControls_share(t *testing.T) {
	s := NewForTest(t, Options{MaxSize: 8 << 20})
	schedule := bytes.Repeat([]byte("x"), 30_000)
	n := 0
	var err error
	for ; err == nil; n++ {
		err = s.SaveControl(t.Context(), fmt.Sprint("schedule/", n), schedule)
	}
	var used int64
	look(t, s, func(tx *bolt.Tx) {
		used = tableOf(tx, controlsBucket).bytes()
	})
	limit := s.limit(announcementsShare) / 4
	check.That(t, errors.Is(err, ErrFull) && used <= limit && used >= limit-2*int64(len(schedule)),
		"%v after %d schedules that use %d of %d bytes", err, n, used, limit)
	check.NoError(t, s.SaveControl(t.Context(), "schedule/0", schedule))
	check.NoError(t, s.SaveControl(t.Context(), control.KeyVolume, []byte(`{"volume":10}`)))
	check.NoError(t, s.SaveControl(t.Context(), control.KeyQuiet, []byte(`{"on":true}`)))
	check.NoError(t, s.SaveControl(t.Context(), "schedule/0", nil))
	check.NoError(t, s.SaveControl(t.Context(), "schedule/new", schedule))
	check.NoError(t, postEnded(s, 1, announce.IdempotencyKey{}, s.now()))
	checkUsage(t, s)
}
