package chance

import "pressbox/game"

// How often an extra base that nothing else explains is an error: batters who go further than their hit 3 times in 5,
// fielder's choices without an out 3 times in 4 (2020); and a batter who is safe on strike three owes it to a passed ball once
// in six (2015–17, 2019: wild pitches to passed balls).
const (
	errorOnHit    = .6
	errorOnChoice = .75
	passedThird   = 1. / 6
)

// tell makes a play of a row.
func (d *duel) tell(c class, r *row) game.Play {
	var p game.Play
	for from := range r.to {
		p.Runs[from].To = r.to[from]
	}
	p.Ball.Contact = d.contact
	if d.place != 0 {
		p.Ball.Place = digit(d.place)
	}
	d.tellOuts(&p, c, r)
	switch {
	case c == strikeout:
		d.tellStrikeout(&p, r)
	case c == walk:
		p.Kind = game.Walk
		d.tellWild(&p)
	case c == hitByPitch:
		p.Kind = game.HitByPitch
	case c == interference:
		p.Kind = game.CatchersInterference
		p.Errors[0] = game.Error{By: 2, Who: game.AtBat}
	case c == onError:
		d.tellError(&p)
	case c == grounder:
		d.tellGrounder(&p, r)
	case c.hit():
		d.tellHit(&p, c, r)
	default:
		p.Kind = game.BattedOut
		if d.s.Outs < 2 && r.to[game.Third] == game.HomePlate && r.isOut(game.AtBat) {
			p.Flags |= game.SacrificeFly
		}
		if c == popOut && d.s.Outs < 2 && d.held&(onFirst|onSecond) == onFirst|onSecond && d.place <= 6 {
			p.Flags |= game.InfieldFly
		}
	}
	return p
}

// tellOuts credits the put-outs: the fielder who has the ball throws to whoever covers the base.
func (d *duel) tellOuts(p *game.Play, c class, r *row) {
	has := d.place
	if c == strikeout {
		has = 2
	}
	for i, o := range r.outs[:r.made] {
		by := digit(has)
		if o.how != game.OnFly && o.how != game.Struck {
			by, has = throw(has, o.at)
		}
		p.Outs[i] = game.Out{Who: o.who, At: o.at, How: o.how, By: by}
	}
}

func (d *duel) tellStrikeout(p *game.Play, r *row) {
	p.Kind = game.Strikeout
	if r.to[game.AtBat] == 0 {
		return
	}
	p.Also = game.WildPitch
	why := game.OnWildPitch
	if d.view < passedThird {
		p.Also, why = game.PassedBall, game.OnPassedBall
	}
	for from := range p.Runs {
		if p.Runs[from].To != 0 {
			p.Runs[from].Why = why
		}
	}
}

// tellWild explains runners who go further on a walk than it forces them.
func (d *duel) tellWild(p *game.Play) {
	for from := game.First; from <= game.Third; from++ {
		run := &p.Runs[from]
		if run.To > from+1 || run.To != 0 && !d.s.Forced(from) {
			run.Why = game.OnWildPitch
			p.Also = game.WildPitch
		}
	}
}

func (d *duel) tellError(p *game.Play) {
	p.Kind = game.ReachedOnError
	p.Errors[0] = game.Error{By: uint8(d.place), Who: game.AtBat} //nolint:gosec // 1–9
	if d.view < .5 {                                              // bad throws are as frequent as muffs (2020)
		p.Errors[0].Kind = game.ThrewBad
	}
}

func (d *duel) tellGrounder(p *game.Play, r *row) {
	p.Kind = game.BattedOut
	forced := false
	for _, o := range r.outs[:r.made] {
		forced = forced || o.how == game.Forced
	}
	switch {
	case r.made == 0 && d.held == 0:
		d.tellError(p)
	case r.made == 0:
		p.Kind, p.Touched = game.FieldersChoice, digit(d.place)
		if d.view < errorOnChoice {
			p.Errors[0] = game.Error{By: uint8(d.place), Kind: game.ThrewBad, Who: game.Base(highest(d.held))} //nolint:gosec // 1–9, 1–3
		}
	case r.made == 1 && !r.isOut(game.AtBat) && !forced:
		p.Kind = game.FieldersChoice
	case r.made > 1 && forced:
		p.Flags |= game.GroundedIntoDouble
	}
}

func (d *duel) tellHit(p *game.Play, c class, r *row) {
	p.Kind = game.Single + game.Kind(c-single)
	if r.made == 0 && p.Kind != game.HomeRun { // nobody touches one over the fence
		p.Touched = digit(d.place)
	}
	if r.marks&stretched != 0 && d.view < errorOnHit {
		p.Errors[0] = game.Error{By: uint8(d.place), Kind: game.ThrewBad, Who: game.AtBat} //nolint:gosec // 1–9
		p.Runs[game.AtBat].Why = game.OnError
	}
}

// The digits and pairs of digits are cut from constants, so that a play costs no memory.
const (
	digits = "0123456789"
	pairs  = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" +
		"40414243444546474849" + "50515253545556575859" + "60616263646566676869" + "70717273747576777879" +
		"80818283848586878889" + "90919293949596979899"
)

func digit(fielder int) string { return digits[fielder : fielder+1] }

// throw returns who is credited when the fielder with the ball gets it to a base, and who has it then.
func throw(from int, to game.Base) (by string, has int) {
	has = 4
	switch to {
	case game.First:
		has = 3
	case game.Second:
		if from == 1 || from == 2 || from == 3 || from == 4 || from == 8 || from == 9 {
			has = 6
		}
	case game.Third:
		has = 5
	case game.HomePlate:
		has = 2
	default:
	}
	if has == from {
		return digit(has), has
	}
	at := 2 * (10*from + has)
	return pairs[at : at+2], has
}
