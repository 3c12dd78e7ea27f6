package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pressbox/store"
)

// What a backup that was cut off has left behind goes with a later one; what may still be written stays.
func TestWhatACutBackupLeftGoes(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "pressbox.db"), store.Options{})
	dir := t.TempDir()
	there := map[string]bool{".new-1.db": false, ".new-2.db": true, ".new-3.txt": true, "new-4.db": true}
	for name := range there {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == ".new-2.db" {
			continue
		}
		old := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	b, err := s.AddBackup(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	there[filepath.Base(b.Path)] = true
	for name, want := range there {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want there %v", name, err, want)
		}
	}
}
