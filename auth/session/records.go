package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"pressbox/auth"
)

// The tables; the package comment describes them.
const (
	tableFlow      auth.Table = "auth_state"
	tableFlowOrder auth.Table = "auth_state_order"
	tableAccess    auth.Table = "auth_access"
	tableRefresh   auth.Table = "auth_refresh"
	tableSession   auth.Table = "auth_session"
	tableUser      auth.Table = "auth_user"
	tableIdentity  auth.Table = "auth_identity"
	tableAPIToken  auth.Table = "auth_apitoken" //nolint:gosec // the name of a table
	tableInvite    auth.Table = "auth_invite"
	tableGuest     auth.Table = "auth_guest"
	tableAdminCode auth.Table = "auth_admin_code"
	tableLocal     auth.Table = "auth_local"
	tableBoot      auth.Table = "meta_clock"
	tableBootOrder auth.Table = "meta_clock_order"
)

// get returns a record, or ErrNotFound.
func get[T any](tx auth.Tx, table auth.Table, key []byte) (record T, err error) {
	value := tx.Get(table, key)
	if value == nil {
		return record, auth.ErrNotFound
	}
	if err := json.Unmarshal(value, &record); err != nil {
		return record, fmt.Errorf("read a record of %s: %w", table, err)
	}
	return record, nil
}

func put[T any](tx auth.Tx, table auth.Table, key []byte, record T) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("write a record of %s: %w", table, err)
	}
	return tx.Put(table, key, value)
}

// each visits the records whose keys begin with prefix.
func each[T any](tx auth.Tx, table auth.Table, prefix []byte, visit func(key string, record T) error) error {
	return tx.Each(table, prefix, func(key, value []byte) error {
		var record T
		if err := json.Unmarshal(value, &record); err != nil {
			return fmt.Errorf("read a record of %s: %w", table, err)
		}
		return visit(string(key), record)
	})
}

// where returns the records that match, by their keys' order.
func where[T any](tx auth.Tx, table auth.Table, match func(key string, record T) bool) (found []T, err error) {
	err = each(tx, table, nil, func(key string, record T) error {
		if match(key, record) {
			found = append(found, record)
		}
		return nil
	})
	return found, err
}

// list returns the records of a table that match, by their keys' order.
func list[T any](
	ctx context.Context, s *Sessions, table auth.Table, match func(key string, record T) bool,
) ([]T, error) {
	found, err := view(ctx, s, func(tx auth.Tx) ([]T, error) { return where(tx, table, match) })
	if err != nil {
		return nil, fmt.Errorf("list the records of %s: %w", table, err)
	}
	return found, nil
}

// deleteWhere deletes the records that match.
func deleteWhere[T any](tx auth.Tx, table auth.Table, match func(key string, record T) bool) error {
	var keys []string
	err := each(tx, table, nil, func(key string, record T) error {
		if match(key, record) {
			keys = append(keys, key)
		}
		return nil
	})
	for _, key := range keys {
		err = errors.Join(err, tx.Delete(table, []byte(key)))
	}
	return err
}

// revoke deletes the record of a table that matches, or returns ErrNotFound.
func revoke[T any](ctx context.Context, s *Sessions, table auth.Table, match func(key string, record T) bool) error {
	err := s.repo.Update(ctx, func(tx auth.Tx) error {
		found, err := where(tx, table, match)
		if err == nil && len(found) == 0 {
			err = auth.ErrNotFound
		}
		return errors.Join(err, deleteWhere(tx, table, match))
	})
	if err != nil {
		return fmt.Errorf("delete a record of %s: %w", table, err)
	}
	return nil
}

// An ageOrder is an index of a bounded table by age: sequence → key and tag. It
// finds the record to delete without reading any.
type ageOrder struct {
	index, table auth.Table
	limit        int                     // records in the table
	keySize      int                     // bytes of the keys, whose tags follow; 0: keys of any size, without tags
	victim       func(tags [][]byte) int // the tag whose record is deleted to make room; nil: the oldest
}

// An aged is an entry of an ageOrder.
type aged struct {
	sequence uint64
	key, tag []byte
}

// add puts a new key at the end of the order, and deletes records beyond the limit.
// It returns the key's sequence.
func (o ageOrder) add(tx auth.Tx, key, tag []byte) (sequence uint64, err error) {
	order, err := o.entries(tx)
	if err != nil {
		return 0, err
	}
	if len(order) > 0 {
		sequence = order[len(order)-1].sequence + 1
	}
	order = append(order, aged{sequence, key, tag})
	for len(order) > o.limit {
		at := o.choose(order)
		if err := o.delete(tx, order[at]); err != nil {
			return 0, err
		}
		order = slices.Delete(order, at, at+1)
	}
	return sequence, tx.Put(o.index, sequenceKey(sequence), slices.Concat(key, tag))
}

// entries returns the order, oldest first.
func (o ageOrder) entries(tx auth.Tx) (order []aged, err error) {
	err = tx.Each(o.index, nil, func(k, v []byte) error {
		size := len(v)
		if o.keySize > 0 {
			size = min(size, o.keySize)
		}
		v = bytes.Clone(v)
		order = append(order, aged{binary.BigEndian.Uint64(k), v[:size], v[size:]})
		return nil
	})
	return order, err
}

// choose returns the index of the entry to delete: never the newest, which is last.
func (o ageOrder) choose(order []aged) int {
	if o.victim == nil {
		return 0
	}
	tags := make([][]byte, len(order))
	for i, e := range order {
		tags[i] = e.tag
	}
	return min(o.victim(tags), len(order)-2)
}

func (o ageOrder) delete(tx auth.Tx, e aged) error {
	return errors.Join(tx.Delete(o.table, e.key), tx.Delete(o.index, sequenceKey(e.sequence)))
}

// sequenceKey returns a key that sorts as the numbers do.
func sequenceKey(sequence uint64) []byte { return binary.BigEndian.AppendUint64(nil, sequence) }
