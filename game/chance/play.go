package chance

import "pressbox/game"

// Shares of the bases gained that the official scorer explains by an error.
//
// A batter takes one base more than the hit is worth on an error half of the time with the bases empty. The other
// shares are such that 94 of 12,135 hits have an error on the batter and 96 one on a runner, as in 2020. On outs,
// an error explains 3 in 4 runners who gained two bases; on a fielder's choice without an out, 2 in 3 runners from
// first and 1 in 4 other runners. One in six batters who are safe on a third strike is safe on a passed ball, by
// the ratio of wild pitches to passed balls (2015–17, 2019).
const (
	batterErrorBasesEmpty = .5
	batterErrorRunnersOn  = .28
	runnerErrorTakesBase  = .27
	runnerErrorAlone      = .025
	errorTwoBasesOnOut    = .75
	errorForcedRunner     = .68
	errorOtherRunner      = .25
	passedBallThirdStrike = 1. / 6
)

func (pa *plateAppearance) buildPlay(c class, r *advanceRow) game.Play {
	var p game.Play
	for from := range r.to {
		p.Advances[from].To = r.to[from]
	}
	p.Ball.Contact = pa.contact
	if pa.fielder != 0 {
		p.Ball.Location = digit(pa.fielder)
	}
	pa.setOuts(&p, c, r)
	switch {
	case c == strikeout:
		pa.setStrikeout(&p, r)
	case c == walk:
		p.Kind = game.Walk
		pa.setWildPitch(&p)
	case c == hitByPitch:
		p.Kind = game.HitByPitch
	case c == interference:
		p.Kind = game.CatchersInterference
		p.Errors[0] = game.Error{Fielder: 2, Runner: game.AtBat}
	case c == reachedOnError:
		pa.setReachedOnError(&p)
	case c == groundOut:
		pa.setGroundOut(&p, r)
	case c.isHit():
		pa.setHit(&p, c, r)
	default:
		p.Kind = game.BattedOut
		if pa.state.Outs < 2 && r.to[game.Third] == game.HomePlate && r.isOut(game.AtBat) {
			p.Flags |= game.SacrificeFly
		}
		if c == popOut && pa.state.Outs < 2 && pa.bases&(onFirst|onSecond) == onFirst|onSecond && pa.fielder <= 6 {
			p.Flags |= game.InfieldFly
		}
	}
	if p.Kind == game.BattedOut {
		pa.chargeLastThrow(&p, r)
	}
	return p
}

// chargeLastThrow charges the last throw with an error if a runner advanced further than an out allows.
func (pa *plateAppearance) chargeLastThrow(p *game.Play, r *advanceRow) {
	for from := game.Third; r.outCount == 1; from-- {
		if to := r.to[from]; to > from+1 && pa.scorerDraw < errorTwoBasesOnOut {
			fielders := p.Outs[0].Fielders
			chargeError(p, from, game.Error{Fielder: fielders[len(fielders)-1] - '0', Kind: game.ThrowingError})
			return
		}
		if from == game.AtBat {
			return
		}
	}
}

// chargeError charges an error that the runner advanced on. A run that scores on it is not batted in.
func chargeError(p *game.Play, from game.Base, e game.Error) {
	e.Runner = from
	p.Errors[0] = e
	advance := &p.Advances[from]
	advance.Reason = game.OnError
	if advance.To == game.HomePlate {
		advance.RBI = game.No
	}
}

// setOuts credits the putouts and assists: the fielder with the ball throws to the player who covers the base.
func (pa *plateAppearance) setOuts(p *game.Play, c class, r *advanceRow) {
	holder := pa.fielder
	if c == strikeout {
		holder = 2
	}
	for i, o := range r.outs[:r.outCount] {
		fielders := digit(holder)
		switch {
		case o.kind == game.FlyOut || o.kind == game.StruckOut:
		case pa.unassisted(o, holder):
		default:
			fielders, holder = throwTo(holder, o.base)
		}
		p.Outs[i] = game.Out{Runner: o.runner, At: o.base, Kind: o.kind, Fielders: fielders}
	}
}

func (pa *plateAppearance) setStrikeout(p *game.Play, r *advanceRow) {
	p.Kind = game.Strikeout
	if r.to[game.AtBat] == 0 {
		return
	}
	p.Also = game.WildPitch
	reason := game.OnWildPitch
	if pa.scorerDraw < passedBallThirdStrike {
		p.Also, reason = game.PassedBall, game.OnPassedBall
	}
	for from := range p.Advances {
		if p.Advances[from].To != 0 {
			p.Advances[from].Reason = reason
		}
	}
}

