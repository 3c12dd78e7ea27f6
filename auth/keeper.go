package auth

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Table names one kind of record; see the package comment for their keys.
type Table string

// The tables that a [Repository] keeps.
const (
	tableState    Table = "auth_state"
	tableAccess   Table = "auth_access"
	tableRefresh  Table = "auth_refresh"
	tableSession  Table = "auth_session"
	tableUser     Table = "auth_user"
	tableIdentity Table = "auth_identity"
	tableAPIToken Table = "auth_apitoken" //nolint:gosec // the name of a table
	tableInvite   Table = "auth_invite"
	tableLocal    Table = "auth_local"
	tableClock    Table = "meta_clock"
)

// Tables are all tables, for a [Repository] that makes room for each beforehand.
func Tables() []Table {
	return []Table{
		tableState, tableAccess, tableRefresh, tableSession, tableUser,
		tableIdentity, tableAPIToken, tableInvite, tableLocal, tableClock,
	}
}

// A Repository keeps records. Update runs change in one transaction that is on disk
// when Update returns nil and leaves no trace when change returns an error; it
// may run change more than once, and never two at a time. View runs look on a
// consistent state. Both return the function's error as it is, or wrapped.
type Repository interface {
	View(ctx context.Context, look func(Tx) error) error
	Update(ctx context.Context, change func(Tx) error) error
}

// A Tx is the records inside one transaction. What Get and Each lend is valid
// until the transaction ends, and a record must not be changed while Each walks
// over its table.
type Tx interface {
	Get(table Table, key []byte) []byte // nil: no such record
	Put(table Table, key, value []byte) error
	Delete(table Table, key []byte) error
	// Each visits the records whose key begins with prefix, in order of key.
	Each(table Table, prefix []byte, visit func(key, value []byte) error) error
}

// get reads a record, or is ErrNotFound.
func get[T any](tx Tx, table Table, key []byte) (record T, err error) {
	value := tx.Get(table, key)
	if value == nil {
		return record, ErrNotFound
	}
	if err := json.Unmarshal(value, &record); err != nil {
		return record, fmt.Errorf("read a record of %s: %w", table, err)
	}
	return record, nil
}

func put[T any](tx Tx, table Table, key []byte, record T) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("write a record of %s: %w", table, err)
	}
	return tx.Put(table, key, value)
}

// each visits the records whose key begins with prefix.
func each[T any](tx Tx, table Table, prefix []byte, visit func(key string, record T) error) error {
	return tx.Each(table, prefix, func(key, value []byte) error {
		var record T
		if err := json.Unmarshal(value, &record); err != nil {
			return fmt.Errorf("read a record of %s: %w", table, err)
		}
		return visit(string(key), record)
	})
}

// sweep deletes the records of which dead is true.
func sweep[T any](tx Tx, table Table, prefix []byte, dead func(key string, record T) bool) error {
	var keys []string
	err := each(tx, table, prefix, func(key string, record T) error {
		if dead(key, record) {
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
