package live

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
)

// A position is a game after a number of moves. It is a value: what it points to is never written to. The zero value is
// a game that has not been made.
type position struct {
	rev      uint64
	status   Status
	origin   *origin
	created  time.Time
	started  time.Time
	finished time.Time
	creator  Person
	seats    [2]seat
	result   *Result
	rematch  string

	// Since the start:
	state    game.State
	moment   chance.Progress
	decision uint64             // number of the decision that is open
	sealed   [2]*chance.Tactics // what a side has decided; of it only its own part counts
	question *question
	pause    *Pause
	asides   [2]int // what a side has done since the last play that brings nothing on
}

// A seat is a side's manager and line-up.
type seat struct {
	manager  Person
	reserved Person
	bot      bool   // the opponent
	taken    string // why the bot manages for the manager: "gone", "asked"; "" it does not
	lineup   *game.Lineup
}

// Why the bot manages a side that has a manager.
const (
	takenGone  = "gone"
	takenAsked = "asked"
)

// tooFew is why a side forfeits that nobody conceded for: it cannot field nine.
const tooFew = "too few players"

// errMove says that a move does not fit; it is only met in a journal that is damaged or newer.
var errMove = errors.New("the move does not fit the game")

// apply returns the position after a move.
func (p position) apply(m *move) (position, error) {
	if m.Rev != p.rev+1 {
		return p, fmt.Errorf("%w: revision %d after %d", errMove, m.Rev, p.rev)
	}
	if m.Side > game.Home || (m.Kind == Created) != (p.rev == 0) {
		return p, fmt.Errorf("%w: %s at revision %d", errMove, m.Kind, m.Rev)
	}
	p.rev = m.Rev
	var err error
	switch p.status {
	case Active:
		err = p.playOn(m)
	case Finished:
		err = p.afterwards(m)
	default:
		err = p.prepare(m)
	}
	if err != nil {
		return p, fmt.Errorf("revision %d, %s: %w", m.Rev, m.Kind, err)
	}
	return p, nil
}

// prepare applies a move before the first pitch.
func (p *position) prepare(m *move) error {
	seat := &p.seats[m.Side]
	switch {
	case m.Kind == Created && m.Origin != nil && m.Origin.Options.check() == nil:
		p.status, p.origin, p.created, p.creator = Pending, m.Origin, m.At, m.By
		for side := range p.seats {
			p.seats[side] = newSeat(m.Origin, side)
		}
	case m.Kind == Joined:
		seat.manager, seat.reserved = m.By, Person{}
	case m.Kind == LineupSubmitted && m.Lineup != nil:
		seat.lineup = m.Lineup
	case m.Kind == Started && p.seats[0].lineup != nil && p.seats[1].lineup != nil:
		clubs := [2]game.Club{p.origin.Clubs[0].Club, p.origin.Clubs[1].Club}
		state, err := game.New(p.origin.Options.rules(), clubs, [2]game.Lineup{*p.seats[0].lineup, *p.seats[1].lineup})
		if err != nil {
			return err
		}
		p.status, p.started, p.state = Active, m.At, state
		p.open()
	default:
		return errMove
	}
	return nil
}

// newSeat returns a side's seat as a game begins with it.
func newSeat(o *origin, side int) seat {
	return seat{manager: o.Managers[side], reserved: o.Reserved[side], bot: o.Bots[side]}
}

// open begins a decision: what was sealed for the one before is void.
func (p *position) open() {
	p.decision++
	p.sealed = [2]*chance.Tactics{}
}

// playOn applies a move of a game that is played.
func (p *position) playOn(m *move) error {
	switch {
	case m.Kind == Played && m.Play != nil && m.Next != nil:
		state, err := p.state.Apply(*m.Play)
		if err != nil {
			return err
		}
		p.state, p.moment, p.question, p.asides = state, *m.Next, nil, [2]int{}
		p.open()
	case m.Kind == Substituted:
		state, err := p.state.Substitute(m.Subs...)
		if err != nil {
			return err
		}
		if p.fielded() && !p.comesIn(m.Subs) {
			p.asides[m.Side] += asidesOfChange
		}
		p.state = state
		p.open()
	case m.Kind == Questioned && m.Question != nil:
		p.question = m.Question
		p.open()
	case m.Kind == Answered && p.question != nil:
	case m.Kind == Conceded:
		state, err := p.state.Forfeit(m.Side)
		if err != nil {
			return err
		}
		p.state, p.result = state, &Result{Winner: m.Side.Other().String(), How: "conceded"}
		if m.Reason == tooFew {
			p.result.How = "forfeit"
		}
	case m.Kind == Ended && p.state.Over():
		p.end(m)
	default:
		return p.interrupt(m)
	}
	return nil
}

