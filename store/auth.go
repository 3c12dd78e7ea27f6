package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"pressbox/auth"
)

// authBuckets are those of sign-in as schema 2 made them; each has the name of
// its table, see package auth for what is in it. The last is not of auth: it
// caches what sign-in providers publish.
func authBuckets() [][]byte {
	return [][]byte{
		[]byte("auth_state"), []byte("auth_access"), []byte("auth_refresh"), []byte("auth_session"),
		[]byte("auth_user"), []byte("auth_identity"), []byte("auth_apitoken"), []byte("auth_invite"),
		[]byte("auth_local"), []byte("meta_clock"), idpCacheBucket,
	}
}

// Auth is the store as sign-in sees it.
func (s *Store) Auth() auth.Repository { return authKeeper{s} }

type authKeeper struct{ *Store }

// View runs look on the records as they are now.
func (k authKeeper) View(ctx context.Context, look func(auth.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return k.view(func(tx *bolt.Tx) error { return look(authTx{tx}) })
}

// Update runs change and returns when what it changed is on the disk.
func (k authKeeper) Update(ctx context.Context, change func(auth.Tx) error) error {
	return k.update(ctx, func(tx *bolt.Tx) error { return change(authTx{tx}) })
}

// authTx lends records while its transaction lasts.
type authTx struct{ tx *bolt.Tx }

// Get returns a record, or nil.
func (t authTx) Get(table auth.Table, key []byte) []byte {
	return t.tx.Bucket([]byte(table)).Get(key)
}

// Put writes a record.
func (t authTx) Put(table auth.Table, key, value []byte) error {
	return t.tx.Bucket([]byte(table)).Put(key, value)
}

// Delete removes a record; one that is not there is well.
func (t authTx) Delete(table auth.Table, key []byte) error {
	return t.tx.Bucket([]byte(table)).Delete(key)
}

// Each visits the records whose keys begin with prefix, in order.
func (t authTx) Each(table auth.Table, prefix []byte, visit func(key, value []byte) error) error {
	c := t.tx.Bucket([]byte(table)).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if err := visit(k, v); err != nil {
			return err
		}
	}
	return nil
}

// Cached returns what was kept under key about a sign-in provider; nil when
// there is nothing.
func (s *Store) Cached(_ context.Context, key string) (value []byte, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		value = bytes.Clone(tx.Bucket(idpCacheBucket).Get([]byte(key)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return value, nil
}

// SaveCached keeps what a sign-in provider publishes.
func (s *Store) SaveCached(ctx context.Context, key string, value []byte) error {
	err := s.update(ctx, func(tx *bolt.Tx) error {
		return tx.Bucket(idpCacheBucket).Put([]byte(key), value)
	})
	if err != nil {
		return fmt.Errorf("keep %s: %w", key, err)
	}
	return nil
}
