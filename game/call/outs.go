package call

import "pressbox/game"

// battedOut tells a batted ball on which somebody is out.
func (t *teller) battedOut(more gaps) {
	p := t.play
	tally := t.before.Tally(*p)
	batter := t.out(game.AtBat)
	switch {
	case p.Flags.Has(game.BattedOutOfTurn):
		t.tellOut("out of turn", batter, more)
	case p.Flags.Has(game.BatterInterferes) && batter >= 0:
		t.tellOut("batter interferes", batter, more)
	case tally.TriplePlay:
		t.severalOut(triplePlay, more)
	case tally.DoublePlay && p.Flags.Has(game.GroundedIntoDouble):
		t.severalOut("double play"+contactKey(p.Ball.Contact), more)
	case batter >= 0:
		t.batterOut(batter, more)
	case p.Flags.Has(game.RunnerInterferes):
		t.tellOut("runner interferes", 0, gaps{"runner": t.name(p.Outs[0].Who)})
		t.told("reaches", game.AtBat, game.First, nil)
	case p.Outs[0].How == game.Forced:
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
		if o.How == game.NotOut {
			break
		}
		by = link(by, o.By)
		t.outTold[i] = o.How == game.Forced || o.How == game.BeforeFirst || key == triplePlay
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
	more = t.throws(o.By, more)
	if o.By != "" {
		more["fielder"] = t.fielder(o.By[len(o.By)-1])
	}
	key := "out"
	switch flags := t.play.Flags; {
	case flags.Has(game.InfieldFly):
		key = "infield fly"
	case flags.Has(game.SacrificeHit):
		key = "sacrifice bunt"
	case flags.Has(game.SacrificeFly):
		key = "sacrifice fly"
	case o.How == game.OnFly:
		key = t.caughtKey()
	case o.How == game.BeforeFirst:
		key = t.thrownOutKey()
	case o.How == game.Called || o.At == game.AtBat:
		key = "called"
	case o.At != game.First:
		return // told with the runners
	}
	t.tellOut(key, i, more)
}

func (t *teller) caughtKey() string {
	contact := t.play.Ball.Contact
	switch {
	case contact == game.BuntPop || contact == game.BuntLine:
		return "pop.bunt"
	case t.play.Flags.Has(game.Foul):
		return "foul"
	case contact == game.Fly:
		return "fly"
	case contact == game.Line:
		return "line"
	case contact == game.Pop:
		return "pop"
	case t.play.Outs[t.out(game.AtBat)].By == "":
		return "called"
	default:
		return "caught"
	}
}

func (t *teller) thrownOutKey() string {
	switch contact := t.play.Ball.Contact; {
	case contact.Bunted():
		return "bunt"
	case contact == game.Ground:
		return "ground"
	default:
		return "out"
	}
}

// forceOut tells that the batter reached first because a runner was forced out.
func (t *teller) forceOut(more gaps) {
	o := t.play.Outs[0]
	more["runner"], more["base"], more["chain"] = t.name(o.Who), t.base(o.At), t.chain(o.By)
	t.outTold[0] = true
	t.told("force"+contactKey(t.play.Ball.Contact), game.AtBat, game.First, more)
}

// outs tells the outs that are not told yet.
func (t *teller) outs() {
	for i, o := range t.play.Outs {
		if o.How == game.NotOut {
			break
		}
		if !t.outTold[i] {
			t.add(t.outKey(o), gaps{"runner": t.name(o.Who), "base": t.base(o.At), "chain": t.chain(o.By)})
		}
	}
	tally := t.before.Tally(*t.play)
	switch inLead := t.play.Kind == game.BattedOut && t.play.Flags.Has(game.GroundedIntoDouble); {
	case tally.TriplePlay && t.play.Kind != game.BattedOut:
		t.add("three out at once", nil)
	case tally.DoublePlay && !inLead:
		t.add("two out at once", nil)
	}
}

func (t *teller) outKey(o game.Out) string {
	caught := t.out(game.AtBat) >= 0 && t.play.Outs[t.out(game.AtBat)].How == game.OnFly
	switch {
	case o.How == game.Called || o.At == game.AtBat && o.How != game.Appealed:
		return "ruled out"
	case o.How == game.Forced:
		return "forced at"
	case o.How == game.Appealed && caught && o.At == o.Who && !t.play.Flags.Has(game.Appeal):
		return "doubled off"
	case o.How == game.Appealed:
		return "appealed"
	default:
		return "out at"
	}
}

// errors tells the errors that are not told yet.
func (t *teller) errors() {
	for i, e := range t.play.Errors {
		if e.By == 0 {
			return
		}
		if t.errorTold[i] {
			continue
		}
		key := "error by"
		if e.Kind == game.ThrewBad {
			key = "throwing error by"
		}
		t.add(key, gaps{"fielder": t.fielder('0' + e.By), "position": t.book.word("positions", int(e.By))})
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
	case t.play.Outs[0].How == game.NotOut:
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
