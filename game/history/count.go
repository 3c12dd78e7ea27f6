package history

import (
	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/retro"
)

// results counts plate appearances by their ends, without intentional walks and sacrifice bunts, as [chance.Rates] do.
type results struct {
	Rates chance.Rates // counts instead of shares
	n     float64
}

// add counts the end of a plate appearance, if it is one that counts.
func (r *results) add(p *game.Play) {
	if !p.Kind.EndsPlateAppearance() || p.Kind == game.IntentionalWalk || p.Kind == game.CatchersInterference ||
		p.Flags.Has(game.SacrificeHit) {
		return
	}
	r.n++
	switch p.Kind {
	case game.Strikeout:
		r.Rates.K++
	case game.Walk:
		r.Rates.BB++
	case game.HitByPitch:
		r.Rates.HBP++
	case game.Single:
		r.Rates.Single++
	case game.Double:
		r.Rates.Double++
	case game.Triple:
		r.Rates.Triple++
	case game.HomeRun:
		r.Rates.HR++
	default:
	}
}

// plus adds the counts of o.
func (r *results) plus(o *results) {
	r.n += o.n
	for i, x := range rates(&r.Rates) {
		*x += *rates(&o.Rates)[i]
	}
}

// onFirst returns how often the batter reached first base, where bases are stolen from.
func (r *results) onFirst() float64 { return r.Rates.Single + r.Rates.BB + r.Rates.HBP }

func rates(r *chance.Rates) [7]*float64 {
	return [7]*float64{&r.K, &r.BB, &r.HBP, &r.Single, &r.Double, &r.Triple, &r.HR}
}

// A player is a player of the season with what they did.
type player struct {
	game.Player
	batting, pitching results
	byClub            map[string]float64 // plate appearances and batters faced
	games             map[game.Position]int
	starts, outings   int // as a pitcher
	startersBatters   int // batters faced in starts
	steals            ratio
	held              ratio // of a pitcher: attempts to steal, of runners on first
	caught            ratio // of a catcher: caught, of attempts
	errors            ratio // of chances, at all positions but the mound
	outfieldAssists   ratio // of games in the outfield
}

// A ratio counts how often something happened, of how often it could.
type ratio struct{ n, of float64 }

func newPlayer(id game.PlayerID, name string) *player {
	return &player{
		Player: game.Player{ID: id, Name: name, Bats: game.Right, Throws: game.Right},
		byClub: map[string]float64{}, games: map[game.Position]int{},
	}
}

// counts holds what all players of a season did.
type counts struct {
	players map[game.PlayerID]*player
	all     results
}

func (c *counts) player(id game.PlayerID) *player {
	p := c.players[id]
	if p == nil { // on no roster
		p = newPlayer(id, string(id))
		c.players[id] = p
	}
	return p
}

// replay adds a game. A game that cannot be replayed adds nothing.
func (c *counts) replay(g *retro.Game) error {
	var plays []retro.Step
	result, err := g.Replay(func(s *retro.Step, _ *game.Scorebook) {
		if s.Substitutions == nil {
			plays = append(plays, *s)
		}
	})
	if err != nil {
		return err
	}
	_, clubs, _ := g.Setup()
	for i := range plays {
		c.addPlay(&plays[i], clubs)
	}
	box := result.Scorebook.BoxScore(&result.End)
	for side := range box.Teams {
		c.addBox(&box.Teams[side], clubs[side].ID)
	}
	return nil
}

// addPlay counts a play for the batter, the pitcher, the runners and the catcher.
func (c *counts) addPlay(s *retro.Step, clubs [2]game.Club) {
	at := &s.Before
	fielding := &at.Teams[at.Fielding()]
	pitcher := c.player(fielding.Pitcher)
	if s.Play.Kind.EndsPlateAppearance() {
		id := s.Play.Batter
		if id == "" {
			id = at.Batter()
		}
		batter := c.player(id)
		batter.batting.add(&s.Play)
		c.all.add(&s.Play)
		batter.byClub[clubs[at.Batting()].ID]++
		responsible := c.player(s.ResponsiblePitcher)
		responsible.pitching.add(&s.Play)
		responsible.byClub[clubs[at.Fielding()].ID]++
	}
	for base := game.First; base <= game.Third; base++ {
		safe, tried := stealAttempt(&s.Play, base)
		if !tried {
			continue
		}
		c.player(at.RunnerOn(base).Player).steals.n++
		pitcher.held.n++
		if catcher := playerAt(fielding, game.Catcher); catcher != "" {
			r := &c.player(catcher).caught
			r.of++
			if !safe {
				r.n++
			}
		}
	}
}

// stealAttempt reports whether the runner on a base tried to steal, and was safe.
func stealAttempt(p *game.Play, base game.Base) (safe, tried bool) {
	switch p.Advances[base].Reason {
	case game.Stole:
		return true, true
	case game.Caught, game.PickedOffStealing:
		return false, true
	default:
		return false, false
	}
}

// addBox counts where the players of a club played.
func (c *counts) addBox(t *game.TeamBoxScore, club string) {
	for i := range t.Batting {
		p := c.player(t.Batting[i].Player)
		p.byClub[club] += 0 // also of those who neither batted nor pitched
		for _, at := range t.Batting[i].Positions {
			if at != game.Pitcher {
				p.games[at]++
			}
		}
	}
	for i, l := range t.Pitching {
		p := c.player(l.Player)
		if p.outings++; i == 0 {
			p.starts++
			p.startersBatters += l.BattersFaced
		}
	}
	for _, l := range t.Fielding {
		p := c.player(l.Player)
		if l.Position == game.Pitcher {
			continue
		}
		p.errors.n += float64(l.Errors)
		p.errors.of += float64(l.PutOuts + l.Assists + l.Errors)
		if isOutfield(l.Position) {
			p.outfieldAssists.n += float64(l.Assists)
			p.outfieldAssists.of++
		}
	}
}

func isOutfield(p game.Position) bool {
	return p == game.LeftField || p == game.CenterField || p == game.RightField
}

// playerAt returns who plays a position, "" if it is no one who bats.
func playerAt(t *game.TeamState, at game.Position) game.PlayerID {
	for _, slot := range t.Order {
		if slot.Position == at {
			return slot.Player
		}
	}
	return ""
}
