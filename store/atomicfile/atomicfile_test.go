package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
	"pressbox/store/atomicfile"
)

// text returns a function that writes s, and then fails with err unless it is nil.
func text(s string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		_, e := io.WriteString(w, s)
		return errors.Join(e, err)
	}
}

// content returns the names in a directory and the text of its file "f".
func content(t *testing.T, dir string) string {
	t.Helper()
	files := check.Must(os.ReadDir(dir))(t)
	all := ""
	for _, f := range files {
		all += f.Name() + " "
	}
	read, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all + string(read)
}

// A file is replaced entirely or, after any error, not at all; nothing else is left.
func TestWrite_replaces(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("no")
	refuse := func(string) error { return errDisk }
	for _, earlier := range []string{"", "old"} {
		for _, tt := range []struct {
			name  string
			write func(io.Writer) error
			check func(string) error
			fails bool
		}{
			{"written", text("new", nil), nil, false},
			{"write fails", text("ne", errDisk), nil, true},
			{"check fails", text("new", nil), refuse, true},
		} {
			dir := t.TempDir()
			path, want := filepath.Join(dir, "f"), "f new"
			if earlier != "" {
				check.NoError(t, os.WriteFile(path, []byte(earlier), 0o600))
			}
			if tt.fails {
				want = content(t, dir)
			}
			size, err := atomicfile.Write(path, atomicfile.Own(0o600), tt.write, tt.check)
			if got := content(t, dir); got != want || errors.Is(err, errDisk) != tt.fails || (size == 3) == tt.fails {
				t.Errorf("%s over %q: directory %q, size %d, %v; want %q", tt.name, earlier, got, size, err, want)
			}
		}
	}
	_, err := atomicfile.Write(filepath.Join(t.TempDir(), "none", "f"), atomicfile.Own(0o600), text("", nil), nil)
	check.ErrorIs(t, err, fs.ErrNotExist, "without a directory")
}

// The check reads the complete file under its temporary name.
func TestWrite_checksTemporary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var seen string
	path := filepath.Join(dir, "f")
	_, err := atomicfile.Write(path, atomicfile.Own(0o600), text("new", nil), func(path string) error {
		read, err := os.ReadFile(path)
		seen = content(t, dir)[:len(atomicfile.TempPrefix)] + string(read)
		return err
	})
	want := atomicfile.TempPrefix + "new"
	check.That(t, seen == want && err == nil, "the check read %q, %v; want %q", seen, err, want)
}

// Owner and mode are those of the attributes: those of another file, as root also if another user owns it.
func TestWrite_attributes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	check.NoError(t, os.WriteFile(path, nil, 0o600))
	if err := os.Chmod(path, 0o646); err != nil { // independent of the umask
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		check.NoError(t, os.Chown(path, 4321, 1234))
	}
	before, err := atomicfile.Like(path)
	if err != nil || before.Mode != 0o646 || os.Geteuid() == 0 && (before.UID != 4321 || before.GID != 1234) {
		t.Fatalf("%+v, %v", before, err)
	}
	check.Must(atomicfile.Write(path, before, text("new", nil), nil))(t)
	after, err := atomicfile.Like(path)
	check.That(t, after == before && err == nil, "attributes %+v, %v; want %+v", after, err, before)
	check.ErrorIs(t, check.Err(atomicfile.Like(filepath.Join(dir, "none"))), fs.ErrNotExist, "a missing file")
}

// All missing directories are created, and one that exists stays.
func TestMkdirAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	for range 2 {
		check.NoError(t, atomicfile.MkdirAll(dir, 0o700))
		info, err := os.Stat(dir)
		check.That(t, err == nil && info.IsDir() && info.Mode().Perm() == 0o700,
			"%v, %v, want a directory of mode 700", info, err)
	}
	file := filepath.Join(dir, "f")
	check.NoError(t, os.WriteFile(file, nil, 0o600))
	check.That(t, atomicfile.MkdirAll(filepath.Join(file, "d"), 0o700) != nil, "a directory was created below a file")
}

// A link is replaced, its target is not written.
func TestWrite_replacesLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "target")
	check.NoError(t, errors.Join(
		os.WriteFile(outside, []byte("old"), 0o600), os.Symlink(outside, filepath.Join(dir, "f")),
	))
	check.Must(atomicfile.Write(filepath.Join(dir, "f"), atomicfile.Own(0o600), text("new", nil), nil))(t)
	target, err := os.ReadFile(outside)
	got := fmt.Sprintf("%s; %s, %v", content(t, dir), target, err)
	check.That(t, got == "f new; old, <nil>", "%s", got)
}
