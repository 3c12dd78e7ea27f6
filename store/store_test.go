package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressbox/store"
	"pressbox/voice/announce"
)

// open opens the store at path and closes it after the test.
func open(tb testing.TB, path string, o store.Options) *store.Store {
	tb.Helper()
	s, err := store.Open(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}

func fresh(tb testing.TB) *store.Store {
	tb.Helper()
	return open(tb, filepath.Join(tb.TempDir(), "pressbox.db"), store.Options{})
}

// notice returns the i-th of some notices.
func notice(i int) announce.Announcement {
	now := time.Now().UTC().Round(0)
	return announce.Announcement{
		ID: fmt.Sprintf("id%04d", i), Seq: uint64(i), Message: fmt.Sprint("message ", i), Voice: "anna", Rate: 170,
		Urgent: i%2 == 0, Created: now, Expires: now.Add(10 * time.Minute), Status: announce.Queued, InitialPosition: i,
	}
}

// ended returns n at its end.
func ended(n announce.Announcement) announce.Announcement {
	n.Status = announce.Done
	n.Started = n.Created.Add(time.Second)
	n.Ended = n.Created.Add(2 * time.Second)
	return n
}

func keep(tb testing.TB, s *store.Store, n announce.Announcement) {
	tb.Helper()
	if kept, fresh, err := s.Append(tb.Context(), n, announce.IdempotencyKey{}); err != nil || !fresh || kept != n {
		tb.Fatalf("keep %s: %+v, %v, %v", n.ID, kept, fresh, err)
	}
}

func TestNoticesAreThereAfterReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "down", "pressbox.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{3, 1, 4, 2, 5} {
		keep(t, s, notice(i))
	}
	if err := s.Done(t.Context(), ended(notice(1)), ended(notice(4))); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Append(t.Context(), notice(6), announce.IdempotencyKey{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("keep in a closed store: %v, want ErrClosed", err)
	}
	if _, _, err := s.Load(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("load from a closed store: %v, want ErrClosed", err)
	}

	s = open(t, path, store.Options{})
	waiting, over, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, n := range append(waiting, over...) {
		got = append(got, n.Seq)
	}
	if fmt.Sprint(got) != "[2 3 5 4 1]" {
		t.Errorf("loaded %v, want those that wait in order, then the ended ones, newest first", got)
	}
	if n := over[1]; n.Status != announce.Done || n.Ended.Sub(n.Started) != time.Second || n.Message != "message 1" || n.InitialPosition != 1 {
		t.Errorf("loaded %+v, want it as it was saved", n)
	}
}

func TestAKeyAnswersForADay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key := announce.IdempotencyKey{Key: "k", Digest: [32]byte{1}}
	if _, ok, err := s.Find(t.Context(), key); ok || err != nil {
		t.Errorf("an unknown key: %v, %v", ok, err)
	}
	first := notice(1)
	if _, fresh, err := s.Append(t.Context(), first, key); !fresh || err != nil {
		t.Fatalf("keep: %v, %v", fresh, err)
	}
	if err := s.Done(t.Context(), ended(first)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, path, store.Options{})
	if n, ok, err := s.Find(t.Context(), key); !ok || err != nil || n != first {
		t.Errorf("kept: %+v, %v, %v, want the first answer", n, ok, err)
	}
	if n, fresh, err := s.Append(t.Context(), notice(2), key); fresh || err != nil || n != first {
		t.Errorf("keep again: %+v, %v, %v, want the first answer", n, fresh, err)
	}
	other := announce.IdempotencyKey{Key: "k", Digest: [32]byte{2}}
	if _, _, err := s.Find(t.Context(), other); !errors.Is(err, announce.ErrKeyReused) {
		t.Errorf("the key with another request: %v, want ErrKeyReused", err)
	}
	if _, _, err := s.Append(t.Context(), notice(2), other); !errors.Is(err, announce.ErrKeyReused) {
		t.Errorf("keep with the key of another request: %v, want ErrKeyReused", err)
	}
	if waiting, _, _ := s.Load(t.Context()); len(waiting) != 0 {
		t.Errorf("%v wait, want none", waiting)
	}
}

func TestASecondDaemonIsRefusedAndToldByWhom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	open(t, path, store.Options{})
	_, err := store.Open(path, store.Options{Timeout: 60 * time.Millisecond})
	if !errors.Is(err, store.ErrLocked) {
		t.Fatalf("open twice: %v, want ErrLocked", err)
	}
	if who := fmt.Sprintf("process %d (", os.Getpid()); !strings.Contains(err.Error(), who) {
		t.Errorf("%q does not say %q", err, who)
	}
}

func TestABackupIsAStoreOfItsOwn(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	keep(t, s, notice(1))
	if err := s.SaveCalibration("abc", []byte(`{"wpm":1}`)); err != nil {
		t.Fatal(err)
	}
	copied := new(bytes.Buffer)
	if err := s.Backup(copied); err != nil {
		t.Fatal(err)
	}
	keep(t, s, notice(2))
	path := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(path, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, path, store.Options{})
	if waiting, _, err := b.Load(t.Context()); err != nil || len(waiting) != 1 {
		t.Errorf("%d wait in the backup, %v, want 1", len(waiting), err)
	}
	if json, ok, err := b.Calibration("abc"); !ok || err != nil || string(json) != `{"wpm":1}` {
		t.Errorf("calibration in the backup: %s, %v, %v", json, ok, err)
	}
	if _, ok, err := b.Calibration("abd"); ok || err != nil {
		t.Errorf("a calibration of nothing: %v, %v", ok, err)
	}
	if err := s.Backup(failingWriter{}); err == nil || !strings.Contains(err.Error(), "no paper") {
		t.Errorf("backup to a failing writer: %v", err)
	}
}

