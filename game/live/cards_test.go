package live_test

import (
	"testing"

	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// Once a game is over, the cards of the next one of the season have its lines; those of another season do not.
func TestPlayer_seasonAfterGame(t *testing.T) {
	t.Parallel()
	r := begun(t, innings(3))
	id := r.get(ann).State.Batter
	first, side, err := r.Player(t.Context(), carl, r.id, id)
	check.Require(t, err == nil && first.Season == nil && first.Today != nil && side.Team.ID == "CPR",
		"during the first game: %+v of %s, %v", first.Card, side.Team.ID, err)
	box := r.playOut()
	last, _, err := r.Player(t.Context(), carl, r.id, id)
	check.That(t, err == nil && last.Season != nil && last.Season.Batting.Hits == last.Today.Batting.Hits &&
		last.Season.Batting.AtBats == last.Today.Batting.AtBats,
		"after the first game, %+v: %+v, %v", box.Result, last.Card, err)
	r.begin()
	next, _, err := r.Player(t.Context(), carl, r.id, id)
	check.That(t, err == nil && text(t, next.Season) == text(t, last.Season) && next.Ratings == last.Ratings,
		"in the second game: %+v, %v", next.Card, err)
	if lines, err := r.SeasonLines(t.Context(), 1, "CPR"); err != nil || len(lines) != 0 {
		t.Errorf("season 1: %v, %v", lines, err)
	}
	_, _, err = r.Player(t.Context(), carl, r.id, "unknown")
	r.wantCode("an unknown player", err, protocol.UnknownPlayer)
}

// What the state adds for the batter and the pitcher takes a small part of a play's message.
func TestCurrent_smallAtBat(t *testing.T) {
	t.Parallel()
	r := begun(t, withBot)
	w := r.watch(carl, 0)
	most := 0
	for range 40 {
		r.decide(ann)
	}
	for _, m := range w.received("event") {
		if e, ok := m.Data.(*protocol.Event); ok && e.State != nil && e.State.AtBat != nil {
			if most = max(most, len(text(t, e.State.AtBat))); len(text(t, e.State.AtBat)) > len(text(t, m))/6 {
				t.Errorf("at %d: %d of %d bytes: %s",
					m.Revision, len(text(t, e.State.AtBat)), len(text(t, m)), text(t, e.State.AtBat))
			}
		}
	}
	check.That(t, most != 0 && most <= 320, "at most %d bytes", most)
}
