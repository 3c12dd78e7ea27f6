package game

import "slices"

// An errorlessInning reconstructs a half-inning without errors, passed balls and interference (9.16). A run is earned
// if it scores in it too. A relief pitcher does not profit from outs missed before entering (9.16(i)), so each pitcher
// has a view: the outs made, or that should have been made, in an inning that began as the pitcher found it. View 0 is
// the first pitcher's and the team's.
type errorlessInning struct {
	runners     []baserunner // in the order they reached base
	onBase      [4]int       // index+1 in runners by base; index 0 is the batter who reaches
	outsByView  []int
	droppedFoul bool // the batter's foul fly was dropped and should have been an out
}

// A baserunner is a player who reached base.
type baserunner struct {
	pitcher   PlayerID // charged with the run, 9.16(g)
	view      int      // of that pitcher
	inherited bool     // on base when a pitcher was relieved
	bases     [2]Base  // errorless base in the team's view and in the pitcher's; AtBat: not on base
	scored    bool
	ruling    Ruling // of the scorer
	play      int    // number of the play on which the run scored
	from      Base   // where the runner started that play
}

// An EarnedRunRuling is the decision whether one run is earned.
type EarnedRunRuling struct {
	Play   int  // number of the play, from 1; NoPlay is not counted
	From   Base // where the runner started
	Earned Ruling
}

// addRunner appends a runner and returns its index+1.
func (n *errorlessInning) addRunner(br baserunner) int {
	n.runners = append(n.runners, br)
	return len(n.runners)
}

// addView adds the view of a new pitcher, who inherits the runners on base except those whom that pitcher put there
// before going to the field. It returns their number.
func (n *errorlessInning) addView(outs int, pitcher PlayerID) (inherited int) {
	n.outsByView = append(n.outsByView, outs)
	for _, i := range n.onBase[First:] {
		if i == 0 {
			continue
		}
		n.runners[i-1].inherited = n.runners[i-1].pitcher != pitcher
		if n.runners[i-1].inherited {
			inherited++
		}
	}
	return inherited
}

// addMissedOuts adds outs that should have been made to all views.
func (n *errorlessInning) addMissedOuts(outs int) {
	for i := range n.outsByView {
		n.outsByView[i] += outs
	}
}

// isOver reports whether the inning is over in a runner's view: three are out, or should be.
func (n *errorlessInning) isOver(br *baserunner, v int) bool {
	if v == 0 {
		return n.outsByView[0] >= 3
	}
	return n.outsByView[br.view] >= 3
}

// remove removes a runner from the errorless inning.
func (n *errorlessInning) remove(i int) {
	if i > 0 {
		n.runners[i-1].bases = [2]Base{}
	}
}

// recordRuns updates the errorless inning and counts the runs.
func (b *Scorebook) recordRuns(s *State, p *Play) {
	n := &b.errorless
	n.onBase[AtBat] = 0
	byError := n.missedOuts(p)
	made := n.uncountedOuts(p)
	outFrom := forcedOutFrom(p)
	if p.Advances[AtBat].To != AtBat {
		n.onBase[AtBat] = n.addRunner(baserunner{pitcher: b.responsiblePitcher(s, p), view: b.view(s, p)})
		if outFrom != AtBat && !n.includes(outFrom) {
			byError = true // replaced a runner who should not have been on base: the batter should have been out
			made++
		}
	}
	n.advance(s, p, byError)
	n.shiftCharges(p)
	n.addMissedOuts(made)
	b.creditRuns(s, p)
	n.placeRunners(p)
	if p.Kind.EndsPlateAppearance() {
		n.droppedFoul = false
	}
}

// missedOuts counts the outs that errors cost, and reports whether the batter reached only through an error.
func (n *errorlessInning) missedOuts(p *Play) (byError bool) {
	reached := p.Advances[AtBat].To != AtBat
	byError = reached && (n.droppedFoul || p.Kind == CatchersInterference)
	if p.Kind == FoulError {
		n.droppedFoul = true
		n.addMissedOuts(1)
	}
	if reached && !byError && (p.Kind == ReachedOnError || p.Kind == Strikeout && p.Also != WildPitch) {
		byError = true
		n.addMissedOuts(1)
	}
	for i, e := range p.Errors {
		again := slices.ContainsFunc(p.Errors[:i], func(o Error) bool { return o.Runner == e.Runner })
		switch {
		case e.Fielder == 0 || again || !p.costsOut(e):
		case e.Runner == AtBat && !byError:
			byError = true
			n.addMissedOuts(1)
		case e.Runner != AtBat && n.includes(e.Runner):
			n.remove(n.onBase[e.Runner])
			n.addMissedOuts(1)
		}
	}
	return byError
}

