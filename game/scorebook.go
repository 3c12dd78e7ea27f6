package game

import (
	"fmt"
	"slices"
)

// A Scorebook keeps the box score of one game (9.01–9.19) from its plays and substitutions in order. It is not a value:
// it must not be copied.
type Scorebook struct {
	clubs        [2]Club
	teams        [2]TeamBoxScore
	errorless    errorlessInning // the half-inning as it would have gone without errors
	begun        halfInning      // the half-inning of the last record
	current      halfInning      // the half-inning of the last play
	splitTurn    splitTurn       // of the current plate appearance
	record       pitchersOfRecord
	lastPitcher  [2]PlayerID       // by side
	onMound      [2]PlayerID       // by side: who pitched the last play
	putOuts      [2]int            // made by each side
	runnersLeft  int               // on base after the last play
	playCount    int               // without NoPlay
	chosenWinner PlayerID          // by the scorer; "" for none
	rulings      []EarnedRunRuling // for completed half-innings
}

// A halfInning identifies a half-inning; the zero value is none.
type halfInning struct {
	inning int
	half   Half
}

// NewScorebook returns the scorebook of a game that begins in s.
func NewScorebook(s *State, clubs [2]Club) *Scorebook {
	b := &Scorebook{clubs: clubs}
	for side := Away; side <= Home; side++ {
		t := &s.Teams[side]
		for i, slot := range t.Order {
			b.addToOrder(side, slot.Player, i+1, slot.Position)
		}
		b.pitchingLine(side, t.Pitcher)
		if t.orderIndex(t.Pitcher) < 0 {
			b.addToOrder(side, t.Pitcher, 0, Pitcher)
		}
	}
	return b
}

func (b *Scorebook) playerName(side Side, id PlayerID) string {
	p, _ := b.clubs[side].Player(id)
	return p.Name
}

// addToOrder records that a player takes a place in the order at a position.
func (b *Scorebook) addToOrder(side Side, id PlayerID, slot int, at Position) {
	lines := &b.teams[side].Batting
	i := slices.IndexFunc(*lines, func(l BattingLine) bool { return l.Player == id })
	if i < 0 {
		i = len(*lines)
		for i > 0 && batsLater((*lines)[i-1].Slot, slot) {
			i--
		}
		*lines = slices.Insert(*lines, i, BattingLine{Player: id, Name: b.playerName(side, id), Slot: slot})
	}
	l := &(*lines)[i]
	if n := len(l.Positions); n == 0 || l.Positions[n-1] != at {
		l.Positions = append(l.Positions, at)
	}
}

// batsLater reports whether place a in the order is listed after place b. Place 0, players who do not bat, is last.
func batsLater(a, b int) bool { return b != 0 && (a == 0 || a > b) }

func (b *Scorebook) battingLine(side Side, id PlayerID) *BattingLine {
	lines := b.teams[side].Batting
	for i := range lines {
		if lines[i].Player == id {
			return &lines[i]
		}
	}
	b.addToOrder(side, id, 0, NoPosition)
	return b.battingLine(side, id)
}

func (b *Scorebook) pitchingLine(side Side, id PlayerID) *PitchingLine {
	lines := b.teams[side].Pitching
	for i := range lines {
		if lines[i].Player == id {
			return &lines[i]
		}
	}
	b.teams[side].Pitching = append(lines, PitchingLine{Player: id, Name: b.playerName(side, id)})
	return &b.teams[side].Pitching[len(lines)]
}

func (b *Scorebook) fieldingLine(side Side, id PlayerID, at Position) *FieldingLine {
	lines := b.teams[side].Fielding
	for i := range lines {
		if lines[i].Player == id && lines[i].Position == at {
			return &lines[i]
		}
	}
	b.teams[side].Fielding = append(lines, FieldingLine{Player: id, Name: b.playerName(side, id), Position: at})
	return &b.teams[side].Fielding[len(lines)]
}

// startPitching records the lead and the runners that a pitcher inherits from the first batter faced on, also when
// coming back from the field.
func (b *Scorebook) startPitching(s *State) {
	side, id := s.Fielding(), s.Pitcher()
	if b.onMound[side] == id {
		return
	}
	if left := b.onMound[side]; left != "" {
		b.pitchingLine(side, left).leave()
	}
	b.onMound[side] = id
	l := b.pitchingLine(side, id)
	l.leadAtEntry, l.outsAtEntry, l.runnersAtEntry = -s.Lead(), l.Outs, 0
	for _, r := range s.Bases {
		if r.Player != "" {
			l.runnersAtEntry++
		}
	}
	l.inSaveSituation = b.teams[side].Pitching[0].Player != id && l.isSaveSituation()
	if !b.isFirstPlay(s) {
		l.InheritedRunners += b.errorless.addView(s.Outs, id)
	}
}

// isFirstPlay reports whether the half-inning of s has no play yet: its automatic runner is not an inherited one.
func (b *Scorebook) isFirstPlay(s *State) bool { return b.current != halfInning{s.Inning, s.Half} }

