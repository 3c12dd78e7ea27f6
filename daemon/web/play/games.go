// Package play serves the routes of games and leagues: the lobby, line-ups, records and statistics, teams,
// the websocket on which games are played, and the event stream of wall displays.
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
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/game"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/voice/announce/announcer"
)

// A Config holds what games need.
type Config struct {
	Games     *live.Games      // nil: the routes of games answer 404
	Leagues   *leagues.Leagues // nil: the routes of series and leagues answer 404
	Teams     Teams            // nil: the routes of teams answer 404
	Seasons   Seasons          // nil: the routes of imported seasons answer 404
	Season    int              // default of statistics (DEFAULT_SEASON)
	Announcer *announcer.Announcer
	Changes   announcements.Changes // of quiet
	WiFi      WiFi                  // that wall displays offer

	// Sessions ends websockets with their sessions. Authenticate returns the caller of a request; frameToken
	// is the token in its first frame, or "". nil: no websockets.
	Sessions     *session.Sessions
	Authenticate func(r *http.Request, frameToken string) (auth.Caller, error)
}

// maxLimit is the largest limit of a list.
const maxLimit = 100

// handlers answer the routes of this package.
type handlers struct {
	*web.Server
	Config
	buffers  sync.Pool     // write buffers of websockets
	visitors *limits.Count // open websockets of clients without a session
	moves    *limits.WriteLimiter
}

// Routes returns the routes of this package.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{
		Server: s, Config: cfg,
		visitors: limits.NewCount(limits.Conns{Max: maxVisitors, Each: maxVisitorsEach, Blocks: s.Blocks()}),
		moves:    limits.Moves().Limiter(s.Blocks()),
	}
	games := slices.Concat(h.teamRoutes(), h.gameRoutes(), h.socketRoutes(), h.kioskRoutes())
	return append(tagged("games", games), tagged("leagues", h.leagueRoutes())...)
}

// tagged returns the routes in a group of the API's documentation.
func tagged(tag string, routes []web.Route) []web.Route {
	for i := range routes {
		routes[i].Operation.Tag = tag
	}
	return routes
}

func (h *handlers) gameRoutes() []web.Route {
	routes := slices.Concat(h.lobbyRoutes(), h.guestRoutes(), h.savedRoutes(),
		[]web.Route{h.lobbyStream(), h.rematchStream()}, h.recordRoutes())
	return web.When(routes, func() bool { return h.Games != nil })
}

