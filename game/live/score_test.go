package live_test

import (
	"slices"
	"testing"

	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// The lobby receives the score of a listed game after each of its events, complete, and equal
// to what is read of the game; not after a sealed call.
func TestGames_liveScore(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	var lobby watcher
	_, leave := r.WatchLobby(lobby.send)
	defer leave()
	r.begin(hotSeat, innings(3))
	start := scoreOf(t, &lobby)
	check.That(t, start.Revision != 0 && len(start.Text) != 0 && start.Batter.Name != "" && start.Pitcher.Name != "" &&
		start.Innings == 3 && start.Home.Team.Name != "",
		"the score at the start is %s", text(t, start))
	r.decide(ann)
	again := scoreOf(t, &lobby)
	check.That(t, again.Revision == start.Revision, "a sealed call has published %s", text(t, again))
	r.decide(ann)
	play := scoreOf(t, &lobby)
	if read, err := r.LiveScore(t.Context(), r.id); err != nil || text(t, read) != text(t, play) {
		t.Errorf("published %s, read %s, %v", text(t, play), text(t, read), err)
	}
	check.That(t, play.Revision != start.Revision && !slices.Equal(play.Text, start.Text) && !play.At.Before(start.At),
		"after a play %s, before it %s", text(t, play), text(t, start))
	r.concede(ann)
	end := scoreOf(t, &lobby)
	check.That(t, end.Result != nil && len(end.Text) > len(play.Text) && end.Text[0] == play.Text[0],
		"the final is %s, want the last play and the outcome", text(t, end))
}

// scoreOf returns the score that the lobby has received last.
func scoreOf(t *testing.T, lobby *watcher) *protocol.LiveScore {
	t.Helper()
	m := lobby.last("score")
	check.Require(t, m != nil, "no score in %s", text(t, lobby.received()))
	return m.Data.(*protocol.LiveScore)
}
