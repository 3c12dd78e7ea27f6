package chance

import "pressbox/game"

// Resolve draws what comes of both sides' decisions. The state is not changed: apply Turn.Play, or what [Resolution.Final]
// returns once a question is answered. The error is a [*IllegalTacticError].
func (t *Simulator) Resolve(s *game.State, m Progress, c Tactics) (Resolution, error) {
	if err := ready(s); err != nil {
		return Resolution{}, err
	}
	if err := c.Check(s, m); err != nil {
		return Resolution{}, err
	}
	var d duel
	d.begin(t, s, &m, c)
	d.view = d.dice.Float64()
	d.resolve()
	d.turn.Play = s.LimitWalkOff(d.turn.Play)
	if d.turn.Question != NoQuestion {
		d.turn.Alternative.Count = d.turn.Play.Count
		d.turn.Alternative = s.LimitWalkOff(d.turn.Alternative)
	}
	d.account(&m)
	return d.turn, nil
}

// ready refuses what no decision can change.
func ready(s *game.State) error {
	if s.Over() {
		return &IllegalTacticError{Side: s.Batting(), Detail: "the game is over"}
	}
	team := &s.Teams[s.Fielding()]
	held := 1 << game.Pitcher
	if team.Pitcher == "" {
		held = 0
	}
	for i := range team.Order {
		held |= 1 << team.Order[i].Position
	}
	for p := game.Pitcher; p <= game.RightField; p++ {
		if held&(1<<p) == 0 {
			return &IllegalTacticError{Side: s.Fielding(), Detail: "nobody plays " + p.String()}
		}
	}
	return nil
}

func (d *duel) resolve() {
	thrown := &d.turn.Next.Pitches
	d.turn.Play.Count = thrown.Count()
	switch {
	case d.between():
		return
	case d.calls.Defence.Pitch == IntentionalWalk:
		d.walkIntentionally()
		return
	}
	c := d.pitched(thrown)
	ended := c < classes
	if d.calls.bunts() && !ended {
		d.bunt()
		d.turn.Play.Count = d.buntPitches(thrown)
		return
	}
	if !ended {
		w := d.weights()
		d.count(&w, thrown.Count())
		c = class(d.dice.pick(w[:])) //nolint:gosec // few
		d.aim(c)
	}
	d.settle(c)
	if c == strikeout && d.calls.Offence == HitAndRun && d.turn.Play.Advances[game.AtBat].To == 0 {
		d.strikeThrow()
	}
	if !ended {
		d.turn.Play.Count = d.t.data.counts.throw(thrown, c.ending(), &d.dice)
		return
	}
	d.turn.Play.Count = game.Count{Balls: 3, Strikes: thrown.Count().Strikes}
	if c == strikeout {
		d.turn.Play.Count = game.Count{Balls: thrown.Count().Balls, Strikes: 2}
	}
}

// bunts reports whether the batter bunts.
func (c *Tactics) bunts() bool {
	return c.Offence == Sacrifice || c.Offence == BuntForHit || c.Offence == Squeeze
}

// ending is what the pitches tell of a class.
func (c class) ending() int {
	switch c {
	case strikeout:
		return endsK
	case walk:
		return endsWalk
	case hitByPitch:
		return endsHit
	default:
		return endsBall
	}
}

// walkIntentionally gives the batter first without a pitch.
func (d *duel) walkIntentionally() {
	p := &d.turn.Play
	p.Kind, p.Count = game.IntentionalWalk, d.turn.Next.Pitches.Count()
	p.Advances[game.AtBat].To = game.First
	for b := game.First; b <= game.Third; b++ {
		if d.runner[b] != nil && d.s.IsForced(b) {
			p.Advances[b].To = b + 1
		}
	}
}

// strikeThrow: the batter has struck out while the runner from first was going.
func (d *duel) strikeThrow() {
	p := &d.turn.Play
	if d.s.Outs == 2 || p.Outs[0].Kind != game.StruckOut {
		return
	}
	lead := game.First
	if d.held&onSecond != 0 {
		lead = game.Second
	}
	if !d.dice.chance(d.stealOdds(lead)) {
		by, _ := throw(2, lead+1)
		p.Also = game.CaughtStealing
		p.Advances[lead].Reason = game.Caught
		p.Outs[1] = game.Out{Runner: lead, At: lead + 1, Kind: game.TagOut, Fielders: by}
		return
	}
	p.Also = game.StolenBase
	for b := game.First; b <= lead; b++ {
		p.Advances[b] = game.Advance{To: b + 1, Reason: game.Stole}
	}
}

// buntPitches draws the pitches before a bunt: two batters in three bunt at the first good one.
func (d *duel) buntPitches(thrown *Pitches) game.Count {
	at := thrown.Count()
	if d.turn.Play.Kind == game.Strikeout {
		for at.Strikes < 2 {
			thrown.add('L')
			at = thrown.Count()
		}
		thrown.add('S')
		return at
	}
	if at.Balls < 3 && d.dice.chance(1./3) {
		thrown.add('B')
		at = thrown.Count()
	}
	thrown.add('X')
	return at
}

// account fills in the moment after the turn.
func (d *duel) account(before *Progress) {
	next, side := &d.turn.Next, d.s.Fielding()
	next.Turns++
	d.work.Pitches += next.Pitches.Thrown() - before.Pitches.Thrown()
	d.turn.thrown = next.Pitches
	switch {
	case d.turn.Play.Kind.EndsPlateAppearance():
		d.work.Batters++
		next.Pitches, next.PickoffThrows = Pitches{}, 0
	case d.s.Outs+outs(&d.turn.Play) >= 3: // who is at bat leads off with a new count
		next.Pitches, next.PickoffThrows = Pitches{}, 0
	default:
		next.Pitches.add('.')
	}
	next.Workloads[side] = d.work
}

// outs returns how many a play makes.
func outs(p *game.Play) int {
	n := 0
	for n < len(p.Outs) && p.Outs[n].Kind != game.NotOut {
		n++
	}
	return n
}

// Final returns the play after the answer to Ask, with its pitches written out; without a question the answer does not
// matter.
func (t *Resolution) Final(bold bool) game.Play {
	p := t.Play
	if t.Question != NoQuestion && bold != t.Bold {
		p = t.Alternative
	}
	p.Pitches = t.thrown.String()
	return p
}

// Labels names the bold choice and the other one.
func (q Question) Labels() (bold, safe string) {
	switch q {
	case SendRunner:
		return "send him", "hold him"
	case ThrowHome:
		return "throw for him", "cut it off"
	case TurnTwo:
		return "try for two", "take the sure out"
	case ThrowPlate:
		return "throw to the plate", "take the out at first"
	default:
		return "", ""
	}
}
