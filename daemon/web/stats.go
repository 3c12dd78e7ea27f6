package web

import (
	"net/http"

	"pressbox/game/stats"
)

// statsSeason is the season that a request about statistics means.
func (s *Server) statsSeason(r *http.Request) (int, error) {
	season, err := seasonOf(r)
	if season == 0 {
		season = s.cfg.Season
	}
	return season, err
}

func (s *Server) standings(w http.ResponseWriter, r *http.Request) error {
	season, err := s.statsSeason(r)
	if err != nil {
		return err
	}
	table, err := s.cfg.Hall.Standings(r.Context(), season)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, struct {
		Season    int              `json:"season"`
		Standings []stats.Standing `json:"standings"`
	}{season, append([]stats.Standing{}, table...)})
}

func (s *Server) playerStats(w http.ResponseWriter, r *http.Request) error {
	season, err := s.statsSeason(r)
	if err != nil {
		return err
	}
	team, err := asked(r, "team")
	if err != nil {
		return err
	}
	answer := struct {
		Season   int              `json:"season"`
		Team     *string          `json:"team"` // nil means all
		Batting  []stats.Batting  `json:"batting"`
		Pitching []stats.Pitching `json:"pitching"`
	}{Season: season}
	if team != "" {
		answer.Team = &team
	}
	batting, pitching, err := s.cfg.Hall.Players(r.Context(), season, team)
	if err != nil {
		return err
	}
	answer.Batting = append([]stats.Batting{}, batting...) // [] rather than null
	answer.Pitching = append([]stats.Pitching{}, pitching...)
	return reply(w, http.StatusOK, answer)
}
