package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"pressbox/game/leagues"
	"pressbox/packaging/check"
	"pressbox/store"
)

// Leagues are saved, replaced, deleted and read back. Where games leave no room for a new one, those
// that exist can still grow by a result, up to the share's end.
func TestLeagues(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(store.Open(path, store.Options{MaxSize: 2 << 20}))(t)
	check.Equal(t, len(check.Must(s.Leagues(t.Context()))(t)), 0, "a new store has leagues")
	check.NoError(t, s.DeleteLeague(t.Context(), "none"))
	for _, data := range []string{"first", "second"} {
		check.NoError(t, s.SaveLeague(t.Context(), "one", []byte(data)))
	}
	check.NoError(t, s.SaveLeague(t.Context(), "two", []byte("other")))
	check.NoError(t, s.DeleteLeague(t.Context(), "two"))
	fill := bytes.Repeat([]byte("x"), 8<<10)
	var err error
	for n := 0; err == nil; n++ {
		err = s.SaveLeague(t.Context(), fmt.Sprint("fill-", n), fill)
	}
	check.That(t, errors.Is(err, leagues.ErrFull) && errors.Is(err, store.ErrFull), "in a full share: %v", err)
	check.NoError(t, s.SaveLeague(t.Context(), "one", fill))
	check.NoError(t, s.Close())
	s = check.Must(store.Open(path, store.Options{MaxSize: 2 << 20, Recount: true}))(t)
	defer check.Close(t, s)
	all := check.Must(s.Leagues(t.Context()))(t)
	check.That(t, bytes.Equal(all["one"], fill) && all["two"] == nil,
		"after opening again: %d leagues, %q", len(all), all["two"])
}
