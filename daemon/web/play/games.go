// Package play serves games: the lobby, line-ups, what is written about games,
// the websocket on which they are played, and the events of a wall display.
package play

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/daemon/web"
	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/voice/announce"
)

// A Config holds what games need.
type Config struct {
	Games     *live.Games // nil: every route of games answers 404
	Teams     Teams       // nil: every route of teams answers 404
	Season    int         // of statistics that name none (DEFAULT_SEASON)
	Announcer *announce.Announcer

	// Sessions are those that websockets belong to, and Authenticate returns
	// the caller of a request, whose first frame may bring a token; nil: no
	// websockets.
	Sessions     *session.Sessions
	Authenticate func(r *http.Request, frameToken string) (auth.Caller, error)
}

// handlers answer the routes of this package.
type handlers struct {
	*web.Server
	Config
	buffers sync.Pool // for what websockets write
	clerks  clerks    // of all websockets
}

// Routes returns the routes of games, teams, statistics, websockets and wall
// displays.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{Server: s, Config: cfg}
	return slices.Concat(h.teamRoutes(), h.gameRoutes(), h.socketRoutes(), h.kioskRoutes())
}

func (h *handlers) gameRoutes() []web.Route {
	routes := append(h.lobbyRoutes(), h.bookRoutes()...)
	return web.When(routes, func() bool { return h.Games != nil })
}

