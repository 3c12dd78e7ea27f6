package live_test

import (
	"testing"

	"pressbox/game/live"
	"pressbox/game/protocol"
)

// One person cannot fill the house: of the games that he has made, 200 may wait or be played, and whoever ends one or
// takes one back may make another. Nobody else is touched by that.
func TestHowManyGamesOnePersonMakes(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	hotseat := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	var waits protocol.Game
	for range 199 {
		var err error
		if waits, err = h.Create(t.Context(), ann, request(nil)); err != nil {
			t.Fatal(err)
		}
	}
	refused := func() {
		t.Helper()
		if err := second(h.Create(t.Context(), ann, request(nil))); code(t, err) != protocol.TooManyGames {
			t.Errorf("one more: %v", err)
		}
	}
	made := func() {
		t.Helper()
		if err := second(h.Create(t.Context(), ann, request(nil))); err != nil {
			t.Errorf("with room: %v", err)
		}
	}
	refused()
	if err := second(h.Create(t.Context(), bob, request(nil))); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	if err := h.Cancel(t.Context(), ann, waits.ID); err != nil {
		t.Fatal(err)
	}
	made()
	refused()
	if err := second(h.Concede(t.Context(), ann, hotseat.ID)); err != nil {
		t.Fatal(err)
	}
	if err := second(h.Rematch(t.Context(), ann, hotseat.ID)); err != nil {
		t.Errorf("a rematch, with room: %v", err)
	}
	refused()
	if lists, err := h.List(ann, live.Query{}); err != nil || len(lists.Pending) != 201 {
		t.Errorf("%d games wait, %v", len(lists.Pending), err)
	}
}
