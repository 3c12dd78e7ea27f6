// Package teams holds teams and players as people see them: the teams of a season, the players of each, the source of
// that data and its age. GET /api/teams answers with these types; the rules see a team as a [game.Club].
//
// Its one law: each list and roster belongs to the season that it names.
package teams

import (
	"errors"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
)

// Errors of the sources of teams.
var (
	ErrUnknown       = errors.New("no such season or team")
	ErrTooFewPlayers = errors.New("too few players for a line-up")
	ErrUnavailable   = errors.New("the team-data API is unavailable and nothing is cached")
)

// Sources of teams, in [List] and [Roster]; a team-data API is named by its host.
const (
	BuiltIn    = "league"
	Retrosheet = "retrosheet"
)

// A List holds the teams of a season.
type List struct {
	Season    int       `json:"season"`
	Source    string    `json:"source"`              // host of the team-data API, league (built in), or retrosheet
	Stale     bool      `json:"stale"`               // the data is cached, and the API has not confirmed it recently
	FetchedAt time.Time `json:"fetched_at,omitzero"` // time at which the API last sent or confirmed the data
	Notice    string    `json:"notice,omitempty"`    // what the source asks to be shown with its data
	Seasons   []int     `json:"seasons,omitempty"`   // imported seasons, by year
	Teams     []Team    `json:"teams"`
}

// A Ref identifies a team in other answers.
type Ref struct {
	ID        string `json:"id"`
	Abbrev    string `json:"abbrev"`
	Name      string `json:"name"`
	Color     string `json:"color,omitzero"`
	TextColor string `json:"text_color,omitzero"`
}

// A Team is a team in one season, without its players.
type Team struct {
	ID        string `json:"id"`
	Season    int    `json:"season"`
	Abbrev    string `json:"abbrev"`
	Name      string `json:"name"`
	ShortName string `json:"short_name,omitempty"`
	City      string `json:"city,omitempty"`
	Color     string `json:"color,omitempty" pattern:"^#[0-9a-f]{6}$"`
	// Readable on color: a contrast of at least 4.5.
	TextColor string `json:"text_color,omitempty" pattern:"^#[0-9a-f]{6}$"`
	LogoURL   string `json:"logo_url,omitempty"` // http or https
	Park      Park   `json:"park,omitzero"`
}

// A Park is the ballpark where a team plays at home.
type Park struct {
	Name    string             `json:"name"`
	Factors chance.ParkFactors `json:"-"`
}

// A Roster is a team with its players: at least nine hitters and one pitcher.
type Roster struct {
	Team      Team      `json:"team"`
	Season    int       `json:"season"`
	Source    string    `json:"source"`
	Stale     bool      `json:"stale"`
	FetchedAt time.Time `json:"fetched_at,omitzero"`
	Players   []Player  `json:"players"`
}

// A Player is a player in one season.
type Player struct {
	game.Player
	Age      int           `json:"age,omitempty"`       // missing: unknown
	ImageURL string        `json:"image_url,omitempty"` // http or https
	Rating   chance.Rating `json:"-"`                   // zero: average
}

// Club returns the team and its players as the rules see them.
func (r *Roster) Club() game.Club {
	c := game.Club{
		ID: r.Team.ID, Abbrev: r.Team.Abbrev, Name: r.Team.Name, Players: make([]game.Player, len(r.Players)),
	}
	for i := range r.Players {
		c.Players[i] = r.Players[i].Player
	}
	return c
}

// Ratings returns the ratings of the players who have one, nil if none has.
func Ratings(rosters ...Roster) chance.Ratings {
	var ratings chance.Ratings
	for _, r := range rosters {
		for _, p := range r.Players {
			if p.Rating == (chance.Rating{}) {
				continue
			}
			if ratings == nil {
				ratings = chance.Ratings{}
			}
			ratings[p.ID] = p.Rating
		}
	}
	return ratings
}
