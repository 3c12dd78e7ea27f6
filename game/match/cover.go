package match

import (
	"pressbox/game"
	"pressbox/game/protocol"
)

// SubmitMissing submits the bot's line-up for each side that has none; it adds nothing after the start.
func (tx *Tx) SubmitMissing() error {
	for _, side := range game.Sides() {
		if err := tx.submitMissing(side); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) submitMissing(side game.Side) error {
	if tx.now.Status != protocol.Pending || tx.now.seats[side].lineup != nil {
		return nil
	}
	l, err := suggest(tx.now.Origin, side)
	if err != nil {
		return err
	}
	return tx.add(move{Kind: protocol.LineupSubmitted, Side: side, Lineup: &l})
}

// Vacate gives a side to the bot for good: its manager does not come back. Before the start the bot submits a
// line-up if there is none; ready reports whether the match can start now.
func (tx *Tx) Vacate(side game.Side) (ready bool, err error) {
	if pause := tx.now.Pause; pause != nil && pause.By == side {
		if err := tx.add(move{Kind: protocol.Resumed, Side: side}); err != nil {
			return false, err
		}
	}
	if err := tx.add(move{Kind: protocol.BotTookOver, Side: side, Reason: replacedLeft}); err != nil {
		return false, err
	}
	if err := tx.submitMissing(side); err != nil {
		return false, err
	}
	return tx.now.Status == protocol.Pending && tx.now.missing() == "", nil
}

// Cover lets the bot decide for the managers who are absent, in an active match: their pause ends, and the bot
// plays to the end of the match if it decides for both sides now.
func (tx *Tx) Cover(absent [2]bool) error {
	if pause := tx.now.Pause; pause != nil && absent[pause.By] {
		if err := tx.add(move{Kind: protocol.Resumed, Side: pause.By}); err != nil {
			return err
		}
	}
	for _, side := range game.Sides() {
		if absent[side] && !tx.now.BotDecides(side) {
			if err := tx.ReplaceAbsent(side); err != nil {
				return err
			}
		}
	}
	return tx.PlayOut()
}

// PlayOut plays on to the end if the bot decides for both sides, where [Tx.Advance] waits for one of the managers
// to return.
func (tx *Tx) PlayOut() error {
	tx.alone = true
	return tx.Advance()
}
