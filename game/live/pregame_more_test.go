package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// A tight journal has room for so many games.
type tight struct {
	*journal
	most int
}

func (j *tight) Append(ctx context.Context, c live.Change) (bool, error) {
	if c.First == 1 && len(j.heads) >= j.most {
		return true, live.ErrFull
	}
	return j.journal.Append(ctx, c)
}

// Where there is no room for a new game the oldest private ones that are over make it; those that are listed do not.
func TestANewGameMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &tight{newJournal(), 4}
		h := newHall(t, j)
		defer run(t, h)()
		var ids []string
		for n := range 4 {
			g := begin(t, h, func(o *protocol.Options) {
				o.Opponent = protocol.HotSeat
				if n != 1 {
					o.Visibility = protocol.Private
				}
			})
			if n < 3 {
				if _, err := h.Concede(t.Context(), ann, g.ID); err != nil {
					t.Fatal(err)
				}
			}
			ids = append(ids, g.ID)
			pass(time.Minute + time.Second) // nobody looks at it any more
		}
		j.most = 3
		if _, err := h.Create(t.Context(), ann, request(nil)); err != nil {
			t.Fatalf("with two private games that are over: %v", err)
		}
		for n, want := range []protocol.Code{protocol.UnknownGame, "", protocol.UnknownGame, ""} {
			if got := code(t, second(h.Game(t.Context(), ann, ids[n]))); got != want {
				t.Errorf("game %d: %q, want %q", n, got, want)
			}
		}
		if _, err := h.Create(t.Context(), ann, request(nil)); code(t, err) != protocol.StoreFull {
			t.Errorf("with none: %v, want %s", err, protocol.StoreFull)
		}
	})
}

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
		if g, err = h.SetLineup(t.Context(), ann, g.ID, game.Home, l); err != nil || g.Revision != 2 || !g.Home.LineupSubmitted {
			t.Errorf("at revision %d, %v, want 2", g.Revision, err)
		}
	}
}

// Nobody fills the memory by asking for the statistics of seasons that nobody played.
func TestSeasonsWithoutGamesAreNotRemembered(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
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
