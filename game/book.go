package game

import (
	"fmt"
	"slices"
)

// A Scorebook is the official scorer's: handed every play and substitution in order, it keeps the box score (9.01–9.19).
// It watches one game; it is not a value.
type Scorebook struct {
	clubs   [2]Club
	teams   [2]TeamBoxScore
	clean   inning            // the half-inning as it would have gone without errors
	start   half              // the half-inning being played
	carried carried           // from a pitcher or batter who left in mid-count
	contest contest           // who leads, and through whom
	pitched [2]PlayerID       // who pitched last for each side
	outs    [2]int            // put-outs of each side
	onBase  int               // men on base after the last play
	plays   int               // seen, NoPlay not counted
	winner  PlayerID          // the scorer's choice, if he made one
	rulings []EarnedRunRuling // on the runs of the half-innings that are over
}

// A half names a half-inning; the zero value is none.
type half struct {
	inning int
	half   Half
}

// NewScorebook opens the book of a game that begins in s.
func NewScorebook(s *State, clubs [2]Club) *Scorebook {
	b := &Scorebook{clubs: clubs}
	for side := Away; side <= Home; side++ {
		t := &s.Teams[side]
		for i, slot := range t.Order {
			b.enter(side, slot.Player, i+1, slot.Position)
		}
		b.pitcher(side, t.Pitcher)
		if t.slot(t.Pitcher) < 0 {
			b.enter(side, t.Pitcher, 0, Pitcher)
		}
	}
	return b
}

// name looks a player up.
func (b *Scorebook) name(side Side, id PlayerID) string {
	p, _ := b.clubs[side].Player(id)
	return p.Name
}

// enter notes that a player takes a place in the order at a position.
func (b *Scorebook) enter(side Side, id PlayerID, slot int, at Position) {
	lines := &b.teams[side].Batting
	i := slices.IndexFunc(*lines, func(l BattingLine) bool { return l.Player == id })
	if i < 0 {
		i = len(*lines)
		for i > 0 && after((*lines)[i-1].Slot, slot) {
			i--
		}
		*lines = slices.Insert(*lines, i, BattingLine{Player: id, Name: b.name(side, id), Slot: slot})
	}
	l := &(*lines)[i]
	if n := len(l.Positions); n == 0 || l.Positions[n-1] != at {
		l.Positions = append(l.Positions, at)
	}
}

// after reports whether a place in the order is listed after another; who does not bat comes last.
func after(a, b int) bool { return b != 0 && (a == 0 || a > b) }

func (b *Scorebook) batter(side Side, id PlayerID) *BattingLine {
	lines := b.teams[side].Batting
	for i := range lines {
		if lines[i].Player == id {
			return &lines[i]
		}
	}
	b.enter(side, id, 0, NoPosition)
	return b.batter(side, id)
}

func (b *Scorebook) pitcher(side Side, id PlayerID) *PitchingLine {
	lines := b.teams[side].Pitching
	for i := range lines {
		if lines[i].Player == id {
			return &lines[i]
		}
	}
	b.teams[side].Pitching = append(lines, PitchingLine{Player: id, Name: b.name(side, id)})
	return &b.teams[side].Pitching[len(lines)]
}

func (b *Scorebook) fielder(side Side, id PlayerID, at Position) *FieldingLine {
	lines := b.teams[side].Fielding
	for i := range lines {
		if lines[i].Player == id && lines[i].Position == at {
			return &lines[i]
		}
	}
	b.teams[side].Fielding = append(lines, FieldingLine{Player: id, Name: b.name(side, id), Position: at})
	return &b.teams[side].Fielding[len(lines)]
}

// pitcherEnters notes what a pitcher finds when he faces his first batter.
func (b *Scorebook) pitcherEnters(s *State) {
	side := s.Fielding()
	l := b.pitcher(side, s.Pitcher())
	if l.entered {
		return
	}
	l.entered = true
	l.lead = -s.Lead()
	for _, r := range s.Bases {
		if r.Player != "" {
			l.found++
		}
	}
	if !b.begins(s) {
		l.InheritedRunners = l.found
		b.clean.relieve(s.Outs)
	}
}

// begins reports whether the half-inning of s has not seen a play yet: its automatic runner is nobody's inheritance.
func (b *Scorebook) begins(s *State) bool { return b.start != half{s.Inning, s.Half} }

// RecordSubstitutions notes substitutions: the State before and after, and who came in.
func (b *Scorebook) RecordSubstitutions(before *State, subs []Substitution, after *State) {
	for _, sub := range subs {
		b.enter(sub.Side, sub.Player, sub.Slot, sub.Position)
	}
	for side := Away; side <= Home; side++ {
		if id := after.Teams[side].Pitcher; id != "" && id != before.Teams[side].Pitcher {
			b.carried.pitcherLeaves(before, side)
		}
	}
	b.carried.batterLeaves(before, after)
}

// RecordPlay notes a play that led from before to after.
func (b *Scorebook) RecordPlay(before *State, p *Play, after *State) {
	b.countPitches(before, p)
	b.pitched[before.Fielding()] = before.Pitcher()
	if p.Kind == NoPlay {
		return
	}
	b.pitcherEnters(before)
	if b.begins(before) {
		b.beginHalf(before)
	}
	b.plays++
	t := before.tally(p)
	b.scoreTeams(before, t)
	b.scoreBatter(before, p, t)
	b.scoreRunners(before, p)
	b.scoreFielders(before, p)
	b.scoreRuns(before, p)
	if t.PlateAppearance {
		b.carried = carried{}
	}
	b.endPlay(before, p, after)
}

