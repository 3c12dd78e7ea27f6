package web

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// farthest is beyond every revision: the largest whole number that every
// client can hold.
const farthest uint64 = 1<<53 - 1

func (s *Server) gameRoutes() []route {
	routes := append(s.lobbyRoutes(), s.bookRoutes()...)
	return where(routes, func() bool { return s.cfg.Hall != nil })
}

// lobbyRoutes are how games come about and end.
func (s *Server) lobbyRoutes() []route {
	game := []success{{status: http.StatusOK, description: "The game.", schema: "Game"}}
	return []route{
		{http.MethodPost, "/api/games", people, s.createGame, operation{
			id: "createGame", tag: "games", summary: "Make a game",
			description: "It copies both rosters. Nine players of each side have to be named before it starts. Of the games that one person has made, 200 may wait or be played.",
			request:     "GameRequest",
			answers:     []success{{status: http.StatusCreated, description: "It is kept.", schema: "Game", location: true}},
			problems:    []int{http.StatusConflict, http.StatusServiceUnavailable},
		}},
		{http.MethodGet, "/api/games", people, s.listGames, operation{
			id: "listGames", tag: "games", summary: "The games that wait, are played and are over",
			params:   []string{"status", "before"},
			answers:  []success{{status: http.StatusOK, description: "The games.", schema: "GameList"}},
			problems: []int{},
		}},
		{http.MethodGet, "/api/games/:id", people, s.getGame, operation{
			id: "getGame", tag: "games", summary: "A game, and what you may do in it",
			answers: game, problems: []int{http.StatusNotFound, http.StatusForbidden, http.StatusConflict, http.StatusServiceUnavailable},
		}},
		{http.MethodDelete, "/api/games/:id", people, s.cancelGame, operation{
			id: "cancelGame", tag: "games", summary: "Take back a game that has not begun",
			answers:  []success{{status: http.StatusNoContent, description: "There is no such game any more."}},
			problems: mayFail(),
		}},
		{http.MethodPost, "/api/games/:id/join", people, s.onGame((*live.Games).Join), operation{
			id: "joinGame", tag: "games", summary: "Take the open side", answers: game, problems: mayFail(),
		}},
		{http.MethodPut, "/api/games/:id/lineups/:side", people, s.setLineup, operation{
			id: "submitLineup", tag: "games", summary: "Hand in a line-up",
			description: "It may be done again until the start. The game starts when both sides are in.",
			request:     "Lineup", answers: game, problems: mayFail(),
		}},
		{http.MethodPost, "/api/games/:id/lineups/:side/suggest", people, s.suggestLineup, operation{
			id: "suggestLineup", tag: "games", summary: "The line-up that a bot would hand in; it changes nothing",
			answers:  []success{{status: http.StatusOK, description: "A line-up.", schema: "Lineup"}},
			problems: mayFail(),
		}},
		{http.MethodPost, "/api/games/:id/start", people, s.onGame((*live.Games).Start), operation{
			id: "startGame", tag: "games", summary: "Start a game, which it does by itself when both line-ups are in",
			answers: game, problems: mayFail(),
		}},
		{http.MethodPost, "/api/games/:id/concede", people, s.onGame((*live.Games).Concede), operation{
			id: "concedeGame", tag: "games", summary: "Give up", answers: game, problems: mayFail(),
		}},
		{http.MethodPost, "/api/games/:id/rematch", people, s.rematch, operation{
			id: "rematch", tag: "games", summary: "The same again",
			answers:  []success{{status: http.StatusCreated, description: "The game that follows.", schema: "Game", location: true}},
			problems: mayFail(),
		}},
	}
}

// mayFail lists the problems of what changes one game.
func mayFail() []int {
	return []int{
		http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
	}
}

// bookRoutes are what is written about games.
func (s *Server) bookRoutes() []route {
	problems := []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable}
	return []route{
		{http.MethodGet, "/api/games/:id/events", people, s.gameEvents, operation{
			id: "listEvents", tag: "games", summary: "What happened in a game, from its first revision or after one",
			params:  []string{"since"},
			answers: []success{{status: http.StatusOK, description: "The events.", schema: "GameEvents"}}, problems: problems,
		}},
		{http.MethodGet, "/api/games/:id/boxscore", people, s.boxScore, operation{
			id: "getBoxScore", tag: "games", summary: "The box score",
			answers: []success{{status: http.StatusOK, description: "The box score.", schema: "BoxScore"}}, problems: problems,
		}},
		{http.MethodGet, "/api/games/:id/winprob", people, s.winProbability, operation{
			id: "getWinProbability", tag: "games", summary: "How likely the home side was to win, play by play",
			answers: []success{{status: http.StatusOK, description: "It, after each play.", schema: "WinProbability"}}, problems: problems,
		}},
		{http.MethodGet, "/api/games/:id/scorecard", people, s.scorecard, operation{
			id: "getScorecard", tag: "games", summary: "The game as a Retrosheet event file",
			answers: []success{{status: http.StatusOK, description: "It, so far.", media: []string{"text/plain"}}}, problems: problems,
		}},
		{http.MethodGet, "/api/stats/standings", people, s.standings, operation{
			id: "getStandings", tag: "games", summary: "The standings, by the games that were finished here",
			params:   []string{"season"},
			answers:  []success{{status: http.StatusOK, description: "The standings.", schema: "Standings"}},
			problems: []int{http.StatusServiceUnavailable},
		}},
		{http.MethodGet, "/api/stats/players", people, s.playerStats, operation{
			id: "getPlayerStats", tag: "games", summary: "Players' batting and pitching, by the games that were finished here",
			params:   []string{"season", "team"},
			answers:  []success{{status: http.StatusOK, description: "Their lines.", schema: "PlayerStats"}},
			problems: []int{http.StatusServiceUnavailable},
		}},
	}
}

