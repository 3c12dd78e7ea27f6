package auth

import "context"

// A Table names one kind of record. Package auth/session lists the tables and
// their keys.
type Table string

// A Repository stores records. View calls read on a consistent state. Update
// calls change in one transaction, which is on disk when Update returns nil and
// has no effect when change returns an error; it may call change more than once,
// and never concurrently. Both return the function's error, possibly wrapped.
type Repository interface {
	View(ctx context.Context, read func(Tx) error) error
	// It returns [ErrFull] if there is no room for the change.
	Update(ctx context.Context, change func(Tx) error) error
}

// A Tx reads and writes records in one transaction. The slices that Get and Each
// provide are valid until the transaction ends, and a table must not be changed
// while Each visits it.
//
// Of the room, an account may take 1/16, the pending flows 1/16, and what accounts cause leaves 1/8 to flows and
// administrators.
type Tx interface { //nolint:interfacebloat // records, and their room
	Get(table Table, key []byte) []byte // nil: no such record
	Put(table Table, key, value []byte) error
	Delete(table Table, key []byte) error
	// Each visits the records whose keys begin with prefix, in order of key.
	Each(table Table, prefix []byte, visit func(key, value []byte) error) error
	// Room returns how many bytes all records may take.
	Room() int64
	// Leave refuses the transaction if it takes room and less than so many bytes would be left.
	Leave(bytes int64)
}
