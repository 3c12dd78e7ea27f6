package live_test

import (
	"maps"
	"testing"

	"pressbox/game/protocol"
)

func TestCountsAreOfAllGames(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	begin(t, h, func(o *protocol.Options) { o.Visibility, o.Opponent, o.Innings = protocol.Private, protocol.Bot, 3 })
	if _, err := h.Create(t.Context(), ann, request(nil)); err != nil {
		t.Fatal(err)
	}
	over := begin(t, h, func(o *protocol.Options) { o.Opponent, o.Innings = protocol.HotSeat, 3 })
	if _, err := h.Concede(t.Context(), ann, over.ID); err != nil {
		t.Fatal(err)
	}
	want := map[protocol.Status]int{protocol.Pending: 1, protocol.Active: 1, protocol.Finished: 1}
	if got := h.CountByStatus(); !maps.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}
