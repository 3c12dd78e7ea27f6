package store

import (
	"bytes"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"pressbox/clock"
	"pressbox/voice/announce"
)

const (
	// sweep is how many old idempotency keys make room for a new one.
	sweep = 8
	// timeSize and digestSize are bytes in a key's record.
	timeSize, digestSize = 8, 32
)

// kept looks for the notice that answers a request again, unless it is too
// old or came of another request.
func kept(tx *bolt.Tx, key announce.IdempotencyKey, now clock.Moment) (announce.Announcement, bool, error) {
	v := tx.Bucket(keysBucket).Get([]byte(key.Key))
	if v == nil {
		return announce.Announcement{}, false, nil
	}
	n, then, err := decodeAnswer(v)
	switch {
	case err != nil:
		return announce.Announcement{}, false, err
	case now.Sub(then) >= announce.KeyRetention:
		return announce.Announcement{}, false, nil
	case !bytes.Equal(v[timeSize:timeSize+digestSize], key.Digest[:]):
		return announce.Announcement{}, false, announce.ErrKeyReused
	}
	return n, true, nil
}

// keepKey keeps the encoded notice that answers a request again, and forgets
// a few of the oldest ones.
func keepKey(tx *bolt.Tx, key announce.IdempotencyKey, value []byte, now clock.Moment) error {
	if err := forgetKeys(tx, now); err != nil {
		return err
	}
	at := number(uint64(now.Wall.UnixNano()))
	if err := tx.Bucket(keysByAgeBucket).Put(slices.Concat(at, []byte(key.Key)), nil); err != nil {
		return err
	}
	return tx.Bucket(keysBucket).Put([]byte(key.Key), slices.Concat(at, key.Digest[:], value))
}

// forgetKeys forgets a few keys that are too old. A key that was used again
// since stays: its record tells another time.
func forgetKeys(tx *bolt.Tx, now clock.Moment) error {
	keys, byAge := tx.Bucket(keysBucket), tx.Bucket(keysByAgeBucket)
	for range sweep {
		k, _ := byAge.Cursor().First()
		if len(k) < timeSize {
			return nil
		}
		at, key := bytes.Clone(k[:timeSize]), bytes.Clone(k[timeSize:])
		if v := keys.Get(key); bytes.HasPrefix(v, at) {
			_, then, err := decodeAnswer(v)
			if err == nil && now.Sub(then) < announce.KeyRetention {
				return nil
			}
			if err := keys.Delete(key); err != nil {
				return err
			}
		}
		if err := byAge.Delete(slices.Concat(at, key)); err != nil {
			return err
		}
	}
	return nil
}

// decodeAnswer returns the notice in a key's record, and when it was kept.
func decodeAnswer(v []byte) (announce.Announcement, clock.Moment, error) {
	if len(v) < timeSize+digestSize {
		return announce.Announcement{}, clock.Moment{}, fmt.Errorf("%w: an idempotency key of %d bytes", ErrCorrupt, len(v))
	}
	return decode(v[timeSize+digestSize:])
}
