package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/store/clock"
	"pressbox/voice/announce"
)

const (
	senderSize, keyNameSize = 16, 32 // bytes of a sender's digest, and of a key in the buckets
	keyFixedSize            = 57     // bytes of a key's record before its texts
	keySeqAt                = 48     // offset of the seq in a record

	// A key takes at most keyCost bytes of the file, in both buckets and with
	// half-full pages. All keys take at most a thirty-second of it.
	keyCost     = 1024
	maxKeys     = 10_000
	keysDivisor = 32
)

// A keyRecord is what is stored for an idempotency key.
type keyRecord struct {
	at     clock.Moment // of acceptance
	digest [32]byte     // of the request
	seq    uint64       // of the announcement
	announce.Accepted
}

// statusCodes are the statuses in records; the index is the code.
//
//nolint:gochecknoglobals // a table
var statusCodes = []announce.Status{
	announce.Queued, announce.Done, announce.Failed, announce.Cancelled, announce.Expired, announce.Silenced, announce.Scheduled,
}

// encode returns the stored form: wall clock (Unix nanoseconds), time since boot
// (nanoseconds), digest, seq, length of the boot id, boot id, status, id.
func (r keyRecord) encode() []byte {
	v := make([]byte, 0, keyFixedSize+len(r.at.Boot)+1+len(r.ID))
	v = binary.BigEndian.AppendUint64(v, uint64(r.at.Wall.UnixNano()))
	v = binary.BigEndian.AppendUint64(v, uint64(r.at.Since)) //nolint:gosec // decoded in the same way
	v = append(v, r.digest[:]...)
	v = binary.BigEndian.AppendUint64(v, r.seq)
	v = append(v, byte(len(r.at.Boot))) //nolint:gosec // the kernel has 36 characters
	v = append(v, r.at.Boot...)
	v = append(v, byte(max(0, slices.Index(statusCodes, r.Status)))) //nolint:gosec // an index of a short table
	return append(v, r.ID...)
}

// decodeKey returns the record of a key.
func decodeKey(v []byte) (r keyRecord, err error) {
	if len(v) < keyFixedSize || len(v) <= keyFixedSize+int(v[keyFixedSize-1]) {
		return keyRecord{}, fmt.Errorf("%w: the record of an idempotency key is too short: %d bytes", ErrCorrupt, len(v))
	}
	r.at.Wall = time.Unix(0, int64(binary.BigEndian.Uint64(v))).UTC() //nolint:gosec // encoded in the same way
	r.at.Since = time.Duration(binary.BigEndian.Uint64(v[8:]))        //nolint:gosec // encoded in the same way
	r.digest, r.seq = [32]byte(v[16:48]), binary.BigEndian.Uint64(v[keySeqAt:])
	boot, rest := v[keyFixedSize:][:v[keyFixedSize-1]], v[keyFixedSize+int(v[keyFixedSize-1]):]
	if int(rest[0]) >= len(statusCodes) {
		return keyRecord{}, fmt.Errorf("%w: the record of an idempotency key has the unknown status %d", ErrCorrupt, rest[0])
	}
	r.at.Boot, r.Status, r.ID = string(boot), statusCodes[rest[0]], string(rest[1:])
	return r, nil
}

// keyName returns a key as it is stored: digests of its sender and of the text.
func keyName(key announce.IdempotencyKey) []byte {
	sender, text := sha256.Sum256([]byte(key.Sender)), sha256.Sum256([]byte(key.Key))
	return append(sender[:senderSize:senderSize], text[:keyNameSize-senderSize]...)
}

// keyTable holds the two buckets of idempotency keys in a transaction.
type keyTable struct {
	records table // key → record; the bucket's sequence is their count
	bySeq   table // seq of the announcement → key
}

func keysOf(tx *bolt.Tx) keyTable {
	return keyTable{tableOf(tx, keysBucket), tableOf(tx, keysBySeqBucket)}
}

