package match

import (
	"slices"

	"pressbox/game"
	"pressbox/game/protocol"
)

// Join gives the open side to by. It adds nothing if by manages a side already.
func (tx *Tx) Join(by protocol.Person) error {
	p := &tx.now
	if len(p.Sides(by)) > 0 && by.ID != p.Creator.ID {
		return nil
	}
	switch {
	case by.ID == "":
		return protocol.ErrNotSignedIn()
	case p.Status != protocol.Pending:
		return protocol.Refuse(protocol.NotPending, "the game has already started")
	case len(p.Sides(by)) > 0:
		return protocol.Refuse(protocol.SeatTaken, "you manage the other side already")
	}
	side, err := p.openSide(by)
	if err != nil {
		return err
	}
	return tx.add(move{Kind: protocol.Joined, Side: side})
}

// SubmitLineup submits the line-up of a side; ready reports whether the match can start now. A side has one move of
// that: a line-up that is submitted again takes the place of the earlier one, so that a match cannot grow before its
// start.
func (tx *Tx) SubmitLineup(by protocol.Person, side game.Side, l game.Lineup) (ready bool, err error) {
	p := &tx.now
	if p.Status != protocol.Pending && p.checkManager(by, side) == nil {
		return false, protocol.Refuse(protocol.NotPending, "the game has already started")
	}
	if err := p.CheckLineup(by, side, l); err != nil {
		return false, err
	}
	if old := p.seats[side].lineup; old != nil && old.Pitcher == l.Pitcher && slices.Equal(old.Order, l.Order) {
		return false, nil
	}
	l.Order = slices.Clone(l.Order)
	m := move{Kind: protocol.LineupSubmitted, Side: side, Lineup: &l}
	for _, old := range slices.Backward(tx.history.moves) {
		if old.Kind == m.Kind && old.Side == side {
			tx.replace(old.Revision, m)
			return false, nil // had the match been ready, it would have started
		}
	}
	if err := tx.add(m); err != nil {
		return false, err
	}
	return tx.now.missing() == "", nil
}

// CheckLineup returns an error unless by manages a side and may submit a line-up for it.
func (p *Position) CheckLineup(by protocol.Person, side game.Side, l game.Lineup) error {
	if err := p.checkManager(by, side); err != nil {
		return err
	}
	if found := l.Check(p.Origin.Clubs[side].Club, p.Origin.Options.DH); found != nil {
		return &protocol.Error{Code: protocol.Invalid, Detail: "the line-up breaks the rules", Errors: found}
	}
	return nil
}

// CheckStart returns an error unless by may start the match now; begun reports that it has started already.
func (tx *Tx) CheckStart(by protocol.Person) (begun bool, err error) {
	p := &tx.now
	switch missing := p.missing(); {
	case len(p.Sides(by)) == 0:
		return false, protocol.ErrNotManager()
	case p.Status == protocol.Active:
		return true, nil
	case p.Status == protocol.Finished:
		return false, protocol.Refuse(protocol.NotPending, "the game is over")
	case missing != "":
		return false, protocol.Refuse(protocol.NotReady, "%s", missing)
	}
	return false, nil
}

// Start starts the match; number is 0 for the home club's first game of the day, 2 for its second, and so on.
func (tx *Tx) Start(number int) error { return tx.add(move{Kind: protocol.Started, Number: number}) }

// CheckCancel returns an error unless by may cancel the match.
func (p *Position) CheckCancel(by protocol.Person) error {
	switch {
	case p.Origin.Competition.ID != "":
		return protocol.Refuse(protocol.Forbidden, "the game belongs to a league, which would create it again")
	case p.Creator.ID != by.ID:
		return protocol.Refuse(protocol.Forbidden, "only the creator of the game may cancel it")
	case p.Status != protocol.Pending:
		return protocol.Refuse(protocol.NotPending, "the game has already started")
	}
	return nil
}

// CheckRematch returns an error unless by may have a rematch.
func (p *Position) CheckRematch(by protocol.Person) error {
	switch {
	case len(p.Sides(by)) == 0:
		return protocol.ErrNotManager()
	case p.Status != protocol.Finished:
		return protocol.Refuse(protocol.NotFinished, "the game is not over")
	}
	return nil
}

// CheckDecline returns an error unless by may decline the match: a rematch whose open side is reserved for by.
func (p *Position) CheckDecline(by protocol.Person) error {
	for side := range p.seats {
		if reserved := p.seats[side].reserved.ID; reserved != "" && reserved == by.ID {
			return nil
		}
	}
	return protocol.Refuse(protocol.Forbidden, "no side of this game is reserved for you")
}

// RematchOrigin returns what a rematch of the match id is created from, without a seed: the same clubs and options; by
// keeps the side, and the other side is reserved for its manager.
func (p *Position) RematchOrigin(id string, by protocol.Person) *Origin {
	old := p.Origin
	o := &Origin{Options: old.Options, Season: old.Season, Clubs: old.Clubs, Bots: old.Bots, Former: id}
	if sides := p.Sides(by); len(sides) == 1 {
		o.Options.Side = sides[0].String()
	}
	for side := range o.Managers {
		if m := p.seats[side].manager; m.ID == by.ID {
			o.Managers[side] = m
		} else {
			o.Reserved[side] = m
		}
	}
	return o
}
