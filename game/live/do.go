package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
)

// longestCID is how long a command's id may be.
const longestCID = 64

// ReadAction reads an action. The error is an [*Error] with [Malformed].
func ReadAction(data []byte) (Action, error) {
	var a Action
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Action{}, &Error{Code: Malformed, Detail: "this is no action", cause: err}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Action{}, refuse(Malformed, "something follows the action")
	}
	if a.Side != "" && a.Side != game.Home.String() && a.Side != game.Away.String() {
		return Action{}, refuse(Malformed, "%.20q is no side", a.Side)
	}
	return a, nil
}

// check refuses an id that is none.
func (c *Command) check() error {
	if len(c.ID) == 0 || len(c.ID) > longestCID {
		return refuse(Malformed, "a command's id has 1 to %d characters", longestCID)
	}
	for i := range len(c.ID) {
		if c.ID[i] < ' ' || c.ID[i] > '~' {
			return refuse(Malformed, "a command's id is printable ASCII")
		}
	}
	return nil
}

// Submit carries out a manager's command. tell, if not nil, is told the ack before anybody is told what happened; the ack's
// revision is also returned. The same command id of the same person again is acknowledged with the first revision and
// changes nothing. The error is an [*Error] to nak with, or that of ctx.
func (h *Games) Submit(ctx context.Context, by Person, id string, c Command, tell Send) (rev uint64, dup bool, err error) {
	if err := c.check(); err != nil {
		return 0, false, err
	}
	t, err := h.attend(ctx, id)
	if err != nil {
		return 0, false, err
	}
	defer t.release()
	if rev, ok := t.history.commands[command{by.ID, c.ID}]; ok {
		if tell != nil {
			tell(&Message{Type: "ack", Game: t.id, Revision: rev, CommandID: c.ID, Data: Ack{Dup: true}})
		}
		return rev, true, nil
	}
	s := newScript(t.dugout, t.now, by, c.ID)
	if err := t.command(s, by, c); err != nil {
		return 0, false, err
	}
	if err := s.settle(); err != nil {
		return 0, false, err
	}
	if err := t.keep(ctx, s, tell); err != nil {
		return 0, false, err
	}
	return s.acts[0].Rev, false, nil
}

// command writes the script of a command.
func (t *table) command(s *script, by Person, c Command) error {
	p := &t.now
	sides := p.sides(by)
	switch {
	case len(sides) == 0:
		return refuse(Forbidden, "you manage no side of this game")
	case p.status != Active:
		return refuse(NotActive, "the game is %s", p.status)
	}
	switch c.Action.Verb {
	case doPause, doResume, doConcede, doTakeover:
		return t.conduct(s, sides, c.Action)
	}
	if err := t.timely(c); err != nil {
		return err
	}
	side, err := t.sideOf(sides, c.Action)
	if err != nil {
		return err
	}
	switch {
	case p.pause != nil:
		return refuse(GamePaused, "the game is paused")
	case p.bot(side):
		return refuse(IllegalAction, "the bot manages your side; take it back first")
	}
	switch c.Action.Verb {
	case doOffence, doDefence:
		return t.seal(s, side, c.Action)
	case doAnswer:
		if p.question == nil || c.Action.Bold == nil {
			return refuse(IllegalAction, "nothing was asked, or this is no answer")
		}
		return s.answer(side, *c.Action.Bold)
	case doUndo:
		switch {
		case p.sealed[side] == nil:
			return refuse(IllegalAction, "there is no call to take back")
		case p.spent(side):
			return refuseMore()
		}
		return s.add(move{Kind: Unsealed, Side: side})
	default:
		return t.substitute(s, side, c.Action)
	}
}

// timely refuses what was decided for an earlier moment: a decision is of use as long as it is open, however much was
// told meanwhile.
func (t *table) timely(c Command) error {
	now := t.now.decision
	switch {
	case c.Revision > t.now.rev:
	case c.Action.Decision == now:
		return nil
	case c.Action.Decision == 0 && c.Revision > 0 && t.history.events[c.Revision-1].decision == now:
		return nil
	}
	return &Error{Code: StaleRevision, Detail: "the game has gone on", Rev: t.now.rev}
}

// sideOf returns the side that an action is for.
func (t *table) sideOf(sides []game.Side, a Action) (game.Side, error) {
	p := &t.now
	side := sides[0]
	switch a.Verb {
	case doOffence:
		side = p.state.Batting()
	case doDefence:
		side = p.state.Fielding()
	case doAnswer:
		if p.question != nil {
			side = p.question.Asker
		}
	case doUndo, doSubstitute:
		if len(sides) > 1 && a.Side == "" {
			return side, refuse(Malformed, "say for which side")
		}
	default:
		return side, refuse(Malformed, "%.20q is no action", a.Verb)
	}
	if a.Side != "" {
		var named game.Side
		if err := named.UnmarshalText([]byte(a.Side)); err != nil {
			return side, refuse(Malformed, "%.20q is no side", a.Side)
		}
		if slices.Contains(sides, named) && named != side && a.Verb != doUndo && a.Verb != doSubstitute {
			return side, refuse(IllegalAction, "it is for the %s team to decide", side)
		}
		side = named
	}
	if !slices.Contains(sides, side) {
		return side, refuse(NotYourSide, "it is for the manager of the %s team to decide", side)
	}
	return side, nil
}

