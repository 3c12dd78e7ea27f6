package match

import (
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// Submit adds a manager's command, of the person that the transaction began with. absent holds the
// absence of both managers.
func (tx *Tx) Submit(c protocol.Command, absent [2]Absence) error {
	p := &tx.now
	sides := p.Sides(tx.by)
	switch {
	case len(sides) == 0:
		return protocol.ErrNotManager()
	case p.Status != protocol.Active:
		return protocol.Refuse(protocol.NotActive, "the game is %s", p.Status)
	}
	switch c.Action.Verb {
	case protocol.DoPause, protocol.DoResume, protocol.DoConcede:
		return tx.pauseOrConcede(sides, c.Action)
	case protocol.DoTakeover:
		return tx.takeOver(sides, c.Action, absent)
	case protocol.DoSkipUntil:
		return tx.skipUntil(sides, c.Action)
	case protocol.DoEnd:
		return tx.end(sides, absent)
	case protocol.DoClaim:
		if !p.claimable(sides[0], absent) {
			return illegal("the time of the other manager is not over, or yours is")
		}
		return tx.add(move{Kind: protocol.Conceded, Side: sides[0].Other(), Reason: claimed})
	}
	if err := tx.checkCurrent(c); err != nil {
		return err
	}
	side, err := tx.sideOf(sides, c.Action)
	if err != nil {
		return err
	}
	switch {
	case p.Pause != nil:
		return protocol.Refuse(protocol.GamePaused, "the game is paused")
	case p.BotDecides(side):
		return illegal("the bot manages your side; take your side back first")
	}
	return tx.decide(side, c.Action)
}

// decide adds an action of a side that may act now.
func (tx *Tx) decide(side game.Side, a protocol.Action) error {
	p := &tx.now
	switch a.Verb {
	case protocol.DoOffense, protocol.DoDefense:
		return tx.seal(side, a)
	case protocol.DoAnswer:
		if p.question == nil || a.Bold == nil {
			return illegal("no question is open, or the answer lacks bold")
		}
		return tx.answer(side, *a.Bold, false)
	case protocol.DoUndo:
		switch {
		case p.sealed[side] == nil:
			return illegal("there is no call to take back")
		case p.delayed(side):
			return errDelays()
		}
		return tx.add(move{Kind: protocol.Unsealed, Side: side})
	default:
		return tx.substitute(side, a)
	}
}

// checkCurrent refuses a command for an earlier decision. A command for the open decision is current, whatever
// revisions have been published since.
func (tx *Tx) checkCurrent(c protocol.Command) error {
	p := &tx.now
	switch {
	case c.Revision > p.Revision:
	case c.Action.Decision == p.Decision:
		return nil
	case c.Action.Decision == 0 && c.Revision > 0 && tx.history.events[c.Revision-1].decision == p.Decision:
		return nil
	}
	return &protocol.Error{Code: protocol.StaleRevision, Detail: "the decision is no longer open", Revision: p.Revision}
}

// sideOf returns the side that an action is for.
func (tx *Tx) sideOf(sides []game.Side, a protocol.Action) (game.Side, error) {
	p := &tx.now
	side := sides[0]
	switch a.Verb {
	case protocol.DoOffense:
		side = p.state.Batting()
	case protocol.DoDefense:
		side = p.state.Fielding()
	case protocol.DoAnswer:
		if p.question != nil {
			side = p.question.Asker
		}
	case protocol.DoUndo, protocol.DoSubstitute:
		if len(sides) > 1 && a.Side == "" {
			return side, protocol.Refuse(protocol.Malformed, "side is required: you manage both")
		}
	default:
		return side, protocol.Refuse(protocol.Malformed, "unknown action %.20q", a.Verb)
	}
	if a.Side != "" {
		var named game.Side
		if err := named.UnmarshalText([]byte(a.Side)); err != nil {
			return side, protocol.ErrSideName(a.Side)
		}
		if slices.Contains(sides, named) && named != side && a.Verb != protocol.DoUndo &&
			a.Verb != protocol.DoSubstitute {
			return side, illegal("this decision belongs to the %s team", side)
		}
		side = named
	}
	if !slices.Contains(sides, side) {
		return side, protocol.Refuse(protocol.NotYourSide, "this decision belongs to the manager of the %s team", side)
	}
	return side, nil
}

// seal records a side's call.
func (tx *Tx) seal(side game.Side, a protocol.Action) error {
	p := &tx.now
	calls := chance.Tactics{Defense: a.Defense}
	if a.Verb == protocol.DoOffense {
		if a.Defense != (chance.Defense{}) || a.Call == "" {
			return illegal("%.40q is not a call of the offense", a.Call)
		}
		calls = chance.Tactics{Offense: chance.Offense(a.Call)}
		if a.Call == swing {
			calls.Offense = chance.SwingAway
		}
	}
	switch err := calls.Check(&p.state, p.moment); {
	case p.question != nil:
		return illegal("a question must be answered first")
	case !p.fielded():
		return illegal("the team in the field must fill its positions first")
	case p.sealed[side] != nil:
		return protocol.Refuse(protocol.AlreadySealed, "your call is already submitted; undo it first")
	case err != nil:
		return illegal("%s", err.Error())
	}
	other := side.Other()
	if p.sealed[other] == nil && !p.BotDecides(other) {
		return tx.add(move{Kind: protocol.Sealed, Side: side, Calls: &calls})
	}
	p.sealed[side] = &calls // published with the play that follows
	return nil
}

// substitute replaces players.
func (tx *Tx) substitute(side game.Side, a protocol.Action) error {
	const maxAtOnce = 12
	p := &tx.now
	switch {
	case p.question != nil:
		return illegal("the ball is in play")
	case len(a.Subs) == 0 || len(a.Subs) > maxAtOnce:
		return illegal("a substitution replaces 1 to %d players", maxAtOnce)
	}
	m := move{Kind: protocol.Substituted, Side: side, Subs: substitutions(side, a.Subs)}
	if p.delayed(side) && p.fielded() && !p.usesBench(m.Subs) {
		return errDelays()
	}
	return tx.add(m)
}

// illegal refuses an action that is against the rules, or not possible now.
func illegal(format string, args ...any) error {
	return protocol.Refuse(protocol.IllegalAction, format, args...)
}

// errDelays refuses a delay to a side that has used up its delays.
func errDelays() error {
	return illegal("your side has delayed the game too often; this is possible again after the next play")
}

// pauseOrConcede adds an action that is never stale.
func (tx *Tx) pauseOrConcede(sides []game.Side, a protocol.Action) error {
	p := &tx.now
	side := sides[0]
	switch a.Verb {
	case protocol.DoPause:
		switch {
		case p.Pause != nil:
			return protocol.Refuse(protocol.GamePaused, "the game is paused")
		case p.delayed(side):
			return errDelays()
		}
		return tx.add(move{Kind: protocol.Paused, Side: side})
	case protocol.DoResume:
		if p.Pause == nil {
			return illegal("the game is not paused")
		}
		return tx.add(move{Kind: protocol.Resumed, Side: side})
	default:
		if a.Side == "" {
			return tx.add(move{Kind: protocol.Conceded, Side: p.conceding(sides)})
		}
		side = sideNamed(a.Side)
		if !slices.Contains(sides, side) {
			return protocol.Refuse(protocol.NotYourSide, "you do not manage the %s team", side)
		}
		return tx.add(move{Kind: protocol.Conceded, Side: side})
	}
}

// sideNamed returns the side of a name that [protocol.Action.Check] has accepted.
func sideNamed(name string) game.Side {
	if name == game.Home.String() {
		return game.Home
	}
	return game.Away
}

// conceding returns which of a manager's sides concedes: in hot seat the one that trails, the visitors in a tie.
func (p *Position) conceding(sides []game.Side) game.Side {
	if score := p.state.Score; len(sides) > 1 && score[game.Home] < score[game.Away] {
		return game.Home
	}
	return sides[0]
}

// takeOver lets the bot manage a side, the manager's own or that of an absent manager, or takes the own side back.
func (tx *Tx) takeOver(sides []game.Side, a protocol.Action, absent [2]Absence) error {
	p, own := &tx.now, sides[0]
	side := own
	if a.Side != "" {
		side = sideNamed(a.Side)
	}
	switch {
	case a.On == nil:
		return protocol.Refuse(protocol.Malformed,
			"on is required: true to let the bot manage, false to take the side back")
	case len(sides) > 1:
		return illegal("the bot cannot manage a side in hot seat")
	case !*a.On && side != own:
		return protocol.Refuse(protocol.NotYourSide, "you do not manage the %s team", side)
	case !*a.On && p.seats[own].replaced == "":
		return illegal("the bot does not manage your side")
	case !*a.On:
		return tx.Return(own)
	case p.BotDecides(side), p.BotDecides(side.Other()):
		return illegal("the bot manages a side already")
	case side == own && p.delayed(own):
		return errDelays()
	case side == own:
		return tx.add(move{Kind: protocol.BotTookOver, Side: own, Reason: replacedAsked})
	case absent[side] == Present, p.Origin.Options.ByCorrespondence():
		return illegal("the other manager is not absent, or need not be present")
	}
	return tx.ReplaceAbsent(side)
}

// end ends a match that the other side's manager has left, who forfeits it.
func (tx *Tx) end(sides []game.Side, absent [2]Absence) error {
	other := sides[0].Other()
	if len(sides) > 1 || !tx.now.leftBy(other, absent[other]) {
		return illegal("the other manager has not left: %d innings or a day of absence without a decision", maxIdle/2)
	}
	return tx.add(move{Kind: protocol.Conceded, Side: other, Reason: leftTheGame})
}

// Concede ends the match in favor of the other side; in hot seat, of the side that leads.
func (tx *Tx) Concede(by protocol.Person) error {
	p := &tx.now
	sides := p.Sides(by)
	switch {
	case len(sides) == 0:
		return protocol.ErrNotManager()
	case p.Status != protocol.Active:
		return protocol.Refuse(protocol.NotActive, "the game is %s", p.Status)
	}
	return tx.add(move{Kind: protocol.Conceded, Side: p.conceding(sides)})
}
