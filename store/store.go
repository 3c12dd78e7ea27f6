// Package store saves the state of Pressbox in one bbolt file.
//
// A method that changes something returns nil only when the disk has confirmed
// the change; otherwise it returns an error and has changed nothing. Each method
// is one transaction. Concurrent transactions share a sync (group commit), and a
// single one is not delayed. No slice of bbolt leaves the package.
//
// After a power cut the file has every confirmed change, because bbolt syncs the
// pages of a transaction before the meta page that refers to them. If the sync of
// a meta page fails, its content on disk is unknown, and if its write fails, what
// bbolt reads of it in memory is: after any failed write or sync nothing is written
// any more ([ErrUnconfirmed]) until the store is opened again, which writes the meta
// pages again before anything else. Only a full disk is different: the change is
// rolled back, and the next one writes its pages again.
//
// The buckets; numbers are big-endian, announcements are written by [encode]:
//
//	meta              "schema" → version (8 bytes); "probe" → padding
//	usage             bucket → bytes of the file that it takes at most, see [entryCost]
//	waiting           seq (8 bytes) → announcement that is scheduled, waits or is played
//	ended             seq (8 bytes) → announcement; the bucket's sequence is their count
//	idempotency_keys  digests of sender and key (16 bytes each) → [keyRecord]: time,
//	                  digest of the request, id; the bucket's sequence is their count
//	idempotency_seq   seq (8 bytes) → key of idempotency_keys
//	controls          key → JSON, see package voice/control
//	calibrations      hash of a voice's model → JSON
//	auth_…            sign-in, see package auth/session
//	meta_clock…       boots of the host, see package auth/session
//	idp_cache         name → document of a sign-in provider
//	game_heads        game → its summary, see package game/live
//	game_moves        game → bucket: revision (8 bytes) → move; the bucket's sequence
//	                  is the last revision
//	game_packs        finished game → its moves: gzip of length (varint), move, length, …
//	game_boxes        finished game → its box score, gzip
//	seasons           year → imported season, gzip of JSON of package game/history
//	leagues           id → series or league, JSON of package game/leagues
//	teamcache         URL → answer of the team-data API, JSON
//	ducked            "streams" → lowered streams of the sound server, JSON of package
//	                  audio/pulse
//
// Each kind of data has a share of the file that no other can use, see
// [Store.limit]. A full share rejects its own data only. [bucketRows] has the
// share and the bound of each bucket.
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

	"pressbox/store/clock"
)

// Errors of a store. The file system's errors are returned as they are.
var (
	ErrLocked  = errors.New("the store is in use")
	ErrNewer   = errors.New("the store was written by a newer pressbox")
	ErrOlder   = errors.New("the store was written by an older pressbox")
	ErrCorrupt = errors.New("the store is damaged")
	ErrFull    = errors.New("the store is full")
	ErrClosed  = errors.New("the store is closed")
	// ErrUnconfirmed means that a write or a sync of a change failed. Nothing is
	// written until the store is opened again.
	ErrUnconfirmed = errors.New("the disk did not confirm a change")
)

// Options configure a store.
type Options struct {
	MaxSize int64         // bytes of the file, at least 2 MiB; 0 means 512 MiB
	Timeout time.Duration // wait for another process to close it; 0 means 3 s
	Recount bool          // check the counted size of each bucket, which takes a read of the file
	Beside  Beside        // belongs to each backup; nil: nothing does
	Log     *slog.Logger  // nil means none
}

// A Store is an open file. Its methods may be called concurrently.
type Store struct {
	db      *bolt.DB
	file    *os.File // of db, for when db cannot close it any more
	path    string
	maxSize int64
	beside  Beside
	log     *slog.Logger
	now     func() clock.Moment
	marked  bool // this Store created the mark of an open store

	leading chan struct{} // holds a token while a leader writes
	commits atomic.Uint64 // since Open

	beginning sync.Mutex // held while a transaction begins
	stuck     error      // why no transaction can begin any more; nil while one can

	mu      sync.Mutex // guards what follows
	queue   []*write   // not yet taken by a leader
	closed  bool
	lastErr error     // of the last commit
	fatal   error     // why no commit is possible any more; nil while one is
	probed  time.Time // when lastErr was last checked
}

// Close waits for pending writes and closes the file. Later calls of other
// methods return [ErrClosed].
func (s *Store) Close() error {
	s.leading <- struct{}{}
	defer func() { <-s.leading }()
	s.lead()
	s.mu.Lock()
	was, fatal := s.closed, s.fatal
	s.closed = true
	s.mu.Unlock()
	s.beginning.Lock()
	stuck := s.stuck != nil
	s.beginning.Unlock()
	switch {
	case was:
		return nil
	case stuck, errors.Is(fatal, ErrCorrupt):
		return s.abandon()
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	if fatal != nil { // the mark stays: the next start checks the file
		return nil
	}
	return s.unmark()
}

// Health returns why nothing can be saved, as far as is known. After a failed
// commit it tries another, at most once a second.
func (s *Store) Health() error {
	s.mu.Lock()
	lastErr, fatal, closed := s.lastErr, s.fatal, s.closed
	due := time.Since(s.probed) >= time.Second
	if due {
		s.probed = time.Now()
	}
	s.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case fatal != nil:
		return fatal
	case lastErr != nil && due:
		return s.update(context.Background(), probe)
	case lastErr != nil:
		return lastErr
	default:
		return s.checkAcceptance()
	}
}

