package retro_test

import (
	"math/rand/v2"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// A restless manager decides anything that is legal, far oftener than sense would: what bots never do, people may.
type restless struct{ lot *rand.Rand }

// calls draws decisions of both sides.
func (r restless) calls(s *game.State, at chance.Progress) chance.Tactics {
	var c chance.Tactics
	if offence := chance.LegalOffence(s); r.lot.IntN(2) == 0 {
		c.Offence = offence[r.lot.IntN(len(offence))]
	}
	if defence := chance.LegalDefence(s, at); r.lot.IntN(2) == 0 {
		c.Defence = defence[r.lot.IntN(len(defence))]
	}
	if c.Check(s, at) != nil {
		return chance.Tactics{}
	}
	return c
}

// substitutions draws a change that may be legal: a new pitcher, somebody who bats, runs or fields, two who change
// places, a double switch, a designated hitter who takes the field.
func (r restless) substitutions(s *game.State) []game.Substitution {
	side := game.Side(r.lot.IntN(2))
	team := &s.Teams[side]
	if r.lot.IntN(8) > 0 || len(team.Bench) == 0 {
		return nil
	}
	bench := team.Bench[r.lot.IntN(len(team.Bench))]
	a, b := r.lot.IntN(9), r.lot.IntN(9)
	at := func(i int) game.Position { return team.Order[i].Position }
	sub := func(id game.PlayerID, slot int, at game.Position) game.Substitution {
		return game.Substitution{Side: side, Player: id, Slot: slot, Position: at}
	}
	mound := slices.IndexFunc(team.Order[:], func(o game.Slot) bool { return o.Player == team.Pitcher }) + 1
	switch r.lot.IntN(7) {
	case 0:
		return []game.Substitution{sub(bench, team.NextBatter+1, game.PinchHitter)}
	case 1:
		return []game.Substitution{sub(bench, a+1, game.PinchRunner)}
	case 2:
		return []game.Substitution{sub(bench, mound, game.Pitcher)}
	case 3:
		return []game.Substitution{sub(bench, a+1, at(a))}
	case 4:
		return []game.Substitution{sub(team.Order[a].Player, a+1, at(b)), sub(team.Order[b].Player, b+1, at(a))}
	case 5: // the pitcher takes the place of whom the designated hitter relieves
		if team.DH == 0 {
			return nil
		}
		return []game.Substitution{sub(team.Order[team.DH-1].Player, team.DH, at(a)), sub(team.Pitcher, a+1, game.Pitcher)}
	default:
		if mound == 0 {
			return nil
		}
		other := team.Bench[r.lot.IntN(len(team.Bench))]
		return []game.Substitution{sub(bench, mound, at(a)), sub(other, a+1, game.Pitcher)}
	}
}

// legal reports whether substitutions can be made, and leave nine men whom the game can go on with.
func legal(s *game.State, subs []game.Substitution) bool {
	after, err := s.Substitute(subs...)
	if subs == nil || err != nil {
		return false
	}
	team := &after.Teams[subs[0].Side]
	for p := game.Pitcher; p <= game.RightField; p++ {
		if subs[0].Side == after.Fielding() && team.Fielder(p) == "" {
			return false
		}
	}
	return true
}