// lobbyRoutes returns the routes that list games and change their status.
func (h *handlers) lobbyRoutes() []web.Route {
	one := answers("The game.", protocol.Game{})
	post := func(path string, serve web.Handler, op web.Operation) web.Route {
		return web.NewRoute(http.MethodPost, path, web.SessionRequired, serve, op)
	}
	return []web.Route{
		post("/api/games", h.createGame, web.Operation{
			ID: "createGame", Summary: "Create a game",
			Description: "The game copies both rosters. It starts when both line-ups are submitted. An account can " +
				"create 30 games an hour and have at most 200 pending and active ones, in a quarter of the room; of " +
				"its finished games, the last 500 are stored. A game that ends without a play is not stored.",
			Request:   protocol.Request{},
			Responses: creates("The game is saved.", protocol.Game{}),
			Problems:  []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, "/api/games", web.SessionOrVisitor, h.listGames, web.Operation{
			ID: "listGames", Summary: "List pending, active and finished games",
			Params:    []string{"status", "people", "before", "limit"},
			Responses: answers("The games.", live.Lists{}),
			Problems:  []int{},
		}),
		web.NewRoute(http.MethodGet, "/api/games/:id", web.SessionOrVisitor, h.readable(h.getGame), web.Operation{
			ID: "getGame", Summary: "Get a game with your legal actions",
			Responses: one,
			Problems: []int{
				http.StatusNotFound, http.StatusForbidden, http.StatusConflict, http.StatusServiceUnavailable,
			},
		}),
		web.NewRoute(http.MethodGet, "/api/games/:id/invitation", web.SessionOrVisitor, h.invitation, web.Operation{
			ID: "getInvitation", Summary: "Get a pending game that a link invites to",
			Description: "Private games too: anyone with the link sees who invites them to which game.",
			Responses:   one, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodDelete, "/api/games/:id", web.SessionRequired,
			h.onPending((*live.Games).Cancel), web.Operation{
				ID: "cancelGame", Summary: "Cancel a pending game",
				Responses: deletes("The game is deleted."),
				Problems:  changeProblems(),
			}),
		post("/api/games/:id/join", h.onGame((*live.Games).Join), web.Operation{
			ID: "joinGame", Summary: "Join a game as the manager of the open side", Responses: one,
			Problems: changeProblems(),
		}),
		web.NewRoute(http.MethodPut, "/api/games/:id/lineups/:side", web.SessionRequired, h.setLineup, web.Operation{
			ID: "submitLineup", Summary: "Submit a line-up",
			Description: "It can be replaced until the game starts: one of a side is stored. " +
				"The game starts when both are submitted.",
			Request: game.Lineup{}, Responses: one, Problems: changeProblems(),
		}),
		post("/api/games/:id/lineups/:side/suggest", h.suggestLineup, web.Operation{
			ID: "suggestLineup", Summary: "Suggest a line-up without submitting it",
			Description: "With saved, the line-up that you have saved under the name; 422 lists the players who are " +
				"not of the club.",
			Params:    []string{"saved"},
			Responses: answers("The line-up that the bot would submit, or the saved one.", game.Lineup{}),
			Problems:  changeProblems(),
			Reads:     true,
		}),
		post("/api/games/:id/start", h.onGame((*live.Games).Start), web.Operation{
			ID: "startGame", Summary: "Start a game whose line-ups are submitted",
			Responses: one, Problems: changeProblems(),
		}),
		post("/api/games/:id/concede", h.onGame((*live.Games).Concede), web.Operation{
			ID: "concedeGame", Summary: "Concede a game", Responses: one, Problems: changeProblems(),
		}),
		post("/api/games/:id/rematch", h.rematch, web.Operation{
			ID: "rematch", Summary: "Create a game with the same teams and options",
			Responses: creates("The new game.", protocol.Game{}),
			Problems:  append(changeProblems(), http.StatusTooManyRequests),
		}),
		post("/api/games/:id/decline", h.onPending((*live.Games).Decline), web.Operation{
			ID: "declineRematch", Summary: "Decline a rematch whose open side is reserved for you",
			Responses: deletes("The game is deleted, and its creator notified."),
			Problems:  changeProblems(),
		}),
	}
}

// answers describes the answer to a request that succeeds.
func answers(description string, body any) []web.Response {
	return []web.Response{{Status: http.StatusOK, Description: description, Body: body}}
}

// creates describes the answer to a request that creates body.
func creates(description string, body any) []web.Response {
	return []web.Response{{Status: http.StatusCreated, Description: description, Body: body, Location: true}}
}

// deletes describes an empty answer.
func deletes(description string) []web.Response {
	return []web.Response{{Status: http.StatusNoContent, Description: description}}
}

// endless describes an event stream.
func endless() []web.Response {
	return []web.Response{
		{Status: http.StatusOK, Description: "An endless stream.", Media: []string{"text/event-stream"}},
	}
}

// changeProblems returns the problems of a request that changes a game.
func changeProblems() []int {
	return []int{
		http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity,
		http.StatusServiceUnavailable,
	}
}

// recordRoutes returns the routes of games' records and of statistics.
func (h *handlers) recordRoutes() []web.Route {
	problems := []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable}
	get := func(path string, serve web.Handler, op web.Operation) web.Route {
		return web.NewRoute(http.MethodGet, path, web.SessionOrVisitor, serve, op)
	}
	return []web.Route{
		get("/api/games/:id/events", h.readable(h.gameEvents), web.Operation{
			ID:        "listEvents",
			Summary:   "List the events of a game, from the first or after a revision",
			Params:    []string{"since"},
			Responses: answers("The events.", eventsReply{}),
			Problems:  problems,
		}),
		get("/api/games/:id/boxscore", h.readable(h.boxScore), web.Operation{
			ID: "getBoxScore", Summary: "Get the box score", Problems: problems,
			Responses: answers("The box score.", boxScoreReply{}),
		}),
		get("/api/games/:id/winprob", h.readable(h.winProbability), web.Operation{
			ID:        "getWinProbability",
			Summary:   "Get the home side's probability to win after each play",
			Responses: answers("The probabilities.", protocol.WinProbability{}),
			Problems:  problems,
		}),
		get("/api/games/:id/scorecard", h.readable(h.scorecard), web.Operation{
			ID: "getScorecard", Summary: "Get the game as a Retrosheet event file",
			Responses: []web.Response{
				{Status: http.StatusOK, Description: "The event file so far.", Media: []string{"text/plain"}},
			},
			Problems: problems,
		}),
		get("/api/stats/standings", h.standings, web.Operation{
			ID: "getStandings", Summary: "Get the standings of the games finished on this server",
			Params:    []string{"season"},
			Responses: answers("The standings.", standingsReply{}),
			Problems:  []int{http.StatusServiceUnavailable},
		}),
		get("/api/stats/players", h.playerStats, web.Operation{
			ID:        "getPlayerStats",
			Summary:   "Get batting and pitching statistics of the games finished on this server",
			Params:    []string{"season", "team"},
			Responses: answers("The statistics by player.", playerStatsReply{}),
			Problems:  []int{http.StatusServiceUnavailable},
		}),
		get("/api/stats/leaders", h.leaders, web.Operation{
			ID:      "getLeaders",
			Summary: "Get the leaders and the records of the games finished on this server",
			Description: "Leaders in rates qualify by rule 9.22: 3.1 plate appearances, or three outs, for each game " +
				"of the team.",
			Params:    []string{"season"},
			Responses: answers("The leaders by statistic.", leadersReply{}),
			Problems:  []int{http.StatusServiceUnavailable},
		}),
		get("/api/stats/managers", h.managers, web.Operation{
			ID:      "getManagers",
			Summary: "Get the ladder of managers, each with the record against the others",
			Description: "Listed games of all seasons, or of one. The rating is on Elo's scale: 1500 at first. The " +
				"strength of the clubs and the home side is taken out, the levels of the bot are managers of their " +
				"own, games between the same two count less from the eleventh on, and games that were given up " +
				"before the third inning do not count.",
			Params:    []string{"season"},
			Responses: answers("The managers by rating.", managersReply{}),
		}),
	}
}

// readable returns a handler that knows only the listed games, if the request has no session: a client that
// has signed in may read a private one by its id.
func (h *handlers) readable(read web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !h.mayRead(personOf(r), web.Param(r, "id")) {
			return errUnknownGame()
		}
		return read(w, r)
	}
}

