package call

import "pressbox/game"

// onTheBases tells what happened between pitches, or beside a walk or a strikeout.
func (t *teller) onTheBases(k game.PlayKind) {
	switch k {
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		t.attempts()
	case game.WildPitch, game.PassedBall, game.Balk, game.Indifference:
		t.add(k.String(), nil)
	default:
	}
}

// attempts tells the steals and those who were caught or picked off, the runner in front first. Told once, whatever the
// play's two kinds.
func (t *teller) attempts() {
	stolen := 0
	for from := game.Third; from >= game.First; from-- {
		if t.runTold[from] {
			continue
		}
		switch t.play.Advances[from].Reason {
		case game.Stole:
			t.steal(from)
			stolen++
		case game.Caught:
			t.attempt("caught stealing", from, from+1)
		case game.PickedOffStealing:
			t.attempt("picked off stealing", from, from+1)
		case game.PickedOff:
			t.attempt("picked off", from, from)
		default:
		}
	}
	switch stolen {
	case 2:
		t.add("double steal", nil)
	case 3:
		t.add("triple steal", nil)
	}
}

func (t *teller) steal(from game.Base) {
	key, to := "steals", from+1
	if to == game.HomePlate {
		key = "steals.home"
	}
	t.told(key, from, to, gaps{"runner": t.name(from), "base": t.base(to)})
}

// attempt tells an attempt that failed, or would have but for an error.
func (t *teller) attempt(key string, from, at game.Base) {
	more := gaps{"runner": t.name(from), "base": t.base(at)}
	i := t.out(from)
	if i < 0 {
		key += " safe"
		t.told(key, from, at, more)
		t.runTold[from] = t.runTold[from] || t.play.Advances[from].To == game.AtBat
		return
	}
	o := t.play.Outs[i]
	more["chain"] = t.chain(o.Fielders)
	if o.At != game.AtBat {
		more["base"] = t.base(o.At)
	}
	t.tellOut(key, i, more)
	t.runTold[from] = true
}

// scorers tells who scored, the man in front first: together unless something of their own let them in.
func (t *teller) scorers() {
	var names []string
	for from := game.Third; ; from-- {
		run := t.play.Advances[from]
		if run.To == game.HomePlate && !t.runTold[from] {
			t.runTold[from] = true
			if why := t.whyKey(from); why != "" {
				t.add("scores"+why, gaps{"runners": t.name(from)})
			} else {
				names = append(names, t.name(from))
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
	if t.play.Kind == game.HomeRun {
		key += ".homer"
	}
	if len(names) > 0 {
		t.add(key, gaps{"runners": t.book.list(names)})
	}
}

// whyKey returns the part of a key that says what moved a runner; "" when the play itself did.
func (t *teller) whyKey(from game.Base) string {
	switch t.play.Advances[from].Reason {
	case game.OnError:
		return ".error"
	case game.OnThrow:
		return ".throw"
	case game.OnWildPitch:
		if t.play.Kind != game.WildPitch && t.play.Also != game.WildPitch {
			return ".wild"
		}
	case game.OnPassedBall:
		if t.play.Kind != game.PassedBall && t.play.Also != game.PassedBall {
			return ".passed"
		}
	default:
	}
	return ""
}

// advances tells who moved up without scoring.
func (t *teller) advances() {
	for from := game.Third; ; from-- {
		if to := t.play.Advances[from].To; to != game.AtBat && !t.runTold[from] {
			key := "to base" + t.whyKey(from)
			if key == "to base" {
				key += t.ownMove(from, to)
			}
			t.add(key, gaps{"runner": t.name(from), "base": t.base(to)})
		}
		if from == game.AtBat {
			return
		}
	}
}

// ownMove tells apart the batter, who reaches, and a runner pushed to the next base by a walk, who needs no words.
func (t *teller) ownMove(from, to game.Base) string {
	walked := t.play.Kind >= game.Walk && t.play.Kind <= game.CatchersInterference
	switch {
	case from == game.AtBat:
		return ".batter"
	case walked && to == from+1 && t.before.IsForced(from):
		return ".forced"
	default:
		return ""
	}
}
