package live_test

import (
	"maps"
	"testing"

	"pressbox/game/live"
)

func TestCountsAreOfAllGames(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	begin(t, h, func(o *live.Options) { o.Visibility, o.Opponent, o.Innings = live.Private, live.Bot, 3 })
	if _, err := h.Create(t.Context(), ann, request(nil)); err != nil {
		t.Fatal(err)
	}
	over := begin(t, h, func(o *live.Options) { o.Opponent, o.Innings = live.HotSeat, 3 })
	if _, err := h.Concede(t.Context(), ann, over.ID); err != nil {
		t.Fatal(err)
	}
	want := map[live.Status]int{live.Pending: 1, live.Active: 1, live.Finished: 1}
	if got := h.Counts(); !maps.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}
