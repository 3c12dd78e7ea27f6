package store

import (
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
)

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
