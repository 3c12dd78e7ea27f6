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
)

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
