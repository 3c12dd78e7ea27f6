package play

import (
	"cmp"
	"net/http"

	"pressbox/daemon/web"
	"pressbox/game/stats"
)

// statsSeason returns the season in the query, or the default one.
func (h *handlers) statsSeason(r *http.Request) (int, error) {
	season, err := seasonOf(r)
	return cmp.Or(season, h.Season), err
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
	return web.WriteLargeJSON(w, r, standingsReply{season, append([]stats.Standing{}, standings...)})
}

// A standingsReply holds the standings of the teams in the games that were played here.
type standingsReply struct {
	Season    int              `json:"season"`
	Standings []stats.Standing `json:"standings"` // best first
}

// A playerStatsReply holds the statistics of players.
type playerStatsReply struct {
	Season   int              `json:"season"`
	Team     *string          `json:"team"`     // null: all teams
	Batting  []stats.Batting  `json:"batting"`  // by plate appearances, most first
	Pitching []stats.Pitching `json:"pitching"` // by outs, most first
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
	answer := playerStatsReply{Season: season}
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
	return web.WriteJSON(w, http.StatusOK, leadersReply{season, found})
}

// A leadersReply holds the leaders of a season.
type leadersReply struct {
	Season int `json:"season"`
	stats.Leaders
}

func (h *handlers) managers(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, managersReply{h.Games.Managers(season)})
}

// A managersReply holds the ladder of the managers.
type managersReply struct {
	Managers []stats.ManagerRecord `json:"managers"` // by rating, highest first
}
