package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/store/clock"
	"pressbox/voice/announce"
)

const (
	senderSize, keyNameSize = 16, 32 // bytes of a sender's digest, and of a key in the buckets

	// A key takes at most keyCost bytes of the file, in both buckets and with
	// half-full pages. All keys take at most a thirty-second of it.
	keyCost     = 1024
	maxKeys     = 10_000
	keysDivisor = 32
)

// A keyRecord is what is stored for an idempotency key, as JSON: the moment of acceptance, the
// digest of the request, and the announcement.
type keyRecord struct {
	Wall   int64           `json:"at"` // Unix nanoseconds
	Boot   string          `json:"boot"`
	Up     time.Duration   `json:"up"`
	Digest []byte          `json:"digest"`
	Seq    uint64          `json:"seq"`
	ID     string          `json:"id"`
	Status announce.Status `json:"status"`
}

func decodeKey(v []byte) (r keyRecord, err error) {
	if !bytes.HasPrefix(v, []byte("{")) {
		return decodeBinaryKey(v)
	}
	if err := json.Unmarshal(v, &r); err != nil {
		return keyRecord{}, fmt.Errorf("%w: decode an idempotency key: %w", ErrCorrupt, err)
	}
	return r, nil
}

// decodeBinaryKey returns a record of 0.5.0: wall clock and time since boot (8 bytes each), digest
// (32), seq (8), length of the boot id, boot id, status, id. Its first byte is that of a time.
func decodeBinaryKey(v []byte) (keyRecord, error) {
	const fixed, statuses = 57, "queued done failed cancelled expired silenced scheduled"
	end := fixed
	if len(v) >= fixed {
		end += int(v[fixed-1])
	}
	codes := bytes.Fields([]byte(statuses))
	if len(v) <= end || int(v[end]) >= len(codes) {
		return keyRecord{}, fmt.Errorf("%w: an idempotency key has an unknown format", ErrCorrupt)
	}
	n := binary.BigEndian.Uint64
	return keyRecord{
		int64(n(v)), string(v[fixed:end]), time.Duration(n(v[8:])), v[16:48], n(v[48:]), //nolint:gosec // encoded so
		string(v[end+1:]), announce.Status(codes[v[end]]),
	}, nil
}

// expired reports whether a key is past its retention.
func (r keyRecord) expired(now clock.Moment) bool {
	at := clock.Moment{Wall: time.Unix(0, r.Wall), Instant: clock.Instant{Boot: r.Boot, Since: r.Up}}
	return now.Sub(at) >= announce.KeyRetention
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
// key belongs to another request.
func (t keyTable) find(key announce.IdempotencyKey, now clock.Moment) (announce.Accepted, bool, error) {
	v := t.records.Get(keyName(key))
	if v == nil {
		return announce.Accepted{}, false, nil
	}
	r, err := decodeKey(v)
	switch {
	case err != nil || r.expired(now):
		return announce.Accepted{}, false, err
	case !bytes.Equal(r.Digest, key.Digest[:]):
		return announce.Accepted{}, false, announce.ErrKeyReused
	default:
		return announce.Accepted{ID: r.ID, Status: r.Status}, true, nil
	}
}

// save saves a key for the announcement n, accepted now. It deletes the sender's oldest key if the
// sender has [announce.KeysPerSender], and the oldest key of the sender that has most, of several
// of the one with the oldest key, while there are limit keys.
func (t keyTable) save(
	key announce.IdempotencyKey, n announce.Accepted, seq uint64, now clock.Moment, limit int,
) error {
	name := keyName(key)
	if err := errors.Join(t.delete(name), t.deleteSeq(number(seq))); err != nil {
		return err
	}
	if own := t.senders()[string(name[:senderSize])]; own.count >= announce.KeysPerSender {
		if err := t.deleteSeq(number(own.oldest)); err != nil {
			return err
		}
	}
	for t.count() >= limit {
		var most senderKeys
		for _, s := range t.senders() {
			if cmp.Or(cmp.Compare(s.count, most.count), cmp.Compare(most.oldest, s.oldest)) > 0 {
				most = s
			}
		}
		if most.count == 0 {
			break
		}
		if err := t.deleteSeq(number(most.oldest)); err != nil {
			return err
		}
	}
	r := keyRecord{now.Wall.UnixNano(), now.Boot, now.Since, key.Digest[:], seq, n.ID, n.Status}
	return errors.Join(
		t.bySeq.Put(number(seq), name), t.put(name, r), t.records.SetSequence(t.records.Sequence()+1))
}

func (t keyTable) put(name []byte, r keyRecord) error {
	v, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return t.records.Put(name, v)
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
	return t.put(name, r)
}

// delete deletes a key, if it exists.
func (t keyTable) delete(name []byte) error {
	v := t.records.Get(name)
	if v == nil {
		return nil
	}
	if r, err := decodeKey(v); err == nil {
		if err := t.bySeq.Delete(number(r.Seq)); err != nil {
			return err
		}
	}
	return errors.Join(t.records.Delete(name), t.records.SetSequence(t.records.Sequence()-1))
}

// deleteSeq deletes the key of the announcement seq, if it has one.
func (t keyTable) deleteSeq(seq []byte) error {
	name := bytes.Clone(t.bySeq.Get(seq))
	if name == nil {
		return nil
	}
	return errors.Join(t.bySeq.Delete(seq), t.delete(name))
}

// senderKeys describes the keys of a sender: their count and the seq of the oldest.
type senderKeys struct {
	count  int
	oldest uint64
}

// senders returns the keys by the digest of their sender.
func (t keyTable) senders() map[string]senderKeys {
	all := map[string]senderKeys{}
	for seq, name := range pairs(t.bySeq.Bucket) {
		s := all[string(name[:senderSize])]
		if s.count++; s.count == 1 {
			s.oldest = binary.BigEndian.Uint64(seq)
		}
		all[string(name[:senderSize])] = s
	}
	return all
}

// expired returns the seqs of the oldest keys as far as they are past their
// retention.
func (t keyTable) expired(now clock.Moment) (seqs [][]byte) {
	for seq, name := range pairs(t.bySeq.Bucket) {
		if r, err := decodeKey(t.records.Get(name)); err == nil && !r.expired(now) {
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
	return wrapped(err, "delete expired idempotency keys")
}
