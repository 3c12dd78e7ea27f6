package chance

import (
	"math"

	"pressbox/game"
)

// buntResult is what comes of a bunt.
type buntResult uint8

const (
	buntSacrifice buntResult = iota // batter out, runners up
	buntOut
	buntHit
	buntDouble
	buntChoice // everybody safe
	buntError
	buntStruck // fouled with two strikes, or missed
	buntResults
)

func (d *data) loadBunts(lines map[string]counted) {
	names := [buntResults]string{"SH", "out", "hit", "dp", "fc", "err", "K"}
	read := func(keys ...string) (r [buntResults]float64) {
		for i, name := range names {
			for _, k := range keys {
				r[i] += lines[k][name]
			}
		}
		return r
	}
	third := []string{"4,1", "5,0", "5,1", "6,1", "7,1"} // few: all squeezes together
	for at := range situations {
		switch held := at / 3; {
		case held&onThird != 0:
			d.bunts[at] = read(third...)
		case at%3 == 2:
			d.bunts[at] = read("0,2", "1,2", "2,2", "3,2")
		default:
			d.bunts[at] = read(key(at))
		}
	}
}

// bunterSpeed is how fast those are who bunt with nobody on, in standard deviations (estimate): they choose themselves.
const bunterSpeed = 1.3

// bunts returns the odds of each result. League bunters with the bases empty reached .44 of the time, being who they are;
// an average runner would a third of the time, which is not worth it. With runners on, hits are traded for runners moved.
func (d *duel) bunts() [buntResults]float64 {
	w := d.t.data.bunts[d.at]
	fast := math.Exp(.25 * d.batter.Speed)
	if d.held == 0 {
		fast = math.Exp(.4 * (d.batter.Speed - bunterSpeed))
	}
	w[buntHit] *= fast
	w[buntDouble] /= fast
	if d.calls.Offence == BuntForHit && d.held != 0 {
		w[buntHit] += .25 * w[buntSacrifice] * fast
		w[buntOut] += .2 * w[buntSacrifice]
		w[buntSacrifice] *= .55
	}
	if d.calls.Offence != BuntForHit { // squared early
		w[buntHit] *= .9
	}
	f := &d.calls.Defence
	if f.Infield == InfieldIn || f.Infield == CornersIn { // estimate: bunts into a charge
		w[buntHit] *= .5
		w[buntOut] *= 1.6
		w[buntDouble] *= 1.5
		w[buntSacrifice] *= .8
	}
	if d.held == 0 || d.s.Outs == 2 {
		w[buntOut] += w[buntSacrifice]
		w[buntSacrifice] = 0
	}
	return w
}

// bunt resolves a bunt.
func (d *duel) bunt() {
	w := d.bunts()
	result := buntResult(d.dice.pick(w[:])) //nolint:gosec // few
	d.place = [...]int{1, 2, 3, 5}[d.dice.pick([]float64{.4, .15, .2, .25})]
	d.contact, d.field = game.BuntGround, infield
	p := &d.turn.Play
	p.Ball = game.BattedBall{Contact: d.contact, Location: digit(d.place)}
	switch result {
	case buntStruck:
		p.Ball = game.BattedBall{}
		p.Kind = game.Strikeout
		p.Outs[0] = game.Out{Runner: game.AtBat, Kind: game.StruckOut, Fielders: "2"}
	case buntHit:
		p.Kind, p.FieldedBy = game.Single, digit(d.place)
		p.Advances[game.AtBat].To = game.First
		d.advanceAll(p)
	case buntError:
		d.tellError(p)
		d.allSafe(p)
	case buntChoice:
		p.Kind, p.FieldedBy = game.FieldersChoice, digit(d.place)
		d.allSafe(p)
	case buntSacrifice:
		p.Kind, p.Flags = game.BattedOut, game.SacrificeHit
		d.outAtFirst(p)
		d.advanceAll(p)
	case buntDouble:
		d.buntIntoTwo(p)
	default:
		d.buntOut(p)
	}
}

// allSafe: a sacrifice on which the defence got nobody (9.08(b)).
func (d *duel) allSafe(p *game.Play) {
	p.Advances[game.AtBat].To = game.First
	d.advanceAll(p)
	if d.held != 0 && d.s.Outs < 2 {
		p.Flags |= game.SacrificeHit
	}
	if p.Kind == game.FieldersChoice && d.held == 0 {
		d.tellError(p)
	}
}

func (d *duel) outAtFirst(p *game.Play) {
	by, _ := throw(d.place, game.First)
	if d.place == 3 {
		by = "34" // the second baseman covers
	}
	p.Outs[0] = game.Out{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: by}
}

// lead returns the leading runner who is forced, AtBat if none is.
func (d *duel) lead() game.Base {
	for b := game.Third; b >= game.First; b-- {
		if d.runner[b] != nil && d.s.IsForced(b) {
			return b
		}
	}
	return game.AtBat
}

// buntOut: four in ten are popped up; otherwise the lead runner is forced, or, if he was not, the batter is out and nobody
// moves.
func (d *duel) buntOut(p *game.Play) {
	p.Kind = game.BattedOut
	lead := d.lead()
	switch {
	case d.view < .4:
		p.Ball.Contact = game.BuntPopUp
		p.Outs[0] = game.Out{Runner: game.AtBat, Kind: game.FlyOut, Fielders: digit(d.place)}
	case lead == game.AtBat || d.s.Outs == 2:
		d.outAtFirst(p)
	default:
		by, _ := throw(d.place, lead+1)
		p.Outs[0] = game.Out{Runner: lead, At: lead + 1, Kind: game.ForceOut, Fielders: by}
		p.Advances[game.AtBat].To = game.First
		for b := game.First; b < lead; b++ {
			p.Advances[b].To = b + 1
		}
	}
}

// buntIntoTwo: the lead runner is forced and the batter thrown out, or the bunt is caught and a runner doubled off.
func (d *duel) buntIntoTwo(p *game.Play) {
	if d.s.Outs == 2 || d.held == 0 {
		d.buntOut(p)
		return
	}
	p.Kind = game.BattedOut
	lead := d.lead()
	if lead == game.AtBat {
		lead = game.Base(highest(d.held)) //nolint:gosec // 1–3
		p.Ball.Contact = game.BuntPopUp
		by, _ := throw(d.place, lead)
		p.Outs[0] = game.Out{Runner: game.AtBat, Kind: game.FlyOut, Fielders: digit(d.place)}
		p.Outs[1] = game.Out{Runner: lead, At: lead, Kind: game.AppealOut, Fielders: by}
		return
	}
	p.Flags |= game.GroundedIntoDoublePlay
	by, has := throw(d.place, lead+1)
	p.Outs[0] = game.Out{Runner: lead, At: lead + 1, Kind: game.ForceOut, Fielders: by}
	by, _ = throw(has, game.First)
	p.Outs[1] = game.Out{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: by}
	for b := game.First; b < lead; b++ {
		p.Advances[b].To = b + 1
	}
}
