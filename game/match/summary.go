package match

import (
	"encoding/json"
	"fmt"
	"time"

	"pressbox/game"
	"pressbox/game/protocol"
	"pressbox/game/teams"
)

// summaryVersion is the version of the stored summaries and of the box scores that are stored with those of finished
// matches. It must be raised with every change of their JSON or of what it means, official scoring included; those of
// other versions are built again from the moves.
const summaryVersion = 3

// A Summary holds what lists, statistics and access checks need of a match without its moves. It is stored beside them.
type Summary struct {
	Version    int                  `json:"version"`
	ID         string               `json:"id"`
	Status     protocol.Status      `json:"status"`
	Created    time.Time            `json:"created_at"`
	Started    time.Time            `json:"started_at,omitzero"`
	Finished   time.Time            `json:"finished_at,omitzero"`
	Revision   uint64               `json:"revision"`
	Season     int                  `json:"season"`
	Options    protocol.Options     `json:"options"`
	Creator    protocol.Person      `json:"creator"`
	Seats      [2]SummarySeat       `json:"seats"`               // visitors, home
	Scoreboard *protocol.Scoreboard `json:"scoreboard,omitzero"` // nil before the start
	Result     *protocol.Result     `json:"result,omitzero"`
	Commitment string               `json:"commitment"`
	Seed       string               `json:"seed,omitzero"` // after the end
	Rules      int                  `json:"rules"`
	Rematch    string               `json:"rematch,omitzero"`
	Former     string               `json:"former,omitzero"`

	Competition protocol.Competition `json:"competition,omitzero"`
}

// A SummarySeat is one side in a [Summary].
type SummarySeat struct {
	Team            teams.Ref       `json:"team"`
	Manager         protocol.Person `json:"manager,omitzero"`
	Reserved        protocol.Person `json:"reserved,omitzero"` // who alone may join
	Bot             bool            `json:"bot,omitzero"`
	LineupSubmitted bool            `json:"lineup_submitted,omitzero"`
}

// DecodeSummary decodes a stored summary; ok is false if it must be built again with [Summarize].
func DecodeSummary(id string, data []byte) (s *Summary, ok bool) {
	s = &Summary{}
	err := json.Unmarshal(data, s)
	return s, err == nil && s.Version == summaryVersion && s.ID == id
}

// Encode returns the summary as it is stored.
func (s *Summary) Encode() ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the summary of game %s: %w", s.ID, err)
	}
	return data, nil
}

// Summarize builds the summary of the match id from its moves, and the box score of a finished one.
func Summarize(id string, moves [][]byte) (s *Summary, box *game.BoxScore, err error) {
	var last Position
	var book *game.Scorebook
	err = replay(moves, func(before *Position, s *step) error {
		book = score(book, before, s)
		last = s.after
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if last.Status == protocol.Finished && book != nil {
		b := book.BoxScore(&last.state)
		box = &b
	}
	return summarize(id, &last), box, nil
}

func summarize(id string, p *Position) *Summary {
	o := p.Origin
	s := &Summary{
		Version: summaryVersion, ID: id, Status: p.Status, Created: p.Created, Started: p.Started, Finished: p.Finished,
		Revision: p.Revision, Season: o.Season, Options: o.Options, Creator: p.Creator, Result: p.Result,
		Commitment: o.commitment(), Rules: o.Rules, Rematch: p.Rematch, Former: o.Former, Competition: o.Competition,
	}
	for side := range s.Seats {
		from, c := &p.seats[side], &o.Clubs[side]
		s.Seats[side] = SummarySeat{
			Team:    teams.Ref{ID: c.ID, Abbrev: c.Abbrev, Name: c.Name, Color: c.Color, TextColor: c.TextColor},
			Manager: from.manager, Reserved: from.reserved, Bot: from.bot, LineupSubmitted: from.lineup != nil,
		}
	}
	if p.Status != protocol.Pending {
		s.Scoreboard = scoreboard(&p.state)
	}
	if p.Status == protocol.Finished {
		s.Seed = o.Seed.String()
	}
	return s
}

// Sides returns the sides that a person manages.
func (s *Summary) Sides(by protocol.Person) []game.Side {
	var sides []game.Side
	for side := range s.Seats {
		if by.ID != "" && s.Seats[side].Manager.ID == by.ID {
			sides = append(sides, game.Side(side))
		}
	}
	return sides
}

// Involves reports whether a person manages a side, created the match, or has a side reserved.
func (s *Summary) Involves(by protocol.Person) bool {
	return by.ID != "" &&
		(len(s.Sides(by)) > 0 || s.Creator.ID == by.ID || s.Seats[0].Reserved.ID == by.ID ||
			s.Seats[1].Reserved.ID == by.ID)
}

// Offered reports whether the match is a rematch that a person may accept or decline.
func (s *Summary) Offered(to protocol.Person) bool {
	return to.ID != "" && s.Status == protocol.Pending &&
		(s.Seats[0].Reserved.ID == to.ID || s.Seats[1].Reserved.ID == to.ID)
}

// Listed reports whether the match is in the public lists.
func (s *Summary) Listed() bool { return s.Options.Visibility == protocol.Listed }

// Standing returns the score that counts in the standings, visitors first: 9 to 0 after a forfeit (7.03).
func (s *Summary) Standing() [2]int {
	if s.Result.How != "conceded" && s.Result.How != "forfeit" {
		return [2]int{s.Scoreboard.Score.Away, s.Scoreboard.Score.Home}
	}
	if s.Result.Winner == game.Home.String() {
		return [2]int{0, 9}
	}
	return [2]int{9, 0}
}

// EndedEarly reports whether the match was given up before the third inning, so that it does not show who is better.
func (s *Summary) EndedEarly() bool {
	return (s.Result.How == "conceded" || s.Result.How == "forfeit") && s.Scoreboard.Inning < 3
}

// Game returns the match as viewer sees it in a list.
func (s *Summary) Game(viewer protocol.Person) protocol.Game {
	g := protocol.Game{
		ID: s.ID, Status: s.Status, Created: s.Created, Started: s.Started, Finished: s.Finished, Revision: s.Revision,
		Season: s.Season, Options: s.Options, Scoreboard: s.Scoreboard, Result: s.Result,
		Dice: protocol.Dice{Commitment: s.Commitment, Seed: s.Seed}, Rules: s.Rules, Rematch: s.Rematch,
		RematchOf: s.Former, Competition: s.Competition,
	}
	for _, side := range game.Sides() {
		from := &s.Seats[side]
		seat := protocol.Seat{Team: from.Team, Bot: from.Bot, LineupSubmitted: from.LineupSubmitted}
		seat.Manager, seat.Reserved = from.Manager.For(viewer), from.Reserved.For(viewer)
		g.Reserved = g.Reserved || from.Reserved.ID != ""
		*g.Seat(side) = seat
	}
	if b := s.Scoreboard; b != nil {
		g.Score, g.Inning, g.Half = &b.Score, b.Inning, b.Half.String()
	}
	switch sides := s.Sides(viewer); len(sides) {
	case 0:
	case 1:
		g.YourSide = sides[0].String()
	default:
		g.YourSide = "both"
	}
	return g
}