func errUnknownGame() error { return protocol.Refuse(protocol.UnknownGame, "there is no such game") }

// mayRead reports whether a person may read a game, if there is one.
func (h *handlers) mayRead(p protocol.Person, game string) bool {
	return p.ID != "" || h.Games.Listed(game)
}

// personOf returns the caller of a request, zero for a visitor.
func personOf(r *http.Request) protocol.Person {
	account := web.Caller(r).Account
	return protocol.Person{ID: account.ID, Name: account.Name}
}

func (h *handlers) createGame(w http.ResponseWriter, r *http.Request) error {
	request := protocol.Request{Options: protocol.Defaults()}
	if err := h.Decode(w, r, &request); err != nil {
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
	people, err := web.BoolParam(r, "people")
	if err != nil {
		return err
	}
	limit, err := limitParam(r)
	if err != nil {
		return err
	}
	return respondLarge(w, r)(h.Games.List(personOf(r),
		live.Query{Status: protocol.Status(status), Before: before, People: people, Limit: limit}))
}

// respond returns a function that responds with what a method has returned.
func respond(w http.ResponseWriter) func(body any, err error) error {
	return func(body any, err error) error {
		if err != nil {
			return err
		}
		return web.WriteJSON(w, http.StatusOK, body)
	}
}

// respondLarge is respond for bodies that may become large.
func respondLarge(w http.ResponseWriter, r *http.Request) func(body any, err error) error {
	return func(body any, err error) error {
		if err != nil {
			return err
		}
		return web.WriteLargeJSON(w, r, body)
	}
}

// limitParam returns the most games in a list; 0: absent.
func limitParam(r *http.Request) (int, error) {
	text, err := web.QueryParam(r, "limit")
	if err != nil || text == "" {
		return 0, err
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, web.QueryError("limit", "out_of_range", "must be an integer from 1 to "+strconv.Itoa(maxLimit))
	}
	return limit, nil
}

func (h *handlers) getGame(w http.ResponseWriter, r *http.Request) error {
	return respondLarge(w, r)(h.Games.Game(r.Context(), personOf(r), web.Param(r, "id")))
}

func (h *handlers) invitation(w http.ResponseWriter, r *http.Request) error {
	return respondLarge(w, r)(h.Games.Invitation(web.Param(r, "id")))
}

// onGame returns a handler that calls a method of Games with the id in the path.
func (h *handlers) onGame(
	do func(g *live.Games, ctx context.Context, by protocol.Person, id string) (protocol.Game, error),
) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return respond(w)(do(h.Games, r.Context(), personOf(r), web.Param(r, "id")))
	}
}

