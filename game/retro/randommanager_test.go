package retro_test

import (
	"math/rand/v2"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// A randomManager decides anything legal, far more often than a bot would.
type randomManager struct{ *rand.Rand }

// tactics draws the tactics of both sides.
func (r randomManager) tactics(s *game.State, at chance.Progress) chance.Tactics {
	var t chance.Tactics
	if offense := chance.LegalOffense(s); r.IntN(2) == 0 {
		t.Offense = offense[r.IntN(len(offense))]
	}
	if defense := chance.LegalDefense(s, at); r.IntN(2) == 0 {
		t.Defense = defense[r.IntN(len(defense))]
	}
	if t.Check(s, at) != nil {
		return chance.Tactics{}
	}
	return t
}

// substitutions draws substitutions that may be legal: a pinch hitter, a pinch runner, a new pitcher or fielder, two
// players who change positions, a designated hitter who fields, a double switch.
func (r randomManager) substitutions(s *game.State) []game.Substitution {
	side := game.Side(r.IntN(2))
	team := &s.Teams[side]
	if r.IntN(8) > 0 || len(team.Bench) == 0 {
		return nil
	}
	bench := team.Bench[r.IntN(len(team.Bench))]
	a, b := r.IntN(9), r.IntN(9)
	at := func(i int) game.Position { return team.Order[i].Position }
	sub := func(id game.PlayerID, slot int, at game.Position) game.Substitution {
		return game.Substitution{Side: side, Player: id, Slot: slot, Position: at}
	}
	pitcher := slices.IndexFunc(team.Order[:], func(o game.Slot) bool { return o.Player == team.Pitcher }) + 1
	switch r.IntN(7) {
	case 0:
		return []game.Substitution{sub(bench, team.NextBatter+1, game.PinchHitter)}
	case 1:
		return []game.Substitution{sub(bench, a+1, game.PinchRunner)}
	case 2:
		return []game.Substitution{sub(bench, pitcher, game.Pitcher)}
	case 3:
		return []game.Substitution{sub(bench, a+1, at(a))}
	case 4:
		return []game.Substitution{sub(team.Order[a].Player, a+1, at(b)), sub(team.Order[b].Player, b+1, at(a))}
	case 5: // the pitcher bats for the fielder whose position the designated hitter takes
		if team.DH == 0 {
			return nil
		}
		return []game.Substitution{
			sub(team.Order[team.DH-1].Player, team.DH, at(a)), sub(team.Pitcher, a+1, game.Pitcher),
		}
	default:
		if pitcher == 0 {
			return nil
		}
		other := team.Bench[r.IntN(len(team.Bench))]
		return []game.Substitution{sub(bench, pitcher, at(a)), sub(other, a+1, game.Pitcher)}
	}
}

// isPlayable reports whether substitutions are legal and leave no position of the fielding side unfilled.
func isPlayable(s *game.State, subs []game.Substitution) bool {
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