// costsOut reports whether an error cost the out of a runner who is safe: caught stealing, a good throw dropped, or a
// fielder's choice.
func (p *Play) costsOut(e Error) bool {
	switch why := p.Advances[e.Runner].Reason; {
	case p.OutIndex(e.Runner) >= 0:
		return false
	case why == Caught || why == PickedOffStealing || p.Kind == FieldersChoice:
		return true
	default:
		return e.Assists != "" && (e.Runner != AtBat || p.Outs.Count() == 0)
	}
}

// includes reports whether the runner from a base is in the errorless inning.
func (n *errorlessInning) includes(from Base) bool {
	i := n.onBase[from]
	return i > 0 && n.runners[i-1].bases != [2]Base{}
}

// uncountedOuts returns the outs of the play that were not counted when an error missed them.
func (n *errorlessInning) uncountedOuts(p *Play) int {
	outs := 0
	for _, o := range p.Outs {
		switch {
		case o.Kind == NotOut:
		case o.Runner == AtBat && !n.droppedFoul, o.Runner != AtBat && n.includes(o.Runner):
			outs++
		}
	}
	return outs
}

// advance moves the runners of the errorless inning, foremost first.
func (n *errorlessInning) advance(s *State, p *Play, byError bool) {
	for from := Third; from >= First; from-- {
		n.advanceRunner(s, p, from)
	}
	n.advanceScored(s, p)
	if i := n.onBase[AtBat]; i > 0 && !byError {
		br := &n.runners[i-1]
		for v := range br.bases {
			if !n.isOver(br, v) {
				br.bases[v] = s.batterBase(p)
			}
		}
	}
	for v := range 2 {
		n.pushRunners(v)
	}
}

// advanceRunner moves the runner from a base, or removes one who is out.
func (n *errorlessInning) advanceRunner(s *State, p *Play, from Base) {
	i := n.onBase[from]
	if i == 0 {
		return
	}
	br := &n.runners[i-1]
	for v := range br.bases {
		switch {
		case p.OutIndex(from) >= 0 && br.bases[v] == HomePlate && n.isOver(br, v):
		case p.OutIndex(from) >= 0:
			br.bases[v] = AtBat
		case br.bases[v] != AtBat && !n.isOver(br, v):
			br.bases[v] = min(br.bases[v]+n.errorlessBases(s, p, from), HomePlate)
		}
	}
}

// advanceScored moves the runners who have scored, but should still be on base.
func (n *errorlessInning) advanceScored(s *State, p *Play) {
	for i := range n.runners {
		br := &n.runners[i]
		for v := range br.bases {
			if br.scored && br.bases[v] != AtBat && !n.isOver(br, v) {
				br.bases[v] = min(br.bases[v]+n.errorlessBases(s, p, AtBat), HomePlate)
			}
		}
	}
}

// batterBase returns the base that a batter who reached would have without errors.
func (s *State) batterBase(p *Play) Base {
	r := p.Advances[AtBat]
	switch {
	case !s.isAided(p, AtBat):
		return r.To
	case p.Kind.IsHit():
		return Base(p.Kind-Single) + First
	default:
		return First
	}
}

// errorlessBases returns how many bases of a runner's advance owe nothing to an error; for AtBat, those of any runner.
func (n *errorlessInning) errorlessBases(s *State, p *Play, from Base) Base {
	made, why, helped := Base(0), ByPlay, false
	if from != AtBat {
		why = p.Advances[from].Reason
		helped = s.isAided(p, from) || p.Kind == PickOff && p.Errors[0].Fielder != 0 // a wild throw moves every runner
		if to := p.Advances[from].To; to > from {
			made = to - from
		}
	}
	switch {
	case why == Stole:
		return min(made, 1)
	case why == OnPassedBall || p.includes(PassedBall) || p.Kind == CatchersInterference || p.Kind == FoulError:
		return 0
	case p.Kind.IsHit():
		least := Base(p.Kind-Single) + 1
		if helped {
			return least
		}
		return max(least, made)
	case p.Kind == ReachedOnError, p.Kind == FieldersChoice && p.Errors[0].Fielder != 0:
		if from == Third && s.Outs < 2 {
			return made
		}
		return 0
	case p.Kind == Walk || p.Kind == IntentionalWalk || p.Kind == HitByPitch:
		if p.Also == NoKind {
			return 0 // pushRunners moves the forced runners
		}
	}
	if helped {
		if p.Kind == WildPitch || p.Kind == Balk {
			return min(made, 1)
		}
		return 0
	}
	return made
}

// pushRunners moves on each runner of a view whose base a later one occupies.
func (n *errorlessInning) pushRunners(v int) {
	for base := First; base <= Third; base++ {
		occupied := false
		for i := range slices.Backward(n.runners) {
			if n.runners[i].bases[v] != base {
				continue
			}
			if occupied {
				n.runners[i].bases[v]++
			}
			occupied = true
		}
	}
}