// checkAcceptance returns [ErrFull] if a long announcement finds no room, even
// after the ended ones are deleted.
func (s *Store) checkAcceptance() error {
	if err := s.checkSpace(announcementsShare); err != nil {
		return err
	}
	return s.view(func(tx *bolt.Tx) error {
		size, _ := used(tx, announcementsShare)
		size -= tableOf(tx, endedBucket).bytes()
		if limit := s.limit(announcementsShare); size > limit-8*pageSize {
			return fmt.Errorf("%w: waiting announcements use %d of %d bytes", ErrFull, size, limit)
		}
		return nil
	})
}

// probe writes as much as a long announcement needs.
func probe(tx *bolt.Tx) error {
	return tx.Bucket(metaBucket).Put(probeKey, make([]byte, 8*pageSize))
}

// Stats describes the use of a store.
type Stats struct {
	Size    int64  // bytes of the file that hold data
	Free    int64  // of these, bytes that will be reused
	Max     int64  // size limit of the file
	Commits uint64 // since the store was opened
	Shares  []Share
}

// A Share is a part of the store that only one kind of data can use.
type Share struct {
	Name      string
	Used, Max int64 // bytes
}

func (s Share) nearlyFull() bool { return s.Used > s.Max/10*9 }

// left returns the bytes that can still be written. Free pages count half: they
// are scattered, and a long value needs several adjacent ones.
func (st Stats) left() int64 { return st.Max - allocSize - st.Size + st.Free/2 }

// reserve returns a sixteenth of the size limit, up to an eighth of a small one.
func (st Stats) reserve() int64 { return max(st.Max/16, min(st.Max/8, allocSize)) }

// NearlyFull returns the name of a share of which more than nine tenths are used,
// "the file" if little more than its reserve is left, otherwise "".
func (st Stats) NearlyFull() string {
	for _, sh := range st.Shares {
		if sh.nearlyFull() {
			return sh.Name
		}
	}
	if st.left() < st.reserve()*3/2 {
		return "the file"
	}
	return ""
}

// Stats returns the use of the store.
func (s *Store) Stats() (Stats, error) {
	st := Stats{Max: s.maxSize, Commits: s.commits.Load()}
	err := s.view(func(tx *bolt.Tx) error {
		db := s.db.Stats()
		st.Size = tx.Size()
		st.Free = int64(db.FreePageN+db.PendingPageN) * int64(s.db.Info().PageSize)
		for sh := range shareCount {
			size, _ := used(tx, sh)
			st.Shares = append(st.Shares, Share{sh.String(), size, s.limit(sh)})
		}
		return nil
	})
	return st, err
}

// Backup writes a consistent copy of the store to w while other methods run, and
// what belongs to it. It does not sync w.
func (s *Store) Backup(w io.Writer) error {
	err := s.view(func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(w)
		return err
	})
	if err == nil {
		err = s.saveBeside(w)
	}
	return wrapped(err, "back up the store")
}

// view calls fn in a read transaction.
func (s *Store) view(fn func(*bolt.Tx) error) error {
	err := recoverCorrupt(func() error {
		tx, err := s.begin(false)
		if err != nil {
			return err
		}
		defer rollback(tx)
		return fn(tx)
	})
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// begin begins a transaction. It reads the meta pages before bbolt does, which never unlocks
// what it has locked for that if the disk fails: after that no transaction begins any more.
func (s *Store) begin(writable bool) (tx *bolt.Tx, err error) {
	if err := s.readMeta(); err != nil {
		return nil, err
	}
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.stuck != nil {
		return nil, s.stuck
	}
	err = recoverCorrupt(func() (err error) {
		tx, err = s.db.Begin(writable)
		return err
	})
	if errors.Is(err, ErrCorrupt) {
		s.stuck = err
	}
	return tx, err
}

// rollback ends a transaction, unless it has been committed.
func rollback(tx *bolt.Tx) {
	_ = tx.Rollback() // bbolt fails only if it has ended
}

// readMeta reads the meta pages from the disk, if they are not in memory.
func (s *Store) readMeta() error {
	var upToSecond [pageSize + 1]byte
	_, err := s.file.ReadAt(upToSecond[:], 0)
	if errors.Is(err, os.ErrClosed) {
		return ErrClosed
	}
	return err
}