// interrupt applies a move between two decisions' ends.
func (p *position) interrupt(m *move) error {
	switch {
	case m.Kind == Sealed && m.Calls != nil:
		p.sealed[m.Side] = m.Calls
	case m.Kind == TimedOut:
		p.sealed[m.Side] = m.Calls
	case m.Kind == Unsealed:
		p.sealed[m.Side] = nil
		p.asides[m.Side]++
	case m.Kind == Paused:
		p.pause = &Pause{By: m.Side, Since: m.At}
		p.asides[m.Side]++
	case m.Kind == Resumed:
		p.pause = nil
	case m.Kind == BotTookOver && m.Reason != "":
		p.seats[m.Side].taken = m.Reason
		if m.Reason == takenAsked {
			p.asides[m.Side]++
		}
	case m.Kind == SideReturned:
		p.seats[m.Side].taken = ""
	default:
		return errMove
	}
	return nil
}

// end closes a game whose last play is over.
func (p *position) end(m *move) {
	p.status, p.finished = Finished, m.At
	p.sealed, p.question, p.pause = [2]*chance.Tactics{}, nil, nil
	if p.result != nil {
		return
	}
	p.result = &Result{How: "final"}
	if side, ok := p.state.Winner(); ok {
		p.result.Winner = side.String()
	}
}

// afterwards applies a move to a game that is over.
func (p *position) afterwards(m *move) error {
	if m.Kind != RematchCreated || m.Game == "" {
		return errMove
	}
	p.rematch = m.Game
	return nil
}

// sides returns the sides that a person manages.
func (p *position) sides(by Person) []game.Side {
	sides := []game.Side{}
	for side := game.Away; side <= game.Home; side++ {
		if by.ID != "" && p.seats[side].manager.ID == by.ID {
			sides = append(sides, side)
		}
	}
	return sides
}

// decided returns which sides' calls are in.
func (p *position) decided() [2]bool { return [2]bool{p.sealed[0] != nil, p.sealed[1] != nil} }

// bot reports whether the bot decides for a side.
func (p *position) bot(side game.Side) bool { return p.seats[side].bot || p.seats[side].taken != "" }

// person reports whether a side has a manager who decides, or could.
func (p *position) person(side game.Side) bool { return p.seats[side].manager.ID != "" }

// fielded reports whether somebody plays every position; after a pinch hitter or runner the side in the field must see to
// that first.
func (p *position) fielded() bool {
	team := &p.state.Teams[p.state.Fielding()]
	for at := game.Pitcher; at <= game.RightField; at++ {
		if team.Fielder(at) == "" {
			return false
		}
	}
	return true
}

const (
	// mostAsides of a side between two plays: calls taken back, pauses, handing over to the bot. For ever they would fill
	// the disk.
	mostAsides = 100
	// asidesOfChange are as many as men who change places count for: that voids the other's call and gives new time.
	asidesOfChange = 10
)

// spent reports whether a side has had its asides until the next play.
func (p *position) spent(side game.Side) bool { return p.asides[side] >= mostAsides }

// comesIn reports whether somebody comes into the game by substitutions, so that there can only be so many of them.
func (p *position) comesIn(subs []game.Substitution) bool {
	return slices.ContainsFunc(subs, func(s game.Substitution) bool {
		return s.Side <= game.Home && slices.Contains(p.state.Teams[s.Side].Bench, s.Player)
	})
}

// undecided returns the sides whose decision the turn waits for, those that the bot manages included.
func (p *position) undecided() []game.Side {
	sides := []game.Side{}
	switch {
	case p.status != Active, p.pause != nil:
	case p.question != nil:
		sides = append(sides, p.question.Asker)
	case !p.fielded():
		sides = append(sides, p.state.Fielding())
	default:
		for side := game.Away; side <= game.Home; side++ {
			if p.sealed[side] == nil {
				sides = append(sides, side)
			}
		}
	}
	return sides
}

// awaited returns the sides that a person must decide for.
func (p *position) awaited() []game.Side { return slices.DeleteFunc(p.undecided(), p.bot) }

// clubs returns the clubs as the rules know them, visitors first.
func (p *position) clubs() [2]game.Club {
	return [2]game.Club{p.origin.Clubs[0].Club, p.origin.Clubs[1].Club}
}
