package chance

import "pressbox/game"

// applyTactics changes the class weights by the managers' tactics. Factors without a named measurement are
// estimates, in the direction and rough size that published table-top and computer games use.
func (pa *plateAppearance) applyTactics(w *[classes]float64) {
	c := &pa.tactics
	if c.Defense.Pitch == PitchAround { // 40 % walk with first base open, 25 % otherwise
		w[walk] *= 3.5
		w[homeRun] *= .75
		w[double] *= .85
		w[single] *= .9
	}
	if c.Offense == HitAndRun { // the batter swings at any pitch, for a ground ball
		w[strikeout] *= .8
		w[walk] *= .5
		w[homeRun] *= .5
		w[double] *= .85
		w[flyOut] *= .8
		w[groundOut] *= 1.15
		w[single] *= 1.1 // a middle infielder covers second
	}
	if pa.playsBehind() {
		w[single] /= heldRunnerSingles
	}
	pa.applyDepths(w)
}

// heldRunnerSingles is the factor on singles while the first baseman holds a runner: .165 against .147 of plate
// appearances. The league's rates with a runner on first include it.
const heldRunnerSingles = .165 / .147

// playsBehind reports whether the first baseman plays behind a runner who would usually be held: as called, or with the
// infield in.
func (pa *plateAppearance) playsBehind() bool {
	return holdsRunner(pa.bases) && (pa.tactics.Defense.PlayBehind || pa.tactics.Defense.Infield == InfieldIn)
}

func (pa *plateAppearance) tacticWeight(c class, r *advanceRow) float64 {
	if c < reachedOnError || c == homeRun {
		return 1
	}
	f := 1.0
	if c == groundOut {
		f = pa.groundBallWeight(r)
	}
	if pa.tactics.Offense == HitAndRun {
		switch {
		case c == lineOut && r.traits&multipleOuts != 0:
			f *= 1.8
		case c.isHit() && r.outcome == success:
			f *= 1.7
		}
	}
	switch pa.tactics.Defense.Outfield {
	case Shallow:
		f *= [outcomes]float64{noRisk: 1, success: .8, failure: 1.3, declined: 1.2}[pa.outfieldOutcome(c, r)]
	case Deep:
		f *= [outcomes]float64{noRisk: 1, success: 1.15, failure: .7, declined: .85}[pa.outfieldOutcome(c, r)]
	default:
	}
	return f
}

// outfieldOutcome returns the row's outcome if the ball went to the outfield, otherwise noRisk.
func (pa *plateAppearance) outfieldOutcome(c class, r *advanceRow) outcome {
	if c == groundOut || pa.zone == infield {
		return noRisk
	}
	return r.outcome
}

// groundBallWeight returns the factor of the tactics on a row of a ground ball.
func (pa *plateAppearance) groundBallWeight(r *advanceRow) float64 {
	f := 1.0
	is := func(m traits) bool { return r.traits&m != 0 }
	switch pa.tactics.Defense.Infield {
	case InfieldIn:
		f *= pa.infieldInWeight(r, .45, 2.5, 1.3)
	case CornersIn:
		f *= pa.infieldInWeight(r, .7, 1.6, 1.15)
	case DoublePlayDepth:
		switch {
		case is(multipleOuts):
			f *= 1.2
		case is(thirdScores):
			f *= 1.1
		}
	default:
		if is(multipleOuts) {
			f *= .9
		}
	}
	if pa.tactics.Offense == HitAndRun {
		switch {
		case is(multipleOuts):
			f *= .35
		case is(runnerAdvances):
			f *= 2.5
		}
	}
	return f
}

// infieldInWeight returns the factor of an infield in on a row, by what the runner from third does.
func (pa *plateAppearance) infieldInWeight(r *advanceRow, scored, out, stays float64) float64 {
	switch {
	case r.traits&multipleOuts != 0 && r.traits&thirdOutAtHome == 0:
		return .6
	case r.traits&thirdOutAtHome != 0:
		return out
	case r.traits&thirdScores != 0:
		return scored
	case r.traits&thirdHolds != 0:
		return stays
	}
	return 1
}

// throwFixedPitch throws the pitch that the tactics determine: a pitch that the batter takes, or a pitch-out. It
// returns the class if the pitch ends the plate appearance, otherwise classes.
func (pa *plateAppearance) throwFixedPitch(p *Pitches) class {
	at := p.Count()
	var letter byte
	switch {
	case pa.tactics.Defense.Pitch == PitchOut:
		letter = 'P'
	case pa.tactics.Offense == Take:
		letter = 'C'
		if pa.dice.chance(pa.sim.data.counts.takeBallShare[at.Balls][at.Strikes]) {
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

// applyCount changes the class weights by the count: a batter behind in the count strikes out more often.
func (pa *plateAppearance) applyCount(w *[classes]float64, at game.Count) {
	if at == (game.Count{}) {
		return
	}
	n := &pa.sim.data.counts
	w[strikeout] *= n.relativeChance(endsInStrikeout, at)
	w[walk] *= n.relativeChance(endsInWalk, at)
	w[hitByPitch] *= n.relativeChance(endsInHitByPitch, at)
	inPlay := n.relativeChance(endsInPlay, at)
	for c := reachedOnError; c < classes; c++ {
		w[c] *= inPlay
	}
}
