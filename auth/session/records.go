package session

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

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
		if err == nil {
			err = tx.Delete(table, []byte(key))
		}
	}
	return err
}

// An ageOrder is an index of a bounded table by age: sequence → key. It finds
// the oldest record without reading any other.
type ageOrder struct {
	index, table auth.Table
	limit        int // records in the table
}

// add puts a new key at the end of the order and deletes the oldest records
// beyond the limit. It returns the key's sequence.
func (o ageOrder) add(tx auth.Tx, key []byte) (sequence uint64, err error) {
	var order []uint64
	err = tx.Each(o.index, nil, func(k, _ []byte) error {
		order = append(order, binary.BigEndian.Uint64(k))
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(order) > 0 {
		sequence = order[len(order)-1] + 1
	}
	for len(order) >= o.limit {
		oldest := sequenceKey(order[0])
		if err := tx.Delete(o.table, tx.Get(o.index, oldest)); err != nil {
			return 0, err
		}
		if err := tx.Delete(o.index, oldest); err != nil {
			return 0, err
		}
		order = order[1:]
	}
	return sequence, tx.Put(o.index, sequenceKey(sequence), key)
}

// sequenceKey returns a key that sorts as the numbers do.
func sequenceKey(sequence uint64) []byte { return binary.BigEndian.AppendUint64(nil, sequence) }
