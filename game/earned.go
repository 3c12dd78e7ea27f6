package game

import "slices"

// An inning is a half-inning as it would have gone without errors, passed balls and interference (9.16). A run is earned
// when the man who scored it would have scored in it too.
//
// A relief pitcher does not profit from outs that were missed before he came (9.16(i)), so each pitcher has a view of
// his own: how many were out, or would have been, had the inning begun as he found it. View 0 is the first pitcher's
// and the team's.
type inning struct {
	men   []man  // all who came on base, in order
	on    [4]int // index+1 in men of who stands on first, second, third; on[0] is the batter's once he reaches
	views []int  // outs by view
	foul  bool   // the batter's foul fly was dropped: he would have been out
}

// A man came on base.
type man struct {
	pitcher PlayerID // whom his run counts against, 9.16(g)
	view    int      // that pitcher's
	left    bool     // on base when a pitcher was relieved
	at      [2]Base  // where he would be in the team's view and in his pitcher's; AtBat: nowhere
	scored  bool
	ruling  Ruling // of the scorer who was there
	play    int    // number of the play on which he scored
	from    Base   // where he started it
}

// An EarnedRunRuling says whether one run was earned.
type EarnedRunRuling struct {
	Play   int  // number of the play, from 1; NoPlay is not counted
	From   Base // where the man who scored it started
	Earned Ruling
}

// add appends a man and returns his index+1.
func (n *inning) add(m man) int {
	n.men = append(n.men, m)
	return len(n.men)
}

// relieve opens a view for a new pitcher, who inherits the men on base.
func (n *inning) relieve(outs int) {
	n.views = append(n.views, outs)
	for _, i := range n.on[First:] {
		if i > 0 {
			n.men[i-1].left = true
		}
	}
}

// miss counts outs that would have been made.
func (n *inning) miss(outs int) {
	for i := range n.views {
		n.views[i] += outs
	}
}

// frozen reports whether a view of a man has no more to come: three are out, or would be.
func (n *inning) frozen(m *man, v int) bool {
	if v == 0 {
		return n.views[0] >= 3
	}
	return n.views[m.view] >= 3
}

// nowhere takes a man out of the clean inning.
func (n *inning) nowhere(i int) {
	if i > 0 {
		n.men[i-1].at = [2]Base{}
	}
}

// scoreRuns keeps the runs: who scored them, off whom, and what the inning would have been without errors.
func (b *Scorebook) scoreRuns(s *State, p *Play) {
	n := &b.clean
	n.on[AtBat] = 0
	phantom := n.missed(p)
	made := n.made(p)
	gone := replaced(p)
	if p.Advances[AtBat].To != AtBat {
		n.on[AtBat] = n.add(man{pitcher: b.charged(s, p), view: b.view(s, p)})
		if gone != AtBat && !n.there(gone) {
			phantom = true // in place of a man who would not have been there, he himself would have been out
			made++
		}
	}
	n.advance(s, p, phantom)
	if gone != AtBat {
		n.replace(p, gone)
	}
	n.miss(made)
	b.bringIn(s, p)
	n.settle(p)
	if p.Kind.EndsPlateAppearance() {
		n.foul = false
	}
}

// missed counts the outs that errors cost, and reports whether the batter reached only through one.
func (n *inning) missed(p *Play) (phantom bool) {
	reached := p.Advances[AtBat].To != AtBat
	phantom = reached && (n.foul || p.Kind == CatchersInterference)
	if p.Kind == FoulError {
		n.foul = true
		n.miss(1)
	}
	if reached && !phantom && (p.Kind == ReachedOnError || p.Kind == Strikeout && p.Also != WildPitch) {
		phantom = true
		n.miss(1)
	}
	for i, e := range p.Errors {
		again := slices.ContainsFunc(p.Errors[:i], func(o Error) bool { return o.Runner == e.Runner })
		switch {
		case e.Fielder == 0 || again || !p.robs(e):
		case e.Runner == AtBat && !phantom:
			phantom = true
			n.miss(1)
		case e.Runner != AtBat && n.there(e.Runner):
			n.nowhere(n.on[e.Runner])
			n.miss(1)
		}
	}
	return phantom
}

// robs reports whether an error cost the out of a man who is safe: he was caught stealing, a good throw was dropped, or
// the fielder chose him.
func (p *Play) robs(e Error) bool {
	switch why := p.Advances[e.Runner].Reason; {
	case p.out(e.Runner) >= 0:
		return false
	case why == Caught || why == PickedOffStealing || p.Kind == FieldersChoice:
		return true
	default:
		return e.Assists != "" && (e.Runner != AtBat || p.outs() == 0)
	}
}

// there reports whether the man from a base is in the clean inning.
func (n *inning) there(from Base) bool { i := n.on[from]; return i > 0 && n.men[i-1].at != [2]Base{} }

// made returns how many outs were not counted before, when an error cost them.
func (n *inning) made(p *Play) int {
	outs := 0
	for _, o := range p.Outs {
		switch {
		case o.Kind == NotOut:
		case o.Runner == AtBat && !n.foul, o.Runner != AtBat && n.there(o.Runner):
			outs++
		}
	}
	return outs
}

// advance moves the men of the clean inning, foremost first, and lets those behind push them.
func (n *inning) advance(s *State, p *Play, phantom bool) {
	for from := Third; from >= First; from-- {
		n.runs(s, p, from)
	}
	n.ghosts(s, p)
	if i := n.on[AtBat]; i > 0 && !phantom {
		m := &n.men[i-1]
		for v := range m.at {
			if !n.frozen(m, v) {
				m.at[v] = s.batterBase(p)
			}
		}
	}
	for v := range 2 {
		n.push(v)
	}
}

