package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// A Tx holds moves that are not committed yet, applied to a copy of the match's position. If one of its methods fails,
// the Tx must be dropped.
type Tx struct {
	*engine
	id        string
	history   *history // of the match, only read; empty of a new match
	now       Position
	at        time.Time
	by        protocol.Person // who makes the first move
	commandID string          // of the first move
	began     protocol.Status // of the match when the transaction began
	alone     bool            // the bot plays on if it decides for both sides
	steps     []step
	open      *decisionChoices // of the match when the transaction began
}

// A step is a move and the position after it.
type step struct {
	*move
	after Position
}

// Create returns the transaction that creates a match, with the bot's line-ups.
func Create(id string, o *Origin, by protocol.Person, at time.Time) (*Tx, error) {
	e, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	tx := &Tx{engine: e, id: id, history: &history{}, at: at, by: by}
	if err := tx.add(move{Kind: protocol.Created, Origin: o}); err != nil {
		return nil, err
	}
	for side := range o.Bots {
		if !o.Bots[side] {
			continue
		}
		l, err := suggest(o, game.Side(side))
		if err != nil {
			return nil, err
		}
		if err := tx.add(move{Kind: protocol.LineupSubmitted, Side: game.Side(side), Lineup: &l}); err != nil {
			return nil, err
		}
	}
	return tx, nil
}

// Time returns the time of the transaction.
func (tx *Tx) Time() time.Time { return tx.at }

// Len returns the number of moves.
func (tx *Tx) Len() int { return len(tx.steps) }

// Ends reports whether the match is over after the transaction.
func (tx *Tx) Ends() bool { return tx.now.Status == protocol.Finished }

// First returns the revision and the command id of the first move.
func (tx *Tx) First() (revision uint64, commandID string) {
	return tx.steps[0].Revision, tx.steps[0].CommandID
}

// LastKind returns the kind of the last move.
func (tx *Tx) LastKind() protocol.EventKind { return tx.steps[len(tx.steps)-1].Kind }

// Moves returns the moves as the journal stores them.
func (tx *Tx) Moves() ([][]byte, error) {
	var moves [][]byte
	for _, s := range tx.steps {
		data, err := json.Marshal(s.move)
		if err != nil {
			return nil, fmt.Errorf("encode move %d: %w", s.Revision, err)
		}
		moves = append(moves, data)
	}
	return moves, nil
}

// Summary returns the summary of the match after the transaction.
func (tx *Tx) Summary() *Summary { return summarize(tx.id, &tx.now) }

// BoxScore returns the box score if the match ends with the transaction; ok is false if it does not. A Scorebook cannot
// be copied, so another one is filled from the first move on.
func (tx *Tx) BoxScore() (box game.BoxScore, ok bool, err error) {
	if tx.now.Status != protocol.Finished || tx.began == protocol.Finished {
		return box, false, nil
	}
	var book *game.Scorebook
	var p Position
	record := func(s *step) {
		book = score(book, &p, s)
		p = s.after
	}
	for _, m := range tx.history.moves {
		after, err := p.apply(m)
		if err != nil {
			return box, false, err
		}
		record(&step{m, after})
	}
	for i := range tx.steps {
		record(&tx.steps[i])
	}
	return book.BoxScore(&tx.now.state), true, nil
}

// add makes a move.
func (tx *Tx) add(m move) error {
	m.Version, m.Revision, m.At, m.By, m.CommandID = journalVersion, tx.now.Revision+1, tx.at, tx.by, tx.commandID
	next, err := tx.now.apply(&m)
	if err != nil {
		if broken, ok := errors.AsType[*game.IllegalError](err); ok {
			return illegal("%s", broken.Error())
		}
		return err
	}
	tx.now, tx.by, tx.commandID = next, protocol.Person{}, ""
	tx.steps = append(tx.steps, step{&m, next})
	return nil
}

// replace makes a line-up in place of the one that was submitted with an earlier revision.
func (tx *Tx) replace(revision uint64, m move) {
	m.Version, m.Revision, m.At, m.By = journalVersion, revision, tx.at, tx.by
	tx.now.seats[m.Side].lineup = m.Lineup
	tx.steps = append(tx.steps, step{&m, tx.now})
}

// Replaces reports whether the one move of the transaction takes the place of an earlier one.
func (tx *Tx) Replaces() bool { return tx.steps[0].Revision <= uint64(len(tx.history.moves)) }

