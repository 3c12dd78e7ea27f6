package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// A write is a change that waits for a leader.
type write struct {
	fn   func(*bolt.Tx) error
	done chan error // receives the outcome, once
}

// errAlone makes a write run again in a transaction of its own: it failed in
// a group, where it may have seen changes that were rolled back, or the group was
// too large for the disk.
var errAlone = errors.New("run alone")

// update calls fn in a transaction and returns when the transaction is on disk,
// or has no effect. fn may be called several times, each time in a transaction
// without the effects of the previous calls. update returns an error of fn, which
// rolls the transaction back.
//
// While one caller writes, others queue; then one of them, the leader, writes for
// all of them with one sync. There is no timer: a single caller leads at once.
//
// Once fn is queued, ctx no longer matters: the caller must learn the outcome.
func (s *Store) update(ctx context.Context, fn func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &write{fn: fn, done: make(chan error, 1)}
	if err := s.enqueue(w); err != nil {
		return err
	}
	var err error
	select {
	case err = <-w.done:
	case s.leading <- struct{}{}:
		s.lead()
		<-s.leading
		err = <-w.done
	}
	if errors.Is(err, errAlone) {
		s.leading <- struct{}{}
		defer func() { <-s.leading }()
		return s.commit(fn)
	}
	return err
}

func (s *Store) enqueue(w *write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.queue = append(s.queue, w)
	return nil
}

// lead writes the queue. The caller must hold s.leading, which makes it the only
// writer. lead first yields once: callers whom the previous leader has just
// answered may have more to write, and then need not wait for this round.
func (s *Store) lead() {
	runtime.Gosched()
	s.mu.Lock()
	group := s.queue
	s.queue = nil
	s.mu.Unlock()
	for len(group) > 0 {
		failed := -1
		err := s.commit(func(tx *bolt.Tx) error {
			for i, w := range group {
				if err := w.fn(tx); err != nil {
					failed = i
					return err
				}
			}
			return nil
		})
		if failed < 0 || len(group) == 1 {
			if len(group) > 1 && errors.Is(err, ErrFull) {
				err = errAlone
			}
			for _, w := range group {
				w.done <- err
			}
			return
		}
		group[failed].done <- errAlone
		group = slices.Delete(group, failed, failed+1)
	}
}

// commit calls fn in a transaction of its own. The caller must hold s.leading.
func (s *Store) commit(fn func(*bolt.Tx) error) error {
	s.mu.Lock()
	fatal, closed := s.fatal, s.closed
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if fatal != nil {
		return fatal
	}
	var refused error // by fn
	var id int
	err := recoverCorrupt(func() error {
		tx, err := s.begin(true)
		if err != nil {
			return err
		}
		defer rollback(tx)
		id = tx.ID()
		if refused = fn(tx); refused != nil {
			return refused
		}
		return tx.Commit()
	})
	if refused != nil {
		return refused
	}
	return s.recordOutcome(id, translate(err))
}

// recordOutcome notes the outcome of a transaction for later commits and Health. id is
// 0 if it did not begin.
//
// No transaction follows one whose write or sync failed, unless the disk was only full:
// after a failed write of a meta page, memory may show the new page to bbolt, which then
// reads the list of free pages of a transaction that the disk does not have.
func (s *Store) recordOutcome(id int, err error) error {
	fatal := err
	switch {
	case err == nil:
		s.commits.Add(1)
		fatal = nil
	case errors.Is(err, ErrCorrupt):
	case id == 0, errors.Is(err, ErrFull) && !s.visible(id):
		fatal = nil
	default:
		err = fmt.Errorf("%w: %w", ErrUnconfirmed, err)
		fatal = err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastErr, s.fatal = err, fatal
	return err
}

// visible reports whether a failed transaction can be read nevertheless. Then its
// meta page was written and the following sync failed, so the content of the disk
// is unknown; a later successful sync would prove nothing.
func (s *Store) visible(id int) bool {
	newest := id
	err := s.view(func(tx *bolt.Tx) error {
		newest = tx.ID()
		return nil
	})
	return err != nil || newest >= id
}

// translate wraps the errors of a full disk as [ErrFull].
func translate(err error) error {
	full := errors.Is(err, bolterrors.ErrMaxSizeReached) || errors.Is(err, syscall.ENOSPC)
	if full || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// recoverCorrupt returns as [ErrCorrupt] how bbolt reacts to damaged pages: it
// panics, or it reads beyond the end of the file.
func recoverCorrupt(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %w", ErrCorrupt, panicked(p))
		}
	}()
	return do()
}

// panicked returns the cause of a panic: of a fault at an address of the file in memory,
// that the disk could not read it.
func panicked(p any) error {
	if fault, ok := p.(interface{ Addr() uintptr }); ok {
		return fmt.Errorf("%w at address %#x of the file in memory", syscall.EIO, fault.Addr())
	}
	return fmt.Errorf("%v", p)
}
