package game

// check returns the first rule that a play breaks: of the situation, of its parts, of the whole.
func (s *State) check(p *Play) error {
	err := s.checkReady(p)
	if err == nil {
		err = s.checkKind(p)
	}
	if err == nil {
		err = s.checkBatter(p)
	}
	if err == nil {
		err = p.asRuled(s.checkOuts(p))
	}
	if err == nil {
		err = s.checkErrors(p)
	}
	if err == nil {
		err = p.asRuled(s.checkRuns(p))
	}
	if err == nil {
		err = p.asRuled(s.checkAwards(p))
	}
	if err == nil {
		err = p.asRuled(s.checkReached(p))
	}
	if err == nil {
		err = s.checkOrder(p)
	}
	if err == nil {
		err = p.asRuled(s.checkThirdOut(p))
	}
	if err == nil {
		err = p.asRuled(s.checkWalkOff(p))
	}
	if err == nil {
		err = p.asRuled(s.checkFlags(p))
	}
	return err
}

// asRuled drops an error that an umpire or scorer may have ruled otherwise, if the play has the flag AsRuled: a run on
// a third out, an uncaught third strike, an infield fly, or a scoring decision. Positions of runners are never a matter
// of judgment.
func (p *Play) asRuled(err error) error {
	if err != nil && p.Flags.Has(AsRuled) && isJudgmentError(err) {
		return nil
	}
	return err
}

// checkReady checks that the game is not over and that all nine positions are filled.
func (s *State) checkReady(p *Play) error {
	if s.Over() {
		return illegal("7.01(g)", "the game is over")
	}
	if p.Kind == NoPlay {
		return nil // may happen in the middle of a double switch
	}
	t := &s.Teams[s.Fielding()]
	for p := Pitcher; p <= RightField; p++ {
		if t.Fielder(p) == "" {
			return illegal("5.02", "the %s team has no fielder at %s", s.Fielding(), p)
		}
	}
	return nil
}

func (s *State) checkKind(p *Play) error {
	switch {
	case p.Kind == NoKind || p.Kind == 7 || p.Kind > HomeRun:
		return illegal("", "unknown kind of play")
	case p.Kind == NoPlay &&
		(p.Outs.Count() > 0 || p.Advances != [4]Advance{} || p.Errors[0].Fielder != 0 || p.Also != NoKind):
		return illegal("", "outs, advances or errors in a play of kind %q", p.Kind)
	case p.Flags&(SacrificeHit|SacrificeFly) != 0 && (p.Kind.IsHit() || !p.Kind.IsInPlay()):
		return illegal("", "a sacrifice on a %s", p.Kind)
	case p.Also != NoKind && (p.Also < StolenBase || p.Also > ReachedOnError || p.Also == 7):
		return illegal("", "a %s cannot be a second event of a %s", p.Also, p.Kind)
	case p.Kind == StolenBase && (p.Also == WildPitch || p.Also == PassedBall):
	case p.Also != NoKind && p.Kind != Strikeout && p.Kind != Walk && p.Kind != IntentionalWalk && p.Kind != HitByPitch:
		return illegal("", "a %s has no second event", p.Kind)
	case p.Kind == Balk && s.Bases == [3]Runner{}:
		return illegal("6.02(a)", "a balk with the bases empty")
	}
	return checkCount(p.Count)
}

func checkCount(c Count) error {
	if c.Balls < 0 || c.Balls > 4 || c.Strikes < 0 || c.Strikes > 3 {
		return illegal("5.04(a)", "a count of %d-%d, want at most 4-3", c.Balls, c.Strikes)
	}
	return nil
}

// checkBatter checks the batting order (6.03(b)).
func (s *State) checkBatter(p *Play) error {
	t := &s.Teams[s.Batting()]
	due := t.Order[t.NextBatter].Player
	proper := p.Batter == "" || p.Batter == due
	switch {
	case p.Flags.Has(OutOfTurn) && proper:
		return illegal("6.03(b)", "%s is due and does not bat out of turn", due)
	case p.Flags.Has(OutOfTurn) && t.orderIndex(p.Batter) < 0:
		return illegal("6.03(b)", "%s is not in the batting order", p.Batter)
	case p.Flags.Has(OutOfTurn) && s.baseOf(p.Batter) >= 0:
		return illegal("6.03(b)", "%s is on base", p.Batter)
	case !p.Flags.Has(OutOfTurn) && !proper:
		return illegal("6.03(b)", "%s bats, but %s is due", p.Batter, due)
	case p.Flags.Has(OutForBattingOutOfTurn) && !isOutOfTurnCall(p):
		return illegal("6.03(b)(3)", "on appeal the proper batter is out and the play of the improper batter is void")
	}
	return nil
}

// isOutOfTurnCall reports whether the proper batter is out and no runner moved on a batted ball or an award.
func isOutOfTurnCall(p *Play) bool {
	if p.Kind != BattedOut && p.Kind != Strikeout || p.Outs.Count() != 1 || p.Outs[0].Runner != AtBat {
		return false
	}
	for _, r := range p.Advances {
		if r.To != AtBat && r.Reason == ByPlay {
			return false
		}
	}
	return true
}

