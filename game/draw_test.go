package game_test

import "pressbox/game"

// draw returns a play that may be legal in s; pick returns a number below n.
func draw(s *game.State, pick func(int) int) game.Play {
	kinds := [...]game.PlayKind{
		game.BattedOut, game.Strikeout, game.Walk, game.Single, game.Double, game.HomeRun, game.Triple, game.StolenBase, game.CaughtStealing,
		game.WildPitch, game.PassedBall, game.Balk, game.HitByPitch, game.ReachedOnError, game.FieldersChoice, game.PickOff, game.CatchersInterference,
	}
	p := game.Play{Kind: kinds[pick(len(kinds))]}
	switch p.Kind {
	case game.BattedOut:
		drawOut(&p, pick)
	case game.Strikeout:
		p.Outs[0] = game.Out{Kind: game.StruckOut, Fielders: "2"}
	case game.StolenBase, game.CaughtStealing, game.PickOff:
		drawAttempt(&p, pick)
		return p
	case game.ReachedOnError, game.CatchersInterference:
		p.Errors[0] = game.Error{Fielder: 2}
	default:
	}
	if p.Kind.EndsPlateAppearance() && p.Outs[0].Kind == game.NotOut {
		p.Advances[game.AtBat].To = game.First
		if p.Kind.IsHit() {
			p.Advances[game.AtBat].To = game.Base(p.Kind-game.Single) + game.First
		}
	}
	for b := game.First; b <= game.Third; b++ {
		if s.RunnerOn(b).Player == "" || p.Outs[0].Runner == b || p.Outs[1].Runner == b && p.Outs[1].Kind != game.NotOut {
			continue
		}
		if to := b + game.Base(pick(5)); to > b {
			p.Advances[b].To = min(to, game.HomePlate)
		}
	}
	if p.Kind == game.HomeRun {
		for b := game.First; b <= game.Third; b++ {
			if s.RunnerOn(b).Player != "" {
				p.Advances[b].To = game.HomePlate
			}
		}
	}
	return p
}

// drawOut draws a fly-out, a ground-out, a force-out or a double play.
func drawOut(p *game.Play, pick func(int) int) {
	switch pick(4) {
	case 0:
		p.Ball = game.BattedBall{Contact: game.FlyBall, Location: "8"}
		p.Outs[0] = game.Out{Kind: game.FlyOut, Fielders: "8"}
	case 1:
		p.Ball = game.BattedBall{Contact: game.GroundBall, Location: "6"}
		p.Outs[0] = game.Out{At: game.First, Kind: game.OutBeforeFirst, Fielders: "63"}
	case 2:
		p.Ball = game.BattedBall{Contact: game.GroundBall, Location: "6"}
		p.Outs[0] = game.Out{Runner: game.First, At: game.Second, Kind: game.ForceOut, Fielders: "64"}
		p.Advances[game.AtBat].To = game.First
	default:
		p.Ball = game.BattedBall{Contact: game.GroundBall, Location: "6"}
		p.Flags = game.GroundedIntoDoublePlay
		p.Outs[0] = game.Out{Runner: game.First, At: game.Second, Kind: game.ForceOut, Fielders: "64"}
		p.Outs[1] = game.Out{At: game.First, Kind: game.OutBeforeFirst, Fielders: "43"}
	}
}

// drawAttempt draws a steal, a caught stealing or a pick-off.
func drawAttempt(p *game.Play, pick func(int) int) {
	b := game.First + game.Base(pick(3))
	switch p.Kind {
	case game.StolenBase:
		p.Advances[b] = game.Advance{To: b + 1, Reason: game.Stole}
	case game.CaughtStealing:
		p.Advances[b].Reason = game.Caught
		p.Outs[0] = game.Out{Runner: b, At: b + 1, Kind: game.TagOut, Fielders: "26"}
	default:
		p.Advances[b].Reason = game.PickedOff
		p.Outs[0] = game.Out{Runner: b, At: b, Kind: game.TagOut, Fielders: "13"}
	}
}
