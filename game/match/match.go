// Package match holds the rules of one hosted match: who manages which side, which commands are allowed, what each
// move changes, and how a move looks to spectators, to managers and in words.
//
// A match is the list of its moves, one per revision, counted from 1 without gaps. A move records a decision and
// the outcome that was drawn for it, so [Load] applies recorded moves and draws nothing. Everything else (events,
// box score, scorecard, summary) is derived from the moves.
//
//	Match.Begin ─ Tx.Submit, Tx.Join, … ─ Tx.Moves (to be saved) ─ Match.Commit ─ messages
//
// The package is pure: it has no clock, no lock on a match and no I/O. The caller passes the time, the seed and
// who is absent, and saves the moves of a [Tx] before it commits them.
package match

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pressbox/game"
	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/protocol"
	"pressbox/game/retro"
	"pressbox/game/teams"
)

// A Club is the copy of a club that a match is created with.
type Club struct {
	game.Club
	Season    int                `json:"season"`
	Source    string             `json:"source,omitzero"`     // of the roster
	Color     string             `json:"color,omitzero"`      // #rrggbb
	TextColor string             `json:"text_color,omitzero"` // on Color
	Ratings   chance.Ratings     `json:"ratings,omitzero"`    // a player without one is average
	Park      chance.ParkFactors `json:"park,omitzero"`
}

// ClubOf returns the copy of a team that a match keeps.
func ClubOf(r *teams.Roster) Club {
	return Club{
		Club: r.Club(), Season: r.Season, Source: r.Source, Color: r.Team.Color, TextColor: r.Team.TextColor,
		Ratings: teams.Ratings(*r), Park: r.Team.Park.Factors,
	}
}

// An Absence holds whether, and for how long, a manager is absent.
type Absence int

// The absences.
const (
	Present Absence = iota
	Gone            // for so long that the bot may manage the side
	Left            // and without a decision for so long that the other side may end the match
	Late            // in a match by correspondence, over the time for the open decision
)

// A Match is a match in memory. It must not be used concurrently.
type Match struct {
	ID string
	Position
	engine  *engine
	history *history
	open    *decisionChoices // of the open decision; nil: not made yet
}

