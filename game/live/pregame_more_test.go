package live_test

import (
	"testing"

	"pressbox/game"
	"pressbox/game/live"
)

// The same line-up again is nothing new.
func TestTheSameLineupIsNoMove(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g, err := h.Create(t.Context(), ann, request(nil))
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.Suggest(t.Context(), ann, g.ID, game.Home)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if g, err = h.SetLineup(t.Context(), ann, g.ID, game.Home, l); err != nil || g.Rev != 2 || !g.Home.Submitted {
			t.Errorf("at revision %d, %v, want 2", g.Rev, err)
		}
	}
}

// Nobody fills the memory by asking for the statistics of seasons that nobody played.
func TestSeasonsWithoutGamesAreNotRemembered(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *live.Options) { o.Opponent = live.HotSeat })
	for season := range 100 {
		if all, err := h.Standings(t.Context(), season); err != nil || len(all) != 0 {
			t.Fatalf("season %d: %s, %v", season, text(t, all), err)
		}
	}
	if n := h.Seasons(); n != 0 {
		t.Errorf("%d seasons are remembered, want none", n)
	}
	if _, err := h.Concede(t.Context(), ann, g.ID); err != nil {
		t.Fatal(err)
	}
	if all, err := h.Standings(t.Context(), g.Season); err != nil || len(all) != 2 || h.Seasons() != 1 {
		t.Errorf("after a game: %s, %v, %d remembered", text(t, all), err, h.Seasons())
	}
}
