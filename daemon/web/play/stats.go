package play

import (
	"net/http"

	"pressbox/daemon/web"
	"pressbox/game/stats"
)

// statsSeason returns the season in the query, or the default one.
func (h *handlers) statsSeason(r *http.Request) (int, error) {
	season, err := seasonOf(r)
	if season == 0 {
		season = h.Season
	}
	return season, err
}

func (h *handlers) standings(w http.ResponseWriter, r *http.Request) error {
	season, err := h.statsSeason(r)
	if err != nil {
		return err
	}
	standings, err := h.Games.Standings(r.Context(), season)
	if err != nil {
		return err
	}
	return web.WriteLargeJSON(w, r, struct {
		Season    int              `json:"season"`
		Standings []stats.Standing `json:"standings"`
	}{season, append([]stats.Standing{}, standings...)})
}

func (h *handlers) playerStats(w http.ResponseWriter, r *http.Request) error {
	season, err := h.statsSeason(r)
	if err != nil {
		return err
	}
	team, err := web.QueryParam(r, "team")
	if err != nil {
		return err
	}
	answer := struct {
		Season   int              `json:"season"`
		Team     *string          `json:"team"` // nil: all teams
		Batting  []stats.Batting  `json:"batting"`
		Pitching []stats.Pitching `json:"pitching"`
	}{Season: season}
	if team != "" {
		answer.Team = &team
	}
	batting, pitching, err := h.Games.Players(r.Context(), season, team)
	if err != nil {
		return err
	}
	answer.Batting = append([]stats.Batting{}, batting...) // [] rather than null
	answer.Pitching = append([]stats.Pitching{}, pitching...)
	return web.WriteLargeJSON(w, r, answer)
}

func (h *handlers) leaders(w http.ResponseWriter, r *http.Request) error {
	season, err := h.statsSeason(r)
	if err != nil {
		return err
	}
	found, err := h.Games.Leaders(r.Context(), season)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Season int `json:"season"`
		stats.Leaders
	}{season, found})
}

func (h *handlers) managers(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Managers []stats.ManagerRecord `json:"managers"`
	}{h.Games.Managers(season)})
}
