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
	// keysPerSweep limits the old keys that a new one deletes.
	keysPerSweep = 8
	// timeSize and digestSize are bytes of a key's record.
	timeSize, digestSize = 8, 32
)

// findKey returns the announcement that was accepted with a key. It ignores keys
// older than [announce.KeyRetention], and returns [announce.ErrKeyReused] if the
// key belongs to another request.
func findKey(tx *bolt.Tx, key announce.IdempotencyKey, now clock.Moment) (announce.Announcement, bool, error) {
	v := tx.Bucket(keysBucket).Get([]byte(key.Key))
	if v == nil {
		return announce.Announcement{}, false, nil
	}
	n, then, err := decodeKey(v)
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

// saveKey saves an encoded announcement under its key, and deletes a few of the
// oldest keys.
func saveKey(tx *bolt.Tx, key announce.IdempotencyKey, value []byte, now clock.Moment) error {
	if err := deleteOldKeys(tx, now); err != nil {
		return err
	}
	at := number(uint64(now.Wall.UnixNano()))
	if err := tx.Bucket(keysByAgeBucket).Put(slices.Concat(at, []byte(key.Key)), nil); err != nil {
		return err
	}
	return tx.Bucket(keysBucket).Put([]byte(key.Key), slices.Concat(at, key.Digest[:], value))
}

// deleteOldKeys deletes a few keys past their retention. A key that was used
// again stays: its record has another time than the index.
func deleteOldKeys(tx *bolt.Tx, now clock.Moment) error {
	keys, byAge := tx.Bucket(keysBucket), tx.Bucket(keysByAgeBucket)
	for range keysPerSweep {
		k, _ := byAge.Cursor().First()
		if len(k) < timeSize {
			return nil
		}
		at, key := bytes.Clone(k[:timeSize]), bytes.Clone(k[timeSize:])
		if v := keys.Get(key); bytes.HasPrefix(v, at) {
			_, then, err := decodeKey(v)
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

// decodeKey returns the announcement in a key's record and when it was saved.
func decodeKey(v []byte) (announce.Announcement, clock.Moment, error) {
	if len(v) < timeSize+digestSize {
		return announce.Announcement{}, clock.Moment{}, fmt.Errorf("%w: the record of an idempotency key has %d bytes, want at least %d",
			ErrCorrupt, len(v), timeSize+digestSize)
	}
	return decode(v[timeSize+digestSize:])
}
