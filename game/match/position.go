package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// A Position is a match after a number of moves. It is a value: what it points to is never written to. The zero
// value is a match that has not been created.
type Position struct {
	Revision uint64
	Status   protocol.Status
	Origin   *Origin
	Created  time.Time
	Started  time.Time
	Finished time.Time
	Creator  protocol.Person
	Result   *protocol.Result
	Rematch  string // id of the match that follows this one
	seats    [2]seat

	// From the start on:
	Decision uint64          // number of the open decision
	opened   time.Time       // when it was opened, later by the pauses since
	Pause    *protocol.Pause // nil: not paused
	state    game.State
	moment   chance.Progress
	sealed   [2]*chance.Tactics // calls submitted for the open decision; only the side's own part counts
	question *question
	skips    [2]skipping
	stopped  bool // a side that skips turns decides this one

	inningBegins bool

	delays [2]int // actions of a side since the last play that do not advance the match

	decided [2]time.Time // when a side's manager last decided; at first, the start
	idle    [2]int       // half-innings that ended since then
}

// A seat is a side's manager and line-up.
type seat struct {
	manager  protocol.Person
	reserved protocol.Person
	bot      bool   // the bot is the opponent
	replaced string // why the bot decides for the manager: replacedAbsent or replacedAsked; "": it does not
	lineup   *game.Lineup
}

// Why the bot decides for a side that has, or had, a manager.
const (
	replacedAbsent = "gone"
	replacedAsked  = "asked"
	replacedLeft   = "left" // for good: the side is the bot's
)

// Reasons of a forfeit (7.03).
const (
	tooFewPlayers = "too few players" // the side cannot field nine
	leftTheGame   = "left"            // its manager does not go on
)

// claimed is the reason of a loss when the time is over; it counts like a concession.
const claimed = "claimed"

// errMove is returned for a move that does not fit: the journal is damaged or newer than this program.
var errMove = errors.New("the move does not fit the match")

// apply returns the position after a move.
func (p Position) apply(m *move) (Position, error) {
	if m.Revision != p.Revision+1 {
		return p, fmt.Errorf("%w: revision %d after %d", errMove, m.Revision, p.Revision)
	}
	if m.Side > game.Home || (m.Kind == protocol.Created) != (p.Revision == 0) {
		return p, fmt.Errorf("%w: %s at revision %d", errMove, m.Kind, m.Revision)
	}
	p.Revision = m.Revision
	var err error
	switch p.Status {
	case protocol.Active:
		half := p.state.Half
		err = p.applyActive(m)
		p.recordDecision(m, half != p.state.Half)
	case protocol.Finished:
		err = p.applyFinished(m)
	default:
		err = p.applyPending(m)
	}
	if err != nil {
		return p, fmt.Errorf("revision %d, %s: %w", m.Revision, m.Kind, err)
	}
	return p, nil
}

// applyPending applies a move before the first pitch.
func (p *Position) applyPending(m *move) error {
	s := &p.seats[m.Side]
	switch {
	case m.Kind == protocol.Created && m.Origin != nil && m.Origin.Options.Check() == nil:
		p.Status, p.Origin, p.Created, p.Creator = protocol.Pending, m.Origin, m.At, m.By
		for side := range p.seats {
			p.seats[side] = seat{
				manager: m.Origin.Managers[side], reserved: m.Origin.Reserved[side], bot: m.Origin.Bots[side],
			}
		}
	case m.Kind == protocol.Joined:
		s.manager, s.reserved = m.By, protocol.Person{}
	case m.Kind == protocol.LineupSubmitted && m.Lineup != nil:
		s.lineup = m.Lineup
	case m.Kind == protocol.BotTookOver && m.Reason == replacedLeft:
		*s = seat{bot: true, lineup: s.lineup}
	case m.Kind == protocol.Started && p.seats[0].lineup != nil && p.seats[1].lineup != nil:
		state, err := game.New(p.Origin.Options.Rules(), p.Origin.clubs(),
			[2]game.Lineup{*p.seats[0].lineup, *p.seats[1].lineup})
		if err != nil {
			return err
		}
		p.Status, p.Started, p.state, p.decided = protocol.Active, m.At, state, [2]time.Time{m.At, m.At}
		p.openDecision(m.At)
	default:
		return errMove
	}
	return nil
}

// openDecision opens the next decision and drops the calls sealed for the one before.
func (p *Position) openDecision(at time.Time) {
	p.Decision++
	p.opened = at
	p.sealed = [2]*chance.Tactics{}
}

