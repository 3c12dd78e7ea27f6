// Package store keeps the daemon's state in one bbolt file.
//
// One law: what a method said is kept, is on the disk. A method that changes
// something returns when the disk has confirmed it, or returns an error and
// has changed nothing. One method is one transaction; concurrent ones share a
// sync, one alone does not wait for company. Nothing that bbolt lends leaves
// the package.
//
// Layout; numbers are big-endian, notices are as [encode] writes them:
//
//	meta          "schema" → version (8 bytes); "probe" → padding
//	waiting       seq (8 bytes) → notice that waits or is spoken
//	ended         seq (8 bytes) → notice; the bucket's sequence is their count
//	keys          idempotency key → time, digest (32 bytes), notice as first kept
//	keys-by-age   time (Unix nanoseconds, 8 bytes), idempotency key → nothing
//	calibrations  hash of a voice's model → JSON
//	auth_…        and meta_clock: sign-in, as package auth describes
//	idp_cache     name → what a sign-in provider publishes
//	game_heads    game → what lists show of it, as package live writes it
//	game_moves    game → bucket: revision (8 bytes) → move; its sequence is the
//	              last revision
//	game_packs    game that has ended → its moves so far: gzip of length (varint),
//	              move, length, …
//	game_boxes    game that has ended → its box score, gzip
//	teamcache     address → what the team-data API said there, as JSON; made when needed
//
// A change of the layout is a new migration, see [migrations].
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"pressbox/clock"
)

// What is wrong with a store, besides what the system says of its file.
var (
	ErrLocked  = errors.New("the store is in use")
	ErrNewer   = errors.New("the store was written by a newer pressbox")
	ErrCorrupt = errors.New("the store is damaged")
	ErrFull    = errors.New("the store is full")
	ErrClosed  = errors.New("the store is closed")
	// ErrUnconfirmed says that the disk took a change and then did not
	// confirm it. Nothing is written any more until the store was opened anew.
	ErrUnconfirmed = errors.New("the disk did not confirm a change")
)

// Options say how to open a store.
type Options struct {
	MaxSize int64         // bytes of the file, at least 2 MiB; 0 means 512 MiB
	Timeout time.Duration // how long to wait for another holder to let go; 0 means 3 s
	Log     *slog.Logger
}

// A Store is an open file. Its methods may be called concurrently.
type Store struct {
	db      *bolt.DB
	file    *os.File // db's, for when db cannot close it any more
	path    string
	maxSize int64
	log     *slog.Logger
	now     func() clock.Moment
	marked  bool // by us, as open

	leading chan struct{} // holds a token while a leader writes
	commits atomic.Uint64 // since Open

	mu     sync.Mutex // guards what follows
	calls  []*call    // not yet taken by a leader
	closed bool
	sick   error     // why the last commit failed; nil after a good one
	dead   error     // why there will be no more; nil while there will
	probed time.Time // when sick was last looked after
}

// Close waits for what is being written and closes the file. What is called
// later returns [ErrClosed].
func (s *Store) Close() error {
	s.leading <- struct{}{}
	defer func() { <-s.leading }()
	s.lead()
	s.mu.Lock()
	was, dead := s.closed, s.dead
	s.closed = true
	s.mu.Unlock()
	switch {
	case was:
		return nil
	case errors.Is(dead, ErrCorrupt):
		return s.abandon()
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	if dead != nil { // whoever opens it next has it checked
		return nil
	}
	return s.unmark()
}

// Health returns why nothing can be kept now; nil means that it can, as far as
// is known. After a failure it tries again by itself, at most once a second.
func (s *Store) Health() error {
	s.mu.Lock()
	sick, dead, closed := s.sick, s.dead, s.closed
	due := time.Since(s.probed) >= time.Second
	if due {
		s.probed = time.Now()
	}
	s.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case dead != nil:
		return dead
	case sick != nil && due:
		return s.update(context.Background(), probe)
	case sick != nil:
		return sick
	default:
		return s.room()
	}
}

// probe writes as much as a long announcement takes.
func probe(tx *bolt.Tx) error {
	return tx.Bucket(metaBucket).Put(probeKey, make([]byte, 8*pageSize))
}

// room returns [ErrFull] when only the reserve is left. That is for what must be
// written even then, such as the end of an announcement; what makes the file grow
// asks first.
func (s *Store) room() error {
	st, err := s.Stats()
	if err != nil {
		return err
	}
	if st.left() < st.reserve() {
		return fmt.Errorf("%w: %d of %d bytes are used", ErrFull, st.Size-st.Free, st.Max)
	}
	return nil
}

// Stats is how full a store is.
type Stats struct {
	Size    int64  // bytes of the file that hold data
	Free    int64  // of these, bytes that will be used again
	Max     int64  // what the file may grow to
	Commits uint64 // since it was opened
}

// left is how many bytes can still be written. Free pages count half, as they lie
// scattered and a long value needs several in a row.
func (st Stats) left() int64 { return st.Max - allocSize - st.Size + st.Free/2 }

// reserve is a sixteenth, of a small file up to an eighth.
func (st Stats) reserve() int64 { return max(st.Max/16, min(st.Max/8, allocSize)) }

// NearlyFull reports whether a tenth of the file is left, or of a small one little more
// than the reserve: what is no longer needed should go, before the store is full.
func (st Stats) NearlyFull() bool { return st.left() < max(st.Max/10, st.reserve()*3/2) }

// Stats returns how full the store is.
func (s *Store) Stats() (Stats, error) {
	st := Stats{Max: s.maxSize, Commits: s.commits.Load()}
	err := s.view(func(tx *bolt.Tx) error {
		db := s.db.Stats()
		st.Size = tx.Size()
		st.Free = int64(db.FreePageN+db.PendingPageN) * int64(s.db.Info().PageSize)
		return nil
	})
	return st, err
}

// Backup writes a store of this moment to w, while others go on. It returns
// when w has all, but does not sync what is behind w.
func (s *Store) Backup(w io.Writer) error {
	err := s.view(func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

// view reads in one transaction.
func (s *Store) view(fn func(*bolt.Tx) error) error {
	err := guard(func() error { return s.db.View(fn) })
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}
