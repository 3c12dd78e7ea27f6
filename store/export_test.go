package store

import (
	"path/filepath"
	"testing"
)

// OpenForTest opens the store at path, "" for a new one, until the test ends.
func OpenForTest(tb testing.TB, path string, o Options) *Store {
	tb.Helper()
	if path == "" {
		path = filepath.Join(tb.TempDir(), "pressbox.db")
	}
	s, err := Open(path, o)
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

// NoError ends the test unless err is nil.
func NoError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