// Advance adds the moves that follow without a decision of a manager: the bot's, the turn that both sides have decided,
// the end of the match.
func (tx *Tx) Advance() error {
	for tx.now.Status == protocol.Active {
		more, err := tx.advanceOnce()
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// advanceOnce adds what follows next; more is false if the match waits for a manager.
func (tx *Tx) advanceOnce() (more bool, err error) {
	p := &tx.now
	switch {
	case p.state.Over():
		return true, tx.add(move{Kind: protocol.Ended})
	case p.Pause != nil, p.BotDecides(game.Away) && p.BotDecides(game.Home) && !tx.alone:
		return false, nil
	}
	if changed, err := tx.botSubstitutes(); changed || err != nil {
		return true, err
	}
	if skipped, err := tx.skipTurn(); skipped || err != nil {
		return true, err
	}
	if q := p.question; q != nil {
		if !p.BotDecides(q.Asker) {
			return false, nil
		}
		return true, tx.answer(q.Asker, tx.managers[q.Asker].AnswerQuestion(&p.state, q.turn()), q.Skipped)
	}
	if len(p.Awaited()) > 0 {
		return false, nil
	}
	if !p.fielded() { // the bot has no substitute left (7.03(b))
		return true, tx.add(move{Kind: protocol.Conceded, Side: p.state.Fielding(), Reason: tooFewPlayers})
	}
	return true, tx.resolveTurn(false)
}

// botSubstitutes adds a substitution of the bot, unless a side has decided already.
func (tx *Tx) botSubstitutes() (changed bool, err error) {
	p := &tx.now
	if p.question != nil || p.sealed != [2]*chance.Tactics{} {
		return false, nil
	}
	for _, side := range game.Sides() {
		if !p.BotDecides(side) {
			continue
		}
		if subs := tx.managers[side].Substitutions(&p.state, p.moment); subs != nil {
			return true, tx.add(move{Kind: protocol.Substituted, Side: side, Subs: subs})
		}
	}
	return false, nil
}

// resolveTurn draws the outcome of both sides' calls; the bot makes its own here. skipped is of the turn.
func (tx *Tx) resolveTurn(skipped bool) error {
	p := &tx.now
	calls, next := chance.Tactics{}, tx.turn()
	if c := p.sealed[p.state.Batting()]; c != nil {
		calls.Offense = c.Offense
	} else {
		calls.Offense = tx.managers[p.state.Batting()].Offense(next)
	}
	if c := p.sealed[p.state.Fielding()]; c != nil {
		calls.Defense = c.Defense
	} else {
		calls.Defense = tx.managers[p.state.Fielding()].Defense(next)
	}
	turn, err := tx.table.Resolve(&p.state, p.moment, calls)
	if err != nil {
		return fmt.Errorf("resolve %+v: %w", calls, err)
	}
	if !tx.asks(&p.state, p.moment, calls, &turn) {
		play := turn.Final(turn.Bold)
		return tx.add(move{
			Kind: protocol.Played, Side: p.state.Batting(), Calls: &calls, Play: &play, Next: &turn.Next,
			Skipped: skipped,
		})
	}
	q := &question{
		Ask: turn.Question, Asker: turn.Decider, Odds: turn.SuccessChance, Usual: turn.Bold,
		Safe: turn.Final(false), Bold: turn.Final(true), Next: turn.Next, Calls: &calls, Skipped: skipped,
	}
	return tx.add(move{Kind: protocol.Questioned, Side: turn.Decider, Question: q})
}

// Prepare makes the choices of the decision that the transaction opens, for the manager of sides, so that they
// need not be made once it is committed.
func (tx *Tx) Prepare(sides []game.Side) {
	after := Match{Position: tx.now, engine: tx.engine, open: tx.open}
	after.Legal(sides)
	after.Offers(sides, [2]Absence{})
	tx.open = after.open
}

// turn returns the turn that follows; that of the choices which the managers received, if it is the same.
func (tx *Tx) turn() *bot.Turn {
	if tx.open != nil && tx.open.decision == tx.now.Decision {
		return tx.open.turn
	}
	return bot.NewTurn(tx.table, &tx.now.state, tx.now.moment)
}

// answer answers the open question. skipped is of the turn.
func (tx *Tx) answer(side game.Side, bold, skipped bool) error {
	if err := tx.add(move{Kind: protocol.Answered, Side: side, Bold: bold}); err != nil {
		return err
	}
	q := tx.now.question
	return tx.add(move{
		Kind: protocol.Played, Side: tx.now.state.Batting(), Calls: q.Calls, Play: q.play(bold), Next: &q.Next,
		Skipped: skipped,
	})
}

// TimeOut decides by default for every side that has yet to decide: as if it called nothing special.
func (tx *Tx) TimeOut() error {
	for _, side := range tx.now.Awaited() {
		if err := tx.timeOut(side); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) timeOut(side game.Side) error {
	p := &tx.now
	switch {
	case p.question != nil:
		if err := tx.add(move{Kind: protocol.TimedOut, Side: side}); err != nil {
			return err
		}
		return tx.answer(side, tx.now.question.Usual, false)
	case !p.fielded():
		if err := tx.add(move{Kind: protocol.TimedOut, Side: side}); err != nil {
			return err
		}
		if subs := takeField(tx.managers[side], &tx.now); subs != nil {
			return tx.add(move{Kind: protocol.Substituted, Side: side, Subs: subs})
		}
		return tx.add(move{Kind: protocol.Conceded, Side: side, Reason: tooFewPlayers})
	default:
		return tx.add(move{Kind: protocol.TimedOut, Side: side, Calls: &chance.Tactics{}})
	}
}

// ReplaceAbsent lets the bot decide for a side whose manager is absent.
func (tx *Tx) ReplaceAbsent(side game.Side) error {
	return tx.add(move{Kind: protocol.BotTookOver, Side: side, Reason: replacedAbsent})
}

// Return lets a side's manager decide again.
func (tx *Tx) Return(side game.Side) error {
	return tx.add(move{Kind: protocol.SideReturned, Side: side})
}

// LinkRematch records the match that follows this one.
func (tx *Tx) LinkRematch(id string) error {
	return tx.add(move{Kind: protocol.RematchCreated, Game: id})
}
