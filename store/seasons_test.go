package store_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
	"pressbox/store"
)

// Imported seasons are kept by year up to the limit, replaced, and deleted.
func TestSeasons(t *testing.T) {
	t.Parallel()
	s := check.Must(store.Open(filepath.Join(t.TempDir(), "pressbox.db"), store.Options{}))(t)
	t.Cleanup(func() { check.NoError(t, s.Close()) })
	if years := check.Must(s.Seasons(t.Context()))(t); len(years) != 0 {
		t.Errorf("a new store has the seasons %v", years)
	}
	for year := 1950; year < 1950+store.MostSeasons; year++ {
		check.NoError(t, s.SaveSeason(t.Context(), year, []byte("first")))
	}
	if err := s.SaveSeason(t.Context(), 2000, []byte("one more")); !errors.Is(err, store.ErrFull) {
		t.Errorf("a season beyond the limit: %v", err)
	}
	check.NoError(t, s.SaveSeason(t.Context(), 1960, []byte("second")))
	if data := check.Must(s.Season(t.Context(), 1960))(t); !bytes.Equal(data, []byte("second")) {
		t.Errorf("the season of 1960: %q", data)
	}
	if found := check.Must(s.DeleteSeason(t.Context(), 1950))(t); !found {
		t.Error("the season of 1950 was not there")
	}
	if found := check.Must(s.DeleteSeason(t.Context(), 1950))(t); found {
		t.Error("a deleted season is still there")
	}
	if data := check.Must(s.Season(t.Context(), 1950))(t); data != nil {
		t.Errorf("a deleted season: %q", data)
	}
	check.NoError(t, s.SaveSeason(t.Context(), 2000, []byte("in its place")))
	years := check.Must(s.Seasons(t.Context()))(t)
	if len(years) != store.MostSeasons || years[0] != 1951 || years[len(years)-1] != 2000 {
		t.Errorf("seasons: %v", years)
	}
}
