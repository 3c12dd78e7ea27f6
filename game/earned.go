package game

import "slices"

// An errorlessInning is a half-inning as it would have gone without errors, passed balls and interference (9.16). A run is earned
// when the man who scored it would have scored in it too.
//
// A relief pitcher does not profit from outs that were missed before he came (9.16(i)), so each pitcher has a view of
// his own: how many were out, or would have been, had the inning begun as he found it. View 0 is the first pitcher's
// and the team's.
type errorlessInning struct {
	runners     []baserunner // all who came on base, in order
	onBase      [4]int       // index+1 in men of who stands on first, second, third; on[0] is the batter's once he reaches
	outsByView  []int        // outs by view
	droppedFoul bool         // the batter's foul fly was dropped: he would have been out
}

// A baserunner came on base.
type baserunner struct {
	pitcher   PlayerID // whom his run counts against, 9.16(g)
	view      int      // that pitcher's
	inherited bool     // on base when a pitcher was relieved
	bases     [2]Base  // where he would be in the team's view and in his pitcher's; AtBat: nowhere
	scored    bool
	ruling    Ruling // of the scorer who was there
	play      int    // number of the play on which he scored
	from      Base   // where he started it
}

// An EarnedRunRuling says whether one run was earned.
type EarnedRunRuling struct {
	Play   int  // number of the play, from 1; NoPlay is not counted
	From   Base // where the man who scored it started
	Earned Ruling
}

// addRunner appends a man and returns his index+1.
func (n *errorlessInning) addRunner(m baserunner) int {
	n.runners = append(n.runners, m)
	return len(n.runners)
}

// addView opens a view for a new pitcher, who inherits the men on base.
func (n *errorlessInning) addView(outs int) {
	n.outsByView = append(n.outsByView, outs)
	for _, i := range n.onBase[First:] {
		if i > 0 {
			n.runners[i-1].inherited = true
		}
	}
}

// addMissedOuts counts outs that would have been made.
func (n *errorlessInning) addMissedOuts(outs int) {
	for i := range n.outsByView {
		n.outsByView[i] += outs
	}
}

// isOver reports whether a view of a man has no more to come: three are out, or would be.
func (n *errorlessInning) isOver(m *baserunner, v int) bool {
	if v == 0 {
		return n.outsByView[0] >= 3
	}
	return n.outsByView[m.view] >= 3
}

// remove takes a man out of the clean inning.
func (n *errorlessInning) remove(i int) {
	if i > 0 {
		n.runners[i-1].bases = [2]Base{}
	}
}

// recordRuns keeps the runs: who scored them, off whom, and what the inning would have been without errors.
func (b *Scorebook) recordRuns(s *State, p *Play) {
	n := &b.errorless
	n.onBase[AtBat] = 0
	phantom := n.missedOuts(p)
	made := n.uncountedOuts(p)
	gone := forcedOutFrom(p)
	if p.Advances[AtBat].To != AtBat {
		n.onBase[AtBat] = n.addRunner(baserunner{pitcher: b.responsiblePitcher(s, p), view: b.view(s, p)})
		if gone != AtBat && !n.includes(gone) {
			phantom = true // in place of a man who would not have been there, he himself would have been out
			made++
		}
	}
	n.advance(s, p, phantom)
	if gone != AtBat {
		n.swapCharges(p, gone)
	}
	n.addMissedOuts(made)
	b.creditRuns(s, p)
	n.placeRunners(p)
	if p.Kind.EndsPlateAppearance() {
		n.droppedFoul = false
	}
}

// missedOuts counts the outs that errors cost, and reports whether the batter reached only through one.
func (n *errorlessInning) missedOuts(p *Play) (phantom bool) {
	reached := p.Advances[AtBat].To != AtBat
	phantom = reached && (n.droppedFoul || p.Kind == CatchersInterference)
	if p.Kind == FoulError {
		n.droppedFoul = true
		n.addMissedOuts(1)
	}
	if reached && !phantom && (p.Kind == ReachedOnError || p.Kind == Strikeout && p.Also != WildPitch) {
		phantom = true
		n.addMissedOuts(1)
	}
	for i, e := range p.Errors {
		again := slices.ContainsFunc(p.Errors[:i], func(o Error) bool { return o.Runner == e.Runner })
		switch {
		case e.Fielder == 0 || again || !p.costsOut(e):
		case e.Runner == AtBat && !phantom:
			phantom = true
			n.addMissedOuts(1)
		case e.Runner != AtBat && n.includes(e.Runner):
			n.remove(n.onBase[e.Runner])
			n.addMissedOuts(1)
		}
	}
	return phantom
}

