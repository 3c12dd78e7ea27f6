package chance

import (
	"math"

	"pressbox/game"
)

// Chances of plays between pitches. Of 318,456 plate appearances with runners on (2015–17, 2019), 7,164 had wild
// pitches, 1,422 passed balls and 597 balks. Runners picked off: on first with second open 1,585 of 172,155, on
// second 365 of 103,650, on third 73 of 69,922. 44 % of pick-offs are wild throws (2020).
const (
	wildPitches       = 7164. / 318456
	passedBalls       = 1422. / 318456
	balks             = 597. / 318456
	pickedOffFirst    = 1585. / 172155
	pickedOffSecond   = 365. / 103650
	pickedOffThird    = 73. / 69922
	wildPickoff       = .44
	wildPitchShare    = .87           // of wild pitches and passed balls, those without a strikeout, walk or steal
	wildSteal         = .05           // stolen bases with a wild throw (2020: 39 of 776)
	squeezeMissChance = .12           // bunts missed or pitched out of reach (estimate)
	droppedFouls      = 180. / 740020 // per plate appearance; compared with scorerDraw
)

// resolveBetweenPitches resolves plays before the ball is hit and reports whether there was one.
func (pa *plateAppearance) resolveBetweenPitches() bool {
	c := &pa.tactics
	going := pa.runnersGoing()
	switch {
	case c.Defense.Pitch == IntentionalWalk:
		return false
	case c.Defense.Pitch == PickoffThrow:
		pa.resolvePickoffThrow(going)
		return true
	case c.Offense == Squeeze:
		return pa.failedSqueeze()
	case c.Offense == HitAndRun && c.Defense.Pitch != PitchOut:
		return false
	case going != 0:
		pa.resolveSteal(going)
		return true
	case pa.scorerChance(droppedFouls):
		pa.dropFoulFly()
		return true
	case pa.bases == 0:
		return false
	}
	return pa.drawMishap()
}

// dropFoulFly sets an error on a dropped foul fly; the plate appearance goes on. In 2020 the catcher dropped 6,
// the first baseman 8, the third baseman 2, others 2.
func (pa *plateAppearance) dropFoulFly() {
	pa.result.Next.Pitches.add('F')
	fielder := [...]uint8{2, 3, 5, 9}[pa.dice.pick([]float64{6, 8, 2, 2})]
	pa.result.Play.Kind = game.FoulError
	pa.result.Play.Errors[0] = game.Error{Fielder: fielder, Runner: game.AtBat}
}

// runnersGoing returns a mask of the runners who go with the pitch.
func (pa *plateAppearance) runnersGoing() int {
	switch pa.tactics.Offense {
	case StealSecond, HitAndRun:
		if pa.bases&onSecond != 0 {
			return onFirst | onSecond
		}
		return onFirst
	case StealThird:
		return onSecond
	case StealHome:
		return onThird
	case DoubleSteal:
		return pa.bases
	default:
		return 0
	}
}

// drawMishap draws a wild pitch, passed ball, balk or pick-off, and reports whether there was one.
func (pa *plateAppearance) drawMishap() bool {
	first := 0.0
	if holdsRunner(pa.bases) && !pa.playsBehind() {
		first = pickedOffFirst * pa.pitcher.hold
	}
	chances := [...]float64{
		wildPitchShare * wildPitches, wildPitchShare * passedBalls, balks, first,
		indicator(pa.bases&onSecond != 0) * pickedOffSecond * pa.pitcher.hold,
		indicator(pa.bases&onThird != 0) * pickedOffThird * pa.pitcher.hold, pa.indifference(), 1,
	}
	const indifference, none = 6, 7
	for _, p := range chances[:none] {
		chances[none] -= p
	}
	switch i := pa.dice.pick(chances[:]); i {
	case 0, 1, 2:
		pa.advanceOn(game.WildPitch + game.PlayKind(i)) // WildPitch, PassedBall, Balk
	case indifference:
		pa.advanceIndifferently()
	case none:
		return false
	default:
		from := game.Base(i - 2) //nolint:gosec // 1–3
		pa.pickOffRunner(from, pa.pickOffReason(from))
	}
	return true
}

// advanceOn sets a play of kind k on which every runner advances one base.
func (pa *plateAppearance) advanceOn(k game.PlayKind) {
	p := &pa.result.Play
	p.Kind = k
	if k != game.Balk {
		pa.addPitch('B')
	}
	pa.advanceRunners(p)
}

