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

// A call is a change that waits to be written.
type call struct {
	fn   func(*bolt.Tx) error
	done chan error // gets the outcome, once
}

// errAlone tells a call to run again by itself: it failed in a group, where it
// may have seen what will never be kept, or the group was too much for the
// disk.
var errAlone = errors.New("run alone")

// update runs fn in a transaction and returns when that is on the disk, or not
// at all. fn may run several times, each time in a transaction that knows
// nothing of the times before. An error of fn is returned and changes nothing.
//
// Who comes while another one writes waits for that, and then one of those who
// wait, the leader, writes for all of them with one sync. There is no timer:
// who is alone is the leader at once.
//
// Once fn waits, ctx no longer matters: the caller must learn the outcome.
func (s *Store) update(ctx context.Context, fn func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{fn: fn, done: make(chan error, 1)}
	if err := s.enqueue(c); err != nil {
		return err
	}
	var err error
	select {
	case err = <-c.done:
	case s.leading <- struct{}{}:
		s.lead()
		<-s.leading
		err = <-c.done
	}
	if errors.Is(err, errAlone) {
		s.leading <- struct{}{}
		defer func() { <-s.leading }()
		return s.commit(fn)
	}
	return err
}

func (s *Store) enqueue(c *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.calls = append(s.calls, c)
	return nil
}

// lead writes all calls that wait. s.leading must be held; it is what makes
// this the only writer. It lets others run first, once: whom the last leader
// has just answered may have more to write, and then need not wait for this
// round to end. Alone it costs nothing.
func (s *Store) lead() {
	runtime.Gosched()
	s.mu.Lock()
	group := s.calls
	s.calls = nil
	s.mu.Unlock()
	for len(group) > 0 {
		failed := -1
		err := s.commit(func(tx *bolt.Tx) error {
			for i, c := range group {
				if err := c.fn(tx); err != nil {
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
			for _, c := range group {
				c.done <- err
			}
			return
		}
		group[failed].done <- errAlone
		group = slices.Delete(group, failed, failed+1)
	}
}

// commit runs fn in a transaction of its own. s.leading must be held.
func (s *Store) commit(fn func(*bolt.Tx) error) error {
	s.mu.Lock()
	dead, closed := s.dead, s.closed
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if dead != nil {
		return dead
	}
	var refused error // by fn
	var id int
	err := guard(func() error {
		return s.db.Update(func(tx *bolt.Tx) error {
			id = tx.ID()
			refused = fn(tx)
			return refused
		})
	})
	if refused != nil {
		return refused
	}
	return s.diagnose(id, explain(err))
}

// diagnose notes how transaction id ended.
func (s *Store) diagnose(id int, err error) error {
	dead := err
	switch {
	case err == nil:
		s.commits.Add(1)
		dead = nil
	case errors.Is(err, ErrCorrupt):
	case s.visible(id):
		err = fmt.Errorf("%w: %w", ErrUnconfirmed, err)
		dead = err
	default:
		dead = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sick, s.dead = err, dead
	return err
}

// visible says whether a transaction that failed can be read nevertheless. Its
// meta page was then written and the sync after that failed, so that nobody
// knows what the disk has; a later sync that succeeds would prove nothing.
func (s *Store) visible(id int) bool {
	newest := id
	err := s.view(func(tx *bolt.Tx) error {
		newest = tx.ID()
		return nil
	})
	return err != nil || newest >= id
}

// explain gives a failed commit its name.
func explain(err error) error {
	if errors.Is(err, bolterrors.ErrMaxSizeReached) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// guard returns as [ErrCorrupt] what bbolt has to say of damaged pages, by
// panics of its own or because a page lies behind the end of the file.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return do()
}