// RecordSubstitutions records substitutions that led from before to after.
func (b *Scorebook) RecordSubstitutions(before *State, subs []Substitution, after *State) {
	b.beginHalfInning(before)
	for _, sub := range subs {
		b.addToOrder(sub.Side, sub.Player, sub.Slot, sub.Position)
	}
	for side := Away; side <= Home; side++ {
		if id := after.Teams[side].Pitcher; id != "" && id != before.Teams[side].Pitcher {
			b.splitTurn.pitcherLeaves(before, side)
		}
	}
	b.splitTurn.batterLeaves(before, after)
}

// RecordPlay records a play that led from before to after.
func (b *Scorebook) RecordPlay(before *State, p *Play, after *State) {
	b.beginHalfInning(before)
	b.countPitches(before, p)
	b.lastPitcher[before.Fielding()] = before.Pitcher()
	if p.Kind == NoPlay {
		return
	}
	b.startPitching(before)
	if b.isFirstPlay(before) {
		b.startHalfInning(before)
	}
	b.playCount++
	t := before.tally(p)
	b.recordTeams(before, t)
	b.recordBatter(before, p, t)
	b.recordRunners(before, p)
	b.recordFielders(before, p)
	b.recordRuns(before, p)
	if t.PlateAppearance {
		b.splitTurn = splitTurn{}
	}
	b.finishPlay(before, p, after)
}

// beginHalfInning adds a half-inning to the line score. A game may be called before its first play is completed.
func (b *Scorebook) beginHalfInning(s *State) {
	if now := (halfInning{s.Inning, s.Half}); b.begun != now {
		b.begun = now
		t := &b.teams[s.Batting()]
		t.LineScore = append(t.LineScore, 0)
	}
}

func (b *Scorebook) startHalfInning(s *State) {
	b.current = halfInning{s.Inning, s.Half}
	b.errorless = errorlessInning{runners: b.errorless.runners[:0], outsByView: append(b.errorless.outsByView[:0], 0)}
	t := &b.teams[s.Batting()]
	for i, r := range s.Bases {
		if r.Automatic {
			t.AutomaticRunners++
			b.errorless.onBase[i+1] = b.errorless.addRunner(baserunner{pitcher: s.Pitcher()})
		}
	}
}

// recordTeams adds a play to the line score.
func (b *Scorebook) recordTeams(s *State, t Tally) {
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
	b.putOuts[s.Fielding()] += t.Outs
}

// finishPlay counts the runners left on base when the half-inning or the game is over.
func (b *Scorebook) finishPlay(before *State, p *Play, after *State) {
	left := 0
	for base := AtBat; base <= Third; base++ {
		out := p.OutIndex(base)
		if before.runnerFrom(p, base).Player == "" || p.Advances[base].To == HomePlate ||
			base == AtBat && !p.Kind.EndsPlateAppearance() {
			continue
		}
		if out < 0 || out == before.replacedOut(p) {
			left++
		}
	}
	b.runnersLeft = left
	if after.Over() || after.Inning != before.Inning || after.Half != before.Half {
		b.teams[before.Batting()].LeftOnBase += left
		b.runnersLeft = 0
		b.splitTurn = splitTurn{}
		b.finishHalfInning(before.Batting())
	}
}

// RecordStoppage counts the runners left on base of a game that is called or forfeited in mid-inning.
func (b *Scorebook) RecordStoppage(s *State) {
	b.teams[s.Batting()].LeftOnBase += b.runnersLeft
	b.runnersLeft = 0
	b.finishHalfInning(s.Batting())
}

// ChooseWinner sets the scorer's choice of winning pitcher. It counts only where 9.17(b) or (c) leave one.
func (b *Scorebook) ChooseWinner(winner PlayerID) { b.chosenWinner = winner }

// Prove checks that the box score is in balance (9.03(c)): for each side, plate appearances and automatic runners equal
// runs, runners left on base and the other side's put-outs; and each total equals the sum of its lines.
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
			left += b.runnersLeft
		}
		outs, allowed, against := 0, 0, 0
		for _, l := range b.teams[side.Other()].Pitching {
			outs += l.Outs
			allowed += l.Runs
			against += l.Hits
		}
		switch {
		case turns != t.Runs+left+b.putOuts[side.Other()]:
			return fmt.Errorf("rule 9.03(c): %s: %d turns at bat, but %d runs, %d left on base, %d put out",
				side, turns, t.Runs, left, b.putOuts[side.Other()])
		case runs != t.Runs, allowed != t.Runs, s.Score[side] != t.Runs:
			return fmt.Errorf("%s: %d runs, its batters %d, against the pitchers %d, the score %d",
				side, t.Runs, runs, allowed, s.Score[side])
		case hits != t.Hits, against != t.Hits:
			return fmt.Errorf("%s: %d hits, its batters %d, against the pitchers %d", side, t.Hits, hits, against)
		case outs != b.putOuts[side.Other()]:
			return fmt.Errorf("%s: put out %d times, the pitchers count %d", side, b.putOuts[side.Other()], outs)
		}
	}
	return nil
}

// BoxScore returns the box score so far, with the pitchers of decision once the game is over.
func (b *Scorebook) BoxScore(s *State) BoxScore {
	box := BoxScore{Teams: b.teams, Innings: b.begun.inning}
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
	b.errorless.chargeEarnedRuns(&box.Teams[s.Fielding()], nil)
	box.assignDecisions(s, b)
	box.assignCredits(s)
	return box
}
