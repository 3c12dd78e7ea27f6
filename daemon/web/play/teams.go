package play

import (
	"context"
	"net/http"
	"strconv"

	"pressbox/daemon/web"
	"pressbox/game/card"
	"pressbox/game/teams"
)

// Teams returns clubs and their players. Season 0 is the default season. Errors wrap [teams.ErrUnknown],
// [teams.ErrTooFewPlayers], [teams.ErrUnavailable] or ctx's error.
type Teams interface {
	Teams(ctx context.Context, season int) (teams.List, error)
	Roster(ctx context.Context, season int, team string) (teams.Roster, error)
}

func (h *handlers) teamRoutes() []web.Route {
	routes := []web.Route{
		web.NewRoute(http.MethodGet, "/api/teams", web.SessionRequired, h.teams, web.Operation{
			ID: "listTeams", Summary: "List the clubs of a season",
			Params:    []string{"season"},
			Responses: answers("The clubs.", teams.List{}),
			Problems:  []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, "/api/teams/:id/roster", web.SessionRequired, h.roster, web.Operation{
			ID: "getRoster", Summary: "Get the roster of a club, each player with the card",
			Params:    []string{"season"},
			Responses: answers("The players.", rosterReply{}),
			Problems:  []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		}),
		h.playerRoute(),
	}
	return web.When(routes, func() bool { return h.Teams != nil })
}

func (h *handlers) teams(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	list, err := h.Teams.Teams(r.Context(), season)
	if err != nil {
		return err
	}
	list.Teams = append([]teams.Team{}, list.Teams...) // [] rather than null
	return web.WriteLargeJSON(w, r, list)
}

func (h *handlers) roster(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	roster, err := h.Teams.Roster(r.Context(), season, web.Param(r, "id"))
	if err != nil {
		return err
	}
	players, err := h.cards(r.Context(), &roster)
	if err != nil {
		return err
	}
	return web.WriteLargeJSON(w, r, rosterReply{roster, players})
}

// A rosterReply is a roster whose players have their cards.
type rosterReply struct {
	teams.Roster
	Players []card.Player `json:"players"`
}

// seasonOf returns the season in the query; 0 if there is none.
func seasonOf(r *http.Request) (int, error) {
	text, err := web.QueryParam(r, "season")
	if text == "" || err != nil {
		return 0, err
	}
	return parseSeason(text)
}

func parseSeason(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > web.MaxSeason {
		return 0, web.QueryError("season", "out_of_range", "must be a whole number from 1 to 9999")
	}
	return n, nil
}
