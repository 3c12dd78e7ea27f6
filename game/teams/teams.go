// Package teams is clubs and players as people see them: which clubs a season has, who plays for each, where that is
// known from, and how sure it is. They are what GET /api/teams answers; the rules know a club as [game.Club].
//
// Its one law: what is listed belongs to the season that is named beside it.
package teams

import (
	"errors"
	"time"

	"pressbox/game"
)

// Why there is no list or roster.
var (
	ErrUnknown       = errors.New("there is no such season or team")
	ErrTooFewPlayers = errors.New("the team has too few players for a line-up")
	ErrUnavailable   = errors.New("the team-data API does not answer, and nothing of it is kept")
)

// A List is the clubs of a season.
type List struct {
	Season    int       `json:"season"`
	Source    string    `json:"source"`              // "league", or the host of the team-data API
	Stale     bool      `json:"stale"`               // past its time, and not confirmed since
	FetchedAt time.Time `json:"fetched_at,omitzero"` // when it was last said or confirmed; zero: it is ours
	Teams     []Team    `json:"teams"`
}

// A Team is a club without its players.
type Team struct {
	ID     string `json:"id"`
	Season int    `json:"season"`
	Abbrev string `json:"abbrev"`
	Name   string `json:"name"`
	Short  string `json:"short_name,omitempty"`
	City   string `json:"city,omitempty"`
	Color  string `json:"color,omitempty"`      // #rrggbb
	Text   string `json:"text_color,omitempty"` // on Color, readable: contrast 4.5 or more
	Logo   string `json:"logo_url,omitempty"`   // http or https
	Park   Park   `json:"park,omitzero"`
}

// A Park is where a club plays at home.
type Park struct {
	Name string `json:"name"`
}

// A Roster is a club with its players: nine who hit and one who pitches at least.
type Roster struct {
	Team      Team      `json:"team"`
	Season    int       `json:"season"`
	Source    string    `json:"source"`
	Stale     bool      `json:"stale"`
	FetchedAt time.Time `json:"fetched_at,omitzero"`
	Players   []Player  `json:"players"`
}

// A Player is a line of a roster.
type Player struct {
	game.Player
	Age   int    `json:"age,omitempty"`       // 0 means that it is not known
	Image string `json:"image_url,omitempty"` // http or https
}

// Game returns the club as the rules know it.
func (r *Roster) Game() game.Club {
	g := game.Club{ID: r.Team.ID, Abbrev: r.Team.Abbrev, Name: r.Team.Name, Players: make([]game.Player, len(r.Players))}
	for i := range r.Players {
		g.Players[i] = r.Players[i].Player
	}
	return g
}
