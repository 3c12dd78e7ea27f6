package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
)

// checkFile is the child process that checks a store.
func checkFile(args []string) error { return store.Check(args[0]) }

// checkInChild checks a store in a child process, as the server does, and returns its error.
func checkInChild(t *testing.T, path string) (failure string) {
	t.Helper()
	out, err := killtest.Command(t, "check", path).CombinedOutput()
	check.That(t, err == nil || len(out) != 0, "the check ended with %v and no text", err)
	check.That(t, err != nil || len(out) == 0, "the check succeeded and wrote %s", out)
	return string(out)
}

// filled returns a closed store with 200 calibrations.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(store.Open(path, store.Options{}))(t)
	for i := range 200 {
		check.NoError(t, s.SaveCalibration(fmt.Sprint("voice ", i), bytes.Repeat([]byte("x"), 300)))
	}
	check.NoError(t, s.Close())
	return path
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data := check.Must(os.ReadFile(from))(t)
	check.NoError(t, os.WriteFile(to, data, 0o600))
}

// An unclean shutdown is reported until MarkChecked.
func TestUncleanShutdown_untilChecked(t *testing.T) {
	t.Parallel()
	path := filled(t)
	check.That(t, !store.UncleanShutdown(path), "unclean after Close")
	s := check.Must(store.Open(path, store.Options{}))(t)
	crashed := filepath.Join(t.TempDir(), "pressbox.db") // as a power cut would leave it
	copyFile(t, path, crashed)
	copyFile(t, path+".open", crashed+".open")
	check.That(t, store.UncleanShutdown(path), "not unclean while it is open")
	check.NoError(t, s.Close())
	again := check.Must(store.Open(crashed, store.Options{}))(t)
	check.NoError(t, again.Close())
	check.That(t, store.UncleanShutdown(crashed), "not unclean after it was opened and closed without a check")
	check.NoError(t, store.MarkChecked(crashed))
	check.That(t, !store.UncleanShutdown(crashed), "unclean after a check")
}

func TestCheck_failures(t *testing.T) {
	t.Parallel()
	good := filled(t)
	for name, tt := range map[string]struct {
		damage func(path string) error
		want   string // "" means no error
	}{
		"valid":         {func(string) error { return nil }, ""},
		"empty":         {func(path string) error { return os.Truncate(path, 0) }, "damaged"},
		"cut off":       {func(path string) error { return os.Truncate(path, 5*4096) }, "damaged"},
		"no metas":      {func(path string) error { return write(path, 0, make([]byte, 2*4096)) }, "damaged"},
		"a zeroed page": {zeroLeaf, "damaged"},
		"an endless page": {func(path string) error { // by its number of overflow pages
			return writeLeaf(path, 12, bytes.Repeat([]byte{0xff}, 4))
		}, "MiB of memory"},
		"not a store": {func(path string) error {
			return write(path, 0, bytes.Repeat([]byte("no store"), 1<<15))
		}, "damaged"},
		"missing": {os.Remove, "no such file"},
		"a folder": {func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, "store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "pressbox.db")
			copyFile(t, good, path)
			check.NoError(t, tt.damage(path))
			got := checkInChild(t, path)
			if strings.Contains(got, "unexpected fault address") {
				got = "damaged" // callers take a crash for damage, too: it depends on where the free pages are listed
			}
			check.That(t, (got == "") == (tt.want == "") && strings.Contains(got, tt.want),
				"check: %q, want %q", got, tt.want)
		})
	}
	t.Run("in use", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "pressbox.db")
		copyFile(t, good, path)
		store.OpenForTest(t, path, store.Options{})
		check.ErrorIs(t, store.Check(path), store.ErrLocked, "a store in use")
	})
}

// The check of a file with overwritten bytes ends, and a file that passes can be opened and read to its end.
func TestAll_checkRandom(t *testing.T) {
	t.Parallel()
	good := filled(t)
	size := check.Must(os.Stat(good))(t).Size()
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 20
	passed := 0
	for i := range rounds {
		path := filepath.Join(t.TempDir(), "pressbox.db")
		copyFile(t, good, path)
		junk := make([]byte, 1+random.IntN(600))
		for j := range junk {
			junk[j] = byte(random.Uint32())
		}
		at := random.Int64N(min(size, 30*4096)) // where there is data
		if i%2 == 0 {
			at = random.Int64N(2 * 4096)
		}
		check.NoError(t, write(path, at, junk))
		if checkInChild(t, path) != "" {
			continue
		}
		passed++
		s, err := store.Open(path, store.Options{})
		check.Require(t, err == nil, "%d bytes at %d: passed the check, and Open: %v", len(junk), at, err)
		check.ErrorIs(t, s.Backup(io.Discard), nil, "%d bytes at %d: passed the check, and Backup", len(junk), at)
		_ = s.Close()
	}
	t.Logf("%d of %d passed", passed, rounds)
}

func write(path string, at int64, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}

// zeroLeaf zeroes a page that holds calibrations.
func zeroLeaf(path string) error { return writeLeaf(path, 0, make([]byte, 4096)) }

// writeLeaf overwrites a part of a page that holds calibrations.
func writeLeaf(path string, at int64, part []byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	last := bytes.LastIndex(data, []byte("voice 199"))
	return write(path, int64(last/4096)*4096+at, part)
}