// find returns the announcement that was accepted with a key. It ignores keys
// older than [announce.KeyRetention], and returns [announce.ErrKeyReused] if the
// key belongs to another request. A key from before schema 5 has no sender: it
// belongs to the client that repeats its request.
func (t keyTable) find(key announce.IdempotencyKey, now clock.Moment) (announce.Accepted, bool, error) {
	r, ok, err := t.get(keyName(key), now)
	if err != nil {
		return announce.Accepted{}, false, err
	}
	if ok && r.digest != key.Digest {
		return announce.Accepted{}, false, announce.ErrKeyReused
	}
	if !ok && key.Sender != "" {
		r, ok, err = t.get(keyName(announce.IdempotencyKey{Key: key.Key}), now)
		ok = ok && r.digest == key.Digest
	}
	if !ok || err != nil {
		return announce.Accepted{}, false, err
	}
	return r.Accepted, true, nil
}

// get returns a record that is not past its retention.
func (t keyTable) get(name []byte, now clock.Moment) (keyRecord, bool, error) {
	v := t.records.Get(name)
	if v == nil {
		return keyRecord{}, false, nil
	}
	r, err := decodeKey(v)
	return r, err == nil && now.Sub(r.at) < announce.KeyRetention, err
}

// save saves a new record. It deletes the sender's oldest key if the sender has
// [announce.KeysPerSender], and the oldest key of the sender that has most while
// there are limit keys.
func (t keyTable) save(name []byte, r keyRecord, limit int) error {
	if err := errors.Join(t.delete(name), t.deleteSeq(number(r.seq))); err != nil {
		return err
	}
	own := t.oldest(name[:senderSize])
	if own.count >= announce.KeysPerSender {
		if err := t.delete(own.name); err != nil {
			return err
		}
	}
	for t.count() >= limit {
		most := t.most()
		if most.count == 0 {
			break
		}
		if err := t.delete(most.name); err != nil {
			return err
		}
	}
	if err := t.bySeq.Put(number(r.seq), name); err != nil {
		return err
	}
	if err := t.records.Put(name, r.encode()); err != nil {
		return err
	}
	return t.records.SetSequence(t.records.Sequence() + 1)
}

func (t keyTable) count() int { return int(t.records.Sequence()) } //nolint:gosec // at most maxKeys

// setStatus saves the final status of the announcement seq, if it has a key.
func (t keyTable) setStatus(seq []byte, status announce.Status) error {
	name := bytes.Clone(t.bySeq.Get(seq))
	if name == nil {
		return nil
	}
	r, err := decodeKey(t.records.Get(name))
	if err != nil {
		return nil //nolint:nilerr // the end of an announcement is saved whatever its key is
	}
	r.Status = status
	return t.records.Put(name, r.encode())
}

// delete deletes a key, if it exists.
func (t keyTable) delete(name []byte) error {
	name = bytes.Clone(name)
	v := t.records.Get(name)
	if v == nil {
		return nil
	}
	if r, err := decodeKey(v); err == nil {
		if err := t.bySeq.Delete(number(r.seq)); err != nil {
			return err
		}
	}
	if err := t.records.Delete(name); err != nil {
		return err
	}
	return t.records.SetSequence(t.records.Sequence() - 1)
}

// deleteSeq deletes the key of the announcement seq, if it has one.
func (t keyTable) deleteSeq(seq []byte) error {
	name := bytes.Clone(t.bySeq.Get(seq))
	if name == nil {
		return nil
	}
	if err := t.bySeq.Delete(seq); err != nil {
		return err
	}
	return t.delete(name)
}

// senderKeys describes the keys of a sender: their count and the oldest one. They
// are valid until the buckets change.
type senderKeys struct {
	count int
	seq   uint64
	name  []byte
}

// oldest returns the keys of the sender with this digest.
func (t keyTable) oldest(sender []byte) (keys senderKeys) {
	c := t.records.Cursor()
	for k, v := c.Seek(sender); bytes.HasPrefix(k, sender); k, v = c.Next() {
		keys.add(k, v)
	}
	return keys
}

