package store_test

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/store"
)

// Imported seasons are kept by year up to the limit, replaced, and deleted.
func TestSeasons(t *testing.T) {
	s := store.NewForTest(t, store.Options{})
	check.Equal(t, len(check.Must(s.Seasons(t.Context()))(t)), 0, "a new store has the seasons")
	for year := 1950; year < 1950+store.MostSeasons; year++ {
		check.NoError(t, s.SaveSeason(t.Context(), year, []byte("first")))
	}
	check.ErrorIs(t, s.SaveSeason(t.Context(), 2000, []byte("one more")), store.ErrFull, "a season beyond the limit")
	check.NoError(t, s.SaveSeason(t.Context(), 1960, []byte("second")))
	check.Equal(t, string(check.Must(s.Season(t.Context(), 1960))(t)), "second", "the season of 1960")
	for _, want := range []bool{true, false} {
		check.Equal(t, check.Must(s.DeleteSeason(t.Context(), 1950))(t), want, "the season of 1950 was there")
	}
	check.That(t, check.Must(s.Season(t.Context(), 1950))(t) == nil, "a deleted season is there")
	check.NoError(t, s.SaveSeason(t.Context(), 2000, []byte("in its place")))
	years := check.Must(s.Seasons(t.Context()))(t)
	check.That(t, len(years) == store.MostSeasons && years[0] == 1951 && years[len(years)-1] == 2000,
		"seasons: %v", years)
}

// Lowered streams are saved up to a size; longer content is rejected.
func TestDucked_limit(t *testing.T) {
	s := store.NewForTest(t, store.Options{})
	longest := strings.Repeat("a", store.MaxDucked)
	check.NoError(t, s.SaveDucked(t.Context(), []byte(longest)))
	check.That(t, s.SaveDucked(t.Context(), []byte(longest+"a")) != nil, "content that is too long was saved")
	check.Equal(t, string(check.Must(s.Ducked())(t)), longest, "the lowered streams")
}