// personOf is who sends a request to a route of class people, as games know him.
func personOf(r *http.Request) protocol.Person {
	account := callerOf(r).Account
	return protocol.Person{ID: account.ID, Name: account.Name}
}

func (s *Server) createGame(w http.ResponseWriter, r *http.Request) error {
	request := protocol.Request{Options: protocol.Defaults()}
	if err := s.bodies.decode(w, r, "GameRequest", &request); err != nil {
		return err
	}
	g, err := s.cfg.Hall.Create(r.Context(), personOf(r), request)
	if err != nil {
		return err
	}
	return created(w, g)
}

func created(w http.ResponseWriter, g protocol.Game) error {
	w.Header().Set("Location", "/api/games/"+g.ID)
	return reply(w, http.StatusCreated, g)
}

func (s *Server) listGames(w http.ResponseWriter, r *http.Request) error {
	status, err := asked(r, "status")
	if err != nil {
		return err
	}
	before, err := asked(r, "before")
	if err != nil {
		return err
	}
	switch protocol.Status(status) {
	case "", protocol.Pending, protocol.Active, protocol.Finished:
	default:
		return wrongQuery("status", "not_offered", "must be pending, active or finished")
	}
	lists, err := s.cfg.Hall.List(personOf(r), live.Query{Status: protocol.Status(status), Before: before})
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, lists)
}

func (s *Server) getGame(w http.ResponseWriter, r *http.Request) error {
	g, err := s.cfg.Hall.Game(r.Context(), personOf(r), param(r, "id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, g)
}

// onGame answers with what a method of the hall makes of a game.
func (s *Server) onGame(do func(h *live.Games, ctx context.Context, by protocol.Person, id string) (protocol.Game, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		g, err := do(s.cfg.Hall, r.Context(), personOf(r), param(r, "id"))
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, g)
	}
}

func (s *Server) cancelGame(w http.ResponseWriter, r *http.Request) error {
	if err := s.cfg.Hall.Cancel(r.Context(), personOf(r), param(r, "id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) setLineup(w http.ResponseWriter, r *http.Request) error {
	side, err := sideOf(r)
	if err != nil {
		return err
	}
	var lineup game.Lineup
	if err := s.bodies.decode(w, r, "Lineup", &lineup); err != nil {
		return err
	}
	g, err := s.cfg.Hall.SetLineup(r.Context(), personOf(r), param(r, "id"), side, lineup)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, g)
}

func (s *Server) suggestLineup(w http.ResponseWriter, r *http.Request) error {
	side, err := sideOf(r)
	if err != nil {
		return err
	}
	lineup, err := s.cfg.Hall.Suggest(r.Context(), personOf(r), param(r, "id"), side)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, lineup)
}

// sideOf is the side that a path names.
func sideOf(r *http.Request) (game.Side, error) {
	var side game.Side
	if side.UnmarshalText([]byte(param(r, "side"))) != nil {
		return side, errNoSuchPage
	}
	return side, nil
}

func (s *Server) rematch(w http.ResponseWriter, r *http.Request) error {
	g, err := s.cfg.Hall.Rematch(r.Context(), personOf(r), param(r, "id"))
	if err != nil {
		return err
	}
	return created(w, g)
}

func (s *Server) gameEvents(w http.ResponseWriter, r *http.Request) error {
	text, err := asked(r, "since")
	if err != nil {
		return err
	}
	since := uint64(0)
	if text != "" {
		if since, err = strconv.ParseUint(text, 10, 64); err != nil || since > farthest {
			return wrongQuery("since", "out_of_range", "must be a revision, or 0 for all")
		}
	}
	events, err := s.cfg.Hall.Events(r.Context(), personOf(r), param(r, "id"), since)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, struct {
		Events []*protocol.Message `json:"events"`
	}{append([]*protocol.Message{}, events...)})
}

func (s *Server) boxScore(w http.ResponseWriter, r *http.Request) error {
	g, box, err := s.cfg.Hall.Box(r.Context(), personOf(r), param(r, "id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, struct {
		ID     string           `json:"id"`
		Status protocol.Status  `json:"status"`
		Away   protocol.Seat    `json:"away"`
		Home   protocol.Seat    `json:"home"`
		Result *protocol.Result `json:"result,omitzero"`
		game.BoxScore
	}{g.ID, g.Status, g.Away, g.Home, g.Result, box})
}

func (s *Server) winProbability(w http.ResponseWriter, r *http.Request) error {
	p, err := s.cfg.Hall.WinProbability(r.Context(), param(r, "id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, p)
}

func (s *Server) scorecard(w http.ResponseWriter, r *http.Request) error {
	var text bytes.Buffer
	if err := s.cfg.Hall.Scorecard(r.Context(), param(r, "id"), &text); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text.Bytes()) // the client has gone; there is no one to tell
	return nil
}
