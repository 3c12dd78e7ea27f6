package chance

import (
	"math"

	"pressbox/game"
)

// buntResult is the result of a bunt.
type buntResult uint8

const (
	buntSacrifice buntResult = iota // batter out, runners advance
	buntOut
	buntHit
	buntDouble
	buntFieldersChoice // all safe
	buntError
	buntStrikeout // fouled off with two strikes, or missed
	buntResults
)

func (d *measurements) loadBunts(lines map[string]namedCounts) {
	names := [buntResults]string{"SH", "out", "hit", "dp", "fc", "err", "K"}
	read := func(keys ...string) (r [buntResults]float64) {
		for i, name := range names {
			for _, k := range keys {
				r[i] += lines[k][name]
			}
		}
		return r
	}
	twoOut := make([]string, 0, 8)
	for bases := range 8 {
		twoOut = append(twoOut, baseOutKey(3*bases+2))
	}
	squeezes := []string{"4,1", "5,0", "5,1", "6,1", "7,1"} // too few to separate
	for at := range baseOutStates {
		switch bases := at / 3; {
		case at%3 == 2: // an out is that of the batter
			d.bunts[at] = read(twoOut...)
			d.bunts[at][buntOut] += d.bunts[at][buntFieldersChoice]
			d.bunts[at][buntFieldersChoice] = 0
		case bases&onThird != 0:
			d.bunts[at] = read(squeezes...)
		default:
			d.bunts[at] = read(baseOutKey(at))
		}
	}
}

// bunterSpeed is the average speed of batters who bunt with the bases empty, in standard deviations (estimate).
const bunterSpeed = 1.3

// buntWeights returns the weight of each result. League bunters with the bases empty, fast by selection, reached
// base .44 of the time; an average runner reaches a third of the time. With runners on, a bunt for a hit trades
// advances for hits.
func (pa *plateAppearance) buntWeights() [buntResults]float64 {
	w := pa.sim.data.bunts[pa.baseOut]
	speedFactor := math.Exp(.25 * pa.batter.Speed)
	if pa.bases == 0 {
		speedFactor = math.Exp(.4 * (pa.batter.Speed - bunterSpeed))
	}
	w[buntHit] *= speedFactor
	w[buntDouble] /= speedFactor
	if pa.tactics.Offense == BuntForHit && pa.bases != 0 {
		w[buntHit] += .25 * w[buntSacrifice] * speedFactor
		w[buntOut] += .2 * w[buntSacrifice]
		w[buntSacrifice] *= .55
	}
	if pa.tactics.Offense != BuntForHit { // the batter squares early
		w[buntHit] *= .9
	}
	f := &pa.tactics.Defense
	if f.Infield == InfieldIn || f.Infield == CornersIn { // the fielders charge (estimates)
		w[buntHit] *= .5
		w[buntOut] *= 1.6
		w[buntDouble] *= 1.5
		w[buntSacrifice] *= .8
	}
	pa.applyBuntPrice(&w)
	if pa.bases == 0 || pa.state.Outs == 2 {
		w[buntOut] += w[buntSacrifice]
		w[buntSacrifice] = 0
	}
	return w
}

// Shares of the good bunts that fail (estimates). The counts are of bunts that were put in play, mostly
// by good bunters at moments of their choice; they lack the fouls and misses that cost strikes.
const (
	buntsMissed       = .2
	sacrificesMissed  = .1
	lateBuntsMissed   = .5 // for a hit, with a runner on third: nearly all counted were squeezes or surprises
	safetyBuntsMissed = .5 // the runner on third, who waits for a good bunt, must hold
)

// applyBuntPrice moves the bunts that a manager's call fails to put in play well to the outs.
func (pa *plateAppearance) applyBuntPrice(w *[buntResults]float64) {
	hits, sacrifices := buntsMissed, sacrificesMissed
	if pa.bases&onThird != 0 && pa.tactics.Offense != Squeeze {
		hits, sacrifices = lateBuntsMissed, safetyBuntsMissed
	}
	w[buntOut] += hits*w[buntHit] + sacrifices*w[buntSacrifice]
	w[buntHit] *= 1 - hits
	w[buntSacrifice] *= 1 - sacrifices
}