func (b *Scorebook) beginHalf(s *State) {
	b.start = half{s.Inning, s.Half}
	b.clean = inning{men: b.clean.men[:0], views: append(b.clean.views[:0], 0)}
	t := &b.teams[s.Batting()]
	t.LineScore = append(t.LineScore, 0)
	for i, r := range s.Bases {
		if r.Automatic {
			t.AutomaticRunners++
			b.clean.on[i+1] = b.clean.add(man{pitcher: s.Pitcher()})
		}
	}
}

// scoreTeams keeps the line score.
func (b *Scorebook) scoreTeams(s *State, t Tally) {
	bats, fields := &b.teams[s.Batting()], &b.teams[s.Fielding()]
	bats.LineScore[len(bats.LineScore)-1] += t.Runs
	bats.Runs += t.Runs
	bats.Hits += min(t.HitBases, 1)
	fields.Errors += t.Errors
	if t.DoublePlay {
		fields.DoublePlays++
	}
	if t.TriplePlay {
		fields.TriplePlays++
	}
	b.outs[s.Fielding()] += t.Outs
}

// endPlay counts who is left when the half-inning or the game is over.
func (b *Scorebook) endPlay(before *State, p *Play, after *State) {
	left := 0
	for base := AtBat; base <= Third; base++ {
		out := p.out(base)
		if before.on(p, base).Player == "" || p.Advances[base].To == HomePlate || base == AtBat && !p.Kind.EndsPlateAppearance() {
			continue
		}
		if out < 0 || out == before.replacedOut(p) {
			left++
		}
	}
	b.onBase = left
	if after.Over() || after.Inning != before.Inning || after.Half != before.Half {
		b.teams[before.Batting()].LeftOnBase += left
		b.onBase = 0
		b.carried = carried{}
		b.closeInning(before.Batting())
	}
}

// RecordStoppage counts the men left on base when a game is stopped in mid-inning: called or forfeited.
func (b *Scorebook) RecordStoppage(s *State) {
	b.teams[s.Batting()].LeftOnBase += b.onBase
	b.onBase = 0
	b.closeInning(s.Batting())
}

// ChooseWinner names the winning pitcher in the scorer's judgement; it counts only where the rule asks for that (9.17(b), (c)).
func (b *Scorebook) ChooseWinner(winner PlayerID) { b.winner = winner }

// Prove checks that the box score proves (9.03(c)): for each side, the turns at bat and the automatic runners equal its
// runs, its men left on base and the other side's put-outs; and each total equals the sum of its lines.
func (b *Scorebook) Prove(s *State) error {
	for side := Away; side <= Home; side++ {
		t := &b.teams[side]
		turns, runs, hits := t.AutomaticRunners, 0, 0
		for _, l := range t.Batting {
			turns += l.AtBats + l.Walks + l.HitByPitch + l.SacrificeHits + l.SacrificeFlies + l.Interference
			runs += l.Runs
			hits += l.Hits
		}
		left := t.LeftOnBase
		if side == s.Batting() {
			left += b.onBase
		}
		outs, allowed, against := 0, 0, 0
		for _, l := range b.teams[side.Other()].Pitching {
			outs += l.Outs
			allowed += l.Runs
			against += l.Hits
		}
		switch {
		case turns != t.Runs+left+b.outs[side.Other()]:
			return fmt.Errorf("rule 9.03(c): %s: %d turns at bat, but %d runs, %d left on base, %d put out",
				side, turns, t.Runs, left, b.outs[side.Other()])
		case runs != t.Runs, allowed != t.Runs, s.Score[side] != t.Runs:
			return fmt.Errorf("%s: %d runs, its batters %d, against the pitchers %d, the score %d", side, t.Runs, runs, allowed, s.Score[side])
		case hits != t.Hits, against != t.Hits:
			return fmt.Errorf("%s: %d hits, its batters %d, against the pitchers %d", side, t.Hits, hits, against)
		case outs != b.outs[side.Other()]:
			return fmt.Errorf("%s: put out %d times, the pitchers count %d", side, b.outs[side.Other()], outs)
		}
	}
	return nil
}

// BoxScore returns the box score so far, with the pitchers of decision once the game is over.
func (b *Scorebook) BoxScore(s *State) BoxScore {
	box := BoxScore{Teams: b.teams}
	for i := range box.Teams {
		t := &box.Teams[i]
		t.LineScore = append([]int{}, t.LineScore...)
		t.Batting = append([]BattingLine{}, t.Batting...)
		for j := range t.Batting {
			t.Batting[j].Positions = slices.Clone(t.Batting[j].Positions)
		}
		t.Pitching = append([]PitchingLine{}, t.Pitching...)
		t.Fielding = append([]FieldingLine{}, t.Fielding...)
	}
	b.clean.charge(&box.Teams[s.Fielding()], nil)
	box.decide(s, &b.contest, b.winner)
	return box
}