// applyActive applies a move of a match that is being played.
func (p *Position) applyActive(m *move) error {
	switch {
	case m.Kind == protocol.Played && m.Play != nil && m.Next != nil:
		state, err := p.state.Apply(*m.Play)
		if err != nil {
			return err
		}
		p.inningBegins = state.Inning > p.state.Inning
		p.state, p.moment, p.question, p.delays, p.stopped = state, *m.Next, nil, [2]int{}, false
		p.openDecision(m.At)
	case m.Kind == protocol.Substituted:
		state, err := p.state.Substitute(m.Subs...)
		if err != nil {
			return err
		}
		if p.fielded() && !p.usesBench(m.Subs) {
			p.delays[m.Side] += delaysOfSwap
		}
		p.state = state
		p.openDecision(m.At)
	case m.Kind == protocol.Questioned && m.Question != nil:
		p.question = m.Question
		p.openDecision(m.At)
	case m.Kind == protocol.Answered && p.question != nil:
	case m.Kind == protocol.Conceded:
		state, err := p.state.Forfeit(m.Side)
		if err != nil {
			return err
		}
		p.state, p.Result = state, &protocol.Result{Winner: m.Side.Other().String(), How: "conceded"}
		if m.Reason != "" && m.Reason != claimed {
			p.Result.How = "forfeit"
		}
	case m.Kind == protocol.Ended && p.state.Over():
		p.finish(m)
	default:
		return p.applyBetweenPlays(m)
	}
	return nil
}

// recordDecision records whose decision a move is, and the end of a half-inning.
func (p *Position) recordDecision(m *move, halfEnded bool) {
	for side := range p.seats {
		if halfEnded && p.skips[side].Skip == nil {
			p.idle[side]++
		}
		if m.By.ID != "" && m.By.ID == p.seats[side].manager.ID {
			p.decided[side], p.idle[side] = m.At, 0
		}
	}
}

// applyBetweenPlays applies a move that leaves the open decision as it is.
func (p *Position) applyBetweenPlays(m *move) error {
	switch {
	case m.Kind == protocol.Sealed && m.Calls != nil:
		p.sealed[m.Side] = m.Calls
	case m.Kind == protocol.TimedOut:
		p.sealed[m.Side] = m.Calls
	case m.Kind == protocol.Unsealed:
		p.sealed[m.Side] = nil
		p.delays[m.Side]++
	case m.Kind == protocol.Paused:
		p.Pause = &protocol.Pause{By: m.Side, Since: m.At}
		p.delays[m.Side]++
	case m.Kind == protocol.Resumed && p.Pause != nil:
		p.opened = p.opened.Add(m.At.Sub(p.Pause.Since))
		p.Pause = nil
	case m.Kind == protocol.BotTookOver && m.Reason == replacedLeft:
		p.seats[m.Side] = seat{bot: true, lineup: p.seats[m.Side].lineup}
	case m.Kind == protocol.BotTookOver && m.Reason != "":
		p.seats[m.Side].replaced = m.Reason
		if m.Reason == replacedAsked {
			p.delays[m.Side]++
		}
	case m.Kind == protocol.SideReturned:
		p.seats[m.Side].replaced = ""
	case m.Kind == protocol.PlayingOn, m.Kind == protocol.Stopped:
		p.applySkip(m)
	default:
		return errMove
	}
	return nil
}

// finish closes a match whose last play is over.
func (p *Position) finish(m *move) {
	p.Status, p.Finished = protocol.Finished, m.At
	p.sealed, p.question, p.Pause = [2]*chance.Tactics{}, nil, nil
	if p.Result != nil {
		return
	}
	p.Result = &protocol.Result{How: "final"}
	if p.state.End == game.CalledGame {
		p.Result.How = "called"
	}
	if side, ok := p.state.Winner(); ok {
		p.Result.Winner = side.String()
	}
}

// applyFinished applies a move to a match that is over.
func (p *Position) applyFinished(m *move) error {
	if m.Kind != protocol.RematchCreated || m.Game == "" {
		return errMove
	}
	p.Rematch = m.Game
	return nil
}

// Sides returns the sides that a person manages.
func (p *Position) Sides(by protocol.Person) []game.Side {
	sides := []game.Side{}
	for _, side := range game.Sides() {
		if by.ID != "" && p.seats[side].manager.ID == by.ID {
			sides = append(sides, side)
		}
	}
	return sides
}

// Sealed reports for which sides a call is submitted.
func (p *Position) Sealed() [2]bool { return [2]bool{p.sealed[0] != nil, p.sealed[1] != nil} }

// BotDecides reports whether the bot decides for a side: as the opponent, or in place of its manager.
func (p *Position) BotDecides(side game.Side) bool {
	return p.seats[side].bot || p.seats[side].replaced != ""
}

// ReplacedAbsent reports whether the bot decides for a side because its manager was absent.
func (p *Position) ReplacedAbsent(side game.Side) bool {
	return p.seats[side].replaced == replacedAbsent
}

// Manager returns a side's manager; the zero Person if there is none.
func (p *Position) Manager(side game.Side) protocol.Person { return p.seats[side].manager }

// Decided returns when a side's manager last did anything in a match that has started.
func (p *Position) Decided(side game.Side) time.Time { return p.decided[side] }

// maxIdle is the number of half-innings in a row without a decision of its manager after which a side may have to
// forfeit.
const maxIdle = 6

