package store_test

import (
	"context"
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
	"pressbox/store"
)

// Team data, provider documents, controls and calibrations survive a restart.
func TestCache_reopened(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read func(s *store.Store, key string) ([]byte, error)
		save func(s *store.Store, ctx context.Context, key string, value []byte) error
	}{
		"team data": {func(s *store.Store, key string) ([]byte, error) {
			return s.TeamData(t.Context(), key)
		}, (*store.Store).SaveTeamData},
		"documents": {func(s *store.Store, key string) ([]byte, error) {
			return s.Cached(t.Context(), key)
		}, (*store.Store).SaveCached},
		"controls": {func(s *store.Store, key string) ([]byte, error) {
			records, err := s.Controls(t.Context())
			return records[key], err
		}, (*store.Store).SaveControl},
		"calibrations": {func(s *store.Store, key string) ([]byte, error) {
			value, ok, err := s.Calibration(key)
			check.Equal(t, ok, value != nil, "calibration %q", value)
			return value, err
		}, func(s *store.Store, _ context.Context, key string, value []byte) error {
			return s.SaveCalibration(key, value) //nolint:contextcheck // it takes none
		}},
	} {
		path := filepath.Join(t.TempDir(), "pressbox.db")
		want := func(s *store.Store, key, want string) {
			t.Helper()
			value, err := c.read(s, key)
			check.True(t, string(value) == want && err == nil, "%s: %s is %q, %v; want %q", name, key, value, err, want)
		}
		s := check.Must(store.Open(path, store.Options{}))(t)
		want(s, "a", "")
		for _, value := range []string{"old", "new"} {
			check.NoError(t, c.save(s, t.Context(), "a", []byte(value)))
		}
		check.NoError(t, s.Close())
		check.ErrorIs(t, c.save(s, t.Context(), "a", nil), store.ErrClosed, "%s: save in a closed store", name)
		s = store.OpenForTest(t, path, store.Options{})
		want(s, "a", "new")
		want(s, "b", "")
	}
}