// Load returns the match that the encoded moves make.
func Load(id string, moves [][]byte, words *call.Phrasebook) (*Match, error) {
	m := &Match{ID: id}
	err := replay(moves, func(before *Position, s *step) error {
		if s.Kind == protocol.Created {
			var err error
			if m.engine, err = newEngine(s.after.Origin); err != nil {
				return err
			}
			m.history = newHistory(id, words, s.after.Origin, m.engine.odds)
		}
		m.history.enter(before, s)
		m.Position = s.after
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// replay decodes and applies moves from the first, and calls each with every one of them.
func replay(moves [][]byte, each func(before *Position, s *step) error) error {
	if len(moves) == 0 {
		return fmt.Errorf("%w: there are no moves", errMove)
	}
	var p Position
	for _, data := range moves {
		m, err := decodeMove(data)
		if err != nil {
			return err
		}
		after, err := p.apply(m)
		if err != nil {
			return err
		}
		if err := each(&p, &step{m, after}); err != nil {
			return err
		}
		p = after
	}
	return nil
}

// Begin starts a transaction at time at. by is the zero Person, and commandID empty, for what no command asks for.
func (m *Match) Begin(by protocol.Person, commandID string, at time.Time) *Tx {
	return &Tx{
		engine: m.engine, id: m.ID, history: m.history, now: m.Position, began: m.Status, at: at, by: by,
		commandID: commandID, open: m.open,
	}
}

// Commit makes the moves of a transaction part of the match, once they are saved. tx must have begun at m's revision.
func (m *Match) Commit(tx *Tx) {
	before := m.Position
	for i := range tx.steps {
		m.history.enter(&before, &tx.steps[i])
		before = tx.steps[i].after
	}
	m.Position, m.open = tx.now, tx.open
}

// Submitted returns the first revision of a person's earlier command; ok is false if there was none.
func (m *Match) Submitted(by protocol.Person, commandID string) (revision uint64, ok bool) {
	revision, ok = m.history.commands[command{by.ID, commandID}]
	return revision, ok
}

// Last returns the events of the last n moves.
func (m *Match) Last(n int) []Rendered { return m.history.events[len(m.history.events)-n:] }

// Missed returns the events and skips after a revision, as the manager of sides sees them.
func (m *Match) Missed(since uint64, sides []game.Side) []*protocol.Message {
	all := m.history.events
	var messages []*protocol.Message
	for i := min(since, uint64(len(all))); i < uint64(len(all)); i++ {
		messages = append(messages, all[i].For(sides))
	}
	return messages
}

// Current returns msg with the present state if msg is an event: with what the manager of sides may do now. absent
// holds the absence of both managers.
func (m *Match) Current(msg *protocol.Message, sides []game.Side, absent [2]Absence) *protocol.Message {
	event, ok := msg.Data.(*protocol.Event)
	if !ok || m.Status == protocol.Pending {
		return msg
	}
	e := *event
	e.State = m.View()
	if len(sides) > 0 {
		e.Legal, e.Offers = m.Legal(sides), m.Offers(sides, absent)
	}
	return &protocol.Message{Type: msg.Type, Game: msg.Game, Revision: msg.Revision, Data: &e}
}

// Commentary returns what the loudspeaker says about the last n moves, at the level that the match asks for, and
// whose turn it is. before holds the sides whose manager had yet to decide before them.
func (m *Match) Commentary(n int, before []game.Side) string {
	level := m.Origin.Options.Announce
	var lines []string
	for _, e := range m.Last(n) {
		if e.spoken != "" && (level == protocol.AnnounceAll || level == protocol.AnnounceScoring && e.scoring) {
			lines = append(lines, e.spoken)
		}
	}
	if names := m.newlyAwaited(n, before); names != nil && m.Origin.Options.CallTurn {
		lines = append(lines, m.history.caller.Awaited(m.Revision, names).Speak)
	}
	return strings.Join(lines, " ")
}

// newlyAwaited returns the names of the managers for whom the last n moves opened a decision. A substitution opens
// the decision again: only who had made a call has to decide again.
func (m *Match) newlyAwaited(n int, before []game.Side) (names []string) {
	all := m.history.events
	if n == len(all) || all[len(all)-n-1].decision == m.Decision {
		return nil
	}
	isNew := slices.ContainsFunc(m.Last(n), func(r Rendered) bool {
		e, _ := r.Public.Data.(*protocol.Event)
		return e != nil && (e.Kind == protocol.Played || e.Kind == protocol.Questioned || e.Kind == protocol.Started)
	})
	for _, side := range m.Awaited() {
		if name := m.Manager(side).Name; (isNew || !slices.Contains(before, side)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// View returns the state that every viewer sees.
func (m *Match) View() *protocol.View {
	p := &m.Position
	v := &protocol.View{Status: p.Status, Waiting: p.Awaited(), Decision: p.Decision, Hash: m.Hash(), Paused: p.Pause}
	if p.Status == protocol.Pending {
		return v
	}
	state := p.state
	v.State, v.Batting, v.Pitcher = &state, state.Batting(), state.Pitcher()
	v.Batter = state.Batter()
	v.BotManages = protocol.BySide[bool]{Home: p.BotDecides(game.Home), Away: p.BotDecides(game.Away)}
	v.Skips = protocol.BySide[*protocol.Skip]{Home: p.skips[game.Home].Skip, Away: p.skips[game.Away].Skip}
	if p.question != nil {
		v.Question = p.questionView()
	}
	v.AtBat = m.atBat()
	return v
}

// Hash returns the hex SHA-256 of the state's JSON; "" before the start.
func (m *Match) Hash() string { return m.history.hash }

// Game returns the match as viewer sees it, with rosters and the line-ups that viewer may see. The caller completes the
// detail.
func (m *Match) Game(viewer protocol.Person) protocol.Game {
	g := m.Summary().Game(viewer)
	g.Detail = &protocol.Detail{GoAhead: m.history.lead}
	own := m.Sides(viewer)
	for _, side := range game.Sides() {
		*g.Rosters.Of(side) = protocol.Roster{Players: m.cards(side)}
		if m.Status != protocol.Pending || slices.Contains(own, side) {
			g.Seat(side).Lineup = m.seats[side].lineup
		}
		if m.Status == protocol.Pending && g.Seat(side).Lineup == nil && slices.Contains(own, side) {
			if l, err := suggest(m.Origin, side); err == nil {
				g.Seat(side).Suggested = &l
			}
		}
	}
	return g
}

// Summary returns the summary of the match as it is now.
func (m *Match) Summary() *Summary { return summarize(m.ID, &m.Position) }

// BoxScore returns the box score of a match that has begun.
func (m *Match) BoxScore() game.BoxScore { return m.history.book.BoxScore(&m.state) }

// WinProbability returns the win probability after each play of a match that has begun.
func (m *Match) WinProbability() protocol.WinProbability {
	w := m.history.win
	w.Points = slices.Clone(w.Points)
	return w
}

// Scorecard returns a function that writes a match that has begun as a Retrosheet event file.
func (m *Match) Scorecard() (write func(io.Writer) error, err error) {
	card, err := m.history.card.EventFile(&m.state, m.history.book)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error { return retro.Write(w, card) }, nil
}