// advanceRunners advances each runner who does not move yet by one base.
func (pa *plateAppearance) advanceRunners(p *game.Play) {
	for from := game.First; from <= game.Third; from++ {
		if pa.runners[from] != nil && p.Advances[from].To == 0 {
			p.Advances[from].To = from + 1
		}
	}
}

// resolvePickoffThrow resolves the throw that the manager called; going are the bases of the runners who go.
func (pa *plateAppearance) resolvePickoffThrow(going int) {
	base := pa.pickoffBase()
	pa.result.Next.Pitches.add('0' + byte(base))
	pa.result.Next.PickoffThrows++
	pa.throwOver(base, going)
}

// pickoffBase returns the base of the last runner with the next base open, Third if all are blocked.
func (pa *plateAppearance) pickoffBase() game.Base {
	for b := game.First; b < game.Third; b++ {
		if pa.runners[b] != nil && pa.runners[b+1] == nil {
			return b
		}
	}
	return game.Third
}

// pickOffRunner puts a runner out at the base, or lets all advance on a wild throw.
func (pa *plateAppearance) pickOffRunner(from game.Base, reason game.AdvanceReason) {
	if pa.dice.chance(wildPickoff) {
		pa.throwAway(from, reason)
		return
	}
	pa.tagOff(from, reason)
}

// throwAway sets a wild pick-off throw, on which all runners advance.
func (pa *plateAppearance) throwAway(from game.Base, reason game.AdvanceReason) {
	p := &pa.result.Play
	p.Kind = game.PickOff
	p.Advances[from] = game.Advance{To: from + 1, Reason: reason}
	p.Errors[0] = game.Error{Fielder: 1, Kind: game.ThrowingError, Runner: from}
	pa.advanceRunners(p)
}

// tagOff puts out a runner who is picked off, at the base or on the way to the next one.
func (pa *plateAppearance) tagOff(from game.Base, reason game.AdvanceReason) {
	p := &pa.result.Play
	p.Kind = game.PickOff
	at := from
	if reason == game.PickedOffStealing {
		at = from + 1
	}
	fielders, _ := throwTo(1, from)
	if at != from {
		fielders = [...]string{"", "134", "165", "152"}[from]
	}
	p.Advances[from].Reason = reason
	p.Outs[0] = game.Out{Runner: from, At: at, Kind: game.TagOut, Fielders: fielders}
}

// resolveSteal resolves a steal by the runners in the mask.
func (pa *plateAppearance) resolveSteal(going int) {
	pa.result.Next.Pitches.add('>')
	switch {
	case pa.tactics.Defense.Pitch == PitchOut:
		pa.addPitch('P')
	case pa.takesStrike():
		pa.result.Next.Pitches.add('C')
	default:
		pa.addPitch('B')
	}
	switch {
	case going&onFirst != 0 && going&onThird != 0:
		pa.stealSecondAndHome()
	case going&onSecond != 0:
		pa.stealBase(game.Second, going)
	case going&onThird != 0:
		pa.stealBase(game.Third, going)
	default:
		pa.stealBase(game.First, going)
	}
}

// stealBase resolves the throw at the lead runner; a trailing runner is safe.
func (pa *plateAppearance) stealBase(lead game.Base, going int) {
	p := &pa.result.Play
	safe := pa.dice.chance(pa.stealChance(lead))
	p.Kind = game.StolenBase
	trailing := game.Stole
	if safe {
		p.Advances[lead] = game.Advance{To: lead + 1, Reason: game.Stole}
	} else {
		p.Kind, trailing = game.CaughtStealing, game.OnThrow // 9.07(d): no steal when another is caught
		fielders, _ := throwTo(2, lead+1)
		if lead == game.Third {
			fielders = "12"
		}
		p.Advances[lead].Reason = game.Caught
		p.Outs[0] = game.Out{Runner: lead, At: lead + 1, Kind: game.TagOut, Fielders: fielders}
	}
	if lead == game.Second && going&onFirst != 0 && (safe || pa.state.Outs < 2) {
		p.Advances[game.First] = game.Advance{To: game.Second, Reason: trailing}
	}
	// No runner is ahead, and none goes behind.
	alone := highest(pa.bases) == int(lead) && (lead == game.First || going&onFirst == 0)
	if safe && alone && lead < game.Third && pa.dice.chance(wildSteal) {
		p.Advances[lead].To = lead + 2
		p.Errors[0] = game.Error{Fielder: 2, Kind: game.ThrowingError, Runner: lead}
	}
}

