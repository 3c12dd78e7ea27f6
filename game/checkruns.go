package game

// checkRuns checks the advance of the batter and of each runner by itself.
func (s *State) checkRuns(p *Play) error {
	for b := AtBat; b <= Third; b++ {
		r := p.Advances[b]
		switch {
		case r == Advance{}:
		case r.To > HomePlate || r.Reason > OnThrow || r.Earned > TeamOnly || r.RBI > TeamOnly:
			return illegal("", "the advance of %s has an unknown base, reason or ruling", runnerName(b))
		case s.runnerFrom(p, b).Player == "":
			return illegal("", "an advance from %s without a runner", b)
		case r.To != AtBat && p.OutIndex(b) >= 0:
			return illegal("5.09(b)", "%s is out and reaches %s", runnerName(b), r.To)
		case b != AtBat && r.To == b:
			return illegal("", "%s stays and has a destination", runnerName(b))
		case b != AtBat && r.To != AtBat && r.To < b && p.Kind.EndsPlateAppearance():
			return illegal("5.06(b)(1)", "%s returns to %s", runnerName(b), r.To)
		}
		if err := s.checkWhy(p, b); err != nil {
			return err
		}
	}
	return nil
}

// checkAwards checks that runners advance as the umpire awards bases when the ball is dead: two each on a ground-rule
// double, one on a balk, and on a hit by pitch, an intentional walk and an interference only those whom the batter
// forces, unless something else happens on the pitch.
func (s *State) checkAwards(p *Play) error {
	if s.winsGame(p) { // with the run that does, the others stop
		return nil
	}
	dead := p.Kind >= IntentionalWalk && p.Kind <= CatchersInterference && p.Also == NoKind
	for b := First; b <= Third; b++ {
		r := p.Advances[b]
		switch {
		case s.runnerFrom(p, b).Player == "":
		case p.Kind == Balk && p.OutIndex(b) < 0 &&
			(r.To <= b || r.To > b+1 && r.Reason == ByPlay && !s.hasErrorFor(p, b)):
			return illegal("6.02(a)", "%s does not advance one base on a balk", runnerName(b))
		case r.Reason != ByPlay || s.hasErrorFor(p, b):
		case p.Flags.Has(GroundRuleDouble) && r.To != min(b+2, HomePlate):
			return illegal("5.06(b)(4)(F)", "%s does not advance two bases on a ground-rule double", runnerName(b))
		case dead && r.To > b && !s.IsForced(b):
			return illegal("5.06(b)(3)(B)", "%s advances on a %s and is not forced", runnerName(b), p.Kind)
		}
	}
	return nil
}

// checkWhy checks that the reason of an advance fits it.
func (s *State) checkWhy(p *Play, b Base) error {
	r := p.Advances[b]
	out := p.OutIndex(b) >= 0
	switch {
	case r.Reason >= Stole && r.Reason <= PickedOffStealing && b == AtBat:
		return illegal("9.07", "a batter cannot steal")
	case r.Reason == Stole && !out && r.To <= b:
		return illegal("9.07(a)", "a steal from %s without an advance", b)
	case r.Reason == Stole && s.runnerCaught(p):
		return illegal("9.07(d)", "no steal is credited when another runner is caught in the same double steal")
	case (r.Reason == Caught || r.Reason == PickedOffStealing) && !out && !s.hasErrorFor(p, b):
		return illegal("9.07(h)", "%s is caught stealing, but safe without an error", runnerName(b))
	case r.Reason == PickedOff && !out && !s.hasErrorFor(p, b):
		return illegal("9.07(h)", "%s is picked off, but safe without an error", runnerName(b))
	}
	return nil
}

// runnerCaught reports whether a runner was thrown out stealing.
func (s *State) runnerCaught(p *Play) bool {
	for b := First; b <= Third; b++ {
		if p.Advances[b].Reason == Caught && p.OutIndex(b) >= 0 {
			return true
		}
	}
	return false
}

