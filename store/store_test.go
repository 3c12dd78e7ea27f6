package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/voice/announce"
)

// announcement returns the i-th of some announcements.
func announcement(i int) announce.Announcement {
	now := time.Now().UTC().Round(0)
	return announce.Announcement{
		Content: announce.Content{Message: fmt.Sprint("message ", i), Voice: "anna", Rate: 170, Urgent: i%2 == 0},
		ID:      fmt.Sprintf("id%04d", i), Seq: uint64(i), Created: now, Expires: now.Add(10 * time.Minute),
		Status: announce.Queued, InitialPosition: i,
	}
}

// ended returns n as it ends.
func ended(n announce.Announcement) announce.Announcement {
	n.Status = announce.Done
	n.Started = n.Created.Add(time.Second)
	n.Ended = n.Created.Add(2 * time.Second)
	return n
}

func save(tb testing.TB, s *store.Store, n announce.Announcement) {
	tb.Helper()
	saved, fresh, err := s.Append(tb.Context(), n, announce.IdempotencyKey{})
	check.Require(tb, err == nil && fresh && saved.ID == n.ID, "append %s: %+v, %v, %v", n.ID, saved, fresh, err)
}

// Announcements survive a restart: the waiting ones in order, the ended ones
// newest first. An idempotency key answers also after the restart and the end.
func TestOutbox_reopened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "down", "pressbox.db")
	s := check.Must(store.Open(path, store.Options{}))(t)
	key := announce.IdempotencyKey{Key: "k", Digest: [32]byte{1}}
	other := announce.IdempotencyKey{Key: "k", Digest: [32]byte{2}}
	_, ok, err := s.Find(t.Context(), key)
	check.That(t, !ok && err == nil, "an unknown key: %v, %v", ok, err)
	for _, i := range []int{3, 4, 2, 5} {
		save(t, s, announcement(i))
	}
	first := announcement(1)
	_, fresh, err := s.Append(t.Context(), first, key)
	check.Require(t, fresh && err == nil, "append with a key: %v, %v", fresh, err)
	check.NoError(t, s.Done(t.Context(), ended(first), ended(announcement(4))))
	check.NoError(t, s.Close())
	_, _, appendErr := s.Append(t.Context(), announcement(6), announce.IdempotencyKey{})
	_, _, loadErr := s.Load(t.Context())
	check.That(t, errors.Is(appendErr, store.ErrClosed) && errors.Is(loadErr, store.ErrClosed),
		"a closed store: append %v, load %v, want ErrClosed", appendErr, loadErr)

	s = store.OpenForTest(t, path, store.Options{})
	stored := announce.Accepted{ID: first.ID, Status: announce.Done}
	n, ok, err := s.Find(t.Context(), key)
	check.That(t, ok && err == nil && n == stored, "find: %+v, %v, %v, want the first announcement", n, ok, err)
	n, fresh, err = s.Append(t.Context(), announcement(6), key)
	check.That(t, !fresh && err == nil && n == stored,
		"append again: %+v, %v, %v, want the first announcement", n, fresh, err)
	_, _, findErr := s.Find(t.Context(), other)
	_, _, appendErr = s.Append(t.Context(), announcement(6), other)
	check.That(t, errors.Is(findErr, announce.ErrKeyReused) && errors.Is(appendErr, announce.ErrKeyReused),
		"the key of another request: %v, %v; want ErrKeyReused", findErr, appendErr)
	waiting, over, err := s.Load(t.Context())
	check.NoError(t, err)
	var got []uint64
	for _, n := range append(waiting, over...) {
		got = append(got, n.Seq)
	}
	check.Equal(t, fmt.Sprint(got), "[2 3 5 4 1]", "the waiting ones in order, then the ended ones, newest first")
	check.Equal(t, over[1], ended(first), "loaded")
}

// A second process is refused, with the id of the first one.
func TestOpen_locked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	store.OpenForTest(t, path, store.Options{})
	_, err := store.Open(path, store.Options{Timeout: 60 * time.Millisecond})
	want := fmt.Sprintf("process %d (", os.Getpid())
	check.That(t, errors.Is(err, store.ErrLocked) && strings.Contains(err.Error(), want),
		"open twice: %v, want ErrLocked by %s", err, want)
}

// damage creates a store with 50 announcements and changes its bytes.
func damage(t *testing.T, change func(data []byte) []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(store.Open(path, store.Options{}))(t)
	for i := range 50 {
		n := announcement(i + 1)
		n.Message = strings.Repeat("x", 3000)
		save(t, s, n)
	}
	check.NoError(t, s.Close())
	data := check.Must(os.ReadFile(path))(t)
	check.NoError(t, os.WriteFile(path, change(data), 0o600))
	return path
}