// setWildPitch adds a wild pitch to a walk if a runner advances further than the walk forces.
func (pa *plateAppearance) setWildPitch(p *game.Play) {
	for from := game.First; from <= game.Third; from++ {
		advance := &p.Advances[from]
		if advance.To > from+1 || advance.To != 0 && !pa.state.IsForced(from) {
			advance.Reason = game.OnWildPitch
			p.Also = game.WildPitch
		}
	}
}

func (pa *plateAppearance) setReachedOnError(p *game.Play) {
	p.Kind = game.ReachedOnError
	p.Errors[0] = game.Error{Fielder: uint8(pa.fielder), Runner: game.AtBat} //nolint:gosec // 1–9
	// Throwing and fielding errors are equally frequent (2020).
	if pa.scorerDraw < .5 {
		p.Errors[0].Kind = game.ThrowingError
	}
}

func (pa *plateAppearance) setGroundOut(p *game.Play, r *advanceRow) {
	p.Kind = game.BattedOut
	forced := false
	for _, o := range r.outs[:r.outCount] {
		forced = forced || o.kind == game.ForceOut
	}
	switch {
	case r.outCount == 0 && r.leadAdvance() == game.AtBat:
		pa.setReachedOnError(p)
	case r.outCount == 0:
		pa.setFieldersChoice(p, r)
	case r.outCount == 1 && !r.isOut(game.AtBat) && !forced:
		p.Kind = game.FieldersChoice
	case r.outCount > 1 && forced:
		p.Flags |= game.GroundedIntoDoublePlay
	}
}

// setFieldersChoice sets a fielder's choice without an out, possibly with an error.
func (pa *plateAppearance) setFieldersChoice(p *game.Play, r *advanceRow) {
	p.Kind, p.FieldedBy = game.FieldersChoice, digit(pa.fielder)
	from, chance := game.First, errorForcedRunner
	if r.to[from] == 0 {
		from, chance = r.leadAdvance(), errorOtherRunner
	}
	if pa.scorerDraw < chance {
		e := game.Error{Fielder: uint8(pa.fielder)} //nolint:gosec // 1–9
		if pa.scorerDraw < .3*chance {              // fielding errors are more frequent here (2020)
			e.Kind = game.ThrowingError
		}
		chargeError(p, from, e)
	}
}

func (pa *plateAppearance) setHit(p *game.Play, c class, r *advanceRow) {
	p.Kind = game.Single + game.PlayKind(c-single)
	if p.Kind != game.HomeRun { // it left the field
		p.FieldedBy = digit(pa.fielder)
	}
	if r.outCount > 0 {
		return // the throw was good
	}
	if pa.isGroundRuleDouble(c, r) {
		p.Flags |= game.GroundRuleDouble
		p.FieldedBy = ""
		return
	}
	onBatter, onRunner := 0.0, runnerErrorAlone
	switch {
	case r.traits&batterTakesExtraBase == 0:
	case pa.bases == 0:
		onBatter, onRunner = batterErrorBasesEmpty, 0
	default:
		onBatter, onRunner = batterErrorRunnersOn, runnerErrorTakesBase
	}
	onBatter, onRunner = onBatter*errorShare, onRunner*errorShare
	e := game.Error{Fielder: uint8(pa.fielder)} //nolint:gosec // 1–9
	switch from := r.extraBaseRunner(c); {
	case pa.scorerDraw < onBatter:
		if pa.scorerDraw < onBatter/2 {
			e.Kind = game.ThrowingError
		}
		chargeError(p, game.AtBat, e)
	case pa.scorerDraw < onBatter+onRunner && from != game.AtBat:
		if pa.scorerDraw < onBatter+onRunner/2 {
			e.Kind = game.ThrowingError
		}
		chargeError(p, from, e)
	}
}

// Substrings of these constants are used, so that building a play does not allocate.
const (
	digits = "0123456789"
	pairs  = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" +
		"40414243444546474849" + "50515253545556575859" + "60616263646566676869" + "70717273747576777879" +
		"80818283848586878889" + "90919293949596979899"
)

func digit(fielder int) string { return digits[fielder : fielder+1] }

// throwTo returns the fielders credited when the fielder with the ball throws to a base, and the fielder who then
// has it.
func throwTo(from int, to game.Base) (credited string, holder int) {
	holder = 4
	switch to {
	case game.First:
		holder = 3
	case game.Second:
		if from == 1 || from == 2 || from == 3 || from == 4 || from == 8 || from == 9 {
			holder = 6
		}
	case game.Third:
		holder = 5
	case game.HomePlate:
		holder = 2
	default:
	}
	if holder == from {
		return digit(holder), holder
	}
	at := 2 * (10*from + holder)
	return pairs[at : at+2], holder
}
