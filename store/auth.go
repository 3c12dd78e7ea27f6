package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"pressbox/auth"
)

// Auth returns the store as the repository of sign-in.
func (s *Store) Auth() auth.Repository { return authRepository{s} }

type authRepository struct{ *Store }

// View implements [auth.Repository].
func (r authRepository) View(ctx context.Context, read func(auth.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.view(func(tx *bolt.Tx) error { return read(authTx{tx: tx, room: r.limit(signInShare)}) })
}

// Update implements [auth.Repository].
func (r authRepository) Update(ctx context.Context, change func(auth.Tx) error) error {
	err := r.growLeaving(ctx, signInShare, func(tx *bolt.Tx) (leave int64, err error) {
		err = change(authTx{tx, r.limit(signInShare), &leave})
		return leave, err
	})
	if errors.Is(err, ErrFull) {
		err = fmt.Errorf("%w: %w", auth.ErrFull, err)
	}
	return err
}

// authTx implements [auth.Tx].
type authTx struct {
	tx    *bolt.Tx
	room  int64
	leave *int64
}

// Room implements [auth.Tx].
func (t authTx) Room() int64 { return t.room }

// Leave implements [auth.Tx].
func (t authTx) Leave(bytes int64) { *t.leave = bytes }

// Get returns a record, or nil.
func (t authTx) Get(table auth.Table, key []byte) []byte {
	return t.tx.Bucket([]byte(table)).Get(key)
}

// Put writes a record.
func (t authTx) Put(table auth.Table, key, value []byte) error {
	return tableOf(t.tx, []byte(table)).Put(key, value)
}

// Delete deletes a record, if it exists.
func (t authTx) Delete(table auth.Table, key []byte) error {
	return tableOf(t.tx, []byte(table)).Delete(key)
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