// lobbyRoutes are how games come about and end.
func (h *handlers) lobbyRoutes() []web.Route {
	game := []web.Response{{Status: http.StatusOK, Description: "The game.", Schema: "Game"}}
	return []web.Route{
		web.NewRoute(http.MethodPost, "/api/games", web.SessionRequired, h.createGame, web.Operation{
			ID: "createGame", Tag: "games", Summary: "Make a game",
			Description: "It copies both rosters. Nine players of each side have to be named before it starts. Of the games that one person has made, 200 may wait or be played.",
			Request:     "GameRequest",
			Responses:   []web.Response{{Status: http.StatusCreated, Description: "It is kept.", Schema: "Game", Location: true}},
			Problems:    []int{http.StatusConflict, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, "/api/games", web.SessionRequired, h.listGames, web.Operation{
			ID: "listGames", Tag: "games", Summary: "The games that wait, are played and are over",
			Params:    []string{"status", "before"},
			Responses: []web.Response{{Status: http.StatusOK, Description: "The games.", Schema: "GameList"}},
			Problems:  []int{},
		}),
		web.NewRoute(http.MethodGet, "/api/games/:id", web.SessionRequired, h.getGame, web.Operation{
			ID: "getGame", Tag: "games", Summary: "A game, and what you may do in it",
			Responses: game, Problems: []int{http.StatusNotFound, http.StatusForbidden, http.StatusConflict, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodDelete, "/api/games/:id", web.SessionRequired, h.cancelGame, web.Operation{
			ID: "cancelGame", Tag: "games", Summary: "Take back a game that has not begun",
			Responses: []web.Response{{Status: http.StatusNoContent, Description: "There is no such game any more."}},
			Problems:  mayFail(),
		}),
		web.NewRoute(http.MethodPost, "/api/games/:id/join", web.SessionRequired, h.onGame((*live.Games).Join), web.Operation{
			ID: "joinGame", Tag: "games", Summary: "Take the open side", Responses: game, Problems: mayFail(),
		}),
		web.NewRoute(http.MethodPut, "/api/games/:id/lineups/:side", web.SessionRequired, h.setLineup, web.Operation{
			ID: "submitLineup", Tag: "games", Summary: "Hand in a line-up",
			Description: "It may be done again until the start. The game starts when both sides are in.",
			Request:     "Lineup", Responses: game, Problems: mayFail(),
		}),
		web.NewRoute(http.MethodPost, "/api/games/:id/lineups/:side/suggest", web.SessionRequired, h.suggestLineup, web.Operation{
			ID: "suggestLineup", Tag: "games", Summary: "The line-up that a bot would hand in; it changes nothing",
			Responses: []web.Response{{Status: http.StatusOK, Description: "A line-up.", Schema: "Lineup"}},
			Problems:  mayFail(),
		}),
		web.NewRoute(http.MethodPost, "/api/games/:id/start", web.SessionRequired, h.onGame((*live.Games).Start), web.Operation{
			ID: "startGame", Tag: "games", Summary: "Start a game, which it does by itself when both line-ups are in",
			Responses: game, Problems: mayFail(),
		}),
		web.NewRoute(http.MethodPost, "/api/games/:id/concede", web.SessionRequired, h.onGame((*live.Games).Concede), web.Operation{
			ID: "concedeGame", Tag: "games", Summary: "Give up", Responses: game, Problems: mayFail(),
		}),
		web.NewRoute(http.MethodPost, "/api/games/:id/rematch", web.SessionRequired, h.rematch, web.Operation{
			ID: "rematch", Tag: "games", Summary: "The same again",
			Responses: []web.Response{{Status: http.StatusCreated, Description: "The game that follows.", Schema: "Game", Location: true}},
			Problems:  mayFail(),
		}),
	}
}

// mayFail lists the problems of what changes one game.
func mayFail() []int {
	return []int{
		http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
	}
}

// bookRoutes are what is written about games.
func (h *handlers) bookRoutes() []web.Route {
	problems := []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable}
	return []web.Route{
		web.NewRoute(http.MethodGet, "/api/games/:id/events", web.SessionRequired, h.gameEvents, web.Operation{
			ID: "listEvents", Tag: "games", Summary: "What happened in a game, from its first revision or after one",
			Params:    []string{"since"},
			Responses: []web.Response{{Status: http.StatusOK, Description: "The events.", Schema: "GameEvents"}}, Problems: problems,
		}),
		web.NewRoute(http.MethodGet, "/api/games/:id/boxscore", web.SessionRequired, h.boxScore, web.Operation{
			ID: "getBoxScore", Tag: "games", Summary: "The box score",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The box score.", Schema: "BoxScore"}}, Problems: problems,
		}),
		web.NewRoute(http.MethodGet, "/api/games/:id/winprob", web.SessionRequired, h.winProbability, web.Operation{
			ID: "getWinProbability", Tag: "games", Summary: "How likely the home side was to win, play by play",
			Responses: []web.Response{{Status: http.StatusOK, Description: "It, after each play.", Schema: "WinProbability"}}, Problems: problems,
		}),
		web.NewRoute(http.MethodGet, "/api/games/:id/scorecard", web.SessionRequired, h.scorecard, web.Operation{
			ID: "getScorecard", Tag: "games", Summary: "The game as a Retrosheet event file",
			Responses: []web.Response{{Status: http.StatusOK, Description: "It, so far.", Media: []string{"text/plain"}}}, Problems: problems,
		}),
		web.NewRoute(http.MethodGet, "/api/stats/standings", web.SessionRequired, h.standings, web.Operation{
			ID: "getStandings", Tag: "games", Summary: "The standings, by the games that were finished here",
			Params:    []string{"season"},
			Responses: []web.Response{{Status: http.StatusOK, Description: "The standings.", Schema: "Standings"}},
			Problems:  []int{http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, "/api/stats/players", web.SessionRequired, h.playerStats, web.Operation{
			ID: "getPlayerStats", Tag: "games", Summary: "Players' batting and pitching, by the games that were finished here",
			Params:    []string{"season", "team"},
			Responses: []web.Response{{Status: http.StatusOK, Description: "Their lines.", Schema: "PlayerStats"}},
			Problems:  []int{http.StatusServiceUnavailable},
		}),
	}
}

// personOf is who sends a request to a route of class people, as games know him.
func personOf(r *http.Request) protocol.Person {
	account := web.Caller(r).Account
	return protocol.Person{ID: account.ID, Name: account.Name}
}

func (h *handlers) createGame(w http.ResponseWriter, r *http.Request) error {
	request := protocol.Request{Options: protocol.Defaults()}
	if err := h.Decode(w, r, "GameRequest", &request); err != nil {
		return err
	}
	g, err := h.Games.Create(r.Context(), personOf(r), request)
	if err != nil {
		return err
	}
	return created(w, g)
}

func created(w http.ResponseWriter, g protocol.Game) error {
	w.Header().Set("Location", "/api/games/"+g.ID)
	return web.WriteJSON(w, http.StatusCreated, g)
}

func (h *handlers) listGames(w http.ResponseWriter, r *http.Request) error {
	status, err := web.QueryParam(r, "status")
	if err != nil {
		return err
	}
	before, err := web.QueryParam(r, "before")
	if err != nil {
		return err
	}
	switch protocol.Status(status) {
	case "", protocol.Pending, protocol.Active, protocol.Finished:
	default:
		return web.QueryError("status", "not_offered", "must be pending, active or finished")
	}
	lists, err := h.Games.List(personOf(r), live.Query{Status: protocol.Status(status), Before: before})
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, lists)
}

func (h *handlers) getGame(w http.ResponseWriter, r *http.Request) error {
	g, err := h.Games.Game(r.Context(), personOf(r), web.Param(r, "id"))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, g)
}

// onGame answers with what a method of the hall makes of a game.
func (h *handlers) onGame(do func(h *live.Games, ctx context.Context, by protocol.Person, id string) (protocol.Game, error)) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		g, err := do(h.Games, r.Context(), personOf(r), web.Param(r, "id"))
		if err != nil {
			return err
		}
		return web.WriteJSON(w, http.StatusOK, g)
	}
}

func (h *handlers) cancelGame(w http.ResponseWriter, r *http.Request) error {
	if err := h.Games.Cancel(r.Context(), personOf(r), web.Param(r, "id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *handlers) setLineup(w http.ResponseWriter, r *http.Request) error {
	side, err := sideOf(r)
	if err != nil {
		return err
	}
	var lineup game.Lineup
	if err := h.Decode(w, r, "Lineup", &lineup); err != nil {
		return err
	}
	g, err := h.Games.SetLineup(r.Context(), personOf(r), web.Param(r, "id"), side, lineup)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, g)
}

func (h *handlers) suggestLineup(w http.ResponseWriter, r *http.Request) error {
	side, err := sideOf(r)
	if err != nil {
		return err
	}
	lineup, err := h.Games.Suggest(r.Context(), personOf(r), web.Param(r, "id"), side)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, lineup)
}

// sideOf is the side that a path names.
func sideOf(r *http.Request) (game.Side, error) {
	var side game.Side
	if side.UnmarshalText([]byte(web.Param(r, "side"))) != nil {
		return side, web.ErrNotFound
	}
	return side, nil
}

func (h *handlers) rematch(w http.ResponseWriter, r *http.Request) error {
	g, err := h.Games.Rematch(r.Context(), personOf(r), web.Param(r, "id"))
	if err != nil {
		return err
	}
	return created(w, g)
}

func (h *handlers) gameEvents(w http.ResponseWriter, r *http.Request) error {
	text, err := web.QueryParam(r, "since")
	if err != nil {
		return err
	}
	since := uint64(0)
	if text != "" {
		if since, err = strconv.ParseUint(text, 10, 64); err != nil || since > web.MaxInteger {
			return web.QueryError("since", "out_of_range", "must be a revision, or 0 for all")
		}
	}
	events, err := h.Games.Events(r.Context(), personOf(r), web.Param(r, "id"), since)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Events []*protocol.Message `json:"events"`
	}{append([]*protocol.Message{}, events...)})
}

func (h *handlers) boxScore(w http.ResponseWriter, r *http.Request) error {
	g, box, err := h.Games.Box(r.Context(), personOf(r), web.Param(r, "id"))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		ID     string           `json:"id"`
		Status protocol.Status  `json:"status"`
		Away   protocol.Seat    `json:"away"`
		Home   protocol.Seat    `json:"home"`
		Result *protocol.Result `json:"result,omitzero"`
		game.BoxScore
	}{g.ID, g.Status, g.Away, g.Home, g.Result, box})
}

func (h *handlers) winProbability(w http.ResponseWriter, r *http.Request) error {
	p, err := h.Games.WinProbability(r.Context(), web.Param(r, "id"))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, p)
}

func (h *handlers) scorecard(w http.ResponseWriter, r *http.Request) error {
	var text bytes.Buffer
	if err := h.Games.Scorecard(r.Context(), web.Param(r, "id"), &text); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text.Bytes()) // the client has gone; there is no one to tell
	return nil
}