// hasErrorFor reports whether an error helped the batter or the runner from b.
func (s *State) hasErrorFor(p *Play, b Base) bool {
	for _, e := range p.Errors {
		if e.Fielder != 0 && e.Runner == b {
			return true
		}
	}
	return false
}

// checkReached checks that the batter ended where the kind of play puts a batter.
func (s *State) checkReached(p *Play) error {
	to, out := p.Advances[AtBat].To, p.OutIndex(AtBat)
	if !p.Kind.EndsPlateAppearance() {
		if to != AtBat {
			return illegal("5.05", "the batter reaches base on a %s", p.Kind)
		}
		return nil
	}
	if p.Kind == BattedOut && p.Outs.Count() == 0 {
		return illegal("", "an out without an entry in the outs")
	}
	least := First
	if p.Kind.IsHit() && s.Outs+p.Outs.Count() < 3 && !s.winsGame(p) {
		least = Base(p.Kind-Single) + First // unless the play ends earlier
	}
	switch {
	case out < 0 && to == AtBat:
		return illegal("5.04(c)", "the batter neither reaches base nor is out on a %s", p.Kind)
	case out < 0 && to < least:
		return illegal("9.06", "a %s on which the batter reaches only %s", p.Kind, to)
	case out >= 0 && p.Kind >= Walk && p.Outs[out].Kind != AppealOut && p.Outs[out].Kind != CalledOut &&
		p.Outs[out].At < least:
		return illegal("9.06", "a %s with the batter out at %s", p.Kind, p.Outs[out].At)
	case p.Kind == Strikeout && out < 0 && s.Bases[0].Player != "" && s.Outs < 2:
		return illegal("5.05(a)(2)",
			"a third strike with a runner on first and %d out is an out, caught or not", s.Outs)
	}
	return nil
}

// checkOrder checks that no two runners share a base (5.06(a)(2)) and none passes another (5.09(b)(9)). After a third
// out only runs count.
func (s *State) checkOrder(p *Play) error {
	over := s.Outs+p.Outs.Count() >= 3
	ahead := HomePlate + 1 // where the runner in front ended; beyond home for none
	for b := Third; ; b-- {
		if to := s.destination(p, b); to != AtBat {
			switch {
			case over && to != HomePlate || to < ahead:
			case to == ahead:
				return illegal("5.06(a)(2)", "two runners on %s", to)
			default:
				return illegal("5.09(b)(9)", "%s passes a runner who stays on %s", runnerName(b), ahead)
			}
			if to < HomePlate {
				ahead = to
			}
		}
		if b == AtBat {
			return nil
		}
	}
}

// destination returns where the player from a base is after the play: HomePlate for a run, AtBat for no runner, an
// out and a batter who stays at bat.
func (s *State) destination(p *Play, from Base) Base {
	switch to := p.Advances[from].To; {
	case s.runnerFrom(p, from).Player == "" || p.OutIndex(from) >= 0:
		return AtBat
	case to != AtBat:
		return to
	default:
		return from
	}
}

// checkThirdOut refuses runs that a third out cancels (5.08(a)): the batter out before first, a force-out, and, for
// runners behind, an out on appeal.
func (s *State) checkThirdOut(p *Play) error {
	n := p.Outs.Count()
	if s.Outs+n < 3 || p.runCount() == 0 {
		return nil
	}
	third := p.Outs[n-1]
	switch {
	case third.Runner == AtBat &&
		(third.Kind == StruckOut || third.Kind == FlyOut || third.Kind == OutBeforeFirst || third.Kind == CalledOut):
		return illegal("5.08(a)(1)", "no run scores when the batter makes the third out before touching first")
	case third.Kind == ForceOut:
		return illegal("5.08(a)(2)", "no run scores when the third out is a force-out")
	case third.Kind != AppealOut:
		return nil
	}
	for b := AtBat; b < third.Runner; b++ {
		if p.Advances[b].To == HomePlate {
			return illegal("5.08(a)(3)", "%s cannot score behind a runner who is the third out on appeal",
				runnerName(b))
		}
	}
	return nil
}