// forcedOutFrom returns the base of the runner who was put out in place of the batter, AtBat for none.
func forcedOutFrom(p *Play) Base {
	if p.Advances[AtBat].To == AtBat || p.Kind != BattedOut && p.Kind != FieldersChoice {
		return AtBat
	}
	for from := Third; from >= First; from-- {
		if p.OutIndex(from) >= 0 {
			return from
		}
	}
	return AtBat
}

// shiftCharges keeps the number of runs charged to each pitcher (9.16(g)): when a runner is put out by the batter's
// action, each runner behind that one, the batter last, gets the charge of the one ahead. A batter who is out too takes
// the last charge away.
func (n *errorlessInning) shiftCharges(p *Play) {
	for out := Third; out >= First; out-- {
		if n.onBase[out] == 0 || !p.isOutByBatter(out) {
			continue
		}
		ahead := n.runners[n.onBase[out]-1]
		for b := out - 1; ; b-- {
			if i := n.onBase[b]; i > 0 {
				br := &n.runners[i-1]
				br.pitcher, ahead.pitcher = ahead.pitcher, br.pitcher
				br.view, ahead.view = ahead.view, br.view
				br.inherited, ahead.inherited = ahead.inherited, br.inherited
			}
			if b == AtBat {
				break
			}
		}
	}
}

// isOutByBatter reports whether a batted ball put out the runner from a base in place of the batter: before the batter
// was out, if the batter was, or in a reverse-force double play.
func (p *Play) isOutByBatter(from Base) bool {
	if p.Kind != BattedOut && p.Kind != FieldersChoice {
		return false
	}
	out, batter := p.OutIndex(from), p.OutIndex(AtBat)
	return out >= 0 && (batter < 0 || out < batter || p.Flags.Has(GroundedIntoDoublePlay))
}

// view returns the view of the pitcher charged with the batter.
func (b *Scorebook) view(s *State, p *Play) int {
	last := len(b.errorless.outsByView) - 1
	if last > 0 && b.responsiblePitcher(s, p) != s.Pitcher() {
		last--
	}
	return last
}

// creditRuns counts the runs of a play, foremost first.
func (b *Scorebook) creditRuns(s *State, p *Play) {
	n := &b.errorless
	lead := s.Lead()
	for from := Third; ; from-- {
		if p.Advances[from].To == HomePlate {
			br := &n.runners[n.onBase[from]-1]
			br.scored, br.ruling, br.play, br.from = true, p.Advances[from].Earned, b.playCount, from
			b.battingLine(s.Batting(), s.runnerFrom(p, from).Player).Runs++
			b.pitchingLine(s.Fielding(), br.pitcher).Runs++
			if br.inherited {
				b.pitchingLine(s.Fielding(), s.Pitcher()).InheritedRunnersScored++
			}
			lead++
			if lead == 0 {
				b.pitchingLine(s.Fielding(), s.Pitcher()).loseLead()
			}
			b.record.recordRun(b, s, lead, br.pitcher)
		}
		if from == AtBat {
			return
		}
	}
}

// placeRunners sets the base of each runner after the play.
func (n *errorlessInning) placeRunners(p *Play) {
	var on [4]int
	for from := AtBat; from <= Third; from++ {
		to := p.Advances[from].To
		if to == AtBat {
			to = from
		}
		if i := n.onBase[from]; i > 0 && p.OutIndex(from) < 0 && to < HomePlate && to > AtBat {
			on[to] = i
		}
	}
	n.onBase = on
}

// finishHalfInning rules on the runs of a completed half-inning.
func (b *Scorebook) finishHalfInning(batting Side) {
	b.errorless.chargeEarnedRuns(&b.teams[batting.Other()], &b.rulings)
	b.errorless.runners = b.errorless.runners[:0]
	b.errorless.onBase = [4]int{}
}

// chargeEarnedRuns adds the earned runs to the fielding team and its pitchers, and appends each ruling.
func (n *errorlessInning) chargeEarnedRuns(t *TeamBoxScore, rulings *[]EarnedRunRuling) {
	for i := range n.runners {
		br := &n.runners[i]
		if !br.scored {
			continue
		}
		r := br.earned()
		if rulings != nil {
			*rulings = append(*rulings, EarnedRunRuling{Play: br.play, From: br.from, Earned: r})
		}
		if r == Yes {
			t.EarnedRuns++
		}
		for j := range t.Pitching {
			if t.Pitching[j].Player == br.pitcher && r != No {
				t.Pitching[j].EarnedRuns++
			}
		}
	}
}

// earned returns the ruling on a run: the scorer's, if there is one.
func (br *baserunner) earned() Ruling {
	switch {
	case br.ruling != ByRule:
		return br.ruling
	case br.bases[0] == HomePlate:
		return Yes
	case br.bases[1] == HomePlate:
		return TeamOnly
	default:
		return No
	}
}

// EarnedRunRulings returns the ruling on every run of the completed half-innings, in the order the runners reached
// base.
func (b *Scorebook) EarnedRunRulings() []EarnedRunRuling { return slices.Clone(b.rulings) }
