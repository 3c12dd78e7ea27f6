package call

import "pressbox/game"

// baserunning adds plays between pitches, or with a walk or strikeout.
func (b *playBuilder) baserunning(k game.PlayKind) {
	switch k {
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		b.attempts()
	case game.WildPitch, game.PassedBall, game.Balk, game.Indifference:
		b.add(k.String(), nil)
	default:
	}
}

// attempts adds steals, caught stealing and pick-offs, lead runner first. They are reported once, whatever the
// play's two kinds.
func (b *playBuilder) attempts() {
	stolen := 0
	for from := game.Third; from >= game.First; from-- {
		if b.advanceReported[from] {
			continue
		}
		switch b.play.Advances[from].Reason {
		case game.Stole:
			b.steal(from)
			stolen++
		case game.Caught:
			b.attempt("caught stealing", from, from+1)
		case game.PickedOffStealing:
			b.attempt("picked off stealing", from, from+1)
		case game.PickedOff:
			b.attempt("picked off", from, from)
		default:
		}
	}
	switch stolen {
	case 2:
		b.add("double steal", nil)
	case 3:
		b.add("triple steal", nil)
	}
}

func (b *playBuilder) steal(from game.Base) {
	key, to := "steals", from+1
	if to == game.HomePlate {
		key = "steals.home"
	}
	b.addAdvance(key, from, to, values{"runner": b.name(from), "base": b.base(to)})
}

// attempt adds an attempt that failed, or succeeded only on an error.
func (b *playBuilder) attempt(key string, from, at game.Base) {
	more := values{"runner": b.name(from), "base": b.base(at)}
	i := b.play.OutIndex(from)
	if i < 0 {
		key += " safe"
		b.addAdvance(key, from, at, more)
		b.advanceReported[from] = b.advanceReported[from] || b.play.Advances[from].To == game.AtBat
		return
	}
	o := b.play.Outs[i]
	more["chain"] = b.fielderNames(o.Fielders)
	if o.At != game.AtBat {
		more["base"] = b.base(o.At)
	}
	b.addOut(key, i, more)
	b.advanceReported[from] = true
}

// runs adds the runners who scored, lead runner first: together, except those who scored for a reason of their own.
func (b *playBuilder) runs() {
	var names []string
	for from := game.Third; ; from-- {
		run := b.play.Advances[from]
		if run.To == game.HomePlate && !b.advanceReported[from] {
			b.advanceReported[from] = true
			if why := b.reasonKey(from); why != "" {
				b.add("scores"+why, values{"runners": b.name(from)})
			} else {
				names = append(names, b.name(from))
			}
		}
		if from == game.AtBat {
			break
		}
	}
	key := "scores"
	if len(names) > 1 {
		key += ".many"
	}
	if b.play.Kind == game.HomeRun {
		key += ".homer"
	}
	if len(names) > 0 {
		b.add(key, values{"runners": b.phrasebook.joinNames(names)})
	}
}

// reasonKey returns the key suffix of the reason for an advance, "" if it is the play itself.
func (b *playBuilder) reasonKey(from game.Base) string {
	switch b.play.Advances[from].Reason {
	case game.OnError:
		return ".error"
	case game.OnThrow:
		return ".throw"
	case game.OnWildPitch:
		if b.play.Kind != game.WildPitch && b.play.Also != game.WildPitch {
			return ".wild"
		}
	case game.OnPassedBall:
		if b.play.Kind != game.PassedBall && b.play.Also != game.PassedBall {
			return ".passed"
		}
	default:
	}
	return ""
}

// advances adds the advances without a run.
func (b *playBuilder) advances() {
	for from := game.Third; ; from-- {
		if to := b.play.Advances[from].To; to != game.AtBat && !b.advanceReported[from] {
			key := "to base" + b.reasonKey(from)
			if key == "to base" {
				key += b.moveKey(from, to)
			}
			b.add(key, values{"runner": b.name(from), "base": b.base(to)})
		}
		if from == game.AtBat {
			return
		}
	}
}

// moveKey returns the key suffix of the batter, who reaches, and of runners forced by a walk, who are not mentioned.
func (b *playBuilder) moveKey(from, to game.Base) string {
	walked := b.play.Kind >= game.Walk && b.play.Kind <= game.CatchersInterference
	switch {
	case from == game.AtBat:
		return ".batter"
	case walked && to == from+1 && b.before.IsForced(from):
		return ".forced"
	default:
		return ""
	}
}