// PruneBackups leaves the newest backups, which can be restored.
func TestAddBackup_pruned(t *testing.T) {
	t.Parallel()
	s := store.OpenForTest(t, filled(t), store.Options{})
	dir := filepath.Join(t.TempDir(), "backups")
	for i := range 5 {
		check.NoError(t, s.SaveCalibration("newest", fmt.Append(nil, i)))
		made, err := s.AddBackup(t.Context(), dir, store.Check)
		check.Require(t, err == nil && made.Number == i+1 && made.Size != 0, "backup %d: %+v, %v", i+1, made, err)
	}
	check.NoError(t, store.PruneBackups(dir, 3))
	all, err := store.Backups(dir)
	var numbers []int
	for _, b := range all {
		numbers = append(numbers, b.Number)
	}
	check.Require(t, slices.Equal(numbers, []int{5, 4, 3}) && err == nil, "backups %v, %v; want 5, 4, 3", numbers, err)
	restored := filepath.Join(t.TempDir(), "pressbox.db")
	check.NoError(t, store.Restore(restored, check.Must(os.Open(all[1].Path))(t), store.Check))
	r := store.OpenForTest(t, restored, store.Options{})
	got, ok, err := r.Calibration("newest")
	check.That(t, string(got) == "3" && ok && err == nil, "the fourth backup has %q, %t, %v; want 3", got, ok, err)
}

// A failed backup leaves no file, and other files are not backups.
func TestAddBackup_failed(t *testing.T) {
	t.Parallel()
	s := store.OpenForTest(t, filled(t), store.Options{})
	dir := t.TempDir()
	_, err := s.AddBackup(t.Context(), dir, func(string) error { return store.ErrCorrupt })
	check.ErrorIs(t, err, store.ErrCorrupt, "a bad copy")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.ErrorIs(t, check.Err(s.AddBackup(ctx, dir, store.Check)), context.Canceled, "an ended context")
	left, err := os.ReadDir(dir)
	check.That(t, len(left) == 0 && err == nil, "left behind: %v, %v", left, err)
	none, err := store.Backups(filepath.Join(dir, "nowhere"))
	check.That(t, len(none) == 0 && err == nil, "a missing folder has %v, %v", none, err)
	for _, name := range []string{
		"pressbox-1.db.gz", "pressbox-x-1.db", "pressbox--1.db", "other-1.db", ".new-1.db", "pressbox-0-1.db",
	} {
		check.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	none, err = store.Backups(dir)
	check.That(t, len(none) == 0 && err == nil, "other files are backups %v, %v", none, err)
}

// A stamp may be that of an earlier store that was set aside, or of an interrupted attempt.
func TestSetAside_sameStamp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	for _, tt := range []struct{ content, aside string }{
		{"first", path + ".damaged-1"}, {"second", path + ".damaged-1-2"},
	} {
		check.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
		for range 2 {
			aside, err := store.SetAside(path, "damaged", "1")
			check.That(t, aside == tt.aside && err == nil,
				"%s: set aside as %s, %v, want %s", tt.content, aside, err, tt.aside)
		}
		got, err := os.ReadFile(tt.aside)
		check.That(t, string(got) == tt.content && err == nil, "%s has %q, %v", tt.aside, got, err)
		check.NoError(t, os.Remove(path))
	}
}

// A backup that cannot be read leaves the store as it is.
func TestRestore_missingBackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	check.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	check.ErrorIs(t, store.Restore(path, iotest.ErrReader(fs.ErrNotExist), nil), fs.ErrNotExist, "restored")
	got, err := os.ReadFile(path)
	check.That(t, string(got) == "old" && err == nil, "then the file has %q, %v; want what it had", got, err)
}

// A file that root creates belongs to the owner of its folder, once it was checked.
func TestWriteAtomic_owner(t *testing.T) {
	s := store.NewForTest(t, store.Options{})
	const otherUser = 65534
	dir := t.TempDir()
	owner := os.Getuid()
	if owner == 0 {
		owner = otherUser
		check.NoError(t, os.Chown(dir, otherUser, otherUser))
	}
	uid := func(path string) int { return int(check.Must(os.Stat(path))(t).Sys().(*syscall.Stat_t).Uid) }
	path := filepath.Join(dir, "copy.db")
	checked := func(path string) error {
		check.Equal(t, uid(path), os.Getuid(), "before it is checked, %s belongs to", path)
		return nil
	}
	check.Must(store.WriteAtomic(path, s.Backup, checked))(t)
	check.Equal(t, uid(path), owner, "%s belongs to", path)
}

// AddBackup removes old unfinished backups, and no others.
func TestAddBackup_unfinished(t *testing.T) {
	s := store.NewForTest(t, store.Options{})
	dir := t.TempDir()
	stays := map[string]bool{".new-1": false, ".new-2": true, ".new-3.db": false, "new-4.db": true}
	for name := range stays {
		path := filepath.Join(dir, name)
		check.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
		if name == ".new-2" {
			continue
		}
		check.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-25*time.Hour)))
	}
	b := check.Must(s.AddBackup(t.Context(), dir, nil))(t)
	stays[filepath.Base(b.Path)] = true
	for name, want := range stays {
		_, err := os.Stat(filepath.Join(dir, name))
		check.That(t, (err == nil) == want, "%s: %v, want it to stay: %v", name, err, want)
	}
}
