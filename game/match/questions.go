package match

import (
	"math"

	"pressbox/game"
	"pressbox/game/chance"
)

// A question is asked if a manager could sensibly answer it either way: if the chance of the bold choice is within
// maxFromBreakEven of the one from which on it pays, by runs or by win probability, and the choices differ by at
// least minStake in win probability. Over 1,000 games between bots, 1.9 of 6.5 questions a game are asked, 1.5 of
// 3.5 whether to send a runner; of those that are not, the percentages decide 99 in 100 as win probability would.
const (
	maxFromBreakEven = .35
	minStake         = .001
)

// asks reports whether the question that a turn in s ended in is asked; otherwise the percentages decide.
func (e *engine) asks(s *game.State, moment chance.Progress, calls chance.Tactics, turn *chance.Resolution) bool {
	if turn.Question == chance.NoQuestion {
		return false
	}
	r := e.table.Risk(s, moment, calls, turn)
	return e.weigh(s, &r).isOpen(turn.SuccessChance)
}

// A worth is the value of a result to the side at bat: the runs of the half-inning from now on, and the chance to win.
type worth struct{ runs, win float64 }

func byRuns(w worth) float64 { return w.runs }
func byWin(w worth) float64  { return w.win }

// A risk holds what the results of the choices of a question are worth.
type risk struct{ success, failure, safe worth }

// weigh returns what the choices of a question in s are worth.
func (e *engine) weigh(s *game.State, r *chance.Risk) *risk {
	return &risk{e.worthOf(s, r.Success), e.worthOf(s, r.Failure), e.worthOf(s, r.Safe)}
}

// worthOf returns what transitions from s are worth, with average batters to come.
func (e *engine) worthOf(s *game.State, all []chance.Transition) worth {
	var w worth
	for _, t := range all {
		lead := s.Lead() + t.Runs
		win := e.odds.SideOut(s.Inning, s.Half, lead)
		if t.To < chance.BaseOutStates {
			win = e.odds.AtBat(s.Inning, s.Half, t.To, lead)
		}
		w.runs += t.P * t.ExpectedRuns()
		w.win += t.P * win
	}
	return w
}

// bold returns what the bold choice is worth if it succeeds with chance p.
func (r *risk) bold(p float64) worth {
	return worth{p*r.success.runs + (1-p)*r.failure.runs, p*r.success.win + (1-p)*r.failure.win}
}

// isOpen reports whether either choice could be right if the bold one succeeds with chance p.
func (r *risk) isOpen(p float64) bool {
	stake := math.Abs(r.bold(p).win - r.safe.win)
	return stake >= minStake && (r.isClose(p, byRuns) || r.isClose(p, byWin))
}

// isClose reports whether a chance of success is close to the break-even, by one measure.
func (r *risk) isClose(p float64, by func(worth) float64) bool {
	gain := by(r.success) - by(r.failure)
	return gain != 0 && math.Abs(p-(by(r.safe)-by(r.failure))/gain) <= maxFromBreakEven
}
