package match

import (
	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// A skipping is how a side's manager leaves turns to the usual calls. A turn is skipped if both sides skip it, or one
// does and the bot decides for the other, and it matters to neither; the managers of a turn that is not skipped decide
// it, whether they skip others or not. So what is skipped follows from what every viewer sees: a turn in which a side
// has submitted a call is never skipped.
type skipping struct {
	*protocol.Skip               // nil: none
	asked          uint64        // the decision at which the manager asked for it, which is skipped whatever it is
	player         game.PlayerID // whom the coach would have taken out at the last stop for a substitution
}

// Why a turn matters to a side.
const (
	byCoach        = "coach"        // a call is better than the usual one by the margin
	bySubstitution = "substitution" // the coach would make one
	byLeverage     = string(protocol.UntilLeverage)
	byInning       = string(protocol.UntilInning)
)

// highLeverage is the leverage of a batter from which on a turn matters; 1 is the average of nine innings.
const highLeverage = 4

// skipUntil starts or ends the skipping of a manager's sides.
func (tx *Tx) skipUntil(sides []game.Side, a protocol.Action) error {
	p := &tx.now
	if a.On != nil && !*a.On {
		a.Skip = nil
	} else if a.Skip == nil {
		return protocol.Refuse(protocol.Malformed, "until is required: leverage, inning or never")
	} else if err := a.Complete(); err != nil {
		return err
	}
	for _, side := range sides {
		switch {
		case p.Pause != nil:
			return protocol.Refuse(protocol.GamePaused, "the game is paused")
		case p.BotDecides(side):
			return illegal("the bot manages your side; take your side back first")
		case p.delayed(side):
			return errDelays()
		case a.Skip == nil && p.skips[side].Skip == nil:
			return illegal("you decide every turn already")
		}
		by := tx.by
		if err := tx.add(move{Kind: protocol.PlayingOn, Side: side, Skip: a.Skip}); err != nil {
			return err
		}
		tx.by = by
	}
	return nil
}

// applySkip applies a move about the skipping of a side.
func (p *Position) applySkip(m *move) {
	s := &p.skips[m.Side]
	if m.Kind == protocol.Stopped {
		p.stopped = true
		if m.Reason == bySubstitution {
			s.player = m.Player
		}
		return
	}
	s.Skip, s.asked = m.Skip, p.Decision
	p.delays[m.Side]++
	if m.Skip != nil {
		p.stopped = false
	}
}

// skipping reports whether the open decision is left to the usual calls unless it matters.
func (p *Position) skipping() bool {
	return !p.stopped && p.sealed == [2]*chance.Tactics{} && p.skipped(game.Away) && p.skipped(game.Home) &&
		len(p.Awaited()) > 0
}

// skipped reports whether a side's manager, if it has one, skips turns.
func (p *Position) skipped(side game.Side) bool {
	return p.BotDecides(side) || p.skips[side].Skip != nil
}

// skipTurn makes the usual calls of the open decision if it is skipped, or stops there if it matters to a side.
func (tx *Tx) skipTurn() (done bool, err error) {
	p := &tx.now
	if !p.skipping() {
		return false, nil
	}
	for _, side := range p.Awaited() {
		if reason, player := tx.matters(side); reason != "" {
			return true, tx.add(move{Kind: protocol.Stopped, Side: side, Reason: reason, Player: player})
		}
	}
	if q := p.question; q != nil {
		return true, tx.answer(q.Asker, q.Usual, true)
	}
	for _, side := range p.Awaited() {
		p.sealed[side] = &chance.Tactics{}
	}
	return true, tx.resolveTurn(true)
}

// matters returns why the open decision matters to a side, and whom the coach would take out; "" if it does not.
func (tx *Tx) matters(side game.Side) (reason string, player game.PlayerID) {
	p, skip := &tx.now, &tx.now.skips[side]
	begins := p.question == nil && p.moment.Pitches == (chance.Pitches{}) // the batter's turn at bat
	switch {
	case p.question == nil && !p.fielded():
		return bySubstitution, ""
	case skip.asked == p.Decision:
		return "", ""
	case tx.coachGains(side) >= skip.Margin/100:
		return byCoach, ""
	}
	if begins {
		if out := tx.due(side); out != "" && out != skip.player {
			return bySubstitution, out
		}
	}
	switch {
	case skip.Until == protocol.UntilLeverage && begins && tx.odds.Leverage(&p.state) >= highLeverage:
		return byLeverage, ""
	case skip.Until == protocol.UntilInning && p.inningBegins:
		return byInning, ""
	}
	return "", ""
}

// coachGains returns the win probability by which the best choice of the open decision beats the usual one.
func (tx *Tx) coachGains(side game.Side) float64 {
	p := &tx.now
	if p.question != nil {
		values, _ := tx.answerValues(p, side)
		return values[1].WinProbability - values[0].WinProbability
	}
	var usual, best bot.Value
	each := func(i int, v bot.Value) {
		if i == 0 {
			usual, best = v, v
		}
		best.WinProbability = max(best.WinProbability, v.WinProbability)
	}
	turn := tx.turn()
	if side == p.state.Batting() {
		for i, v := range turn.OffenseValues() {
			each(i, v.Value)
		}
	} else {
		for i, v := range turn.DefenseValues() {
			each(i, v.Value)
		}
	}
	return best.WinProbability - usual.WinProbability
}

// due returns whom the coach of a side would take out of the game now; "" if no one.
func (tx *Tx) due(side game.Side) game.PlayerID {
	p := &tx.now
	subs := tx.coaches[side].Substitutions(&p.state, p.moment)
	if len(subs) == 0 {
		return ""
	}
	team := &p.state.Teams[side]
	if side == p.state.Fielding() {
		return team.Pitcher
	}
	return p.state.Batter()
}
