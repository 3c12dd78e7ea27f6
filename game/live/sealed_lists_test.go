package live_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// Lists, the lobby, the wall display, box scores, odds, scorecards, statistics and cards are the same to the byte
// whichever of two calls was sealed.
func TestSubmit_sealedEverywhere(t *testing.T) {
	t.Parallel()
	id, played := readJournal(t, filepath.Join("testdata", "journal-3-whole.gz"))
	synctest.Test(t, func(t *testing.T) {
		compared := 0
		for _, at := range afterPlays(t, played.moves[id])[:20] {
			var shown [2]string
			for n := range shown {
				r := newRig(t, played.cut(id, at))
				r.id = id
				g := r.get(ann)
				if len(g.State.Waiting) < 2 || len(g.Legal) < 2 {
					break
				}
				var lobby watcher
				_, leave := r.WatchLobby(lobby.send)
				check.NoError(t, r.try(ann, g.Legal[n*(len(g.Legal)-1)].Action))
				shown[n] = r.shown() + text(t, lobby.received())
				leave()
			}
			check.That(t, shown[0] == shown[1], "after move %d: %s", at, difference(shown[0], shown[1]))
			if shown[0] != "" {
				compared++
			}
		}
		check.That(t, compared > 5, "%d positions were compared", compared)
	})
}

// shown returns what the other manager, a spectator and a visitor can read of the game, but for the game itself.
func (r *rig) shown() string {
	r.Helper()
	var all strings.Builder
	add := func(v any, err error) {
		check.NoError(r, err)
		all.WriteString(text(r, v) + "\n")
	}
	ctx, g := r.Context(), r.get(carl)
	for _, who := range []protocol.Person{bob, carl, {}} {
		add(r.List(who, live.Query{}))
		_, box, err := r.Box(ctx, who, r.id)
		add(box, err)
		for _, player := range []game.PlayerID{g.State.Batter, g.State.Pitcher} {
			card, _, err := r.Player(ctx, who, r.id, player)
			add(card, err)
		}
	}
	add(r.LiveScore(ctx, r.id))
	add(r.WinProbability(ctx, r.id))
	var scorecard strings.Builder
	add(nil, r.Scorecard(ctx, r.id, &scorecard))
	batting, pitching, err := r.Players(ctx, g.Season, "")
	add([]any{scorecard.String(), batting, pitching, r.Stored(), r.Managers(0)}, err)
	add(r.Leaders(ctx, g.Season))
	add(r.Standings(ctx, g.Season))
	return all.String()
}
