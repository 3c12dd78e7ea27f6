package game

import "slices"

// A contest is who leads and through whom (9.17); a tie begins a new one.
type contest struct {
	leads bool
	side  Side
	win   PlayerID // pitcher of record of the side that leads
	lose  PlayerID // whom the run that put it ahead is charged to
}

// scored notes a run of the side at bat, which now has the given lead.
func (c *contest) scored(b *Scorebook, s *State, lead int, charged PlayerID) {
	switch lead {
	case 0:
		*c = contest{}
	case 1:
		side := s.Batting()
		c.leads, c.side, c.lose = true, side, charged
		if c.win = b.pitched[side]; c.win == "" {
			c.win = s.Teams[side].Pitcher
		}
	}
}

// decide names the pitchers of decision once the game is over (9.17, 9.19). The scorer's choice of winner counts where
// the rule leaves it to his judgement.
func (x *BoxScore) decide(s *State, c *contest, choice PlayerID) {
	if !s.Over() || !c.leads || s.End == AwayForfeit || s.End == HomeForfeit {
		return
	}
	won := x.Teams[c.side].Pitching
	x.LosingPitcher, x.WinningPitcher = c.lose, c.win
	if relief, must := judged(won, c.win); len(relief) > 0 {
		x.WinnerByJudgment = true
		if must {
			x.WinningPitcher = effective(relief)
		}
		if choice == c.win && choice != won[0].Player || slices.ContainsFunc(relief, func(l PitchingLine) bool { return l.Player == choice }) {
			x.WinningPitcher = choice
		}
	}
	if last := won[len(won)-1]; len(won) > 1 && last.Player != x.WinningPitcher && last.saves() {
		x.SavingPitcher = last.Player
	}
}

// judged returns the relief pitchers among whom the scorer may choose the winner, none when the rule makes it win's, and
// whether he should: a starting pitcher needs his innings (9.17(b)); a relief pitcher who was brief and ineffective,
// less than an inning and two earned runs by the comment, gives way to those after him (9.17(c)).
func judged(won []PitchingLine, win PlayerID) (among []PitchingLine, should bool) {
	record := max(slices.IndexFunc(won, func(l PitchingLine) bool { return l.Player == win }), 0)
	l, after := &won[record], won[record+1:]
	switch {
	case record == 0 && l.Outs < starterNeeds(won):
		return after, true
	case record > 0 && l.Outs <= 3 && l.letIn() >= 2:
		return after, l.Outs < 3
	default:
		return nil, false
	}
}

// starterNeeds returns the outs a starting pitcher needs to win: five innings, four when his side was in the field for
// five (9.17(b)).
func starterNeeds(lines []PitchingLine) int {
	outs := 0
	for _, l := range lines {
		outs += l.Outs
	}
	if outs >= 18 {
		return 15
	}
	return 12
}

// effective chooses the most effective relief pitcher, which 9.17(b) leaves to the scorer's judgement: each run that he
// let in takes two of his outs away; among equals it is the first.
func effective(lines []PitchingLine) PlayerID {
	best := 0
	for i := range lines {
		if lines[i].worth() > lines[best].worth() {
			best = i
		}
	}
	return lines[best].Player
}

func (l *PitchingLine) worth() int { return l.Outs - 2*l.letIn() }

// letIn returns the earned runs that scored while he pitched, or off him.
func (l *PitchingLine) letIn() int { return l.EarnedRuns + l.InheritedRunnersScored }

// saves reports whether the last pitcher of the winners saved the game (9.19).
func (l *PitchingLine) saves() bool {
	switch {
	case l.lead <= 0 || l.Outs == 0:
		return false
	case l.lead <= 3 && l.Outs >= 3, l.lead <= l.found+2, l.Outs >= 9:
		return true
	default:
		return false
	}
}
