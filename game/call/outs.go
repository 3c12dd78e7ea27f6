package call

import "pressbox/game"

// battedOut tells a batted ball on which somebody is out.
func (t *teller) battedOut(more gaps) {
	p := t.play
	tally := t.before.Tally(*p)
	batter := t.out(game.AtBat)
	switch {
	case p.Flags.Has(game.OutForBattingOutOfTurn):
		t.tellOut("out of turn", batter, more)
	case p.Flags.Has(game.BatterInterference) && batter >= 0:
		t.tellOut("batter interferes", batter, more)
	case tally.TriplePlay:
		t.severalOut(triplePlay, more)
	case tally.DoublePlay && p.Flags.Has(game.GroundedIntoDoublePlay):
		t.severalOut("double play"+contactKey(p.Ball.Contact), more)
	case batter >= 0:
		t.batterOut(batter, more)
	case p.Flags.Has(game.RunnerInterference):
		t.tellOut("runner interferes", 0, gaps{"runner": t.name(p.Outs[0].Runner)})
		t.told("reaches", game.AtBat, game.First, nil)
	case p.Outs[0].Kind == game.ForceOut:
		t.forceOut(more)
	default:
		t.told("reaches", game.AtBat, game.First, nil)
	}
}

// tellOut adds a clause that tells one of the outs.
func (t *teller) tellOut(key string, i int, more gaps) {
	if i >= 0 {
		t.outTold[i] = true
	}
	t.add(key, more)
}

const triplePlay = "triple play" // the side is out: nobody need be named

// severalOut tells a double or triple play in one clause. Who is out in it is told by the clause when the batter and
// those whom he forced are; anybody else is told later.
func (t *teller) severalOut(key string, more gaps) {
	by := ""
	for i, o := range t.play.Outs {
		if o.Kind == game.NotOut {
			break
		}
		by = link(by, o.Fielders)
		t.outTold[i] = o.Kind == game.ForceOut || o.Kind == game.OutBeforeFirst || key == triplePlay
	}
	t.add(key, t.throws(by, more))
}

// throws adds the fielders of an out: all of them as chain, and as throws if there was one.
func (t *teller) throws(by string, more gaps) gaps {
	more["chain"] = t.chain(by)
	if len(by) > 1 {
		more["throws"] = more["chain"]
	}
	return more
}

// link joins two throws: the second begins with whoever ended the first.
func link(a, b string) string {
	if a != "" && b != "" && a[len(a)-1] == b[0] {
		return a + b[1:]
	}
	return a + b
}

// batterOut tells the batter's own out.
func (t *teller) batterOut(i int, more gaps) {
	o := t.play.Outs[i]
	more = t.throws(o.Fielders, more)
	if o.Fielders != "" {
		more["fielder"] = t.fielder(o.Fielders[len(o.Fielders)-1])
	}
	key := "out"
	switch flags := t.play.Flags; {
	case flags.Has(game.InfieldFly):
		key = "infield fly"
	case flags.Has(game.SacrificeHit):
		key = "sacrifice bunt"
	case flags.Has(game.SacrificeFly):
		key = "sacrifice fly"
	case o.Kind == game.FlyOut:
		key = t.caughtKey()
	case o.Kind == game.OutBeforeFirst:
		key = t.thrownOutKey()
	case o.Kind == game.CalledOut || o.At == game.AtBat:
		key = "called"
	case o.At != game.First:
		return // told with the runners
	}
	t.tellOut(key, i, more)
}

func (t *teller) caughtKey() string {
	contact := t.play.Ball.Contact
	switch {
	case contact == game.BuntPopUp || contact == game.BuntLineDrive:
		return "pop.bunt"
	case t.play.Flags.Has(game.Foul):
		return "foul"
	case contact == game.FlyBall:
		return "fly"
	case contact == game.LineDrive:
		return "line"
	case contact == game.PopUp:
		return "pop"
	case t.play.Outs[t.out(game.AtBat)].Fielders == "":
		return "called"
	default:
		return "caught"
	}
}

func (t *teller) thrownOutKey() string {
	switch contact := t.play.Ball.Contact; {
	case contact.IsBunt():
		return "bunt"
	case contact == game.GroundBall:
		return "ground"
	default:
		return "out"
	}
}

// forceOut tells that the batter reached first because a runner was forced out.
func (t *teller) forceOut(more gaps) {
	o := t.play.Outs[0]
	more["runner"], more["base"], more["chain"] = t.name(o.Runner), t.base(o.At), t.chain(o.Fielders)
	t.outTold[0] = true
	t.told("force"+contactKey(t.play.Ball.Contact), game.AtBat, game.First, more)
}

// outs tells the outs that are not told yet.
func (t *teller) outs() {
	for i, o := range t.play.Outs {
		if o.Kind == game.NotOut {
			break
		}
		if !t.outTold[i] {
			t.add(t.outKey(o), gaps{"runner": t.name(o.Runner), "base": t.base(o.At), "chain": t.chain(o.Fielders)})
		}
	}
	tally := t.before.Tally(*t.play)
	switch inLead := t.play.Kind == game.BattedOut && t.play.Flags.Has(game.GroundedIntoDoublePlay); {
	case tally.TriplePlay && t.play.Kind != game.BattedOut:
		t.add("three out at once", nil)
	case tally.DoublePlay && !inLead:
		t.add("two out at once", nil)
	}
}

func (t *teller) outKey(o game.Out) string {
	caught := t.out(game.AtBat) >= 0 && t.play.Outs[t.out(game.AtBat)].Kind == game.FlyOut
	switch {
	case o.Kind == game.CalledOut || o.At == game.AtBat && o.Kind != game.AppealOut:
		return "ruled out"
	case o.Kind == game.ForceOut:
		return "forced at"
	case o.Kind == game.AppealOut && caught && o.At == o.Runner && !t.play.Flags.Has(game.Appeal):
		return "doubled off"
	case o.Kind == game.AppealOut:
		return "appealed"
	default:
		return "out at"
	}
}

// errors tells the errors that are not told yet.
func (t *teller) errors() {
	for i, e := range t.play.Errors {
		if e.Fielder == 0 {
			return
		}
		if t.errorTold[i] {
			continue
		}
		key := "error by"
		if e.Kind == game.ThrowingError {
			key = "throwing error by"
		}
		t.add(key, gaps{"fielder": t.fielder('0' + e.Fielder), "position": t.book.word("positions", int(e.Fielder))})
	}
}

// meaning tells what the play led to: the score, the outs, the end.
func (t *teller) meaning() {
	scored := t.before.Tally(*t.play).Runs > 0
	if scored {
		t.scoreNow()
	}
	if t.after.Over() {
		return
	}
	switch {
	case t.play.Outs[0].Kind == game.NotOut:
	case t.after.Half != t.before.Half:
		t.add("side retired", nil)
	case t.after.Outs == 1:
		t.add("one down", nil)
	case t.after.Outs == 2:
		t.add("two down", nil)
	}
}

// scoreNow tells the score after a run.
func (t *teller) scoreNow() {
	side := t.before.Batting()
	before, after := t.before.Lead(), t.after.Score[side]-t.after.Score[side.Other()]
	t.add("score", t.scoreGaps(t.after.Score))
	key := "adds"
	switch {
	case t.after.End == game.Final && t.before.Half == game.Bottom && before <= 0 && after > 0:
		key = "walk-off"
	case after == 0:
		key = "tied"
	case before <= 0 && after > 0:
		key = "ahead"
	case after < 0:
		key = "behind"
	}
	t.add(key, t.scoreGaps(t.after.Score))
}
