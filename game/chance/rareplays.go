package chance

import "pressbox/game"

// Shares of rare plays.
const (
	groundRuleShare   = .075          // of doubles on which all advance two bases: .09 a team and game (2015–17, 2019)
	unassistedShare   = .2            // of forces at second that its fielders could throw for: .16 a team and game
	pickedOffStealing = .52           // of pick-offs, 3,614 of 6,918 (20 seasons)
	strikeoutGoing    = 1229. / 16794 // of strikeouts with a lone runner on first, less than two out (2015–17, 2019)
	strikeoutSafe     = 692. / 1229   // of these runners, those who were safe
	indifferent       = .085          // per pitch sequence with a lone runner on first who does not matter: .05 a game
)

// Throws to a base that the manager calls. With the runner standing, the out and the error weigh the same; each throw
// distracts the pitcher a little for the rest of the plate appearance. A runner who goes on the pitcher's first move is
// caught slightly more often than on a pitch (estimates).
const (
	throwOverOut     = .004
	throwOverWild    = .010
	throwOverCaught  = .03 // more than on a pitch
	throwOverEffect  = .01 // change of the logarithm of hits and walks, as fatigue
	indifferenceLead = 3   // in the last inning; one more run for each inning before
)

// Factors by which games reach the rates of 2015–19 (game/realismtest): on errors that explain a base, and on the log
// odds that a runner on third scores on a fly ball.
const (
	errorShare       = 1.6
	sacrificeFlyEdge = .34
)

// throwOver resolves a pick-off throw that the manager called; going are the bases of the runners who go, perhaps
// not from the one that is thrown to.
func (pa *plateAppearance) throwOver(base game.Base, going int) {
	out, wild, reason := throwOverOut*pa.pitcher.hold, throwOverWild, game.PickedOff
	if going&(1<<(base-1)) != 0 {
		out, reason = min(1-pa.stealChance(base)+throwOverCaught, .9), game.PickedOffStealing
	}
	switch pa.dice.pick([]float64{out, wild, 1 - out - wild}) {
	case 0:
		pa.tagOff(base, reason)
	case 1:
		pa.throwAway(base, reason)
	default:
		pa.safeOnThrow(going)
	}
}

// safeOnThrow sets a throw that retires no runner.
func (pa *plateAppearance) safeOnThrow(going int) {
	p := &pa.result.Play
	switch {
	case going != 0:
		p.Kind = game.StolenBase
		for from := game.First; from <= game.Third; from++ {
			if going&(1<<(from-1)) != 0 {
				p.Advances[from] = game.Advance{To: from + 1, Reason: game.Stole}
			}
		}
	case pa.state.Options.Disengagements == game.Limit2023 && pa.result.Next.PickoffThrows >= maxPickoffThrows2023:
		pa.advanceOn(game.Balk)
	default:
		p.Kind = game.NoPlay
	}
}

// pickOffReason returns how a runner whom the manager did not send is picked off.
func (pa *plateAppearance) pickOffReason(from game.Base) game.AdvanceReason {
	if pa.scorerDraw < pickedOffStealing && !pa.isDecided() && from < game.Third && pa.runners[from+1] == nil {
		return game.PickedOffStealing
	}
	return game.PickedOff
}

// decidedLead is the lead, in runs, from which runners go only if they are sent: 3 of 1,176 attempts to steal in 2020.
const decidedLead = 7

func (pa *plateAppearance) isDecided() bool {
	return pa.state.Lead() >= decidedLead || pa.state.Lead() <= -decidedLead
}

// indifference returns the chance that a lone runner on first takes second while the defense does not care: in the last
// innings, with a lead.
func (pa *plateAppearance) indifference() float64 {
	left := max(pa.state.Options.ScheduledInnings()-pa.state.Inning, 0)
	if pa.bases != onFirst || left > 1 || -pa.state.Lead() < indifferenceLead+left {
		return 0
	}
	return indifferent
}

func (pa *plateAppearance) advanceIndifferently() {
	p := &pa.result.Play
	p.Kind = game.Indifference
	pa.addPitch('B')
	p.Advances[game.First] = game.Advance{To: game.Second}
}

// takesStrike draws whether the pitch on which a runner goes is a strike, not the third.
func (pa *plateAppearance) takesStrike() bool {
	at := pa.result.Next.Pitches.Count()
	return at.Strikes < 2 && pa.dice.path == nil &&
		!pa.dice.chance(pa.sim.data.counts.takeBallShare[at.Balls][at.Strikes])
}

// goOnStrike returns a mask of the runners who may go with the third strike, and the chance that they do: always
// on a hit and run, sometimes a lone runner on first who was not sent, as on full counts.
func (pa *plateAppearance) goOnStrike() (going int, p float64) {
	switch {
	case pa.state.Outs == 2:
		return 0, 0
	case pa.tactics.Offense == HitAndRun:
		return pa.runnersGoing(), 1
	case pa.bases == onFirst && !pa.isDecided():
		return onFirst, strikeoutGoing
	default:
		return 0, 0
	}
}

// unassisted reports whether an infielder who has the ball near second forces a runner without a throw.
func (pa *plateAppearance) unassisted(o rowOut, holder int) bool {
	return o.kind == game.ForceOut && o.base == game.Second && holder == pa.fielder &&
		(holder == 4 || holder == 6) && pa.scorerDraw > 1-unassistedShare
}

// isGroundRuleDouble reports whether a double is one by a ground rule: all advance two bases.
func (pa *plateAppearance) isGroundRuleDouble(c class, r *advanceRow) bool {
	if c != double || pa.scorerDraw < 1-groundRuleShare || r.to[game.AtBat] != game.Second {
		return false
	}
	for from := game.First; from <= game.Third; from++ {
		if pa.runners[from] != nil && r.to[from] != min(from+2, game.HomePlate) {
			return false
		}
	}
	return true
}