// Every damage is ErrCorrupt, when the file is opened or read.
func TestOpen_damaged(t *testing.T) {
	t.Parallel()
	zero := func(from, to int) func([]byte) []byte {
		return func(data []byte) []byte {
			clear(data[from:min(to, len(data))])
			return data
		}
	}
	for name, change := range map[string]func([]byte) []byte{
		"empty":                         func([]byte) []byte { return nil },
		"one page":                      func(data []byte) []byte { return data[:4096] },
		"cut short":                     func(data []byte) []byte { return data[:5*4096] },
		"text":                          func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 5000) },
		"both meta pages zeroed":        zero(0, 2*4096),
		"all but the meta pages zeroed": zero(2*4096, 1<<30),
		"garbage in all but meta pages": func(data []byte) []byte {
			for i := 2 * 4096; i < len(data); i++ {
				data[i] = byte(i*7 + i/4096)
			}
			return data
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := damage(t, change)
			for range 2 { // the first must not keep the file locked
				s, err := store.Open(path, store.Options{Timeout: 60 * time.Millisecond})
				if err == nil { // then the damage shows when it is read
					_, _, err = s.Load(t.Context())
					s.Close()
				}
				check.ErrorIs(t, err, store.ErrCorrupt, "open")
			}
		})
	}
}

// After damage was found nothing is written.
func TestAppend_damaged(t *testing.T) {
	t.Parallel()
	path := damage(t, func(data []byte) []byte { return data })
	s := store.OpenForTest(t, path, store.Options{})
	check.NoError(t, os.Truncate(path, 3*4096))
	for range 2 {
		_, _, err := s.Append(t.Context(), announcement(1000), announce.IdempotencyKey{})
		check.ErrorIs(t, err, store.ErrCorrupt, "append to a truncated file")
	}
	check.ErrorIs(t, s.Health(), store.ErrCorrupt, "health")
	_, _, err := s.Load(t.Context())
	check.That(t, errors.Is(err, store.ErrCorrupt), "load from a truncated file: %v, want ErrCorrupt", err)
}

// An unreadable announcement is skipped.
func TestLoad_unreadable(t *testing.T) {
	t.Parallel()
	path := damage(t, func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte(`"id":"id0040"`), []byte(`"id":!id0040"`))
	})
	s := store.OpenForTest(t, path, store.Options{})
	waiting, _, err := s.Load(t.Context())
	check.That(t, err == nil && len(waiting) == 49, "%d announcements, %v, want 49", len(waiting), err)
}

// A full store refuses announcements, saves their ends, and can be read.
func TestAppend_full(t *testing.T) {
	t.Parallel()
	const most = 8 << 20
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := store.OpenForTest(t, path, store.Options{MaxSize: most})
	saved := fill(t, s)
	check.ErrorIs(t, s.Health(), store.ErrFull, "health of a full store")
	info, _ := os.Stat(path)
	check.That(t, info.Size() <= most, "the file has %d bytes, want at most %d", info.Size(), most)
	waiting, _, err := s.Load(t.Context())
	check.That(t, err == nil && len(waiting) == saved, "%d announcements, %v, want %d", len(waiting), err, saved)
	for ns := range slices.Chunk(waiting, 10) {
		for i := range ns {
			ns[i] = ended(ns[i])
			ns[i].Ended = ns[i].Ended.Add(-announce.EndedRetention - time.Minute)
		}
		err := s.Done(t.Context(), ns...)
		check.Require(t, err == nil, "end %s and nine more: %v", ns[0].ID, err)
	}
	_, over, err := s.Load(t.Context())
	check.That(t, err == nil && len(over) >= saved/4 && len(over) <= saved*2/3, // about half of their share
		"%d ended announcements of %d, %v", len(over), saved, err)
	check.NoError(t, s.Health()) // after announcements were deleted
	save(t, s, announcement(100000))
}

// fill appends announcements until the store is full, and returns their number.
func fill(t *testing.T, s *store.Store) int {
	t.Helper()
	for i := 1; ; i++ {
		n := announcement(i)
		n.Message = strings.Repeat("x", 9000)
		_, _, err := s.Append(t.Context(), n, announce.IdempotencyKey{Key: n.ID})
		if err == nil {
			continue
		}
		check.Require(t, errors.Is(err, store.ErrFull), "append %d: %v, want ErrFull", i, err)
		return i - 1
	}
}

// A backup is a consistent store while others write.
func TestBackup_concurrent(t *testing.T) {
	s := store.NewForTest(t, store.Options{})
	save(t, s, announcement(999_999))
	var enough atomic.Bool
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := w * 1000; !enough.Load(); i++ {
				_, _, err := s.Append(t.Context(), announcement(i), announce.IdempotencyKey{})
				check.ErrorIs(t, err, nil, "append")
				check.ErrorIs(t, s.Done(t.Context(), ended(announcement(i))), nil, "done")
			}
		})
	}
	for i := range 5 {
		path := filepath.Join(t.TempDir(), "backup.db")
		f := check.Must(os.Create(path))(t)
		check.ErrorIs(t, errors.Join(s.Backup(f), f.Close(), checkPages(path)), nil, "backup %d", i)
		waiting, _, err := store.OpenForTest(t, path, store.Options{}).Load(t.Context())
		check.That(t, err == nil && len(waiting) != 0, "backup %d has %d announcements, %v", i, len(waiting), err)
	}
	enough.Store(true)
	writers.Wait()
	_, failing := io.Pipe()
	check.NoError(t, failing.CloseWithError(nil))
	check.Contains(t, fmt.Sprint(s.Backup(failing)), io.ErrClosedPipe.Error(), "backup to a failing writer")
}
