// Package history makes clubs of a real season, with ratings, out of Retrosheet's files: the list of teams
// (TEAM2020), the rosters (ANA2020.ROS) and the event files (2020ANA.EVA), as https://www.retrosheet.org describes
// them.
//
// Every game is replayed, and what happened is counted for each player. Rates are those of the season: a batter
// against the season's pitchers, a pitcher against its batters. Parks and the range of fielders are neutral: in
// one season they cannot be separated from the club and its pitchers.
package history

import (
	"errors"
	"time"

	"pressbox/game/teams"
)

// Notice is the sentence that Retrosheet requires with everything that is made from its files.
const Notice = "The information used here was obtained free of charge from and is copyrighted by Retrosheet. " +
	`Interested parties may contact Retrosheet at "www.retrosheet.org".`

// The limits of the files of a season.
const (
	MaxBytes = 64 << 20 // of all files together, unpacked
	maxFiles = 400
	maxClubs = 64
)

// ErrFiles is wrapped by the errors of files that are not those of one season.
var ErrFiles = errors.New("not Retrosheet's files of one season")

// A Season holds the clubs of a season.
type Season struct {
	Year     int            `json:"season"`             // the year
	Games    int            `json:"games"`              // games that were replayed
	Rejected []string       `json:"rejected,omitempty"` // reasons of the games that could not be replayed
	Imported time.Time      `json:"imported_at,omitzero"`
	Rosters  []teams.Roster `json:"-"` // by the id of the club
}

// List returns the clubs without their players.
func (s *Season) List() teams.List {
	list := teams.List{Season: s.Year, Source: teams.Retrosheet, Notice: Notice}
	for _, r := range s.Rosters {
		list.Teams = append(list.Teams, r.Team)
	}
	return list
}

// Roster returns a club with its players; false if the season has no such club.
func (s *Season) Roster(id string) (teams.Roster, bool) {
	for _, r := range s.Rosters {
		if r.Team.ID == id {
			return r, true
		}
	}
	return teams.Roster{}, false
}
