package play

import (
	"net/http"
	"slices"

	"pressbox/daemon/web"
	"pressbox/game/leagues"
	"pressbox/game/live"
)

// AdminRoutes returns the administrator's routes of games, of leagues and of imported seasons. They answer
// 404 if there are none.
func AdminRoutes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{Server: s, Config: cfg}
	games := web.When([]web.Route{
		web.NewRoute(http.MethodGet, "/admin/games", web.AdminSocket, h.listAllGames, web.Operation{
			ID: "listAllGames", Summary: "List all games, listed and private, oldest first",
			Responses: answers("The games.", storedGamesReply{}),
		}),
		web.NewRoute(http.MethodDelete, "/admin/games/:id", web.AdminSocket, h.removeGame, web.Operation{
			ID: "removeGame", Summary: "Delete a game, whatever its status",
			Responses: deletes("The game is deleted."),
			Problems:  []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}),
	}, func() bool { return h.Games != nil })
	return tagged("administration", slices.Concat(games, h.leagueAdminRoutes(), h.seasonRoutes()))
}

func (h *handlers) listAllGames(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, storedGamesReply{append([]live.StoredGame{}, h.Games.Stored()...)})
}

// A storedGamesReply lists all games.
type storedGamesReply struct {
	Games []live.StoredGame `json:"games"`
}

func (h *handlers) removeGame(w http.ResponseWriter, r *http.Request) error {
	id := web.Param(r, "id")
	if err := h.Games.Remove(r.Context(), id); err != nil {
		return err
	}
	h.Log().Info("game removed by the administrator", "game", id)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *handlers) leagueAdminRoutes() []web.Route {
	return web.When([]web.Route{
		web.NewRoute(http.MethodGet, "/admin/leagues", web.AdminSocket, h.listAllLeagues, web.Operation{
			ID: "listAllLeagues", Summary: "List all series and leagues, listed and private, newest first",
			Responses: answers("The series and leagues.", storedLeaguesReply{}),
		}),
		web.NewRoute(http.MethodDelete, "/admin/leagues/:id", web.AdminSocket, h.removeLeague, web.Operation{
			ID: "removeLeague", Summary: "Delete a series or a league, whatever its status",
			Description: "Its games stay.",
			Responses:   deletes("It is deleted."),
			Problems:    []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}),
	}, func() bool { return h.Leagues != nil })
}

func (h *handlers) listAllLeagues(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, storedLeaguesReply{h.Leagues.Stored()})
}

// A storedLeaguesReply lists all series and leagues.
type storedLeaguesReply struct {
	Leagues []leagues.StoredLeague `json:"leagues"`
}

func (h *handlers) removeLeague(w http.ResponseWriter, r *http.Request) error {
	id := web.Param(r, "id")
	if err := h.Leagues.Remove(r.Context(), id); err != nil {
		return err
	}
	h.Log().Info("league removed by the administrator", "league", id)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
