package game

import "strings"

// carried remembers a count that a pitcher or batter left to another.
type carried struct {
	pitcher PlayerID // who is charged if the batter walks, 9.16(h)(1)
	batter  PlayerID // who is charged if his successor strikes out, 9.15(b)
}

// pitcherLeaves remembers a pitcher who leaves behind the batter: two balls or more and the pitcher behind.
func (c *carried) pitcherLeaves(s *State, side Side) {
	if side != s.Fielding() || c.pitcher != "" {
		return
	}
	switch s.Count {
	case Count{2, 0}, Count{2, 1}, Count{3, 0}, Count{3, 1}, Count{3, 2}:
		c.pitcher = s.Pitcher()
	}
}

// batterLeaves remembers a batter who leaves with two strikes.
func (c *carried) batterLeaves(before, after *State) {
	if c.batter == "" && before.Count.Strikes == 2 && before.Batting() == after.Batting() && before.Batter() != after.Batter() {
		c.batter = before.Batter()
	}
}

// charged returns the pitcher whom the batter's turn counts against.
func (b *Book) charged(s *State, p *Play) PlayerID {
	if b.carried.pitcher != "" && (p.Kind == Walk || p.Kind == IntentionalWalk) {
		return b.carried.pitcher
	}
	return s.Pitcher()
}

// Charged returns the pitcher whom the turn at bat that p would end counts against (9.16(h)).
func (b *Book) Charged(s *State, p *Play) PlayerID { return b.charged(s, p) }

// scoreBatter keeps the batter's line and what the pitcher did to him.
func (b *Book) scoreBatter(s *State, p *Play, t Tally) {
	if !t.Turn {
		return
	}
	id := s.on(p, AtBat).Player
	if p.Kind == Strikeout && b.carried.batter != "" {
		id = b.carried.batter
	}
	l := b.batter(s.Batting(), id)
	l.Turns++
	if t.AtBat {
		l.AtBats++
	}
	l.BattedIn += t.RBI
	if p.Flags.Has(SacrificeHit) {
		l.SacHits++
	}
	if p.Flags.Has(SacrificeFly) {
		l.SacFlies++
	}
	if p.Flags.Has(GroundedIntoDouble) && t.Outs > 1 {
		l.DoublePlays++
	}
	pl := b.pitcher(s.Fielding(), b.charged(s, p))
	pl.Faced++
	count(l, pl, p.Kind)
}

// count adds one result of a turn at bat to the batter's and the pitcher's line.
func count(l *BattingLine, pl *PitchingLine, k Kind) {
	if k.Hit() {
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
			l.Intentional++
			pl.Intentional++
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

// scoreRunners keeps steals, and the pitcher's outs, wild pitches and balks.
func (b *Book) scoreRunners(s *State, p *Play) {
	for base := First; base <= Third; base++ {
		if p.Runs[base].Why == ByPlay {
			continue
		}
		l := b.batter(s.Batting(), s.On(base).Player)
		switch p.Runs[base].Why {
		case Stole:
			l.Steals++
		case Caught, PickedOffStealing:
			l.Caught++
		default:
		}
	}
	pl := b.pitcher(s.Fielding(), s.Pitcher())
	pl.Outs += s.tally(p).Outs
	switch {
	case p.has(WildPitch):
		pl.WildPitches++
	case p.has(PassedBall):
		b.fielderAt(s, Catcher).PassedBalls++
	case p.has(Balk):
		pl.Balks++
	}
}

// has reports whether the play is of the kind or has it beside it.
func (p *Play) has(k Kind) bool { return p.Kind == k || p.Also == k }

func (b *Book) fielderAt(s *State, at Position) *FieldingLine {
	side := s.Fielding()
	return b.fielder(side, s.Teams[side].Fielder(at), at)
}

// scoreFielders keeps put-outs (9.09), assists (9.10), double plays (9.11) and errors (9.12).
func (b *Book) scoreFielders(s *State, p *Play) {
	var hands [10]bool // who had a hand in an out
	replaced := s.replacedOut(p)
	for i, o := range p.Outs {
		if o.How == NotOut || i == replaced || o.By == "" {
			continue
		}
		last := len(o.By) - 1
		b.fielderAt(s, Position(o.By[last]-'0')).PutOuts++
		hands[o.By[last]-'0'] = true
		b.assists(s, o.By[:last], &hands)
	}
	for _, e := range p.Errors {
		if e.By != 0 {
			b.fielderAt(s, Position(e.By)).Errors++
			b.assists(s, e.After, &[10]bool{})
		}
	}
	if t := s.tally(p); !t.DoublePlay && !t.TriplePlay {
		return
	}
	for at := Pitcher; at <= RightField; at++ {
		if hands[at] {
			b.fielderAt(s, at).DoublePlays++
		}
	}
}

// replacedOut returns the index of the third out when a fourth takes its place (5.09(c)), else -1.
func (s *State) replacedOut(p *Play) int {
	if s.Outs+p.outs() > 3 {
		return 2 - s.Outs
	}
	return -1
}

// assists credits each fielder who threw once.
func (b *Book) assists(s *State, by string, hands *[10]bool) {
	for i := range len(by) {
		if strings.IndexByte(by, by[i]) == i {
			b.fielderAt(s, Position(by[i]-'0')).Assists++
			hands[by[i]-'0'] = true
		}
	}
}

// countPitches counts the pitches since the last play: those behind the last full stop.
func (b *Book) countPitches(s *State, p *Play) {
	fresh := p.Pitches[strings.LastIndexByte(p.Pitches, '.')+1:]
	if fresh == "" {
		return
	}
	l := b.pitcher(s.Fielding(), s.Pitcher())
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
