package game

import "strings"

// splitTurn records a plate appearance that two pitchers or two batters share.
type splitTurn struct {
	pitcher PlayerID // charged with a walk, 9.16(h)(1)
	batter  PlayerID // charged with a strikeout, 9.15(b)
}

// pitcherLeaves records a pitcher who is relieved with two or more balls and behind in the count.
func (c *splitTurn) pitcherLeaves(s *State, side Side) {
	if side != s.Fielding() || c.pitcher != "" {
		return
	}
	switch s.Count {
	case Count{2, 0}, Count{2, 1}, Count{3, 0}, Count{3, 1}, Count{3, 2}:
		c.pitcher = s.Pitcher()
	}
}

// batterLeaves records a batter who is replaced with two strikes.
func (c *splitTurn) batterLeaves(before, after *State) {
	if c.batter == "" && before.Count.Strikes == 2 && before.Batting() == after.Batting() &&
		before.Batter() != after.Batter() {
		c.batter = before.Batter()
	}
}

// responsiblePitcher returns the pitcher charged with the plate appearance.
func (b *Scorebook) responsiblePitcher(s *State, p *Play) PlayerID {
	if b.splitTurn.pitcher != "" && (p.Kind == Walk || p.Kind == IntentionalWalk) {
		return b.splitTurn.pitcher
	}
	return s.Pitcher()
}

// ResponsiblePitcher returns the pitcher charged with the plate appearance that p would end (9.16(h)).
func (b *Scorebook) ResponsiblePitcher(s *State, p *Play) PlayerID { return b.responsiblePitcher(s, p) }

// recordBatter adds a completed plate appearance to the batter's and the pitcher's line.
func (b *Scorebook) recordBatter(s *State, p *Play, t Tally) {
	if !t.PlateAppearance {
		return
	}
	id := s.runnerFrom(p, AtBat).Player
	if p.Kind == Strikeout && b.splitTurn.batter != "" {
		id = b.splitTurn.batter
	}
	l := b.battingLine(s.Batting(), id)
	l.PlateAppearances++
	if t.AtBat {
		l.AtBats++
	}
	l.RunsBattedIn += t.RBI
	if s.Outs == 2 {
		l.TwoOutRunsBattedIn += t.RBI
	}
	l.LeftOnBase += s.strandedBy(p, t)
	if p.Flags.Has(SacrificeHit) {
		l.SacrificeHits++
	}
	if p.Flags.Has(SacrificeFly) {
		l.SacrificeFlies++
	}
	if p.Flags.Has(GroundedIntoDoublePlay) && t.Outs == 2 {
		l.GroundedIntoDoublePlays++
	}
	pl := b.pitchingLine(s.Fielding(), b.responsiblePitcher(s, p))
	pl.BattersFaced++
	countResult(l, pl, p.Kind)
}

// strandedBy returns the number of runners who stay on base after a turn at bat that ended in an out, of the batter or
// of another runner in the batter's place.
func (s *State) strandedBy(p *Play, t Tally) int {
	n := 0
	if t.Outs == 0 || p.Kind != BattedOut && p.Kind != Strikeout && p.Kind != FieldersChoice {
		return n
	}
	for from := First; from <= Third; from++ {
		if to := s.destination(p, from); to != AtBat && to != HomePlate {
			n++
		}
	}
	return n
}

// countResult adds the result of a plate appearance to the batter's and the pitcher's line.
func countResult(l *BattingLine, pl *PitchingLine, k PlayKind) {
	if k.IsHit() {
		l.Hits++
		pl.Hits++
	}
	switch k {
	case Strikeout:
		l.Strikeouts++
		pl.Strikeouts++
	case Walk, IntentionalWalk:
		l.Walks++
		pl.Walks++
		if k == IntentionalWalk {
			l.IntentionalWalks++
			pl.IntentionalWalks++
		}
	case HitByPitch:
		l.HitByPitch++
		pl.HitByPitch++
	case CatchersInterference:
		l.Interference++
	case Double:
		l.Doubles++
	case Triple:
		l.Triples++
	case HomeRun:
		l.HomeRuns++
		pl.HomeRuns++
	default:
	}
}

