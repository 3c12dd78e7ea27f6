package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	bolt "go.etcd.io/bbolt"
)

var (
	metaBucket         = []byte("meta")
	usageBucket        = []byte("usage")
	waitingBucket      = []byte("waiting")
	endedBucket        = []byte("ended")
	keysBucket         = []byte("idempotency_keys")
	keysBySeqBucket    = []byte("idempotency_seq")
	controlsBucket     = []byte("controls")
	calibrationsBucket = []byte("calibrations")
	idpCacheBucket     = []byte("idp_cache")
	adminCodeBucket    = []byte("auth_admin_code")
	flowBucket         = []byte("auth_state")
	flowOrderBucket    = []byte("auth_state_order")
	bootBucket         = []byte("meta_clock")
	bootOrderBucket    = []byte("meta_clock_order")
	teamDataBucket     = []byte("teamcache")
	duckedBucket       = []byte("ducked")
	seasonsBucket      = []byte("seasons")
	leaguesBucket      = []byte("leagues")
	lineupsBucket      = []byte("lineups")

	schemaKey = []byte("schema")
	probeKey  = []byte("probe")
)

// pairs yields the keys and values of a bucket in order. They are valid until
// the transaction ends.
func pairs(b *bolt.Bucket) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		c := b.Cursor()
		for k, v := c.First(); k != nil && yield(k, v); k, v = c.Next() {
		}
	}
}

// value returns what a bucket has under a key, nil if there is nothing.
func (s *Store) value(bucket, key []byte) (value []byte, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		value = bytes.Clone(tx.Bucket(bucket).Get(key))
		return nil
	})
	return value, err
}

// values returns all that a bucket has.
func (s *Store) values(bucket []byte) (all map[string][]byte, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		all = map[string][]byte{}
		for key, value := range pairs(tx.Bucket(bucket)) {
			all[string(key)] = bytes.Clone(value)
		}
		return nil
	})
	return all, err
}

// wrapped returns err behind a text, in the form of fmt.Sprintf; nil for nil.
func wrapped(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// number returns n as a key that sorts as the numbers do.
func number(n uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, n)
}