// most returns the keys of the sender that has most; of several, of the one with
// the oldest key.
func (t keyTable) most() senderKeys {
	all := map[string]senderKeys{}
	for k, v := range pairs(t.records.Bucket) {
		keys := all[string(k[:senderSize])]
		keys.add(k, v)
		all[string(k[:senderSize])] = keys
	}
	var most senderKeys
	for _, keys := range all {
		if cmp.Or(cmp.Compare(keys.count, most.count), cmp.Compare(most.seq, keys.seq)) > 0 {
			most = keys
		}
	}
	return most
}

// add counts one key; an unreadable one is the oldest.
func (s *senderKeys) add(name, v []byte) {
	var seq uint64
	if len(v) >= keyFixedSize {
		seq = binary.BigEndian.Uint64(v[keySeqAt:])
	}
	if s.count == 0 || seq < s.seq {
		s.seq, s.name = seq, name
	}
	s.count++
}

// expired returns the seqs of the oldest keys as far as they are past their
// retention.
func (t keyTable) expired(now clock.Moment) (seqs [][]byte) {
	for seq, name := range pairs(t.bySeq.Bucket) {
		r, err := decodeKey(t.records.Get(name))
		if err == nil && now.Sub(r.at) < announce.KeyRetention {
			break
		}
		seqs = append(seqs, bytes.Clone(seq))
	}
	return seqs
}

// maxKeys returns the maximum number of keys in the store.
func (s *Store) maxKeys() int { return int(max(1, min(maxKeys, s.maxSize/keysDivisor/keyCost))) }

// DeleteExpired deletes idempotency keys past their retention. The server calls
// it every few minutes, and the store before it rejects an announcement.
func (s *Store) DeleteExpired(ctx context.Context) error {
	now := s.now()
	var due bool
	err := s.view(func(tx *bolt.Tx) error {
		due = len(keysOf(tx).expired(now)) > 0
		return nil
	})
	if err == nil && due {
		err = s.update(ctx, func(tx *bolt.Tx) error {
			t := keysOf(tx)
			for _, seq := range t.expired(now) {
				if err := t.deleteSeq(seq); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("delete expired idempotency keys: %w", err)
	}
	return nil
}

// keysBySender is the migration to schema 5. Records of keys were: key → time
// (Unix nanoseconds), digest, announcement as accepted. Their sender is unknown,
// and the newest [announce.KeysPerSender] are converted; unreadable ones are
// dropped.
func keysBySender(tx *bolt.Tx) error {
	if err := createBuckets(keysBucket, keysBySeqBucket)(tx); err != nil {
		return err
	}
	type oldKey struct {
		name []byte
		keyRecord
	}
	var old []oldKey
	for k, v := range pairs(tx.Bucket(oldKeysBucket)) {
		if len(v) < oldKeyFixedSize {
			continue
		}
		n, at, err := decode(v[oldKeyFixedSize:])
		if err != nil {
			continue
		}
		r := keyRecord{at, [32]byte(v[8:oldKeyFixedSize]), n.Seq, announce.Accepted{ID: n.ID, Status: presentStatus(tx, n.Seq)}}
		old = append(old, oldKey{keyName(announce.IdempotencyKey{Key: string(k)}), r})
	}
	slices.SortFunc(old, func(a, b oldKey) int { return cmp.Compare(a.seq, b.seq) })
	t := keysOf(tx)
	for _, k := range old[max(0, len(old)-announce.KeysPerSender):] {
		if err := t.save(k.name, k.keyRecord, maxKeys); err != nil {
			return err
		}
	}
	return errors.Join(tx.DeleteBucket(oldKeysBucket), tx.DeleteBucket(oldKeysByAgeBucket))
}

const oldKeyFixedSize = 8 + 32 // bytes before the announcement

// presentStatus returns the status of an announcement that was accepted. One
// that is stored no more has ended, most likely as done.
func presentStatus(tx *bolt.Tx, seq uint64) announce.Status {
	if tx.Bucket(waitingBucket).Get(number(seq)) != nil {
		return announce.Queued
	}
	if n, _, err := decode(tx.Bucket(endedBucket).Get(number(seq))); err == nil {
		return n.Status
	}
	return announce.Done
}
