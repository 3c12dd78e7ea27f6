// Package card makes the cards of players: what a fan reads about a player in a roster, a line-up, the dugout and
// at bat.
//
// Its one law: a card says nothing that a fan could not know. It is made of ratings, statistics, the scorebook and
// the work of the days before; a pitcher's form of the day, and calls that are not played yet, do not show in it.
package card

import (
	"math"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/stats"
	"pressbox/game/teams"
)

// A Card is what is known of a player.
type Card struct {
	Ratings Ratings `json:"ratings"`
	Season  *Season `json:"season"` // totals of the season's games that are finished on this server; null: none
	Form
	// Days of rest since the player pitched: 0 pitched yesterday, 5 rested, or not known.
	RestDays int    `json:"rest_days" minimum:"0" maximum:"5"`
	Source   Source `json:"source"` // where the ratings come from
}

// A Form is the part of a card that changes during a game.
type Form struct {
	Today   *Day `json:"today"`               // the player's line of the game so far; null: not in the game
	Pitches int  `json:"pitches" minimum:"0"` // thrown in the game
	// Share of the stamina that is used up, by the days before and the game: 0 rested, 1 tired, above 1
	// overworked. Of a starter on the bench: as a relief pitcher.
	Fatigue float64 `json:"fatigue" minimum:"0"`
}

// A Player is a player of a roster with the card: what a fan knows. During a game, the state has what changes of
// the batter and the pitcher (at_bat). Candidates for a substitution have not played, so that their cards in the
// rosters are complete.
type Player struct {
	teams.Player
	Card
}

// A Source is where ratings come from.
type Source string

// The sources.
const (
	BuiltIn         Source = "built-in"
	Retrosheet      Source = "retrosheet"
	PositionAverage Source = "average of position" // the league has no ratings
)

// SourceOf returns the source of the ratings of a roster from [teams.Roster.Source].
func SourceOf(roster string) Source {
	switch roster {
	case teams.BuiltIn:
		return BuiltIn
	case teams.Retrosheet:
		return Retrosheet
	default:
		return PositionAverage
	}
}

// New returns the card of a player who is rested and in no game.
func New(p game.Player, r chance.Rating, s Source) Card {
	return Card{Ratings: Rate(p, r), RestDays: chance.RecentDays, Source: s}
}

// Roster returns the players of a roster with their cards.
func Roster(r *teams.Roster, seasons map[game.PlayerID]*Season) []Player {
	players := make([]Player, len(r.Players))
	for i, p := range r.Players {
		players[i] = Player{p, New(p.Player, p.Rating, SourceOf(r.Source))}
		players[i].Season = seasons[p.ID]
	}
	return players
}

// A Season is what a player did in the games of a season that are finished on this server.
type Season struct {
	Batting  *stats.BattingTotals  `json:"batting"`  // null: never came to bat
	Pitching *stats.PitchingTotals `json:"pitching"` // null: did not pitch
}

// Seasons returns the seasons of the players in statistics. A player of two teams has the line of the team that
// comes first.
func Seasons(batting []stats.Batting, pitching []stats.Pitching) map[game.PlayerID]*Season {
	all := map[game.PlayerID]*Season{}
	of := func(id game.PlayerID) *Season {
		if all[id] == nil {
			all[id] = &Season{}
		}
		return all[id]
	}
	for i := range batting {
		if b := &batting[i]; b.PlateAppearances > 0 && of(b.Player).Batting == nil {
			of(b.Player).Batting = &b.BattingTotals
		}
	}
	for i := range pitching {
		if p := &pitching[i]; of(p.Player).Pitching == nil {
			of(p.Player).Pitching = &p.PitchingTotals
		}
	}
	return all
}

// A Day is what a player did in a game so far. Counts that are left out are 0: it goes out with every play.
type Day struct {
	Batting  *Batting  `json:"batting,omitzero"`  // missing: not in the batting order
	Pitching *Pitching `json:"pitching,omitzero"` // missing: has not pitched
}

// Batting is a batter's line of a game.
type Batting struct {
	AtBats       int `json:"ab"`
	Hits         int `json:"h"`
	Doubles      int `json:"doubles,omitzero"`
	Triples      int `json:"triples,omitzero"`
	HomeRuns     int `json:"hr,omitzero"`
	Runs         int `json:"r,omitzero"`
	RunsBattedIn int `json:"rbi,omitzero"`
	Walks        int `json:"bb,omitzero"`
	HitByPitch   int `json:"hbp,omitzero"`
	Strikeouts   int `json:"so,omitzero"`
	StolenBases  int `json:"sb,omitzero"`
}

// Pitching is a pitcher's line of a game.
type Pitching struct {
	Outs       int `json:"outs"`
	Hits       int `json:"h"`
	Runs       int `json:"r"`
	EarnedRuns int `json:"er"`
	Walks      int `json:"bb,omitzero"`
	Strikeouts int `json:"so,omitzero"`
	HomeRuns   int `json:"hr,omitzero"`
}

// FormOf returns a player's form in a game. spent is the used share of the stamina, of any player.
func FormOf(box *game.TeamBoxScore, id game.PlayerID, spent float64) Form {
	f := Form{Fatigue: math.Round(spent*100) / 100}
	day := Day{}
	for i := range box.Batting {
		if l := &box.Batting[i]; l.Player == id && l.Slot > 0 {
			day.Batting = &Batting{
				l.AtBats, l.Hits, l.Doubles, l.Triples, l.HomeRuns, l.Runs, l.RunsBattedIn, l.Walks, l.HitByPitch,
				l.Strikeouts, l.StolenBases,
			}
		}
	}
	for i := range box.Pitching {
		if l := &box.Pitching[i]; l.Player == id {
			day.Pitching = &Pitching{l.Outs, l.Hits, l.Runs, l.EarnedRuns, l.Walks, l.Strikeouts, l.HomeRuns}
			f.Pitches = l.Pitches
		}
	}
	if day != (Day{}) {
		f.Today = &day
	}
	return f
}
