package play

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"pressbox/daemon/web"
	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/protocol"
	"pressbox/game/teams"
)

func (h *handlers) playerRoute() web.Route {
	return web.NewRoute(http.MethodGet, "/api/players/:id", web.SessionOrVisitor, h.player, web.Operation{
		ID: "getPlayer", Summary: "Get the card of a player",
		Description: "With game, a player of that game, with today's line, the pitches and the fatigue; otherwise a " +
			"player of a season, with league as rested as for the next games of that league.",
		Params:    []string{"season", "team", "game", "league"},
		Responses: answers("The card.", playerCard{}),
		Problems: []int{
			http.StatusNotFound, http.StatusForbidden, http.StatusConflict, http.StatusServiceUnavailable,
		},
	})
}

// A playerCard is a player's card with the club.
type playerCard struct {
	card.Player
	Team teams.Ref `json:"team"` // of the season, or of the game
}

func (h *handlers) player(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	team, err := web.QueryParam(r, "team")
	if err != nil {
		return err
	}
	in, err := web.QueryParam(r, "game")
	if err != nil {
		return err
	}
	league, err := web.QueryParam(r, "league")
	if err != nil {
		return err
	}
	id := game.PlayerID(web.Param(r, "id"))
	var found playerCard
	switch {
	case in != "":
		found, err = h.playerOfGame(r.Context(), personOf(r), in, id)
	case league != "":
		found, err = h.playerOfLeague(r.Context(), league, season, team, id)
	default:
		found, err = h.playerOfSeason(r.Context(), season, team, id)
	}
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, found)
}

// playerOfLeague returns a player of a season, 0 for that of the league, as rested as for the league's next
// games.
func (h *handlers) playerOfLeague(
	ctx context.Context, league string, season int, team string, id game.PlayerID,
) (playerCard, error) {
	if h.Leagues == nil {
		return playerCard{}, web.ErrNotFound
	}
	own, rest, err := h.Leagues.Rest(league)
	if err != nil {
		return playerCard{}, err
	}
	found, err := h.playerOfSeason(ctx, cmp.Or(season, own), team, id)
	if err == nil {
		rest(&found.Player)
	}
	return found, err
}

func (h *handlers) playerOfGame(
	ctx context.Context, viewer protocol.Person, in string, id game.PlayerID,
) (playerCard, error) {
	if h.Games == nil {
		return playerCard{}, web.ErrNotFound
	}
	if !h.mayRead(viewer, in) {
		return playerCard{}, errUnknownGame()
	}
	p, side, err := h.Games.Player(ctx, viewer, in, id)
	return playerCard{p, side.Team}, err
}

// playerOfSeason returns a player of a team; of any team of the season for "".
func (h *handlers) playerOfSeason(ctx context.Context, season int, team string, id game.PlayerID) (playerCard, error) {
	list := []teams.Team{{ID: team}}
	if team == "" {
		all, err := h.Teams.Teams(ctx, season)
		if err != nil {
			return playerCard{}, err
		}
		list = all.Teams
	}
	for _, t := range list {
		roster, err := h.Teams.Roster(ctx, season, t.ID)
		if errors.Is(err, teams.ErrTooFewPlayers) {
			continue
		} else if err != nil {
			return playerCard{}, err
		}
		players, err := h.cards(ctx, &roster)
		if err != nil {
			return playerCard{}, err
		}
		if i := slices.IndexFunc(players, func(p card.Player) bool { return p.ID == id }); i >= 0 {
			of := &roster.Team
			return playerCard{
				players[i],
				teams.Ref{ID: of.ID, Abbrev: of.Abbrev, Name: of.Name, Color: of.Color, TextColor: of.TextColor},
			}, nil
		}
	}
	return playerCard{}, protocol.Refuse(protocol.UnknownPlayer, "there is no such player in the season")
}

// cards returns the players of a roster with their cards.
func (h *handlers) cards(ctx context.Context, r *teams.Roster) ([]card.Player, error) {
	var seasons map[game.PlayerID]*card.Season
	if h.Games != nil {
		var err error
		if seasons, err = h.Games.SeasonLines(ctx, r.Season, r.Team.ID); err != nil {
			return nil, err
		}
	}
	return card.Roster(r, seasons), nil
}