// seal decides for a side.
func (t *table) seal(s *script, side game.Side, a Action) error {
	p := &t.now
	calls := chance.Tactics{Defence: a.Defence}
	if a.Verb == doOffence {
		if a.Defence != (chance.Defence{}) || a.Call == "" {
			return refuse(IllegalAction, "%.40q is no decision", a.Call)
		}
		calls = chance.Tactics{Offence: chance.Offence(a.Call)}
		if a.Call == swing {
			calls.Offence = chance.SwingAway
		}
	}
	switch err := calls.Check(&p.state, p.moment); {
	case p.question != nil:
		return refuse(IllegalAction, "a question is to be answered first")
	case !p.fielded():
		return refuse(IllegalAction, "the team in the field must take its positions first")
	case p.sealed[side] != nil:
		return refuse(AlreadySealed, "the call is in; take it back first")
	case err != nil:
		return refuse(IllegalAction, "%s", err.Error())
	}
	other := side.Other()
	if p.sealed[other] == nil && !p.bot(other) {
		return s.add(move{Kind: Sealed, Side: side, Calls: &calls})
	}
	s.now.sealed[side] = &calls // it is told with what comes of it
	return nil
}

// substitute replaces players.
func (t *table) substitute(s *script, side game.Side, a Action) error {
	const most = 12
	switch {
	case t.now.question != nil:
		return refuse(IllegalAction, "the ball is in play")
	case len(a.Subs) == 0 || len(a.Subs) > most:
		return refuse(IllegalAction, "1 to %d players are replaced at once", most)
	}
	m := move{Kind: Substituted, Side: side}
	for _, sub := range a.Subs {
		m.Subs = append(m.Subs, game.Substitution{Side: side, Player: sub.Player, Slot: sub.Slot, Position: sub.Position})
	}
	if p := &t.now; p.spent(side) && p.fielded() && !p.comesIn(m.Subs) {
		return refuseMore()
	}
	return s.add(m)
}

// refuseMore refuses what a side has done often enough.
func refuseMore() error {
	return refuse(IllegalAction, "your side has held the game up often enough; first there is another play")
}

// conduct carries out what concerns the game as such; that is never stale.
func (t *table) conduct(s *script, sides []game.Side, a Action) error {
	p := &t.now
	side := sides[0]
	switch a.Verb {
	case doPause:
		switch {
		case p.pause != nil:
			return refuse(GamePaused, "the game is paused")
		case p.spent(side):
			return refuseMore()
		}
		return s.add(move{Kind: Paused, Side: side})
	case doResume:
		if p.pause == nil {
			return refuse(IllegalAction, "the game is not paused")
		}
		return s.add(move{Kind: Resumed, Side: side})
	case doConcede:
		if a.Side == "" {
			return s.add(move{Kind: Conceded, Side: t.loser(sides)})
		}
		side = sideNamed(a.Side)
		if !slices.Contains(sides, side) {
			return refuse(NotYourSide, "you do not manage the %s team", side)
		}
		return s.add(move{Kind: Conceded, Side: side})
	default:
		return t.takeOver(s, sides, a)
	}
}

// sideNamed returns the side of a name that [ReadAction] has let pass.
func sideNamed(name string) game.Side {
	if name == game.Home.String() {
		return game.Home
	}
	return game.Away
}

// loser returns which of the sides that somebody manages gives up: in hot seat the one that is behind, the visitors in a
// tie.
func (t *table) loser(sides []game.Side) game.Side {
	if score := t.now.state.Score; len(sides) > 1 && score[game.Home] < score[game.Away] {
		return game.Home
	}
	return sides[0]
}

// takeOver lets the bot manage a side, one's own or that of a manager who is gone, or takes one's own back.
func (t *table) takeOver(s *script, sides []game.Side, a Action) error {
	p, own := &t.now, sides[0]
	side := own
	if a.Side != "" {
		side = sideNamed(a.Side)
	}
	switch {
	case a.On == nil:
		return refuse(Malformed, "say whether the bot takes over or gives back")
	case len(sides) > 1:
		return refuse(IllegalAction, "in hot seat nobody is absent")
	case !*a.On && side != own:
		return refuse(NotYourSide, "you do not manage the %s team", side)
	case !*a.On && p.seats[own].taken == "":
		return refuse(IllegalAction, "the bot does not manage your side")
	case !*a.On:
		return s.add(move{Kind: SideReturned, Side: own})
	case p.bot(side), p.bot(side.Other()):
		return refuse(IllegalAction, "the bot manages a side already")
	case side == own && p.spent(own):
		return refuseMore()
	case side == own:
		return s.add(move{Kind: BotTookOver, Side: own, Reason: takenAsked})
	case !t.isGone(side):
		return refuse(IllegalAction, "the other manager is not gone")
	}
	return s.add(move{Kind: BotTookOver, Side: side, Reason: takenGone})
}

// Concede ends a game in favour of the other side; in hot seat of the one that leads.
func (h *Games) Concede(ctx context.Context, by Person, id string) (Game, error) {
	return h.do(ctx, by, id, func(t *table, s *script) error {
		sides := t.now.sides(by)
		switch {
		case len(sides) == 0:
			return refuse(Forbidden, "you manage no side of this game")
		case t.now.status != Active:
			return refuse(NotActive, "the game is %s", t.now.status)
		}
		return s.add(move{Kind: Conceded, Side: t.loser(sides)})
	})
}
