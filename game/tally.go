package game

// A Tally is the contribution of one play to the box score.
type Tally struct {
	Runs            int  // scored
	Outs            int  // at most up to the third of the inning
	RBI             int  // 9.04
	HitBases        int  // bases of a safe hit, 0 for none
	PlateAppearance bool // a completed plate appearance
	AtBat           bool // an at-bat, 9.02(a)(1)
	DoublePlay      bool // 9.11
	TriplePlay      bool // 9.11
	Errors          int  // charged, 9.12
}

// Tally returns the tally of a play that is legal in s.
func (s *State) Tally(p Play) Tally { return s.tally(&p) }

func (s *State) tally(p *Play) Tally {
	outs := p.Outs.Count()
	t := Tally{
		Runs:            p.runCount(),
		Outs:            min(outs, 3-s.Outs),
		PlateAppearance: p.Kind.EndsPlateAppearance(),
		DoublePlay:      min(outs, 3-s.Outs) == 2 && !p.Flags.Has(NoDoublePlay),
		TriplePlay:      min(outs, 3-s.Outs) == 3 && !p.Flags.Has(NoDoublePlay),
	}
	if p.Kind.IsHit() {
		t.HitBases = int(p.Kind-Single) + 1
	}
	t.AtBat = t.PlateAppearance && !p.Flags.Has(SacrificeHit) && !p.Flags.Has(SacrificeFly) &&
		(p.Kind < Walk || p.Kind > CatchersInterference)
	for _, e := range p.Errors {
		if e.Fielder != 0 {
			t.Errors++
		}
	}
	for b := AtBat; b <= Third; b++ {
		if p.Advances[b].To == HomePlate && s.isBattedIn(p, b) {
			t.RBI++
		}
	}
	return t
}

// isBattedIn reports whether the run from b is batted in (9.04).
func (s *State) isBattedIn(p *Play, b Base) bool {
	r := p.Advances[b]
	switch {
	case r.RBI != ByRule:
		return r.RBI == Yes
	case s.isAided(p, b):
		return false
	case p.Kind.IsHit():
		return true
	case p.Flags.Has(GroundedIntoDoublePlay): // 9.04(b), also if an error spoiled the double play
		return false
	case p.Kind == BattedOut, p.Kind == FieldersChoice:
		return true
	case p.Kind == ReachedOnError: // 9.04(a)(3)
		return b == Third && s.Outs < 2
	case p.Kind == Walk || p.Kind == IntentionalWalk || p.Kind == HitByPitch || p.Kind == CatchersInterference:
		return b == Third && s.IsForced(Third)
	default:
		return false
	}
}

// isAided reports whether an error helped the runner from b: an error on that runner's own advance, or on the
// advance of a runner ahead, whom the one from b cannot pass. An error in the field that let the batter reach is
// not one on an advance.
func (s *State) isAided(p *Play, b Base) bool {
	for from := Third; ; from-- {
		if p.Advances[from].Reason == OnError || s.hasErrorFor(p, from) {
			return true
		}
		if from == b {
			return false
		}
	}
}
