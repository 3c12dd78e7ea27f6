package store

import (
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
)

// NewForTest opens a new store for a parallel test.
func NewForTest(t *testing.T, o Options) *Store {
	t.Helper()
	t.Parallel()
	return OpenForTest(t, "", o)
}

// OpenForTest opens the store at path, "" for a new one, until the test ends.
func OpenForTest(tb testing.TB, path string, o Options) *Store {
	tb.Helper()
	if path == "" {
		path = filepath.Join(tb.TempDir(), "pressbox.db")
	}
	s := check.Must(Open(path, o))(tb)
	check.Close(tb, s)
	return s
}
