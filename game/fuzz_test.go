package game_test

import (
	"encoding/json"
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

// A tape is bytes read as choices, zeros after its end.
type tape []byte

func (b *tape) next(n int) int {
	if len(*b) == 0 {
		return 0
	}
	v := int((*b)[0])
	*b = (*b)[1:]
	return v % n
}

// anyPlay reads a play that may be legal, and changes up to three of its parts.
func (b *tape) anyPlay(s *game.State) game.Play {
	hands := [...]string{"", "6", "63", "643", "2", "26", "0", "x", "1361"}
	p := draw(s, b.next)
	for range b.next(4) {
		run, out, fault := &p.Advances[b.next(4)], &p.Outs[b.next(4)], &p.Errors[b.next(4)]
		switch b.next(14) {
		case 0:
			p.Kind = game.PlayKind(b.next(26))
		case 1:
			p.Also = game.PlayKind(b.next(26))
		case 2:
			p.Flags ^= 1 << b.next(14)
		case 3:
			p.Ball.Contact = game.Contact(b.next(9))
		case 4:
			p.Count = game.Count{Balls: int8(b.next(6)), Strikes: int8(b.next(5))}
		case 5:
			run.To = game.Base(b.next(6))
		case 6:
			run.Reason = game.AdvanceReason(b.next(10))
		case 7:
			run.Earned, run.RBI = game.Ruling(b.next(5)), game.Ruling(b.next(5))
		case 8:
			*out = game.Out{
				Runner: game.Base(b.next(5)), At: game.Base(b.next(6)), Kind: game.OutKind(b.next(9)),
				Fielders: hands[b.next(len(hands))],
			}
		case 9:
			out.Kind = game.OutKind(b.next(9))
		case 10:
			out.Runner, out.At = game.Base(b.next(5)), game.Base(b.next(6))
		case 11:
			*fault = game.Error{
				Fielder: uint8(b.next(11)), Kind: game.ErrorKind(b.next(3)), Runner: game.Base(b.next(5)),
				Assists: hands[b.next(len(hands))],
			}
		case 12:
			*out = game.Out{}
		default:
			p.Batter = s.Teams[s.Batting()].Order[b.next(9)].Player
		}
	}
	return p
}

// anySub reads a substitution, legal or not.
func (b *tape) anySub() game.Substitution {
	side := game.Side(b.next(2))
	players := clubs()[side].Players
	return game.Substitution{
		Side: side, Player: players[b.next(len(players))].ID, Slot: b.next(11),
		Position: game.Position(b.next(14)), Injured: b.next(2) == 0,
	}
}

// FuzzApply applies arbitrary plays and substitutions: each is refused and changes nothing, or keeps the laws of a
// state and the balance of the box score.
func FuzzApply(f *testing.F) {
	f.Add([]byte{})
	for seed := range byte(8) {
		var game []byte
		for i := range 600 {
			game = append(game, seed+byte(i*i)*31+byte(i/7))
		}
		f.Add(game)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := tape(data[:min(len(data), 1500)])
		o := game.Options{DH: b.next(2) == 0, Innings: 1 + b.next(3)}
		s := newGame(t, o)
		book := game.NewScorebook(&s, clubs())
		for len(b) > 0 {
			if b.next(6) == 0 {
				sub := b.anySub()
				after, err := s.Substitute(sub)
				keepsLaws(t, &s, &after, err)
				if err == nil {
					book.RecordSubstitutions(&s, []game.Substitution{sub}, &after)
				}
				s = after
				continue
			}
			p := b.anyPlay(&s)
			after, err := s.Apply(p)
			keepsLaws(t, &s, &after, err)
			if err == nil {
				book.RecordPlay(&s, &p, &after)
				if err := book.Prove(&after); err != nil {
					t.Fatalf("%+v at %s: %v", p, describe(&s), err)
				}
			}
			s = after
		}
		book.BoxScore(&s)
	})
}

// keepsLaws checks the laws of every state.
func keepsLaws(t *testing.T, before, after *game.State, err error) {
	t.Helper()
	if err != nil {
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		check.Require(t, string(a) == string(b), "refused (%v), but %s became %s", err, a, b)
		return
	}
	check.Require(t, after.Outs >= 0 && after.Outs <= 3 && (after.Outs != 3 || after.Over()), "%d out", after.Outs)
	seen := map[game.PlayerID]bool{"": true}
	order := &after.Teams[after.Batting()].Order
	for i, r := range after.Bases {
		if r.Player == "" {
			continue
		}
		check.Require(t, !seen[r.Player], "%s is on base twice: %v", r.Player, after.Bases)
		seen[r.Player] = true
		bats := false
		for _, slot := range order {
			bats = bats || slot.Player == r.Player
		}
		check.Require(t, bats || after.Over(), "%s on base %d is not in the order", r.Player, i+1)
	}
	for side := range after.Teams {
		check.Require(t, after.Score[side] >= before.Score[side], "the %s team lost runs", game.Side(side))
		playing := map[game.PlayerID]bool{}
		for _, slot := range after.Teams[side].Order {
			check.Require(t, slot.Player != "" && !playing[slot.Player], "the order is %v", after.Teams[side].Order)
			playing[slot.Player] = true
		}
		playing[after.Teams[side].Pitcher] = true
		for _, id := range after.Teams[side].Removed {
			check.Require(t, !playing[id], "%s is removed and in the game", id)
		}
		for _, id := range after.Teams[side].Bench {
			check.Require(t, !playing[id], "%s is on the bench and in the game", id)
		}
	}
}

// FuzzLineup checks arbitrary line-ups: New accepts one exactly when Check finds no violation, and each violation
// is named.
func FuzzLineup(f *testing.F) {
	for _, dh := range []bool{true, false} {
		text := check.Must(json.Marshal(lineup(game.Home, dh)))(f)
		f.Add(text, dh)
	}
	f.Add([]byte(`{"batting_order":[{}],"pitcher_id":"h1"}`), true)
	f.Fuzz(func(t *testing.T, text []byte, dh bool) {
		var l game.Lineup
		if json.Unmarshal(text, &l) != nil {
			return
		}
		found := l.Check(clubs()[game.Home], dh)
		for _, v := range found {
			check.Require(t, v.Path != "" && v.Code != "" && v.Detail != "", "%+v", v)
		}
		s, err := game.New(game.Options{DH: dh}, clubs(), [2]game.Lineup{lineup(game.Away, dh), l})
		check.Require(t, (err == nil) == (found == nil), "Check returns %v, New %v", found, err)
		if err != nil {
			return
		}
		apply(t, s, "K", "K", "K", "K") // a legal line-up can take the field and bat
	})
}
