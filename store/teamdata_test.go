package store

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestTeamDataIsKeptOverARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.TeamData(t.Context(), "teams"); v != nil || err != nil {
		t.Errorf("nothing kept: %q, %v", v, err)
	}
	for _, v := range []string{"old", "new"} {
		if err := s.SaveTeamData(t.Context(), "teams", []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	if v, err := s.TeamData(t.Context(), "teams"); string(v) != "new" || err != nil {
		t.Errorf("after a restart: %q, %v", v, err)
	}
	if v, err := s.TeamData(t.Context(), "players"); v != nil || err != nil {
		t.Errorf("another key: %q, %v", v, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveTeamData(t.Context(), "teams", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("kept in a closed store: %v", err)
	}
}
