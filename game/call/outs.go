package call

import "pressbox/game"

// battedOut adds the clauses of a batted ball with an out.
func (b *playBuilder) battedOut(more values) {
	p := b.play
	tally := b.before.Tally(*p)
	batter := b.play.OutIndex(game.AtBat)
	switch {
	case p.Flags.Has(game.OutForBattingOutOfTurn):
		b.addOut("out of turn", batter, more)
	case p.Flags.Has(game.BatterInterference) && batter >= 0:
		b.addOut("batter interferes", batter, more)
	case tally.TriplePlay:
		b.multipleOuts(triplePlay, more)
	case tally.DoublePlay && p.Flags.Has(game.GroundedIntoDoublePlay):
		b.multipleOuts("double play"+contactKey(p.Ball.Contact), more)
	case batter >= 0:
		b.batterOut(batter, more)
	case p.Flags.Has(game.RunnerInterference):
		b.addOut("runner interferes", 0, values{"runner": b.name(p.Outs[0].Runner)})
		b.addAdvance("reaches", game.AtBat, game.First, nil)
	case p.Outs[0].Kind == game.ForceOut:
		b.forceOut(more)
	default:
		b.addAdvance("reaches", game.AtBat, game.First, nil)
	}
}

// addOut adds a clause that reports out i.
func (b *playBuilder) addOut(key string, i int, more values) {
	if i >= 0 {
		b.outReported[i] = true
	}
	b.add(key, more)
}

// triplePlay is the key of a triple play, which reports all outs.
const triplePlay = "triple play"

// multipleOuts adds one clause for a double or triple play. It reports the outs of the batter and of forced
// runners; the others are reported later.
func (b *playBuilder) multipleOuts(key string, more values) {
	by := ""
	for i, o := range b.play.Outs[:b.play.Outs.Count()] {
		by = joinThrows(by, o.Fielders)
		b.outReported[i] = o.Kind == game.ForceOut || o.Kind == game.OutBeforeFirst || key == triplePlay
	}
	b.add(key, b.withFielders(by, more))
}

// withFielders adds the fielders of an out as {chain}, and as {throws} if there was a throw.
func (b *playBuilder) withFielders(by string, more values) values {
	more["chain"] = b.fielderNames(by)
	if len(by) > 1 {
		more["throws"] = more["chain"]
	}
	return more
}

// joinThrows joins two throws if the second begins with the fielder who received the first.
func joinThrows(a, b string) string {
	if a != "" && b != "" && a[len(a)-1] == b[0] {
		return a + b[1:]
	}
	return a + b
}

func (b *playBuilder) batterOut(i int, more values) {
	o := b.play.Outs[i]
	more = b.withFielders(o.Fielders, more)
	if o.Fielders != "" {
		more["fielder"] = b.fielder(o.Fielders[len(o.Fielders)-1])
	}
	key := "out"
	switch flags := b.play.Flags; {
	case flags.Has(game.InfieldFly):
		key = "infield fly"
	case flags.Has(game.SacrificeHit):
		key = "sacrifice bunt"
	case flags.Has(game.SacrificeFly):
		key = "sacrifice fly"
	case o.Kind == game.FlyOut:
		key = b.caughtKey()
	case o.Kind == game.OutBeforeFirst:
		key = b.thrownOutKey()
	case o.Kind == game.CalledOut || o.At == game.AtBat:
		key = "called"
	case o.At != game.First:
		return // reported with the runners
	}
	b.addOut(key, i, more)
}

func (b *playBuilder) caughtKey() string {
	contact := b.play.Ball.Contact
	switch {
	case contact == game.BuntPopUp || contact == game.BuntLineDrive:
		return "pop.bunt"
	case b.play.Flags.Has(game.Foul):
		return "foul"
	case contact == game.FlyBall:
		return "fly"
	case contact == game.LineDrive:
		return "line"
	case contact == game.PopUp:
		return "pop"
	case b.play.Outs[b.play.OutIndex(game.AtBat)].Fielders == "":
		return "called"
	default:
		return "caught"
	}
}