// costsOut reports whether an error cost the out of a man who is safe: he was caught stealing, a good throw was dropped, or
// the fielder chose him.
func (p *Play) costsOut(e Error) bool {
	switch why := p.Advances[e.Runner].Reason; {
	case p.outIndex(e.Runner) >= 0:
		return false
	case why == Caught || why == PickedOffStealing || p.Kind == FieldersChoice:
		return true
	default:
		return e.Assists != "" && (e.Runner != AtBat || p.outCount() == 0)
	}
}

// includes reports whether the man from a base is in the clean inning.
func (n *errorlessInning) includes(from Base) bool {
	i := n.onBase[from]
	return i > 0 && n.runners[i-1].bases != [2]Base{}
}

// uncountedOuts returns how many outs were not counted before, when an error cost them.
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

// advance moves the men of the clean inning, foremost first, and lets those behind push them.
func (n *errorlessInning) advance(s *State, p *Play, phantom bool) {
	for from := Third; from >= First; from-- {
		n.advanceRunner(s, p, from)
	}
	n.advanceScored(s, p)
	if i := n.onBase[AtBat]; i > 0 && !phantom {
		m := &n.runners[i-1]
		for v := range m.bases {
			if !n.isOver(m, v) {
				m.bases[v] = s.batterBase(p)
			}
		}
	}
	for v := range 2 {
		n.pushRunners(v)
	}
}

// advanceRunner moves one man from his base, or takes him away when he is out.
func (n *errorlessInning) advanceRunner(s *State, p *Play, from Base) {
	i := n.onBase[from]
	if i == 0 {
		return
	}
	m := &n.runners[i-1]
	for v := range m.bases {
		switch {
		case p.outIndex(from) >= 0 && m.bases[v] == HomePlate && n.isOver(m, v):
		case p.outIndex(from) >= 0:
			m.bases[v] = AtBat
		case m.bases[v] != AtBat && !n.isOver(m, v):
			m.bases[v] = min(m.bases[v]+n.errorlessBases(s, p, from), HomePlate)
		}
	}
}

// advanceScored moves the men who have scored, but would still be on base.
func (n *errorlessInning) advanceScored(s *State, p *Play) {
	for i := range n.runners {
		m := &n.runners[i]
		for v := range m.bases {
			if m.scored && m.bases[v] != AtBat && !n.isOver(m, v) {
				m.bases[v] = min(m.bases[v]+n.errorlessBases(s, p, AtBat), HomePlate)
			}
		}
	}
}

// batterBase is where a batter who reached would be without errors.
func (s *State) batterBase(p *Play) Base {
	r := p.Advances[AtBat]
	switch {
	case r.Reason != OnError && !s.hasErrorFor(p, AtBat):
		return r.To
	case p.Kind.IsHit():
		return Base(p.Kind-Single) + First
	default:
		return First
	}
}

