package call_test

import (
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// The laws of calls on real games hold for games between two bots, too.
func TestCommentator_simulatedGames(t *testing.T) {
	t.Parallel()
	clubs := check.Must(league.Season(3))(t)
	book, all := call.English(), claims()
	for n := range 24 {
		p := bottest.Pair(t, clubs[n%8], clubs[(n+1+n/8)%8], n%2 == 0)
		for side := range p.Clubs {
			for i := range p.Clubs[side].Players {
				player := &p.Clubs[side].Players[i]
				player.Name = mark(player.ID)
			}
		}
		c := call.New(book, p.Clubs, "live")
		rev := uint64(0)
		g := p.Start(t, uint64(n), game.Options{}, [2]bool{true, true})
		g.OnSubstitutions = func(before *game.State, subs []game.Substitution, _ *game.State) {
			checkWords(t, &retro.Step{}, c.Substitutions(rev, before, subs))
		}
		g.OnPlay = func(before *game.State, _ *chance.Resolution, play *game.Play, after *game.State) {
			step := &retro.Step{Event: fmt.Sprintf("%+v", *play), Before: *before, Play: *play, After: *after}
			checkPlay(t, all, step, c.Play(rev, before, play, after))
			rev++
		}
		g.Finish()
	}
}
