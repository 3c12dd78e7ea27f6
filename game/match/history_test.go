package match

import (
	"cmp"
	"testing"

	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// The go-ahead play of each moment of a real game is the last play before which the side that leads
// did not lead; a tie has none.
func TestHistory_goAhead(t *testing.T) {
	t.Parallel()
	moves := journal(t)
	whole := check.Must(load(moves))(t)
	var ahead int
	var play *protocol.GoAhead
	var before *protocol.Scoreboard
	for n := range moves {
		e, ok := whole.history.events[n].Public.Data.(*protocol.Event)
		if !ok || e.Scoreboard == nil {
			continue
		}
		switch now := cmp.Compare(e.Scoreboard.Score.Home, e.Scoreboard.Score.Away); {
		case now == 0:
			ahead, play = 0, nil
		case now != ahead:
			ahead, play = now,
				&protocol.GoAhead{Revision: uint64(n + 1), Inning: before.Inning, Half: before.Half, Text: e.Text[0]}
		}
		before = e.Scoreboard
		if n%23 != 0 && n != len(moves)-1 {
			continue
		}
		got := check.Must(load(moves[:n+1]))(t).Game(protocol.Person{}).GoAhead
		check.That(t, text(t, got) == text(t, play), "at %d: %+v, want %+v", n+1, got, play)
	}
	check.That(t, play != nil, "the game has no winner")
}
