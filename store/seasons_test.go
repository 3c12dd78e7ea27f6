package store_test

import (
	"errors"
	"testing"

	"pressbox/packaging/check"
	"pressbox/store"
)

// Imported seasons are kept by year up to the limit, replaced, and deleted.
func TestSeasons(t *testing.T) {
	t.Parallel()
	s := store.OpenForTest(t, "", store.Options{})
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
	if data := check.Must(s.Season(t.Context(), 1960))(t); string(data) != "second" {
		t.Errorf("the season of 1960: %q", data)
	}
	for _, want := range []bool{true, false} {
		if found := check.Must(s.DeleteSeason(t.Context(), 1950))(t); found != want {
			t.Errorf("the season of 1950 was there: %t, want %t", found, want)
		}
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