// errorlessBases returns how many bases of a runner's advance owe nothing to an error; for AtBat, those of any man on base.
func (n *errorlessInning) errorlessBases(s *State, p *Play, from Base) Base {
	made, why, helped := Base(0), ByPlay, false
	if from != AtBat {
		why = p.Advances[from].Reason
		helped = why == OnError || s.hasErrorFor(p, from) || p.Kind == PickOff && p.Errors[0].Fielder != 0 // a throw gone wild moves all
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
			return 0 // the forced are pushed
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

// pushRunners keeps one man to a base in a view: who is caught up with moves on.
func (n *errorlessInning) pushRunners(v int) {
	for base := First; base <= Third; base++ {
		held := false
		for i := range slices.Backward(n.runners) {
			if n.runners[i].bases[v] != base {
				continue
			}
			if held {
				n.runners[i].bases[v]++
			}
			held = true
		}
	}
}

// forcedOutFrom returns the base of the runner in whose place the batter reached, AtBat if there is none.
func forcedOutFrom(p *Play) Base {
	if p.Advances[AtBat].To == AtBat || p.Kind != BattedOut && p.Kind != FieldersChoice {
		return AtBat
	}
	for from := Third; from >= First; from-- {
		if p.outIndex(from) >= 0 {
			return from
		}
	}
	return AtBat
}

// swapCharges charges runs by number (9.16(g)): when the batter reaches because a runner was put out, each man behind that
// runner, the batter last, takes the charge of the one ahead.
func (n *errorlessInning) swapCharges(p *Play, out Base) {
	gone := n.runners[n.onBase[out]-1]
	for b := out; b > AtBat; b-- {
		if i := n.onBase[b-1]; i > 0 && p.outIndex(b-1) < 0 {
			m := &n.runners[i-1]
			m.pitcher, gone.pitcher = gone.pitcher, m.pitcher
			m.view, gone.view = gone.view, m.view
			m.inherited, gone.inherited = gone.inherited, m.inherited
		}
	}
}

// view returns the view of the pitcher whom the batter is charged to.
func (b *Scorebook) view(s *State, p *Play) int {
	last := len(b.errorless.outsByView) - 1
	if last > 0 && b.responsiblePitcher(s, p) != s.Pitcher() {
		last--
	}
	return last
}

// creditRuns counts the runs of a play, the foremost first.
func (b *Scorebook) creditRuns(s *State, p *Play) {
	n := &b.errorless
	lead := s.Lead()
	for from := Third; ; from-- {
		if p.Advances[from].To == HomePlate {
			m := &n.runners[n.onBase[from]-1]
			m.scored, m.ruling, m.play, m.from = true, p.Advances[from].Earned, b.playCount, from
			b.battingLine(s.Batting(), s.runnerFrom(p, from).Player).Runs++
			b.pitchingLine(s.Fielding(), m.pitcher).Runs++
			if m.inherited {
				b.pitchingLine(s.Fielding(), s.Pitcher()).InheritedRunnersScored++
			}
			lead++
			b.record.recordRun(b, s, lead, m.pitcher)
		}
		if from == AtBat {
			return
		}
	}
}

// placeRunners puts the men where the play left them.
func (n *errorlessInning) placeRunners(p *Play) {
	var on [4]int
	for from := AtBat; from <= Third; from++ {
		to := p.Advances[from].To
		if to == AtBat {
			to = from
		}
		if i := n.onBase[from]; i > 0 && p.outIndex(from) < 0 && to < HomePlate && to > AtBat {
			on[to] = i
		}
	}
	n.onBase = on
}

// finishHalfInning rules on the runs of a half-inning that is over.
func (b *Scorebook) finishHalfInning(batting Side) {
	b.errorless.chargeEarnedRuns(&b.teams[batting.Other()], &b.rulings)
	b.errorless.runners = b.errorless.runners[:0]
	b.errorless.onBase = [4]int{}
}

// chargeEarnedRuns counts the earned runs so far against the team in the field and its pitchers, and notes each ruling.
func (n *errorlessInning) chargeEarnedRuns(t *TeamBoxScore, rulings *[]EarnedRunRuling) {
	for i := range n.runners {
		m := &n.runners[i]
		if !m.scored {
			continue
		}
		r := m.earned()
		if rulings != nil {
			*rulings = append(*rulings, EarnedRunRuling{Play: m.play, From: m.from, Earned: r})
		}
		if r == Yes {
			t.EarnedRuns++
		}
		for j := range t.Pitching {
			if t.Pitching[j].Player == m.pitcher && r != No {
				t.Pitching[j].EarnedRuns++
			}
		}
	}
}

// earned is the ruling on a run that scored: the scorer's, if he gave one.
func (m *baserunner) earned() Ruling {
	switch {
	case m.ruling != ByRule:
		return m.ruling
	case m.bases[0] == HomePlate:
		return Yes
	case m.bases[1] == HomePlate:
		return TeamOnly
	default:
		return No
	}
}

// EarnedRunRulings returns the ruling on every run of the half-innings that are over, in the order the men came on base.
func (b *Scorebook) EarnedRunRulings() []EarnedRunRuling { return slices.Clone(b.rulings) }