// leftBy reports whether a side's manager has left the match, so that the other side may end it: not one who
// handed the side over to the bot, nor if the other manager has decided as little.
func (p *Position) leftBy(side game.Side, a Absence) bool {
	s := &p.seats[side]
	return s.manager.ID != "" && s.replaced != replacedAsked && !p.Origin.Options.ByCorrespondence() &&
		(a == Left || p.idle[side] >= maxIdle && p.idle[side.Other()] < maxIdle)
}

// Deadline returns when the time of a side's manager for the open decision is over in a game by correspondence; zero:
// never. Who waits for the other side's call, which came late, has the whole time from then on.
func (p *Position) Deadline(side game.Side) time.Time {
	o := &p.Origin.Options
	if !o.ByCorrespondence() || !slices.Contains(p.Awaited(), side) {
		return time.Time{}
	}
	whole := time.Duration(o.TurnSeconds) * time.Second
	due := p.opened.Add(whole)
	if other := side.Other(); p.sealed[other] != nil && p.decided[other].After(due) {
		due = p.decided[other].Add(whole)
	}
	return due
}

// claimable reports whether a side may claim the match: the other manager's time is over, and its own is not.
func (p *Position) claimable(side game.Side, absent [2]Absence) bool {
	return absent[side.Other()] == Late && !slices.Contains(p.Awaited(), side)
}

// fielded reports whether every fielding position is filled. After a pinch hitter or runner, the side in the field must
// fill them first.
func (p *Position) fielded() bool {
	team := &p.state.Teams[p.state.Fielding()]
	for at := game.Pitcher; at <= game.RightField; at++ {
		if team.Fielder(at) == "" {
			return false
		}
	}
	return true
}

const (
	// maxDelays is the most actions of a side between two plays that do not advance the match: undone calls, pauses,
	// handing over to the bot. Without a limit they could fill the disk.
	maxDelays = 100
	// delaysOfSwap is the number of delays that a substitution without a new player counts for: it voids the other
	// side's call and restarts the clock.
	delaysOfSwap = 10
)

// delayed reports whether a side has used up its delays until the next play.
func (p *Position) delayed(side game.Side) bool { return p.delays[side] >= maxDelays }

// usesBench reports whether substitutions bring a new player into the game, which limits their number.
func (p *Position) usesBench(subs []game.Substitution) bool {
	return slices.ContainsFunc(subs, func(s game.Substitution) bool {
		return s.Side <= game.Home && slices.Contains(p.state.Teams[s.Side].Bench, s.Player)
	})
}

// undecided returns the sides that have yet to decide, the bot's included.
func (p *Position) undecided() []game.Side {
	sides := []game.Side{}
	switch {
	case p.Status != protocol.Active, p.Pause != nil:
	case p.question != nil:
		sides = append(sides, p.question.Asker)
	case !p.fielded():
		sides = append(sides, p.state.Fielding())
	default:
		for _, side := range game.Sides() {
			if p.sealed[side] == nil {
				sides = append(sides, side)
			}
		}
	}
	return sides
}

// Awaited returns the sides whose manager has yet to decide.
func (p *Position) Awaited() []game.Side { return slices.DeleteFunc(p.undecided(), p.BotDecides) }

// missing describes what a match waits for before it can start; "" if nothing.
func (p *Position) missing() string {
	var found []string
	for _, side := range game.Sides() {
		switch s := &p.seats[side]; {
		case !s.bot && s.manager.ID == "":
			found = append(found, fmt.Sprintf("the %s team has no manager", side))
		case s.lineup == nil:
			found = append(found, fmt.Sprintf("the line-up of the %s team is missing", side))
		}
	}
	return strings.Join(found, "; ")
}

// openSide returns the side that a person can join.
func (p *Position) openSide(by protocol.Person) (game.Side, error) {
	for _, side := range game.Sides() {
		s := &p.seats[side]
		switch {
		case s.bot || s.manager.ID != "":
		case s.reserved.ID != "" && s.reserved.ID != by.ID:
			return side, protocol.Refuse(protocol.Forbidden, "the open side is reserved for %s", s.reserved.Name)
		default:
			return side, nil
		}
	}
	return game.Away, protocol.Refuse(protocol.SeatTaken, "both sides have a manager")
}

// CheckOpenSide returns an error unless anyone can join.
func (p *Position) CheckOpenSide() error {
	if p.Status != protocol.Pending {
		return protocol.Refuse(protocol.NotPending, "the game has already started")
	}
	_, err := p.openSide(protocol.Person{})
	return err
}

// checkManager returns an error unless a person manages a side.
func (p *Position) checkManager(by protocol.Person, side game.Side) error {
	switch sides := p.Sides(by); {
	case len(sides) == 0:
		return protocol.ErrNotManager()
	case !slices.Contains(sides, side):
		return protocol.Refuse(protocol.NotYourSide, "you do not manage the %s team", side)
	}
	return nil
}

// Suggest returns the line-up that the bot would submit for a side that by manages.
func (p *Position) Suggest(by protocol.Person, side game.Side) (game.Lineup, error) {
	if err := p.checkManager(by, side); err != nil {
		return game.Lineup{}, err
	}
	return suggest(p.Origin, side)
}