func (b *playBuilder) thrownOutKey() string {
	switch contact := b.play.Ball.Contact; {
	case contact.IsBunt():
		return "bunt"
	case contact == game.GroundBall:
		return "ground"
	default:
		return "out"
	}
}

// forceOut adds the clause for a batter who reached first on a force out.
func (b *playBuilder) forceOut(more values) {
	o := b.play.Outs[0]
	more["runner"], more["base"], more["chain"] = b.name(o.Runner), b.base(o.At), b.fielderNames(o.Fielders)
	b.outReported[0] = true
	b.addAdvance("force"+contactKey(b.play.Ball.Contact), game.AtBat, game.First, more)
}

// remainingOuts adds the outs that are not reported yet.
func (b *playBuilder) remainingOuts() {
	for i, o := range b.play.Outs[:b.play.Outs.Count()] {
		if !b.outReported[i] {
			b.add(b.outKey(o),
				values{"runner": b.name(o.Runner), "base": b.base(o.At), "chain": b.fielderNames(o.Fielders)})
		}
	}
	tally := b.before.Tally(*b.play)
	switch inLead := b.play.Kind == game.BattedOut && b.play.Flags.Has(game.GroundedIntoDoublePlay); {
	case tally.TriplePlay && b.play.Kind != game.BattedOut:
		b.add("three out at once", nil)
	case tally.DoublePlay && !inLead:
		b.add("two out at once", nil)
	}
}

func (b *playBuilder) outKey(o game.Out) string {
	caught := b.play.OutIndex(game.AtBat) >= 0 && b.play.Outs[b.play.OutIndex(game.AtBat)].Kind == game.FlyOut
	switch {
	case o.Kind == game.CalledOut || o.At == game.AtBat && o.Kind != game.AppealOut:
		return "ruled out"
	case o.Kind == game.ForceOut:
		return "forced at"
	case o.Kind == game.AppealOut && caught && o.At == o.Runner && !b.play.Flags.Has(game.Appeal):
		return "doubled off"
	case o.Kind == game.AppealOut:
		return "appealed"
	default:
		return "out at"
	}
}

// remainingErrors adds the errors that are not reported yet.
func (b *playBuilder) remainingErrors() {
	for i, e := range b.play.Errors {
		if e.Fielder == 0 {
			return
		}
		if b.errorReported[i] {
			continue
		}
		key := "error by"
		if e.Kind == game.ThrowingError {
			key = "throwing error by"
		}
		b.add(key,
			values{"fielder": b.fielder('0' + e.Fielder), "position": b.phrasebook.word("positions", int(e.Fielder))})
	}
}

// consequences adds the score, the outs and the end of the half-inning or game.
func (b *playBuilder) consequences() {
	scored := b.before.Tally(*b.play).Runs > 0
	if scored {
		b.scoreChange()
	}
	if b.after.Over() {
		return
	}
	switch {
	case b.play.Outs[0].Kind == game.NotOut:
	case b.after.Half != b.before.Half:
		b.add("side retired", nil)
	case b.after.Outs == 1:
		b.add("one down", nil)
	case b.after.Outs == 2:
		b.add("two down", nil)
	}
}

// scoreChange adds the score after a run.
func (b *playBuilder) scoreChange() {
	side := b.before.Batting()
	before, after := b.before.Lead(), b.after.Score[side]-b.after.Score[side.Other()]
	b.add("score", b.scoreValues(b.after.Score))
	key := "adds"
	switch {
	case b.after.End == game.Final && b.before.Half == game.Bottom && before <= 0 && after > 0:
		key = "walk-off"
	case after == 0:
		key = "tied"
	case before <= 0 && after > 0:
		key = "ahead"
	case after < 0:
		key = "behind"
	}
	b.add(key, b.scoreValues(b.after.Score))
}
