package game

import "slices"

// pitchersOfRecord holds the side that leads and its pitchers of record (9.17). A tie clears it.
type pitchersOfRecord struct {
	leads  bool
	side   Side
	winner PlayerID // of the leading side
	loser  PlayerID // charged with the run that put it ahead
}

// recordRun records a run of the side at bat, which now has the given lead.
func (c *pitchersOfRecord) recordRun(b *Scorebook, s *State, lead int, charged PlayerID) {
	switch lead {
	case 0:
		*c = pitchersOfRecord{}
	case 1:
		side := s.Batting()
		c.leads, c.side, c.loser = true, side, charged
		if c.winner = b.lastPitcher[side]; c.winner == "" {
			c.winner = s.Teams[side].Pitcher
		}
	}
}

// assignDecisions sets the pitchers of decision once the game is over (9.17, 9.19). The scorer's choice of winner
// counts where the rule leaves one.
func (x *BoxScore) assignDecisions(s *State, b *Scorebook) {
	c, choice := &b.record, b.chosenWinner
	if !s.Over() || !c.leads || s.End == AwayForfeit || s.End == HomeForfeit {
		return
	}
	won := x.Teams[c.side].Pitching
	x.LosingPitcher, x.WinningPitcher = c.loser, c.winner
	if relief, must := judgmentCandidates(won, c.winner, s.Options.ScheduledInnings()); len(relief) > 0 {
		x.WinnerByJudgment = true
		if must {
			x.WinningPitcher = mostEffective(relief)
		}
		if choice == c.winner && choice != won[0].Player ||
			slices.ContainsFunc(relief, func(l PitchingLine) bool { return l.Player == choice }) {
			x.WinningPitcher = choice
		}
	}
	finished := b.lastPitcher[c.side]
	for i := range won {
		if l := &won[i]; len(won) > 1 && l.Player == finished && finished != x.WinningPitcher && l.earnsSave() {
			x.SavingPitcher = finished
		}
	}
}

// judgmentCandidates returns the relief pitchers among whom the scorer may choose the winner instead of win, none where
// the rule leaves no choice, and whether the scorer should: a starter without the required innings (9.17(b)) must, and
// a relief pitcher who was brief and ineffective, by the rule's comment less than an inning and two earned runs, gives
// way to a later one (9.17(c)).
func judgmentCandidates(won []PitchingLine, win PlayerID, innings int) (among []PitchingLine, should bool) {
	record := max(slices.IndexFunc(won, func(l PitchingLine) bool { return l.Player == win }), 0)
	l, after := &won[record], won[record+1:]
	switch {
	case record == 0 && l.Outs < starterMinimumOuts(won, innings):
		return after, true
	case record > 0 && l.Outs <= 3 && l.earnedRunsIn() >= 2:
		return after, l.Outs < 3
	default:
		return nil, false
	}
}

// starterMinimumOuts returns the outs that a starting pitcher needs to win: five innings, or four if the side was
// in the field for only five (9.17(b)). Of a game scheduled for fewer, for which the rule has no number, all
// innings but one.
func starterMinimumOuts(lines []PitchingLine, innings int) int {
	outs, required := 0, 12
	for _, l := range lines {
		outs += l.Outs
	}
	if outs >= 18 {
		required = 15
	}
	if innings <= 5 {
		return min(required, 3*(innings-1))
	}
	return required
}

// mostEffective returns the most effective relief pitcher, which 9.17(b) leaves to the scorer's judgment: outs less two
// for each earned run; the first among equals.
func mostEffective(lines []PitchingLine) PlayerID {
	best := 0
	for i := range lines {
		if lines[i].effectiveness() > lines[best].effectiveness() {
			best = i
		}
	}
	return lines[best].Player
}

func (l *PitchingLine) effectiveness() int { return l.Outs - 2*l.earnedRunsIn() }

// earnedRunsIn returns the pitcher's earned runs and the inherited runners who scored.
func (l *PitchingLine) earnedRunsIn() int { return l.EarnedRuns + l.InheritedRunnersScored }

// earnsSave reports whether the winning side's last pitcher gets a save (9.19).
func (l *PitchingLine) earnsSave() bool {
	return l.leadAtEntry > 0 && l.Outs > 0 && (l.leadAtEntry <= 3 && l.Outs >= 3 || l.isTyingRunNear() || l.Outs >= 9)
}

// isTyingRunNear reports whether the tying run was on base, at bat or on deck when the pitcher was brought in.
func (l *PitchingLine) isTyingRunNear() bool { return l.leadAtEntry <= l.runnersAtEntry+2 }

// isSaveSituation reports whether a relief pitcher was brought in to protect a lead that is small enough for a save.
func (l *PitchingLine) isSaveSituation() bool {
	return l.leadAtEntry > 0 && (l.leadAtEntry <= 3 || l.isTyingRunNear())
}

// loseLead records that the tying run scored while the pitcher was on the mound. The run may be charged to another.
func (l *PitchingLine) loseLead() {
	l.BlownSave = l.BlownSave || l.inSaveSituation
	l.inSaveSituation = false
}

// leave records that another pitcher follows: one who got an out and leaves with the lead of a save situation has
// a hold. Holds and blown saves are not in the rules; these are the definitions that leagues use.
func (l *PitchingLine) leave() {
	l.Hold = l.Hold || l.inSaveSituation && l.Outs > l.outsAtEntry
	l.inSaveSituation = false
}

// assignCredits removes the hold of a pitcher who wins or saves the game, and marks quality starts.
func (x *BoxScore) assignCredits(s *State) {
	for side := range x.Teams {
		lines := x.Teams[side].Pitching
		for i := range lines {
			l := &lines[i]
			l.Hold = l.Hold && l.Player != x.WinningPitcher && l.Player != x.SavingPitcher
			done := s.Over() || s.Teams[side].Pitcher != l.Player
			l.QualityStart = i == 0 && done && l.Outs >= 18 && l.EarnedRuns <= 3
		}
	}
}