// checkWalkOff checks that the game ends with the winning run (7.01(g)(3)) and that the hit has no more bases than the
// winning runner needed (9.06(f)). A home run over the fence counts whole (9.06(g)).
func (s *State) checkWalkOff(p *Play) error {
	if !s.winsGame(p) || p.Kind == HomeRun && !p.Flags.Has(InsideTheParkHomeRun) {
		return nil
	}
	if needed := 1 - s.Lead(); p.runCount() > needed {
		return illegal("7.01(g)(3)", "%d runs score, but the game ends with run %d", p.runCount(), needed)
	}
	from := p.lastRunFrom()
	if p.Kind.IsHit() && from != AtBat && p.Kind-Single+1 > PlayKind(HomePlate-from) {
		return illegal("9.06(f)", "a %s wins the game, but the winning run came from %s", p.Kind, from)
	}
	return nil
}

func (s *State) winsGame(p *Play) bool { return s.isLastHalf() && s.Lead()+p.runCount() > 0 }

// lastRunFrom returns where the last player to score started.
func (p *Play) lastRunFrom() Base {
	for b, r := range p.Advances {
		if r.To == HomePlate {
			return Base(b)
		}
	}
	return Third
}

func (s *State) checkFlags(p *Play) error {
	f := p.Flags
	switch {
	case f.Has(SacrificeHit) && f.Has(SacrificeFly):
		return illegal("9.08", "a sacrifice is a bunt or a fly, not both")
	case f.Has(SacrificeHit) && (s.Outs > 1 || s.Bases == [3]Runner{}):
		return illegal("9.08(a)", "a sacrifice bunt with %d out or with the bases empty", s.Outs)
	case f.Has(SacrificeHit) && p.Ball.Contact != NoContact && !p.Ball.Contact.IsBunt():
		return illegal("9.08(a)", "a sacrifice bunt on a %s without a bunt", p.Kind)
	case f.Has(SacrificeHit) && p.hasForceOut() && !p.hasAdvance():
		return illegal("9.08(c)", "no sacrifice when a runner is put out trying to advance one base, and none advances")
	case f.Has(SacrificeFly) && (s.Outs > 1 || p.runCount() == 0):
		return illegal("9.08(d)", "a sacrifice fly with %d out and %d runs", s.Outs, p.runCount())
	case f.Has(SacrificeFly) && (p.Ball.Contact == GroundBall || p.Ball.Contact.IsBunt()):
		return illegal("9.08(d)", "a sacrifice fly on a %s without a fly ball", p.Kind)
	case f.Has(GroundedIntoDoublePlay) &&
		(s.Outs > 1 || p.Kind.IsHit() || !p.Kind.IsInPlay() || !p.isDoublePlayOnGround()):
		return illegal("9.02(a)(17)", "a ground ball into a double play on a %s with %d out", p.Kind, s.Outs)
	case f.Has(InfieldFly) && (s.Outs > 1 || !s.IsForced(Second)):
		return illegal("5.09(a)(5)", "an infield fly with %d out, or without runners on first and second", s.Outs)
	case f.Has(GroundRuleDouble) && p.Kind != Double:
		return illegal("5.05(a)(6)", "a ground-rule hit is a double, not a %s", p.Kind)
	case f.Has(InsideTheParkHomeRun) && p.Kind != HomeRun:
		return illegal("5.05(a)(5)", "only a home run is inside the park, not a %s", p.Kind)
	}
	return nil
}

// isDoublePlayOnGround reports whether a ball that is not known to have been in the air makes two outs, or one and the
// second but for an error.
func (p *Play) isDoublePlayOnGround() bool {
	n := p.Outs.Count()
	return (n > 1 || n == 1 && p.Errors[0].Fielder != 0) &&
		p.Ball.Contact != FlyBall && p.Ball.Contact != PopUp && p.Ball.Contact != LineDrive
}

func (p *Play) hasForceOut() bool {
	for _, o := range p.Outs {
		if o.Kind == ForceOut {
			return true
		}
	}
	return false
}

func (p *Play) hasAdvance() bool {
	for b := First; b <= Third; b++ {
		if p.Advances[b].To > b {
			return true
		}
	}
	return false
}
