package game_test

import "pressbox/game"

// draw makes a play that has a chance to be legal in s; pick chooses one of n.
func draw(s *game.State, pick func(int) int) game.Play {
	kinds := [...]game.Kind{
		game.BattedOut, game.Strikeout, game.Walk, game.Single, game.Double, game.HomeRun, game.Triple, game.StolenBase, game.CaughtStealing,
		game.WildPitch, game.PassedBall, game.Balk, game.HitByPitch, game.ReachedOnError, game.FieldersChoice, game.PickOff, game.CatchersInterference,
	}
	p := game.Play{Kind: kinds[pick(len(kinds))]}
	switch p.Kind {
	case game.BattedOut:
		drawOut(&p, pick)
	case game.Strikeout:
		p.Outs[0] = game.Out{How: game.Struck, By: "2"}
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		drawAttempt(&p, pick)
		return p
	case game.ReachedOnError, game.CatchersInterference:
		p.Errors[0] = game.Error{By: 2}
	default:
	}
	if p.Kind.Ends() && p.Outs[0].How == game.NotOut {
		p.Runs[game.AtBat].To = game.First
		if p.Kind.Hit() {
			p.Runs[game.AtBat].To = game.Base(p.Kind-game.Single) + game.First
		}
	}
	for b := game.First; b <= game.Third; b++ {
		if s.On(b).Player == "" || p.Outs[0].Who == b || p.Outs[1].Who == b && p.Outs[1].How != game.NotOut {
			continue
		}
		if to := b + game.Base(pick(5)); to > b {
			p.Runs[b].To = min(to, game.HomePlate)
		}
	}
	if p.Kind == game.HomeRun {
		for b := game.First; b <= game.Third; b++ {
			if s.On(b).Player != "" {
				p.Runs[b].To = game.HomePlate
			}
		}
	}
	return p
}

// drawOut makes a fly-out, a ground-out, a force-out or a double play.
func drawOut(p *game.Play, pick func(int) int) {
	switch pick(4) {
	case 0:
		p.Ball = game.Ball{Contact: game.Fly, Place: "8"}
		p.Outs[0] = game.Out{How: game.OnFly, By: "8"}
	case 1:
		p.Ball = game.Ball{Contact: game.Ground, Place: "6"}
		p.Outs[0] = game.Out{At: game.First, How: game.BeforeFirst, By: "63"}
	case 2:
		p.Ball = game.Ball{Contact: game.Ground, Place: "6"}
		p.Outs[0] = game.Out{Who: game.First, At: game.Second, How: game.Forced, By: "64"}
		p.Runs[game.AtBat].To = game.First
	default:
		p.Ball = game.Ball{Contact: game.Ground, Place: "6"}
		p.Flags = game.GroundedIntoDouble
		p.Outs[0] = game.Out{Who: game.First, At: game.Second, How: game.Forced, By: "64"}
		p.Outs[1] = game.Out{At: game.First, How: game.BeforeFirst, By: "43"}
	}
}

// drawAttempt makes a steal, a caught stealing or a pick-off.
func drawAttempt(p *game.Play, pick func(int) int) {
	b := game.First + game.Base(pick(3))
	switch p.Kind {
	case game.StolenBase:
		p.Runs[b] = game.Run{To: b + 1, Why: game.Stole}
	case game.CaughtStealing:
		p.Runs[b].Why = game.Caught
		p.Outs[0] = game.Out{Who: b, At: b + 1, How: game.Tagged, By: "26"}
	default:
		p.Runs[b].Why = game.PickedOff
		p.Outs[0] = game.Out{Who: b, At: b, How: game.Tagged, By: "13"}
	}
}