// recordRunners adds steals, and the pitcher's outs, wild pitches and balks.
func (b *Scorebook) recordRunners(s *State, p *Play) {
	for base := First; base <= Third; base++ {
		if p.Advances[base].Reason == ByPlay {
			continue
		}
		l := b.battingLine(s.Batting(), s.RunnerOn(base).Player)
		switch p.Advances[base].Reason {
		case Stole:
			l.StolenBases++
		case Caught, PickedOffStealing:
			l.CaughtStealing++
		default:
		}
	}
	pl := b.pitchingLine(s.Fielding(), s.Pitcher())
	pl.Outs += s.tally(p).Outs
	switch {
	case p.includes(WildPitch):
		pl.WildPitches++
	case p.includes(PassedBall):
		b.fieldingLineAt(s, Catcher).PassedBalls++
	case p.includes(Balk):
		pl.Balks++
	}
}

// includes reports whether k is the kind of the play or its second event.
func (p *Play) includes(k PlayKind) bool { return p.Kind == k || p.Also == k }

func (b *Scorebook) fieldingLineAt(s *State, at Position) *FieldingLine {
	side := s.Fielding()
	return b.fieldingLine(side, s.Teams[side].Fielder(at), at)
}

// recordFielders adds put-outs (9.09), assists (9.10), double plays (9.11) and errors (9.12).
func (b *Scorebook) recordFielders(s *State, p *Play) {
	var hands [10]bool // fielders with a put-out or an assist
	replaced := s.replacedOut(p)
	for i, o := range p.Outs {
		if o.Kind == NotOut || i == replaced || o.Fielders == "" {
			continue
		}
		last := len(o.Fielders) - 1
		b.fieldingLineAt(s, Position(o.Fielders[last]-'0')).PutOuts++
		hands[o.Fielders[last]-'0'] = true
		b.creditAssists(s, o.Fielders[:last], &hands)
	}
	for _, e := range p.Errors {
		if e.Fielder != 0 {
			l := b.fieldingLineAt(s, Position(e.Fielder))
			l.Errors++
			if e.Kind == ThrowingError {
				l.ThrowingErrors++
			}
			b.creditAssists(s, e.Assists, &[10]bool{})
		}
	}
	if t := s.tally(p); !t.DoublePlay && !t.TriplePlay {
		return
	}
	for at := Pitcher; at <= RightField; at++ {
		if hands[at] {
			b.fieldingLineAt(s, at).DoublePlays++
		}
	}
}

// replacedOut returns the index of the third out when a fourth takes its place (5.09(c)), else -1.
func (s *State) replacedOut(p *Play) int {
	if s.Outs+p.Outs.Count() > 3 {
		return 2 - s.Outs
	}
	return -1
}

// creditAssists credits each fielder who threw, once.
func (b *Scorebook) creditAssists(s *State, by string, hands *[10]bool) {
	for i := range len(by) {
		if strings.IndexByte(by, by[i]) == i {
			b.fieldingLineAt(s, Position(by[i]-'0')).Assists++
			hands[by[i]-'0'] = true
		}
	}
}

// countPitches adds the pitches since the last play: those after the last full stop.
func (b *Scorebook) countPitches(s *State, p *Play) {
	fresh := p.Pitches[strings.LastIndexByte(p.Pitches, '.')+1:]
	if fresh == "" {
		return
	}
	l := b.pitchingLine(s.Fielding(), s.Pitcher())
	for i := range len(fresh) {
		switch {
		case strings.IndexByte("BHIPUV", fresh[i]) >= 0:
			l.Pitches++
		case strings.IndexByte("CFKLMOQRSTXY", fresh[i]) >= 0:
			l.Pitches++
			l.Strikes++
		}
	}
}
