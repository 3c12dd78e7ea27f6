package chance

import (
	"fmt"
	"testing"

	"pressbox/game"
)

// Every row of the measured table, whoever fields the ball and whatever the scorer thinks of it, is a play that the rules
// take, and leaves what was measured: bases, outs and runs.
func TestRowsAreLegalPlays(t *testing.T) {
	t.Parallel()
	s := fullState(t)
	data := measuredData()
	for at := range baseOutStates {
		s.Outs, s.Bases = at%3, [3]game.Runner{}
		d := plateAppearance{sim: &Simulator{data: data}, state: &s, baseOut: at, bases: at / 3}
		for b := game.First; b <= game.Third; b++ {
			d.runners[b] = nil
			if d.bases&(1<<(b-1)) != 0 {
				s.Bases[b-1].Player = s.Teams[game.Away].Order[9-b].Player
				d.runners[b] = &ratedPlayer{}
			}
		}
		for c := range classes {
			if data.classShares[at][c] > 0 && len(data.rows[at][c]) == 0 {
				t.Errorf("%s of class %s happens, and nobody knows what then", baseOutKey(at), classNames()[c])
			}
			for i := range data.rows[at][c] {
				checkRow(t, &d, c, &data.rows[at][c][i])
			}
		}
	}
}

func checkRow(t *testing.T, pa *plateAppearance, c class, r *advanceRow) {
	t.Helper()
	for pa.fielder = 1; pa.fielder <= 9; pa.fielder++ {
		for _, pa.scorerDraw = range []float64{.01, .99} {
			p := pa.buildPlay(c, r)
			next, err := pa.state.Apply(p)
			if err != nil {
				t.Errorf("%s, %s, row %+v: %v", baseOutKey(pa.baseOut), classNames()[c], *r, err)
				return
			}
			over := next.Half != pa.state.Half
			if at := 3*occupied(&next) + next.Outs; over != (r.next == baseOutStates) || !over && at != r.next {
				t.Errorf("%s, %s, row %+v leads to %s", baseOutKey(pa.baseOut), classNames()[c], *r, baseOutKey(at))
				return
			}
			if got := next.Score[game.Away] - pa.state.Score[game.Away]; got != int(r.runs) {
				t.Errorf("%s, %s, row %+v scores %d", baseOutKey(pa.baseOut), classNames()[c], *r, got)
			}
		}
	}
}

// What of the table cannot be told is next to nothing: but for runners who went on strikeouts, one play in a thousand.
func TestAllButAFewRowsAreTold(t *testing.T) {
	t.Parallel()
	data := measuredData()
	var kept, all float64
	for at := range baseOutStates {
		for c := range classes {
			if c == strikeout {
				continue
			}
			for _, r := range data.rows[at][c] {
				kept += r.weight
			}
		}
	}
	for _, n := range []float64{167651, 83721, 47671, 35048, 6069, 108420, 33424, 3392, 23400, 57279, 7000, 178} {
		all += n
	}
	if lost := 1 - kept/all; lost < 0 || lost > .001 {
		t.Errorf("%.4f of the table is not told", lost)
	}
}

// fullState is the start of a game between two sides of nine and a pitcher.
func fullState(tb testing.TB) game.State {
	tb.Helper()
	var clubs [2]game.Club
	var cards [2]game.Lineup
	for side, prefix := range []string{"a", "h"} {
		for i := range 10 {
			at := game.Position(i + 1)
			id := game.PlayerID(fmt.Sprint(prefix, i))
			clubs[side].Players = append(clubs[side].Players, game.Player{ID: id, Positions: []game.Role{game.Role(at.String())}})
			if at == game.Pitcher {
				cards[side].Pitcher = id
				continue
			}
			cards[side].Order = append(cards[side].Order, game.Slot{Player: id, Position: at})
		}
	}
	s, err := game.New(game.Options{DH: true}, clubs, cards)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
