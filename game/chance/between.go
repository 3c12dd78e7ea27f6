package chance

import (
	"math"

	"pressbox/game"
)

// How often the game is interrupted in a turn with somebody on base. 318,456 plate appearances of 2015–17 and 2019:
// 7,164 wild pitches, 1,422 passed balls, 597 balks; picked off first with second open 1,585 in 172,155, second 365 in
// 103,650, third 73 in 69,922; of pick-offs 44 % are wild throws (2020).
const (
	wildPitches   = 7164. / 318456
	passedBalls   = 1422. / 318456
	balks         = 597. / 318456
	pickedFirst   = 1585. / 172155
	pickedSecond  = 365. / 103650
	pickedThird   = 73. / 69922
	wildPickoff   = .44
	pickoffOut    = .02           // of one throw that the manager orders (estimate)
	leaningRunner = .12           // of one throw at a runner who was about to go (estimate)
	wildSteal     = .05           // stolen bases with a wild throw (2020: 39 of 776)
	missedSqueeze = .12           // bunts missed or pitched out of reach (estimate)
	droppedFouls  = 180. / 740020 // of all turns; decided by the scorer's view, which nothing else asks for so little
)

// between resolves what happens before the turn can: it returns true if the play is made.
func (d *duel) between() bool {
	c := &d.calls
	going := d.goes()
	switch {
	case c.Defence.Pitch == IntentionalWalk:
		return false
	case c.Defence.Pitch == PickoffThrow:
		d.throwOver(going != 0)
		return true
	case c.Offence == Squeeze:
		return d.missedSqueeze()
	case c.Offence == HitAndRun && c.Defence.Pitch != PitchOut:
		return false
	case going != 0:
		d.steal(going)
		return true
	case d.view < droppedFouls:
		d.dropFoul()
		return true
	case d.held == 0:
		return false
	}
	return d.accident()
}

// dropFoul: somebody has a foul fly and drops it; the batter bats on. In 2020 it was the catcher 6 times, the first baseman 8,
// the third baseman 2, and another 2.
func (d *duel) dropFoul() {
	d.turn.Next.Pitches.add('F')
	by := [...]uint8{2, 3, 5, 9}[d.dice.pick([]float64{6, 8, 2, 2})]
	d.turn.Play.Kind = game.FoulError
	d.turn.Play.Errors[0] = game.Error{Fielder: by, Runner: game.AtBat}
}

// goes returns the runners who go with the pitch, as a mask.
func (d *duel) goes() int {
	switch d.calls.Offence {
	case StealSecond, HitAndRun:
		if d.held&onSecond != 0 {
			return onFirst | onSecond
		}
		return onFirst
	case StealThird:
		return onSecond
	case StealHome:
		return onThird
	case DoubleSteal:
		return d.held
	default:
		return 0
	}
}

// accident draws a wild pitch, a passed ball, a balk or a pick-off; in most turns there is none.
func (d *duel) accident() bool {
	first := 0.0
	if held(d.held) && !d.behind() {
		first = pickedFirst * d.pitcher.hold
	}
	odds := [...]float64{
		wildPitches, passedBalls, balks, first, share(d.held&onSecond != 0) * pickedSecond * d.pitcher.hold,
		share(d.held&onThird != 0) * pickedThird * d.pitcher.hold,
	}
	left := d.dice.Float64()
	for i, p := range odds {
		if left >= p {
			left -= p
			continue
		}
		switch i {
		case 0, 1, 2:
			d.allAdvance(game.WildPitch + game.PlayKind(i)) // the three kinds follow each other
		default:
			d.pickOff(game.Base(i-2), game.PickedOff) //nolint:gosec // 1–3
		}
		return true
	}
	return false
}

// allAdvance moves every runner up a base.
func (d *duel) allAdvance(k game.PlayKind) {
	p := &d.turn.Play
	p.Kind = k
	if k != game.Balk {
		d.waste('B')
	}
	d.advanceAll(p)
}

func (d *duel) advanceAll(p *game.Play) {
	for from := game.First; from <= game.Third; from++ {
		if d.runner[from] != nil && p.Advances[from].To == 0 {
			p.Advances[from].To = from + 1
		}
	}
}

// throwOver is the pick-off throw that the manager ordered.
func (d *duel) throwOver(going bool) {
	base := d.nearest()
	d.turn.Next.Pitches.add('0' + byte(base))
	d.turn.Next.PickoffThrows++
	odds := pickoffOut * d.pitcher.hold
	why := game.PickedOff
	if going {
		odds, why = leaningRunner, game.PickedOffStealing
	}
	if d.dice.chance(odds / (1 - wildPickoff)) {
		d.pickOff(base, why)
		return
	}
	d.turn.Play.Kind = game.NoPlay
}

// nearest returns the base that a pitcher throws to: the last runner who is not blocked in.
func (d *duel) nearest() game.Base {
	for b := game.First; b < game.Third; b++ {
		if d.runner[b] != nil && d.runner[b+1] == nil {
			return b
		}
	}
	return game.Third
}

// pickOff puts a runner out at his base, or throws the ball away.
func (d *duel) pickOff(from game.Base, why game.AdvanceReason) {
	p := &d.turn.Play
	p.Kind = game.PickOff
	at := from
	if why == game.PickedOffStealing {
		at = from + 1
	}
	if d.dice.chance(wildPickoff) {
		p.Advances[from] = game.Advance{To: from + 1, Reason: why}
		p.Errors[0] = game.Error{Fielder: 1, Kind: game.ThrowingError, Runner: from}
		d.advanceAll(p)
		return
	}
	by, _ := throw(1, from)
	if at != from {
		by = [...]string{"", "134", "165", "152"}[from]
	}
	p.Advances[from].Reason = why
	p.Outs[0] = game.Out{Runner: from, At: at, Kind: game.TagOut, Fielders: by}
}

