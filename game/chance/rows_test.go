package chance

import (
	"fmt"
	"testing"

	"pressbox/game"
	"pressbox/game/gametest"
	"pressbox/packaging/check"
)

// Each measured row is a legal play for every fielder and ruling, and leaves the measured bases, outs and runs.
func TestAdvanceRow_legalPlays(t *testing.T) {
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
				t.Errorf("%s of class %s has no rows", baseOutKey(at), classNames()[c])
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
			if at := BaseOut(&next); over != (r.next == baseOutStates) || !over && at != r.next {
				t.Errorf("%s, %s, row %+v leads to %s", baseOutKey(pa.baseOut), classNames()[c], *r, baseOutKey(at))
				return
			}
			if got := next.Score[game.Away] - pa.state.Score[game.Away]; got != int(r.runs) {
				t.Errorf("%s, %s, row %+v scores %d", baseOutKey(pa.baseOut), classNames()[c], *r, got)
			}
		}
	}
}

// At most one play in a thousand of the measured table has no row, except for runners who go on strikeouts.
func TestMeasurements_coverage(t *testing.T) {
	t.Parallel()
	data := measuredData()
	var covered, all float64
	for at := range baseOutStates {
		for c := range classes {
			if c == strikeout {
				continue
			}
			for _, r := range data.rows[at][c] {
				covered += r.weight
			}
		}
	}
	for _, n := range []float64{167651, 83721, 47671, 35048, 6069, 108420, 33424, 3392, 23400, 57279, 7000, 178} {
		all += n
	}
	missing := 1 - covered/all
	check.That(t, missing >= 0 && missing <= .001, "%.4f of the table has no row", missing)
}

// A throw goes to the fielder who covers the base; a fielder there with the ball makes the putout unassisted.
func TestThrowTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from     int
		to       game.Base
		credited string
	}{
		{6, game.First, "63"},
		{3, game.First, "3"},
		{4, game.Second, "46"},
		{6, game.Second, "64"},
		{7, game.Second, "74"},
		{9, game.Second, "96"},
		{2, game.Third, "25"},
		{8, game.HomePlate, "82"},
		{2, game.HomePlate, "2"},
	} {
		if got, holder := throwTo(tt.from, tt.to); got != tt.credited || digit(holder) != got[len(got)-1:] {
			t.Errorf("%d to %v: %s, then %d has the ball, want %s", tt.from, tt.to, got, holder, tt.credited)
		}
	}
}

// fullState returns the start of a game with a designated hitter.
func fullState(tb testing.TB) game.State {
	tb.Helper()
	var clubs [2]game.Club
	var lineups [2]game.Lineup
	for side := range clubs {
		for i := range 10 {
			clubs[side].Players = append(clubs[side].Players,
				game.Player{ID: game.PlayerID(fmt.Sprint(side, i)), Positions: []game.Role{"P"}})
		}
		lineups[side] = gametest.Lineup(clubs[side], true)
	}
	return check.Must(game.New(game.Options{DH: true}, clubs, lineups))(tb)
}

// RunExpectancy returns the entry of [RunExpectancies] for a state.
func RunExpectancy(s *game.State) float64 { return measuredData().runExpectancy[BaseOut(s)] }

// Runs returns the expected runs of the side at bat in the rest of the half-inning, with the [RunExpectancies] of
// the state afterwards.
func (o *Outlook) Runs() float64 {
	runs := 0.0
	o.Each(func(r Result) { runs += r.P * r.ExpectedRuns() })
	return runs
}
