package chance

import "pressbox/game"

// How often the scorer explains a base by an error. A batter goes further than his hit by one of two times with the bases
// empty; for the rest the shares are such that of 12,135 hits 94 have an error at the batter and 96 at a runner, as in 2020:
// with runners on, the batter's own, or that of a runner who took a base more; a runner's when only he did. Of runners who
// gained two bases on an out 3 in 4 did so by one, of those who advanced from first on a fielder's choice without an out 2
// in 3, of other runners then 1 in 4. A batter who is safe on strike three owes it to a passed ball once in six (2015–17,
// 2019: wild pitches to passed balls).
const (
	errorAlone    = .5
	errorBehind   = .28
	errorAhead    = .27
	errorRunner   = .025
	errorOnOut    = .75
	errorOnForce  = .68
	errorOnChoice = .25
	passedThird   = 1. / 6
)

// tell makes a play of a row.
func (d *duel) tell(c class, r *row) game.Play {
	var p game.Play
	for from := range r.to {
		p.Advances[from].To = r.to[from]
	}
	p.Ball.Contact = d.contact
	if d.place != 0 {
		p.Ball.Location = digit(d.place)
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
		p.Errors[0] = game.Error{Fielder: 2, Runner: game.AtBat}
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
	if p.Kind == game.BattedOut {
		d.tellGift(&p, r)
	}
	return p
}

// tellGift explains a man who went further than an out lets him: the last throw went wild.
func (d *duel) tellGift(p *game.Play, r *row) {
	for who := game.Third; r.made == 1; who-- {
		if to := r.to[who]; to > who+1 && d.view < errorOnOut {
			by := p.Outs[0].Fielders
			blame(p, who, game.Error{Fielder: by[len(by)-1] - '0', Kind: game.ThrowingError})
			return
		}
		if who == game.AtBat {
			return
		}
	}
}

// blame explains where a man is by an error. What he scores through it is nobody's to have batted in.
func blame(p *game.Play, who game.Base, e game.Error) {
	e.Runner = who
	p.Errors[0] = e
	run := &p.Advances[who]
	run.Reason = game.OnError
	if run.To == game.HomePlate {
		run.RBI = game.No
	}
}

// tellOuts credits the put-outs: the fielder who has the ball throws to whoever covers the base.
func (d *duel) tellOuts(p *game.Play, c class, r *row) {
	has := d.place
	if c == strikeout {
		has = 2
	}
	for i, o := range r.outs[:r.made] {
		by := digit(has)
		if o.how != game.FlyOut && o.how != game.StruckOut {
			by, has = throw(has, o.at)
		}
		p.Outs[i] = game.Out{Runner: o.who, At: o.at, Kind: o.how, Fielders: by}
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
	for from := range p.Advances {
		if p.Advances[from].To != 0 {
			p.Advances[from].Reason = why
		}
	}
}

// tellWild explains runners who go further on a walk than it forces them.
func (d *duel) tellWild(p *game.Play) {
	for from := game.First; from <= game.Third; from++ {
		run := &p.Advances[from]
		if run.To > from+1 || run.To != 0 && !d.s.IsForced(from) {
			run.Reason = game.OnWildPitch
			p.Also = game.WildPitch
		}
	}
}

func (d *duel) tellError(p *game.Play) {
	p.Kind = game.ReachedOnError
	p.Errors[0] = game.Error{Fielder: uint8(d.place), Runner: game.AtBat} //nolint:gosec // 1–9
	if d.view < .5 {                                                      // bad throws are as frequent as muffs (2020)
		p.Errors[0].Kind = game.ThrowingError
	}
}

func (d *duel) tellGrounder(p *game.Play, r *row) {
	p.Kind = game.BattedOut
	forced := false
	for _, o := range r.outs[:r.made] {
		forced = forced || o.how == game.ForceOut
	}
	switch {
	case r.made == 0 && r.ahead() == game.AtBat:
		d.tellError(p)
	case r.made == 0:
		d.tellChoice(p, r)
	case r.made == 1 && !r.isOut(game.AtBat) && !forced:
		p.Kind = game.FieldersChoice
	case r.made > 1 && forced:
		p.Flags |= game.GroundedIntoDoublePlay
	}
}

// tellChoice: nobody is out, and the throw may have been why.
func (d *duel) tellChoice(p *game.Play, r *row) {
	p.Kind, p.FieldedBy = game.FieldersChoice, digit(d.place)
	who, odds := game.First, errorOnForce
	if r.to[who] == 0 {
		who, odds = r.ahead(), errorOnChoice
	}
	if d.view < odds {
		e := game.Error{Fielder: uint8(d.place)} //nolint:gosec // 1–9
		if d.view < .3*odds {                    // dropped more often than thrown away (2020)
			e.Kind = game.ThrowingError
		}
		blame(p, who, e)
	}
}

func (d *duel) tellHit(p *game.Play, c class, r *row) {
	p.Kind = game.Single + game.PlayKind(c-single)
	if p.Kind != game.HomeRun { // nobody touches one over the fence
		p.FieldedBy = digit(d.place)
	}
	if r.made > 0 {
		return // the throw was good
	}
	own, other := 0.0, errorRunner // the batter's, a runner's
	switch {
	case r.marks&stretched == 0:
	case d.held == 0:
		own, other = errorAlone, 0
	default:
		own, other = errorBehind, errorAhead
	}
	e := game.Error{Fielder: uint8(d.place)} //nolint:gosec // 1–9
	switch who := r.extra(c); {
	case d.view < own:
		if d.view < own/2 {
			e.Kind = game.ThrowingError
		}
		blame(p, game.AtBat, e)
	case d.view < own+other && who != game.AtBat:
		if d.view < own+other/2 {
			e.Kind = game.ThrowingError
		}
		blame(p, who, e)
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
