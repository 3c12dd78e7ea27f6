package store_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
	"pressbox/store"
)

// The lowered streams survive a restart, and none are left after they were
// restored.
func TestDucked_reopened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(store.Open(path, store.Options{}))(t)
	want := func(want []byte) {
		t.Helper()
		if got, err := s.Ducked(); !bytes.Equal(got, want) || err != nil {
			t.Errorf("lowered: %.20s (%d bytes), %v; want %.20s (%d bytes)", got, len(got), err, want, len(want))
		}
	}
	check.NoError(t, s.SaveDucked(t.Context(), nil))
	want(nil)
	longest := bytes.Repeat([]byte("a"), store.MaxDucked)
	for _, content := range [][]byte{[]byte("[1]"), longest} {
		check.NoError(t, s.SaveDucked(t.Context(), content))
	}
	check.True(t, s.SaveDucked(t.Context(), append(longest, 'a')) != nil, "content that is too long was saved")
	check.NoError(t, s.Close())
	s = store.OpenForTest(t, path, store.Options{})
	want(longest)
	check.NoError(t, s.SaveDucked(t.Context(), nil))
	want(nil)
}