// resolveBunt draws the result of a bunt and sets the play.
func (pa *plateAppearance) resolveBunt() {
	w := pa.buntWeights()
	result := buntResult(pa.dice.pick(w[:])) //nolint:gosec // few
	pa.fielder = [...]int{1, 2, 3, 5}[pa.dice.pick([]float64{.4, .15, .2, .25})]
	pa.contact, pa.zone = game.BuntGround, infield
	p := &pa.result.Play
	p.Ball = game.BattedBall{Contact: pa.contact, Location: digit(pa.fielder)}
	switch result {
	case buntStrikeout:
		p.Ball = game.BattedBall{}
		p.Kind = game.Strikeout
		p.Outs[0] = game.Out{Runner: game.AtBat, Kind: game.StruckOut, Fielders: "2"}
	case buntHit:
		p.Kind, p.FieldedBy = game.Single, digit(pa.fielder)
		p.Advances[game.AtBat].To = game.First
		pa.advanceRunners(p)
	case buntError:
		pa.setReachedOnError(p)
		pa.allSafeOnBunt(p)
	case buntFieldersChoice:
		p.Kind, p.FieldedBy = game.FieldersChoice, digit(pa.fielder)
		pa.allSafeOnBunt(p)
	case buntSacrifice:
		p.Kind, p.Flags = game.BattedOut, game.SacrificeHit
		pa.batterOutAtFirst(p)
		pa.advanceRunners(p)
	case buntDouble:
		pa.buntDoublePlay(p)
	default:
		pa.buntOut(p)
	}
}

// allSafeOnBunt advances all; with less than two out and runners on it is a sacrifice (9.08(b)).
func (pa *plateAppearance) allSafeOnBunt(p *game.Play) {
	p.Advances[game.AtBat].To = game.First
	pa.advanceRunners(p)
	if pa.bases != 0 && pa.state.Outs < 2 {
		p.Flags |= game.SacrificeHit
	}
	if p.Kind == game.FieldersChoice && pa.bases == 0 {
		pa.setReachedOnError(p)
	}
}

func (pa *plateAppearance) batterOutAtFirst(p *game.Play) {
	fielders, _ := throwTo(pa.fielder, game.First)
	if pa.fielder == 3 {
		fielders = "34" // the second baseman covers
	}
	p.Outs[0] = game.Out{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: fielders}
}

// leadForcedRunner returns the base of the lead runner who is forced, AtBat if none is.
func (pa *plateAppearance) leadForcedRunner() game.Base {
	for b := game.Third; b >= game.First; b-- {
		if pa.runners[b] != nil && pa.state.IsForced(b) {
			return b
		}
	}
	return game.AtBat
}

// buntOut sets a single out: 40 % are popped up; otherwise the lead runner is forced out, or, if no runner is
// forced, the batter is out and the runners hold.
func (pa *plateAppearance) buntOut(p *game.Play) {
	p.Kind = game.BattedOut
	lead := pa.leadForcedRunner()
	switch {
	case pa.scorerChance(.4):
		p.Ball.Contact = game.BuntPopUp
		p.Outs[0] = game.Out{Runner: game.AtBat, Kind: game.FlyOut, Fielders: digit(pa.fielder)}
	case lead == game.AtBat || pa.state.Outs == 2:
		pa.batterOutAtFirst(p)
	default:
		fielders, _ := throwTo(pa.fielder, lead+1)
		p.Outs[0] = game.Out{Runner: lead, At: lead + 1, Kind: game.ForceOut, Fielders: fielders}
		p.Advances[game.AtBat].To = game.First
		for b := game.First; b < lead; b++ {
			p.Advances[b].To = b + 1
		}
	}
}

// buntDoublePlay forces the lead runner and throws the batter out, or doubles a runner off on a caught bunt.
func (pa *plateAppearance) buntDoublePlay(p *game.Play) {
	if pa.state.Outs == 2 || pa.bases == 0 {
		pa.buntOut(p)
		return
	}
	p.Kind = game.BattedOut
	lead := pa.leadForcedRunner()
	if lead == game.AtBat {
		lead = game.Base(highest(pa.bases)) //nolint:gosec // 1–3
		p.Ball.Contact = game.BuntPopUp
		fielders, _ := throwTo(pa.fielder, lead)
		p.Outs[0] = game.Out{Runner: game.AtBat, Kind: game.FlyOut, Fielders: digit(pa.fielder)}
		p.Outs[1] = game.Out{Runner: lead, At: lead, Kind: game.AppealOut, Fielders: fielders}
		return
	}
	p.Flags |= game.GroundedIntoDoublePlay
	fielders, holder := throwTo(pa.fielder, lead+1)
	p.Outs[0] = game.Out{Runner: lead, At: lead + 1, Kind: game.ForceOut, Fielders: fielders}
	fielders, _ = throwTo(holder, game.First)
	p.Outs[1] = game.Out{Runner: game.AtBat, At: game.First, Kind: game.OutBeforeFirst, Fielders: fielders}
	for b := game.First; b < lead; b++ {
		p.Advances[b].To = b + 1
	}
}
