package game

// LimitWalkOff returns the part of a game-winning play that counts in the last half-inning: no runs after the winning
// one (7.01(g)(3)), and no more bases for the hit than the winning runner advanced (9.06(f)). A home run over the fence
// counts whole (9.06(g)). Any other play is returned unchanged.
func (s *State) LimitWalkOff(p Play) Play {
	if !s.winsGame(&p) || p.Kind == HomeRun && !p.Flags.Has(InsideTheParkHomeRun) {
		return p
	}
	left := 1 - s.Lead() // runs that still count
	ahead := HomePlate   // where the runner in front ended, after the winning run
	for from := Third; ; from-- {
		r := &p.Advances[from]
		switch {
		case r.To == AtBat || left > 0 && r.To != HomePlate:
		case left > 0:
			left--
			if left == 0 && from != AtBat {
				p.limitHit(HomePlate - from)
			}
		default:
			*r = Advance{To: min(r.To, ahead-1), Reason: r.Reason}
			ahead = r.To
		}
		if from == AtBat {
			return p
		}
	}
}

// limitHit reduces a hit to at most a number of bases, and stops the batter there.
func (p *Play) limitHit(bases Base) {
	if !p.Kind.IsHit() || Base(p.Kind-Single)+1 <= bases {
		return
	}
	p.Kind = Single + PlayKind(bases) - 1
	p.Flags &^= InsideTheParkHomeRun
	if p.Kind != Double {
		p.Flags &^= GroundRuleDouble
	}
	p.Advances[AtBat].To = min(p.Advances[AtBat].To, bases)
}
