package chance

import "pressbox/game"

// Resolve draws the result of both sides' tactics in state s and returns it. It does not change s: apply
// Resolution.Play, or the result of [Resolution.Final] once the question is answered. The error is an
// [*IllegalTacticError].
func (sim *Simulator) Resolve(s *game.State, m Progress, c Tactics) (Resolution, error) {
	if err := checkPlayable(s); err != nil {
		return Resolution{}, err
	}
	if err := c.Check(s, m); err != nil {
		return Resolution{}, err
	}
	var pa plateAppearance
	pa.init(sim, s, &m, c)
	pa.form = sim.seed.form(s.Pitcher())
	pa.scorerDraw = pa.dice.Float64()
	pa.resolve()
	pa.result.Play = s.LimitWalkOff(pa.result.Play)
	if pa.result.Question != NoQuestion {
		pa.result.Alternative.Count = pa.result.Play.Count
		pa.result.Alternative = s.LimitWalkOff(pa.result.Alternative)
	}
	pa.finish(&m)
	return pa.result, nil
}

// checkPlayable returns an [*IllegalTacticError] if no tactics are possible: the game is over, or a position is
// unfilled.
func checkPlayable(s *game.State) error {
	if s.Over() {
		return &IllegalTacticError{Side: s.Batting(), Detail: "the game is over"}
	}
	team := &s.Teams[s.Fielding()]
	filled := 1 << game.Pitcher
	if team.Pitcher == "" {
		filled = 0
	}
	for i := range team.Order {
		filled |= 1 << team.Order[i].Position
	}
	for p := game.Pitcher; p <= game.RightField; p++ {
		if filled&(1<<p) == 0 {
			return &IllegalTacticError{Side: s.Fielding(), Detail: "no player at position " + p.String()}
		}
	}
	return nil
}

func (pa *plateAppearance) resolve() {
	thrown := &pa.result.Next.Pitches
	pa.result.Play.Count = thrown.Count()
	switch {
	case pa.resolveBetweenPitches():
		return
	case pa.tactics.Defense.Pitch == IntentionalWalk:
		pa.walkIntentionally()
		return
	}
	c := pa.throwFixedPitch(thrown)
	ended := c < classes
	if pa.tactics.isBunt() && !ended {
		pa.resolveBunt()
		pa.result.Play.Count = pa.buntPitches(thrown)
		return
	}
	if !ended {
		w := pa.classWeights()
		pa.applyCount(&w, thrown.Count())
		c = class(pa.dice.pick(w[:])) //nolint:gosec // few
		pa.drawBattedBall(c)
	}
	pa.resolveRunners(c)
	if c == strikeout {
		pa.throwAfterStrikeout()
	}
	switch {
	case !ended:
		pa.result.Play.Count = pa.sim.data.counts.drawPitches(thrown, c.pitchEnding(), &pa.dice)
	case c == strikeout:
		pa.result.Play.Count = game.Count{Balls: thrown.Count().Balls, Strikes: 2}
	default:
		pa.result.Play.Count = game.Count{Balls: 3, Strikes: thrown.Count().Strikes}
	}
	if also := pa.result.Play.Also; also == game.StolenBase || also == game.CaughtStealing {
		thrown.insertLast('>')
	}
}

func (c *Tactics) isBunt() bool {
	return c.Offense == Sacrifice || c.Offense == BuntForHit || c.Offense == Squeeze
}

// pitchEnding returns the ending of a class as far as the pitches show it.
func (c class) pitchEnding() int {
	switch c {
	case strikeout:
		return endsInStrikeout
	case walk:
		return endsInWalk
	case hitByPitch:
		return endsInHitByPitch
	default:
		return endsInPlay
	}
}

// walkIntentionally awards the batter first base without a pitch.
func (pa *plateAppearance) walkIntentionally() {
	p := &pa.result.Play
	p.Kind, p.Count = game.IntentionalWalk, pa.result.Next.Pitches.Count()
	p.Advances[game.AtBat].To = game.First
	for b := game.First; b <= game.Third; b++ {
		if pa.runners[b] != nil && pa.state.IsForced(b) {
			p.Advances[b].To = b + 1
		}
	}
}

// throwAfterStrikeout resolves the throw at a runner who went with the third strike.
func (pa *plateAppearance) throwAfterStrikeout() {
	if pa.result.Play.Outs[0].Kind != game.StruckOut {
		return
	}
	if going, p := pa.goOnStrike(); p == 1 || p > 0 && pa.dice.chance(p) {
		pa.throwOut(going)
	}
}

// throwOut resolves the throw at the lead of the runners who go with a third strike.
func (pa *plateAppearance) throwOut(going int) {
	p, lead := &pa.result.Play, game.Base(highest(going)) //nolint:gosec // 1–3
	if !pa.dice.chance(pa.stealChance(lead)) {
		by, _ := throwTo(2, lead+1)
		p.Also = game.CaughtStealing
		p.Advances[lead].Reason = game.Caught
		p.Outs[1] = game.Out{Runner: lead, At: lead + 1, Kind: game.TagOut, Fielders: by}
		return
	}
	p.Also = game.StolenBase
	for b := game.First; b <= lead; b++ {
		if going&(1<<(b-1)) != 0 {
			p.Advances[b] = game.Advance{To: b + 1, Reason: game.Stole}
		}
	}
}

// buntPitches draws the pitches of a bunt: two of three batters bunt the first good one.
func (pa *plateAppearance) buntPitches(thrown *Pitches) game.Count {
	at := thrown.Count()
	if pa.result.Play.Kind == game.Strikeout {
		for at.Strikes < 2 {
			thrown.add('L')
			at = thrown.Count()
		}
		thrown.add('S')
		return at
	}
	if at.Balls < 3 && pa.dice.chance(1./3) {
		thrown.add('B')
		at = thrown.Count()
	}
	thrown.add('X')
	return at
}

// finish sets the progress after the resolution.
func (pa *plateAppearance) finish(before *Progress) {
	next, side := &pa.result.Next, pa.state.Fielding()
	next.Turns++
	pa.workload.Pitches += next.Pitches.Thrown() - before.Pitches.Thrown()
	pa.result.thrown = next.Pitches
	if pa.result.Play.Kind != game.NoPlay {
		next.PickoffThrows = 0 // a runner has advanced, or is out
	}
	switch {
	case pa.result.Play.Kind.EndsPlateAppearance():
		pa.workload.Batters++
		next.Pitches, next.PickoffThrows = Pitches{}, 0
	case pa.state.Outs+pa.result.Play.Outs.Count() >= 3: // the batter leads off the next inning with a new count
		next.Pitches, next.PickoffThrows = Pitches{}, 0
	default:
		next.Pitches.add('.')
	}
	next.Workloads[side] = pa.workload
}

// Final returns the play after the answer to Question, with its pitches. Without a question bold has no effect.
func (r *Resolution) Final(bold bool) game.Play {
	p := r.Play
	if r.Question != NoQuestion && bold != r.Bold {
		p = r.Alternative
	}
	p.Pitches = r.thrown.String()
	return p
}
