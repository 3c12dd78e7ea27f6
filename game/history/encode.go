package history

import (
	"encoding/json"
	"fmt"

	"pressbox/game/chance"
	"pressbox/game/teams"
)

// version of the stored form of a season. A later program reads every earlier one.
const version = 1

// stored is the form in which a season is kept.
type stored struct {
	Version int `json:"version"`
	Season
	Clubs []storedClub `json:"clubs"`
}

type storedClub struct {
	Team    teams.Team     `json:"team"`
	Players []storedPlayer `json:"players"`
}

type storedPlayer struct {
	teams.Player
	Rating chance.Rating `json:"rating"`
}

// Encode returns the season as JSON.
func (s *Season) Encode() ([]byte, error) {
	out := stored{Version: version, Season: *s}
	for _, r := range s.Rosters {
		club := storedClub{Team: r.Team}
		for _, p := range r.Players {
			club.Players = append(club.Players, storedPlayer{p, p.Rating})
		}
		out.Clubs = append(out.Clubs, club)
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode the season of %d: %w", s.Year, err)
	}
	return data, nil
}

// Decode reads what Encode returned.
func Decode(data []byte) (*Season, error) {
	var in stored
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode a season: %w", err)
	}
	if in.Version != version {
		return nil, fmt.Errorf("a season of version %d; this program reads version %d", in.Version, version)
	}
	for _, c := range in.Clubs {
		r := teams.Roster{Team: c.Team, Season: in.Year, Source: teams.Retrosheet}
		for _, p := range c.Players {
			p.Player.Rating = p.Rating
			r.Players = append(r.Players, p.Player)
		}
		in.Rosters = append(in.Rosters, r)
	}
	return &in.Season, nil
}