func (s *State) checkOuts(p *Play) error {
	n := p.Outs.Count()
	for i, o := range p.Outs {
		if i >= n {
			if o != (Out{}) {
				return illegal("", "out %d follows an empty out", i+1)
			}
			continue
		}
		if err := s.checkOut(p, i); err != nil {
			return err
		}
	}
	switch {
	case s.Outs+n > 4, s.Outs+n == 4 && p.Outs[n-1].Kind != AppealOut:
		return illegal("5.09(e)", "%d outs: an inning has three, and a fourth only on appeal (5.09(c))", s.Outs+n)
	case n > 0 && (p.Kind == WildPitch || p.Kind == PassedBall || p.Kind == Balk) && s.batterOut(p):
		return illegal("", "the batter is out on a %s", p.Kind)
	}
	return nil
}

func (s *State) batterOut(p *Play) bool { return p.OutIndex(AtBat) >= 0 }

// checkOut checks the i-th out by itself and against those before it.
func (s *State) checkOut(p *Play, i int) error {
	o := p.Outs[i]
	switch {
	case o.Runner > Third || o.At > HomePlate || o.Kind > CalledOut:
		return illegal("", "out %d has an unknown base or kind", i+1)
	case s.runnerFrom(p, o.Runner).Player == "":
		return illegal("", "out %d: no runner on %s", i+1, o.Runner)
	case p.OutIndex(o.Runner) != i:
		return illegal("5.09(b)", "%s is out twice", runnerName(o.Runner))
	case !isFielderList(o.Fielders):
		return illegal("9.09", "put-out by %q: fielders are the digits 1 to 9", o.Fielders)
	case o.Runner == AtBat:
		return s.checkBatterOut(p, o)
	case o.Kind == StruckOut || o.Kind == FlyOut || o.Kind == OutBeforeFirst:
		return illegal("5.09(b)", "%s cannot be out by %q: only a batter can", runnerName(o.Runner), o.Kind)
	case o.At != AtBat && o.At < o.Runner && o.Kind != AppealOut && p.Kind.EndsPlateAppearance():
		return illegal("5.09(b)", "%s is out at %s, a base behind", runnerName(o.Runner), o.At)
	case o.Kind == ForceOut && p.Kind.IsHit():
		return illegal("9.05(b)(1)", "no hit is scored when the runner from %s is forced out", o.Runner)
	case o.Kind == ForceOut && (o.At != o.Runner+1 || !s.forced(p, i)):
		return illegal("5.09(b)(6)", "the runner from %s is not forced to %s", o.Runner, o.At)
	}
	return nil
}

func (s *State) checkBatterOut(p *Play, o Out) error {
	switch {
	case !p.Kind.EndsPlateAppearance():
		return illegal("5.04(c)", "the batter is out on a %s", p.Kind)
	case o.Kind == ForceOut:
		return illegal("5.09(a)", "a batter is not forced")
	case o.Kind == StruckOut && p.Kind != Strikeout:
		return illegal("5.09(a)(2)", "struck out on a %s", p.Kind)
	case o.Kind == FlyOut && p.Kind != BattedOut:
		return illegal("5.09(a)(1)", "the batter is out at the plate on a %s", p.Kind)
	case o.Kind == OutBeforeFirst && p.Kind != BattedOut && p.Kind != Strikeout:
		return illegal("5.09(a)(10)", "the batter is out before first on a %s", p.Kind)
	case o.Kind == TagOut && (o.At < First || o.At == First && p.Kind < ReachedOnError):
		return illegal("5.09(b)", "a batter tagged at %s on a %s is out before first", o.At, p.Kind)
	}
	return nil
}

// forced reports whether the runner of the i-th out was forced when it was made: the batter became a runner, every base
// behind was occupied, and no one behind was already out (5.09(b)(6)).
func (s *State) forced(p *Play, i int) bool {
	runner := p.Outs[i].Runner
	if !s.IsForced(runner) || !p.Kind.EndsPlateAppearance() {
		return false
	}
	for _, o := range p.Outs[:i] {
		if o.Runner < runner {
			return false
		}
	}
	return true
}

func (s *State) checkErrors(p *Play) error {
	ended := false
	for i, e := range p.Errors {
		switch {
		case e.Fielder == 0:
			ended = true
			if e != (Error{}) {
				return illegal("9.12", "error %d has no fielder", i+1)
			}
		case ended || e.Fielder > 9 || e.Kind > ThrowingError || e.Runner > Third || !isFielderList(e.Assists):
			return illegal("9.12", "error %d has an unknown fielder, kind or base", i+1)
		case s.runnerFrom(p, e.Runner).Player == "":
			return illegal("9.12", "error %d: no runner on %s", i+1, e.Runner)
		}
	}
	if p.Errors[0].Fielder == 0 && (p.Kind == ReachedOnError || p.Kind == FoulError) {
		return illegal("9.12", "a %s without a fielder's error", p.Kind)
	}
	return nil
}

func isFielderList(digits string) bool {
	for i := range len(digits) {
		if digits[i] < '1' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// runnerName returns "the batter" or "the runner from first".
func runnerName(b Base) string {
	if b == AtBat {
		return "the batter"
	}
	return "the runner from " + b.String()
}