func TestABackupIsSoundWhileOthersWrite(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var enough atomic.Bool
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := w * 1000; !enough.Load(); i++ {
				if _, _, err := s.Append(t.Context(), notice(i), announce.IdempotencyKey{}); err != nil {
					t.Errorf("keep: %v", err)
				}
				if err := s.Done(t.Context(), ended(notice(i))); err != nil {
					t.Errorf("save: %v", err)
				}
			}
		})
	}
	for i := range 5 {
		path := filepath.Join(t.TempDir(), "backup.db")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Backup(f), f.Close(), checkPages(path)); err != nil {
			t.Errorf("backup %d: %v", i, err)
		}
	}
	enough.Store(true)
	writers.Wait()
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no paper") }

// damage makes a store with many announcements, and returns its bytes.
func damage(t *testing.T, how func(data []byte) []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pressbox.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		n := notice(i + 1)
		n.Message = strings.Repeat("x", 3000)
		keep(t, s, n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, how(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestADamagedFileIsAClearError(t *testing.T) {
	t.Parallel()
	zero := func(from, to int) func([]byte) []byte {
		return func(data []byte) []byte {
			clear(data[from:min(to, len(data))])
			return data
		}
	}
	for _, tt := range []struct {
		name string
		how  func([]byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"one page", func(data []byte) []byte { return data[:4096] }},
		{"cut short", func(data []byte) []byte { return data[:5*4096] }},
		{"text", func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 5000) }},
		{"both meta pages zeroed", zero(0, 2*4096)},
		{"all but the meta pages zeroed", zero(2*4096, 1<<30)},
		{"garbage in all but the meta pages", func(data []byte) []byte {
			for i := 2 * 4096; i < len(data); i++ {
				data[i] = byte(i*7 + i/4096)
			}
			return data
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := damage(t, tt.how)
			for range 2 { // the first one must not hold the file
				s, err := store.Open(path, store.Options{Timeout: 60 * time.Millisecond})
				if err == nil { // then the damage shows when it is read
					_, _, err = s.Load(t.Context())
					s.Close()
				}
				if !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("open: %v, want ErrCorrupt", err)
				}
			}
		})
	}
}

func TestAfterDamageIsMetNothingIsWritten(t *testing.T) {
	t.Parallel()
	path := damage(t, func(data []byte) []byte { return data })
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 3*4096); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := s.Append(t.Context(), notice(1000), announce.IdempotencyKey{}); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("keep in a truncated file: %v, want ErrCorrupt", err)
		}
	}
	if err := s.Health(); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("health: %v, want ErrCorrupt", err)
	}
	if _, _, err := s.Load(t.Context()); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("load from a truncated file: %v, want ErrCorrupt", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestOneAnnouncementThatCannotBeReadHidesNoOther(t *testing.T) {
	t.Parallel()
	path := damage(t, func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte(`"id":"id0040"`), []byte(`"id":!id0040"`))
	})
	s := open(t, path, store.Options{})
	if waiting, _, err := s.Load(t.Context()); err != nil || len(waiting) != 49 {
		t.Errorf("%d announcements, %v, want 49", len(waiting), err)
	}
}

func TestAFullStoreRefusesAndStillEndsAndReads(t *testing.T) {
	t.Parallel()
	const most = 8 << 20
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := open(t, path, store.Options{MaxSize: most})
	kept := fill(t, s)
	if err := s.Health(); !errors.Is(err, store.ErrFull) {
		t.Errorf("health of a full store: %v, want ErrFull", err)
	}
	if info, _ := os.Stat(path); info.Size() > most {
		t.Errorf("the file has %d bytes, want at most %d", info.Size(), most)
	}
	waiting, _, err := s.Load(t.Context())
	if err != nil || len(waiting) != kept {
		t.Errorf("%d announcements are there, %v, want the %d that were kept", len(waiting), err, kept)
	}
	for ns := range slices.Chunk(waiting, 10) {
		for i := range ns {
			ns[i] = ended(ns[i])
			ns[i].Ended = ns[i].Ended.Add(-announce.EndedRetention - time.Minute)
		}
		if err := s.Done(t.Context(), ns...); err != nil {
			t.Fatalf("end %s and nine more: %v", ns[0].ID, err)
		}
	}
	if _, over, err := s.Load(t.Context()); err != nil || len(over) != announce.EndedMin {
		t.Errorf("%d ended are remembered, %v, want %d", len(over), err, announce.EndedMin)
	}
	if err := s.Health(); err != nil {
		t.Errorf("health after making room: %v", err)
	}
	keep(t, s, notice(100000))
}

// fill keeps announcements until the store takes no more, and returns how many.
func fill(t *testing.T, s *store.Store) int {
	t.Helper()
	for i := 1; ; i++ {
		n := notice(i)
		n.Message = strings.Repeat("x", 9000)
		_, _, err := s.Append(t.Context(), n, announce.IdempotencyKey{Key: n.ID})
		if err == nil {
			continue
		}
		if !errors.Is(err, store.ErrFull) {
			t.Fatalf("keep %d: %v, want ErrFull", i, err)
		}
		return i - 1
	}
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "pressbox")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	if err := s.SaveCalibration("5e1f", []byte(`{"gain":1.2}`)); err != nil {
		panic(err)
	}
	json, ok, err := s.Calibration("5e1f")
	fmt.Println(string(json), ok, err)
	// Output: {"gain":1.2} true <nil>
}
