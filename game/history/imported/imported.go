// Package imported keeps the seasons of [history] that an administrator imported, beside another source of teams: the
// built-in league or a team-data API, which has all other seasons.
//
// Its one law: an imported season is complete or not there.
package imported

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"pressbox/game/history"
	"pressbox/game/teams"
)

// A Repository stores seasons by their year.
type Repository interface {
	SaveSeason(ctx context.Context, year int, data []byte) error
	Season(ctx context.Context, year int) ([]byte, error) // nil: none
	Seasons(ctx context.Context) ([]int, error)           // ascending
	DeleteSeason(ctx context.Context, year int) (found bool, err error)
}

// A Source has the seasons that were not imported.
type Source interface {
	Teams(ctx context.Context, season int) (teams.List, error)
	Roster(ctx context.Context, season int, team string) (teams.Roster, error)
	Run(ctx context.Context) error
}

// Seasons answers for teams and rosters of imported seasons, and passes other requests on.
type Seasons struct {
	Source
	repository Repository
	importing  sync.Mutex // one import at a time

	mu   sync.Mutex
	last *history.Season // the season that was read last
}

// New returns the seasons of a repository, beside those of another source.
func New(r Repository, other Source) *Seasons { return &Seasons{Source: other, repository: r} }

// Teams returns the teams of a season; 0 is the other source's default. The list names the imported seasons.
func (s *Seasons) Teams(ctx context.Context, season int) (teams.List, error) {
	years, err := s.repository.Seasons(ctx)
	if err != nil {
		return teams.List{}, err
	}
	if !slices.Contains(years, season) {
		list, err := s.Source.Teams(ctx, season)
		list.Seasons = years
		return list, err
	}
	found, err := s.season(ctx, season)
	if err != nil {
		return teams.List{}, err
	}
	list := found.List()
	list.Seasons = years
	return list, nil
}

// Roster returns a team with its players. The error wraps [teams.ErrUnknown].
func (s *Seasons) Roster(ctx context.Context, season int, team string) (teams.Roster, error) {
	found, err := s.season(ctx, season)
	if err != nil {
		return teams.Roster{}, err
	}
	if found == nil {
		return s.Source.Roster(ctx, season, team)
	}
	if r, ok := found.Roster(team); ok {
		return r, nil
	}
	return teams.Roster{}, fmt.Errorf("team %.40q in the season of %d: %w", team, season, teams.ErrUnknown)
}

// season returns an imported season, nil if it was not imported.
func (s *Seasons) season(ctx context.Context, year int) (*history.Season, error) {
	if year == 0 {
		return nil, nil //nolint:nilnil // the other source's default season
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && s.last.Year == year {
		return s.last, nil
	}
	data, err := s.repository.Season(ctx, year)
	if data == nil || err != nil {
		return nil, err
	}
	season, err := history.Decode(data)
	if err != nil {
		return nil, err
	}
	s.last = season
	return season, nil
}

// Import reads a season from Retrosheet's files and keeps it, in place of one of the same year. Errors wrap
// [history.ErrFiles] if the files are at fault.
func (s *Seasons) Import(ctx context.Context, files fs.FS) (*history.Season, error) {
	s.importing.Lock()
	defer s.importing.Unlock()
	season, err := history.Read(files)
	if err != nil {
		return nil, err
	}
	season.Imported = time.Now().UTC().Truncate(time.Second)
	data, err := season.Encode()
	if err != nil {
		return nil, err
	}
	if err := s.repository.SaveSeason(ctx, season.Year, data); err != nil {
		return nil, err
	}
	s.forget()
	return season, nil
}

// List returns the imported seasons by year.
func (s *Seasons) List(ctx context.Context) ([]*history.Season, error) {
	years, err := s.repository.Seasons(ctx)
	if err != nil {
		return nil, err
	}
	var all []*history.Season
	for _, year := range years {
		season, err := s.season(ctx, year)
		if err != nil {
			return nil, err
		}
		if season != nil {
			all = append(all, season)
		}
	}
	return all, nil
}

// Remove deletes an imported season; games that were created keep their rosters. The error wraps [teams.ErrUnknown].
func (s *Seasons) Remove(ctx context.Context, year int) error {
	found, err := s.repository.DeleteSeason(ctx, year)
	if err == nil && !found {
		err = fmt.Errorf("the season of %d was not imported: %w", year, teams.ErrUnknown)
	}
	s.forget()
	return err
}

func (s *Seasons) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
}
