package store

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

var duckedKey, raisedKey = []byte("streams"), []byte("sink")

// MaxDucked is the largest content that SaveDucked saves, in bytes.
const MaxDucked = 128 << 10

// Ducked returns which streams of the sound server are lowered, nil if none are.
func (s *Store) Ducked() ([]byte, error) {
	content, err := s.value(duckedBucket, duckedKey)
	return content, wrapped(err, "read the lowered streams")
}

// Raised returns which sink of the sound server is raised, nil if none is.
func (s *Store) Raised() ([]byte, error) {
	content, err := s.value(duckedBucket, raisedKey)
	return content, wrapped(err, "read the raised sink")
}

// SaveRaised is [Store.SaveDucked] of the sink that is raised.
func (s *Store) SaveRaised(ctx context.Context, content []byte) error {
	return wrapped(s.saveDucked(ctx, raisedKey, content), "save the raised sink")
}

// SaveDucked saves which streams of the sound server are lowered, in place of
// those before; nil means none. It returns [ErrFull] if the share of caches has no
// room for it.
func (s *Store) SaveDucked(ctx context.Context, content []byte) error {
	return wrapped(s.saveDucked(ctx, duckedKey, content), "save the lowered streams")
}

func (s *Store) saveDucked(ctx context.Context, key, content []byte) error {
	if len(content) > MaxDucked {
		return fmt.Errorf("%d bytes, at most %d", len(content), MaxDucked)
	}
	if content == nil {
		return s.update(ctx, func(tx *bolt.Tx) error { return tableOf(tx, duckedBucket).Delete(key) })
	}
	return s.cache(ctx, duckedBucket, key, content)
}