// runs moves one man from his base, or takes him away when he is out.
func (n *inning) runs(s *State, p *Play, from Base) {
	i := n.on[from]
	if i == 0 {
		return
	}
	m := &n.men[i-1]
	for v := range m.at {
		switch {
		case p.out(from) >= 0 && m.at[v] == HomePlate && n.frozen(m, v):
		case p.out(from) >= 0:
			m.at[v] = AtBat
		case m.at[v] != AtBat && !n.frozen(m, v):
			m.at[v] = min(m.at[v]+n.granted(s, p, from), HomePlate)
		}
	}
}

// ghosts moves the men who have scored, but would still be on base.
func (n *inning) ghosts(s *State, p *Play) {
	for i := range n.men {
		m := &n.men[i]
		for v := range m.at {
			if m.scored && m.at[v] != AtBat && !n.frozen(m, v) {
				m.at[v] = min(m.at[v]+n.granted(s, p, AtBat), HomePlate)
			}
		}
	}
}

// batterBase is where a batter who reached would be without errors.
func (s *State) batterBase(p *Play) Base {
	r := p.Advances[AtBat]
	switch {
	case r.Reason != OnError && !s.helped(p, AtBat):
		return r.To
	case p.Kind.IsHit():
		return Base(p.Kind-Single) + First
	default:
		return First
	}
}

// granted returns how many bases of a runner's advance owe nothing to an error; for AtBat, those of any man on base.
func (n *inning) granted(s *State, p *Play, from Base) Base {
	made, why, helped := Base(0), ByPlay, false
	if from != AtBat {
		why = p.Advances[from].Reason
		helped = why == OnError || s.helped(p, from) || p.Kind == PickOff && p.Errors[0].Fielder != 0 // a throw gone wild moves all
		if to := p.Advances[from].To; to > from {
			made = to - from
		}
	}
	switch {
	case why == Stole:
		return min(made, 1)
	case why == OnPassedBall || p.has(PassedBall) || p.Kind == CatchersInterference || p.Kind == FoulError:
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

// push keeps one man to a base in a view: who is caught up with moves on.
func (n *inning) push(v int) {
	for base := First; base <= Third; base++ {
		held := false
		for i := range slices.Backward(n.men) {
			if n.men[i].at[v] != base {
				continue
			}
			if held {
				n.men[i].at[v]++
			}
			held = true
		}
	}
}

// replaced returns the base of the runner in whose place the batter reached, AtBat if there is none.
func replaced(p *Play) Base {
	if p.Advances[AtBat].To == AtBat || p.Kind != BattedOut && p.Kind != FieldersChoice {
		return AtBat
	}
	for from := Third; from >= First; from-- {
		if p.out(from) >= 0 {
			return from
		}
	}
	return AtBat
}

// replace charges runs by number (9.16(g)): when the batter reaches because a runner was put out, each man behind that
// runner, the batter last, takes the charge of the one ahead.
func (n *inning) replace(p *Play, out Base) {
	gone := n.men[n.on[out]-1]
	for b := out; b > AtBat; b-- {
		if i := n.on[b-1]; i > 0 && p.out(b-1) < 0 {
			m := &n.men[i-1]
			m.pitcher, gone.pitcher = gone.pitcher, m.pitcher
			m.view, gone.view = gone.view, m.view
			m.left, gone.left = gone.left, m.left
		}
	}
}

// view returns the view of the pitcher whom the batter is charged to.
func (b *Scorebook) view(s *State, p *Play) int {
	last := len(b.clean.views) - 1
	if last > 0 && b.charged(s, p) != s.Pitcher() {
		last--
	}
	return last
}

// bringIn counts the runs of a play, the foremost first.
func (b *Scorebook) bringIn(s *State, p *Play) {
	n := &b.clean
	lead := s.Lead()
	for from := Third; ; from-- {
		if p.Advances[from].To == HomePlate {
			m := &n.men[n.on[from]-1]
			m.scored, m.ruling, m.play, m.from = true, p.Advances[from].Earned, b.plays, from
			b.batter(s.Batting(), s.on(p, from).Player).Runs++
			b.pitcher(s.Fielding(), m.pitcher).Runs++
			if m.left {
				b.pitcher(s.Fielding(), s.Pitcher()).InheritedRunnersScored++
			}
			lead++
			b.contest.scored(b, s, lead, m.pitcher)
		}
		if from == AtBat {
			return
		}
	}
}

// settle puts the men where the play left them.
func (n *inning) settle(p *Play) {
	var on [4]int
	for from := AtBat; from <= Third; from++ {
		to := p.Advances[from].To
		if to == AtBat {
			to = from
		}
		if i := n.on[from]; i > 0 && p.out(from) < 0 && to < HomePlate && to > AtBat {
			on[to] = i
		}
	}
	n.on = on
}

// closeInning rules on the runs of a half-inning that is over.
func (b *Scorebook) closeInning(batting Side) {
	b.clean.charge(&b.teams[batting.Other()], &b.rulings)
	b.clean.men = b.clean.men[:0]
	b.clean.on = [4]int{}
}

// charge counts the earned runs so far against the team in the field and its pitchers, and notes each ruling.
func (n *inning) charge(t *TeamBoxScore, rulings *[]EarnedRunRuling) {
	for i := range n.men {
		m := &n.men[i]
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
func (m *man) earned() Ruling {
	switch {
	case m.ruling != ByRule:
		return m.ruling
	case m.at[0] == HomePlate:
		return Yes
	case m.at[1] == HomePlate:
		return TeamOnly
	default:
		return No
	}
}

// EarnedRunRulings returns the ruling on every run of the half-innings that are over, in the order the men came on base.
func (b *Scorebook) EarnedRunRulings() []EarnedRunRuling { return slices.Clone(b.rulings) }
