package bot

import (
	"sync"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/odds"
)

// A Value is what a decision is worth before it is made. It is computed from what both sides know, and from what
// the other side is expected to call: never from a call that it has submitted.
type Value struct {
	Runs           float64 // expected runs of the side at bat in the rest of the half-inning
	WinProbability float64 // 0–1, of the manager's side
}

// lookAhead is the number of batters, from the one at bat on, whose own rates count; those after them are average.
const lookAhead = 3

// maxRuns is the number of runs in the rest of a half-inning from which on more make no difference.
const maxRuns = 5

// sideOut is the base-out state after the end of the half-inning.
const sideOut = chance.BaseOutStates

// A horizon holds what the rest of a half-inning is worth to the side at bat, from each base-out state, solved
// backwards from average batters on.
type horizon struct {
	runs [lookAhead + 1][sideOut + 1]float64              // expected, by batters from now
	wins [lookAhead + 1][sideOut + 1][maxRuns + 1]float64 // chance to win, by batters and runs from now
}

// look sets h to the horizon of s with n batters, at most lookAhead. Base-out states with fewer outs than s are
// left out. It fills h in place, because it is large.
func (h *horizon) look(sim *chance.Simulator, s *game.State, progress chance.Progress, n int) *horizon {
	*h = horizon{}
	h.average(s, n)
	next := *s
	team, work := &next.Teams[s.Batting()], &progress.Workloads[s.Fielding()]
	if work.Pitcher != s.Pitcher() {
		*work = chance.Workload{Pitcher: s.Pitcher()}
	}
	first, faced := team.NextBatter, *work
	for i := n - 1; i >= 0; i-- {
		team.NextBatter = (first + i) % 9
		work.Batters, work.Pitches = faced.Batters+i, faced.Pitches+4*i
		h.step(i, sim.Likelihoods(&next, progress), s.Outs)
	}
	return h
}

// average sets what average batters are worth after n batters, and the end of the half-inning.
func (h *horizon) average(s *game.State, n int) {
	l, model, lead := leagueValues(), odds.For(s.Options), s.Lead()
	for at := range sideOut {
		h.runs[n][at] = l.runs[at]
		for r := range h.wins[n][at] {
			h.wins[n][at][r] = model.AtBat(s.Inning, s.Half, at, lead+r)
		}
	}
	for r := range h.wins[n][sideOut] {
		h.wins[n][sideOut][r] = model.SideOut(s.Inning, s.Half, lead+r)
	}
	for i := range h.wins {
		h.wins[i][sideOut] = h.wins[n][sideOut]
		if i > n {
			h.runs[i], h.wins[i] = h.runs[n], h.wins[n]
		}
	}
}

// step sets what the batter i from now is worth. Plays between pitches, which likelihoods leave out, are worth as
// much as to average batters.
func (h *horizon) step(i int, u chance.Likelihoods, outs int) {
	var space [64]chance.Transition
	runs, wins, l := &h.runs[i+1], &h.wins[i+1], leagueValues()
	for at := range sideOut {
		if at%3 < outs {
			continue
		}
		between := l.between[at]
		h.runs[i][at] = between
		all := u.AppendTransitions(space[:0], at)
		for _, t := range all {
			h.runs[i][at] += t.P * (float64(t.Runs) + runs[t.To])
		}
		for r := range maxRuns + 1 {
			p := between * (wins[at][min(r+1, maxRuns)] - wins[at][r])
			for _, t := range all {
				p += t.P * wins[t.To][min(r+t.Runs, maxRuns)]
			}
			h.wins[i][at][r] = p
		}
	}
}

// of returns the value to the side at bat of a position of the horizon.
func (h *horizon) of(batter, at, runs int) Value {
	return Value{float64(runs) + h.runs[batter][at], h.wins[batter][at][min(runs, maxRuns)]}
}

// turn returns the value to the side at bat of a turn.
func (h *horizon) turn(o *chance.Outlook) Value {
	var v Value
	o.Each(func(r chance.Result) {
		batter := 0
		if r.TurnOver {
			batter = 1
		}
		after := h.of(batter, r.To, r.Runs)
		v.Runs += r.P * after.Runs
		v.WinProbability += r.P * after.WinProbability
	})
	return v
}

// leagueValues returns what average players are worth.
var leagueValues = sync.OnceValue(func() *league { //nolint:gochecknoglobals // computed once, never changed
	l := &league{runs: chance.RunExpectancies()}
	u := chance.LeagueLikelihoods()
	for at := range l.between {
		l.between[at] = l.runs[at]
		for _, t := range u.AppendTransitions(nil, at) {
			l.between[at] -= t.P * float64(t.Runs)
			if t.To != sideOut {
				l.between[at] -= t.P * l.runs[t.To]
			}
		}
	}
	return l
})

// A league holds what average players are worth, by base-out state.
type league struct {
	runs    [sideOut]float64 // to the end of the half-inning
	between [sideOut]float64 // of plays between pitches during one turn, which likelihoods leave out
}

// utility returns what the manager maximizes for the side at bat: the chance to win, and the runs where it is decided.
func (v Value) utility() float64 { return v.WinProbability + runsWhenDecided*v.Runs }

// runsWhenDecided is the worth of a run in games that are decided; in others it is .02 to .3.
const runsWhenDecided = .003

// forSide returns the value to a side, given the side at bat.
func (v Value) forSide(side, batting game.Side) Value {
	if side != batting {
		v.WinProbability = 1 - v.WinProbability
	}
	return v
}
