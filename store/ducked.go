package store

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

var duckedKey = []byte("streams")

// MaxDucked is the largest content that SaveDucked saves, in bytes.
const MaxDucked = 128 << 10

// Ducked returns which streams of the sound server are lowered, nil if none are.
func (s *Store) Ducked() ([]byte, error) {
	content, err := s.value(duckedBucket, duckedKey)
	return content, wrapped(err, "read the lowered streams")
}

// SaveDucked saves which streams of the sound server are lowered, in place of
// those before; nil means none. It returns [ErrFull] if the share of caches has no
// room for it.
func (s *Store) SaveDucked(ctx context.Context, content []byte) error {
	if len(content) > MaxDucked {
		return fmt.Errorf("save the lowered streams: %d bytes, at most %d", len(content), MaxDucked)
	}
	var err error
	if content == nil {
		err = s.update(ctx, func(tx *bolt.Tx) error { return tableOf(tx, duckedBucket).Delete(duckedKey) })
	} else {
		err = s.cache(ctx, duckedBucket, duckedKey, content)
	}
	return wrapped(err, "save the lowered streams")
}