// onPending returns a handler that calls a method of Games which deletes the pending game in the path.
func (h *handlers) onPending(
	do func(g *live.Games, ctx context.Context, by protocol.Person, id string) error,
) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return web.WriteNoContent(w, do(h.Games, r.Context(), personOf(r), web.Param(r, "id")))
	}
}

func (h *handlers) setLineup(w http.ResponseWriter, r *http.Request) error {
	side, err := sideOf(r)
	if err != nil {
		return err
	}
	var lineup game.Lineup
	if err := h.Decode(w, r, &lineup); err != nil {
		return err
	}
	return respond(w)(h.Games.SetLineup(r.Context(), personOf(r), web.Param(r, "id"), side, lineup))
}

func (h *handlers) suggestLineup(w http.ResponseWriter, r *http.Request) error {
	side, err := sideOf(r)
	if err != nil {
		return err
	}
	saved, err := web.QueryParam(r, "saved")
	if err != nil {
		return err
	}
	if saved != "" {
		return respond(w)(h.Games.SuggestSaved(r.Context(), personOf(r), web.Param(r, "id"), side, saved))
	}
	return respond(w)(h.Games.Suggest(r.Context(), personOf(r), web.Param(r, "id"), side))
}

// sideOf returns the side in the path.
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
			return web.QueryError("since", "out_of_range", "must be a revision from 0 to 2^53-1; 0: all events")
		}
	}
	events, err := h.Games.Events(r.Context(), personOf(r), web.Param(r, "id"), since)
	if err != nil {
		return err
	}
	reply := eventsReply{[]eventMessage{}}
	for _, m := range events {
		event, _ := m.Data.(*protocol.Event)
		reply.Events = append(reply.Events, eventMessage{m.Type, m.Game, m.Revision, event})
	}
	return web.WriteLargeJSON(w, r, reply)
}

// An eventsReply lists events of a game.
type eventsReply struct {
	Events []eventMessage `json:"events"`
}

// An eventMessage is an event, as the websocket sends it.
type eventMessage struct {
	Type     string          `json:"t" enum:"event,skip"` // skip: an event that is hidden from the caller
	Game     string          `json:"g"`
	Revision uint64          `json:"rev" minimum:"1"`
	Event    *protocol.Event `json:"d,omitzero"`
}

func (h *handlers) boxScore(w http.ResponseWriter, r *http.Request) error {
	g, box, err := h.Games.Box(r.Context(), personOf(r), web.Param(r, "id"))
	if err != nil {
		return err
	}
	return web.WriteLargeJSON(w, r, boxScoreReply{g.ID, g.Status, g.Away, g.Home, g.Result, box})
}

// A boxScoreReply is the box score of a game.
type boxScoreReply struct {
	ID     string           `json:"id"`
	Status protocol.Status  `json:"status"`
	Away   protocol.Seat    `json:"away"`
	Home   protocol.Seat    `json:"home"`
	Result *protocol.Result `json:"result,omitzero"`
	game.BoxScore
}

func (h *handlers) winProbability(w http.ResponseWriter, r *http.Request) error {
	return respondLarge(w, r)(h.Games.WinProbability(r.Context(), web.Param(r, "id")))
}

func (h *handlers) scorecard(w http.ResponseWriter, r *http.Request) error {
	var text bytes.Buffer
	if err := h.Games.Scorecard(r.Context(), web.Param(r, "id"), &text); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text.Bytes()) // fails only if the client is gone
	return nil
}
