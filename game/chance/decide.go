package chance

import "pressbox/game"

// decide applies what the managers decided to the classes. Except where a measurement is named, the factors are
// estimates: the direction and rough size that published table-top and computer games give the same decision.
func (d *duel) decide(w *[classes]float64) {
	c := &d.calls
	if c.Defence.Pitch == PitchAround { // four in ten end in a walk where first base is open, one in four elsewhere
		w[walk] *= 3.5
		w[homeRun] *= .75
		w[double] *= .85
		w[single] *= .9
	}
	if c.Offence == HitAndRun { // protects the runner: swings at what there is, on the ground if he can
		w[strikeout] *= .8
		w[walk] *= .5
		w[homeRun] *= .5
		w[double] *= .85
		w[flyOut] *= .8
		w[grounder] *= 1.15
		w[single] *= 1.1 // the shortstop or the second baseman has gone to cover
	}
	d.stand(w)
}

// stand applies where the fielders stand.
func (d *duel) stand(w *[classes]float64) {
	c := &d.calls.Defence
	switch c.Infield {
	case InfieldIn:
		w[single] *= 1.2
		w[onError] *= 1.1
	case CornersIn:
		w[single] *= 1.08
	case DoublePlayDepth:
		w[single] *= 1.02
	default:
	}
	switch c.Outfield {
	case Shallow:
		w[single] *= .95
		w[double] *= 1.15
		w[triple] *= 1.4
	case Deep:
		w[single] *= 1.06
		w[double] *= .85
		w[triple] *= .7
	default:
	}
	if c.GuardLines {
		w[double] *= .85
		w[single] *= 1.04
	}
	if d.behind() {
		w[single] /= holding
	}
}

// holding is how many more singles fall in with a man on first, who is held, than with nobody on: .165 to .147 of plate
// appearances. The league's rates in those situations already have it, so not to hold takes it away.
const holding = .165 / .147

// behind reports whether the first baseman plays behind a runner whom he would usually hold: he is told to, or the
// infield is in.
func (d *duel) behind() bool {
	return held(d.held) && (d.calls.Defence.PlayBehind || d.calls.Defence.Infield == InfieldIn)
}

// lean returns what decisions, legs and arms make of a row's weight.
func (d *duel) lean(c class, r *row) float64 {
	if c < onError || c == homeRun {
		return 1
	}
	f := 1.0
	if c == grounder {
		f = d.leanGround(r)
	}
	if d.calls.Offence == HitAndRun {
		switch {
		case c == lineOut && r.marks&doubled != 0:
			f *= 1.8
		case c.hit() && r.fate == won:
			f *= 1.7
		}
	}
	switch d.calls.Defence.Outfield {
	case Shallow:
		f *= [fates]float64{plain: 1, won: .8, lost: 1.3, declined: 1.2}[d.fly(c, r)]
	case Deep:
		f *= [fates]float64{plain: 1, won: 1.15, lost: .7, declined: .85}[d.fly(c, r)]
	default:
	}
	return f
}

// fly returns the row's fate if the ball went to the outfield.
func (d *duel) fly(c class, r *row) fate {
	if c == grounder || d.field == infield {
		return plain
	}
	return r.fate
}

// leanGround weighs what becomes of a grounder.
func (d *duel) leanGround(r *row) float64 {
	f := 1.0
	is := func(m marks) bool { return r.marks&m != 0 }
	switch d.calls.Defence.Infield {
	case InfieldIn:
		f *= d.leanIn(r, .45, 2.5, 1.3)
	case CornersIn:
		f *= d.leanIn(r, .7, 1.6, 1.15)
	case DoublePlayDepth:
		switch {
		case is(doubled):
			f *= 1.12
		case is(scores3):
			f *= 1.1
		}
	default:
	}
	if d.calls.Offence == HitAndRun {
		switch {
		case is(doubled):
			f *= .35
		case is(moved):
			f *= 2.5
		}
	}
	return f
}

// leanIn weighs a row with the infield in: by what the runner from third did.
func (d *duel) leanIn(r *row, scored, out, stays float64) float64 {
	switch {
	case r.marks&doubled != 0 && r.marks&outHome == 0:
		return .6
	case r.marks&outHome != 0:
		return out
	case r.marks&scores3 != 0:
		return scored
	case r.marks&stays3 != 0:
		return stays
	}
	return 1
}

// pitched draws the pitch that a decision settles in advance: one that the batter lets go by, or a pitch-out. It returns
// the class if that ends the turn, and classes if it does not.
func (d *duel) pitched(p *Pitches) class {
	at := p.Count()
	var letter byte
	switch {
	case d.calls.Defence.Pitch == PitchOut:
		letter = 'P'
	case d.calls.Offence == Take:
		letter = 'C'
		if d.dice.chance(d.t.data.counts.take[at.Balls][at.Strikes]) {
			letter = 'B'
		}
	default:
		return classes
	}
	p.add(letter)
	switch next := at.After(letter); {
	case next.Balls == 4:
		return walk
	case next.Strikes == 3:
		return strikeout
	}
	return classes
}

// count makes the classes follow the count: a batter who is behind strikes out oftener.
func (d *duel) count(w *[classes]float64, at game.Count) {
	if at == (game.Count{}) {
		return
	}
	n := &d.t.data.counts
	w[strikeout] *= n.odds(endsK, at)
	w[walk] *= n.odds(endsWalk, at)
	w[hitByPitch] *= n.odds(endsHit, at)
	inPlay := n.odds(endsBall, at)
	for c := onError; c < classes; c++ {
		w[c] *= inPlay
	}
}