// stealSecondAndHome resolves a double steal of second and home: the catcher throws to second, and the runner on
// third goes. One in three ends with an out at second, half of these after the run; otherwise half of the return
// throws get the runner at home (estimate).
func (pa *plateAppearance) stealSecondAndHome() {
	p := &pa.result.Play
	p.Kind = game.CaughtStealing
	switch {
	case !pa.dice.chance(pa.stealChance(game.First)):
		p.Advances[game.First].Reason = game.Caught
		p.Outs[0] = game.Out{Runner: game.First, At: game.Second, Kind: game.TagOut, Fielders: "26"}
		if pa.state.Outs < 2 && pa.dice.chance(.5) {
			p.Advances[game.Third] = game.Advance{To: game.HomePlate, Reason: game.OnThrow}
		}
	case pa.dice.chance(.5 + .05*pa.runners[game.Third].Speed):
		p.Kind = game.StolenBase
		p.Advances[game.First] = game.Advance{To: game.Second, Reason: game.Stole}
		p.Advances[game.Third] = game.Advance{To: game.HomePlate, Reason: game.Stole}
	default:
		p.Advances[game.Third].Reason = game.Caught
		p.Outs[0] = game.Out{Runner: game.Third, At: game.HomePlate, Kind: game.TagOut, Fielders: "262"}
		if pa.state.Outs < 2 {
			p.Advances[game.First] = game.Advance{To: game.Second, Reason: game.OnThrow}
		}
	}
}

// stealChance returns the chance that a runner steals the next base: .716 second, .774 third, .34 home (2015–17
// and 2019, attempts with a pitch, pick-offs excluded), and as measured with third strikes if not sent. Changes of
// the log odds are estimates: 1.1 per standard deviation of speed, .25 of the catcher's arm and of the pitcher's
// hold, .5 for a runner who is not held, .85 for a pitch-out. The measured rates are those of runners who were
// sent; triedSpeed is how much faster than average they are taken to be, so that the bot's steals are as frequent
// and as successful as those of 2015–19 (game/realismtest). Speed counts that much because few runners are then
// near the break-even: who steals whenever it pays succeeds .77 of the time, as managers do.
func (pa *plateAppearance) stealChance(from game.Base) float64 {
	measured, triedSpeed := [...]float64{0, .716, .774, .34}[from], [...]float64{0, 1, 2.3, 1.5}[from]
	if !pa.tactics.Offense.isSteal() {
		measured, triedSpeed = strikeoutSafe, 0
	}
	logOdds := math.Log(measured / (1 - measured))
	team := &pa.state.Teams[pa.state.Fielding()]
	arm := pa.sim.player(team.Fielder(game.Catcher)).Arm
	logOdds += 1.1*(pa.runners[from].Speed-triedSpeed) - .25*arm - .25*pa.pitcher.Hold
	if pa.playsBehind() && from == game.First {
		logOdds += .5
	}
	if pa.tactics.Defense.Pitch == PitchOut {
		logOdds -= .85
	}
	if pa.tactics.Offense == DoubleSteal && from == game.Second {
		logOdds -= .25 // the defense watches two
	}
	return 1 / (1 + math.Exp(-logOdds))
}

// failedSqueeze draws whether the bunt is missed or the pitch is out of reach; then the runner from third is caught.
func (pa *plateAppearance) failedSqueeze() bool {
	chance := squeezeMissChance
	if pa.tactics.Defense.Pitch == PitchOut {
		chance = .7
	}
	if !pa.dice.chance(chance) {
		return false
	}
	pa.result.Next.Pitches.add('>')
	pa.addPitch('P')
	p := &pa.result.Play
	p.Kind = game.CaughtStealing
	p.Advances[game.Third].Reason = game.Caught
	p.Outs[0] = game.Out{Runner: game.Third, At: game.HomePlate, Kind: game.TagOut, Fielders: "2"}
	return true
}

// addPitch adds the pitch on which a play happened if it does not end the plate appearance: as letter if that is a
// ball, otherwise as a called strike, otherwise not at all.
func (pa *plateAppearance) addPitch(letter byte) {
	thrown := &pa.result.Next.Pitches
	switch at := thrown.Count(); {
	case at.Balls < 3:
		thrown.add(letter)
	case at.Strikes < 2:
		thrown.add('C')
	}
}