// steal resolves an attempt of the runners in the mask.
func (d *duel) steal(going int) {
	d.turn.Next.Pitches.add('>')
	if d.calls.Defence.Pitch == PitchOut {
		d.waste('P')
	} else {
		d.waste('B')
	}
	switch {
	case going&onFirst != 0 && going&onThird != 0:
		d.firstAndThird()
	case going&onSecond != 0:
		d.stealBase(game.Second, going)
	case going&onThird != 0:
		d.stealBase(game.Third, going)
	default:
		d.stealBase(game.First, going)
	}
}

// stealBase: the catcher throws at the lead runner; who goes behind him is safe.
func (d *duel) stealBase(lead game.Base, going int) {
	p := &d.turn.Play
	safe := d.dice.chance(d.stealOdds(lead))
	p.Kind = game.StolenBase
	why := game.Stole
	if safe {
		p.Advances[lead] = game.Advance{To: lead + 1, Reason: game.Stole}
	} else {
		p.Kind, why = game.CaughtStealing, game.OnThrow // 9.07(d): no steal when another is caught
		by, _ := throw(2, lead+1)
		if lead == game.Third {
			by = "12"
		}
		p.Advances[lead].Reason = game.Caught
		p.Outs[0] = game.Out{Runner: lead, At: lead + 1, Kind: game.TagOut, Fielders: by}
	}
	if lead == game.Second && going&onFirst != 0 && (safe || d.s.Outs < 2) {
		p.Advances[game.First] = game.Advance{To: game.Second, Reason: why}
	}
	alone := highest(d.held) == int(lead) && (lead == game.First || going&onFirst == 0) // nobody ahead, nobody behind him goes
	if safe && alone && lead < game.Third && d.dice.chance(wildSteal) {
		p.Advances[lead].To = lead + 2
		p.Errors[0] = game.Error{Fielder: 2, Kind: game.ThrowingError, Runner: lead}
	}
}

// firstAndThird is a double steal of second and home: the throw goes through, and the runner from third tries. One in
// three ends with an out at second, of those every second before the run; else the return throw gets the runner at home
// as often as not (estimate).
func (d *duel) firstAndThird() {
	p := &d.turn.Play
	p.Kind = game.CaughtStealing
	switch {
	case !d.dice.chance(d.stealOdds(game.First)):
		p.Advances[game.First].Reason = game.Caught
		p.Outs[0] = game.Out{Runner: game.First, At: game.Second, Kind: game.TagOut, Fielders: "26"}
		if d.s.Outs < 2 && d.dice.chance(.5) {
			p.Advances[game.Third] = game.Advance{To: game.HomePlate, Reason: game.OnThrow}
		}
	case d.dice.chance(.5 + .05*d.runner[game.Third].Speed):
		p.Kind = game.StolenBase
		p.Advances[game.First] = game.Advance{To: game.Second, Reason: game.Stole}
		p.Advances[game.Third] = game.Advance{To: game.HomePlate, Reason: game.Stole}
	default:
		p.Advances[game.Third].Reason = game.Caught
		p.Outs[0] = game.Out{Runner: game.Third, At: game.HomePlate, Kind: game.TagOut, Fielders: "262"}
		if d.s.Outs < 2 {
			p.Advances[game.First] = game.Advance{To: game.Second, Reason: game.OnThrow}
		}
	}
}

// stealOdds returns the chance that a runner steals the base ahead: .716 second, .774 third, .34 home in 2015–17 and
// 2019 (attempts with a pitch; runners picked off are counted apart), on the log scale ± a third for a standard deviation
// of speed, a quarter for the catcher's arm and the pitcher's move, half for a runner who is not held, and a good one less
// when a pitch-out meets him (estimates). Those rates are of runners who went, and the fast ones go: the average of them is
// taken to be a standard deviation faster than the average runner, at third and home one and a half.
func (d *duel) stealOdds(from game.Base) float64 {
	tried := [...]float64{0, .716, .774, .34}[from]
	faster := [...]float64{0, 1, 1.5, 1.5}[from]
	odds := math.Log(tried / (1 - tried))
	team := &d.s.Teams[d.s.Fielding()]
	odds += .35*(d.runner[from].Speed-faster) - .25*d.t.figure(team.Fielder(game.Catcher)).Arm - .25*d.pitcher.Hold
	if d.behind() && from == game.First {
		odds += .5
	}
	if d.calls.Defence.Pitch == PitchOut {
		odds -= 1.3
	}
	if d.calls.Offence == HitAndRun { // not a base stealer, and a late start
		odds -= .5
	}
	return 1 / (1 + math.Exp(-odds))
}

// missedSqueeze: the bunt is missed, or the pitch is out of reach, and the runner from third is caught.
func (d *duel) missedSqueeze() bool {
	odds := missedSqueeze
	if d.calls.Defence.Pitch == PitchOut {
		odds = .7
	}
	if !d.dice.chance(odds) {
		return false
	}
	d.turn.Next.Pitches.add('>')
	d.waste('P')
	p := &d.turn.Play
	p.Kind = game.CaughtStealing
	p.Advances[game.Third].Reason = game.Caught
	p.Outs[0] = game.Out{Runner: game.Third, At: game.HomePlate, Kind: game.TagOut, Fielders: "2"}
	return true
}

// waste adds the pitch on which something happened, if it leaves the batter at bat: a ball, else a strike, else nothing.
func (d *duel) waste(letter byte) {
	thrown := &d.turn.Next.Pitches
	switch at := thrown.Count(); {
	case at.Balls < 3:
		thrown.add(letter)
	case at.Strikes < 2:
		thrown.add('C')
	}
}
