package web

import (
	"context"
	"net/http"
	"strconv"

	"pressbox/game/teams"
)

// Teams is where clubs and players come from. Season 0 is the default one. The
// errors wrap [teams.ErrUnknown], [teams.ErrTooFewPlayers] or [teams.ErrUnavailable], or are
// ctx's.
type Teams interface {
	Teams(ctx context.Context, season int) (teams.List, error)
	Roster(ctx context.Context, season int, team string) (teams.Roster, error)
}

// lastSeason is beyond any; leagues count them or call them by their year.
const lastSeason = 9999

func (s *Server) teamRoutes() []route {
	routes := []route{
		{http.MethodGet, "/api/teams", people, s.teams, operation{
			id: "listTeams", tag: "games", summary: "The clubs of a season",
			params:   []string{"season"},
			answers:  []success{{status: http.StatusOK, description: "The clubs.", schema: "Teams"}},
			problems: []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}},
		{http.MethodGet, "/api/teams/:id/roster", people, s.roster, operation{
			id: "getRoster", tag: "games", summary: "The players of a club",
			params:   []string{"season"},
			answers:  []success{{status: http.StatusOK, description: "The players.", schema: "Roster"}},
			problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		}},
	}
	return where(routes, func() bool { return s.cfg.Teams != nil })
}

func (s *Server) teams(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	list, err := s.cfg.Teams.Teams(r.Context(), season)
	if err != nil {
		return err
	}
	list.Teams = append([]teams.Team{}, list.Teams...) // [] rather than null
	return reply(w, http.StatusOK, list)
}

func (s *Server) roster(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	roster, err := s.cfg.Teams.Roster(r.Context(), season, param(r, "id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, roster)
}

// seasonOf is the season that a request asks for; 0 when it names none.
func seasonOf(r *http.Request) (int, error) {
	text, err := asked(r, "season")
	if text == "" || err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > lastSeason {
		return 0, wrongQuery("season", "out_of_range", "must be a whole number from 1 to 9999")
	}
	return n, nil
}

// where hides routes while what they need is not there.
func where(routes []route, there func() bool) []route {
	for i, rt := range routes {
		routes[i].handle = func(w http.ResponseWriter, r *http.Request) error {
			if !there() {
				return errNoSuchPage
			}
			return rt.handle(w, r)
		}
	}
	return routes
}
