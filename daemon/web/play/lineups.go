package play

import (
	"net/http"

	"pressbox/daemon/web"
	"pressbox/game"
	"pressbox/game/protocol"
)

// savedRoutes returns the routes of the line-ups that accounts save.
func (h *handlers) savedRoutes() []web.Route {
	const path = "/api/lineups/:name"
	return []web.Route{
		web.NewRoute(http.MethodGet, "/api/lineups", web.SessionRequired, h.listLineups, web.Operation{
			ID: "listLineups", Summary: "List the line-ups that you have saved",
			Responses: answers("The line-ups.", savedReply{}),
			Problems:  []int{http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, path, web.SessionRequired, h.getLineup, web.Operation{
			ID: "getLineup", Summary: "Get a line-up that you have saved",
			Responses: answers("The line-up.", game.Lineup{}),
			Problems:  []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodPut, path, web.SessionRequired, h.saveLineup, web.Operation{
			ID: "saveLineup", Summary: "Save a line-up, in place of one of the same name",
			Description: "Of an account 20 are saved, of at most 2 KiB. " +
				"POST /api/games/:id/lineups/:side/suggest?saved=NAME uses one.",
			Request: game.Lineup{}, Responses: web.Done(),
			Problems: []int{http.StatusConflict, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodDelete, path, web.SessionRequired, h.deleteLineup, web.Operation{
			ID: "deleteLineup", Summary: "Delete a line-up that you have saved",
			Responses: web.Done(), Problems: []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}),
	}
}

// A savedReply holds line-ups that are saved.
type savedReply struct {
	Lineups []protocol.SavedLineup `json:"lineups"` // by name
}

func (h *handlers) listLineups(w http.ResponseWriter, r *http.Request) error {
	saved, err := h.Games.SavedLineups(r.Context(), personOf(r))
	return respond(w)(savedReply{saved}, err)
}

func (h *handlers) getLineup(w http.ResponseWriter, r *http.Request) error {
	return respond(w)(h.Games.SavedLineup(r.Context(), personOf(r), web.Param(r, "name")))
}

func (h *handlers) saveLineup(w http.ResponseWriter, r *http.Request) error {
	var lineup game.Lineup
	if err := h.Decode(w, r, &lineup); err != nil {
		return err
	}
	return web.WriteNoContent(w, h.Games.SaveLineup(r.Context(), personOf(r), web.Param(r, "name"), lineup))
}

func (h *handlers) deleteLineup(w http.ResponseWriter, r *http.Request) error {
	return web.WriteNoContent(w, h.Games.DeleteLineup(r.Context(), personOf(r), web.Param(r, "name")))
}
