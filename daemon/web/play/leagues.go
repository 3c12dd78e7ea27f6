package play

import (
	"context"
	"net/http"
	"slices"

	"pressbox/daemon/web"
	"pressbox/game/leagues"
	"pressbox/game/protocol"
)

// A competition holds the names by which a kind of competition is served.
type competition struct {
	kind leagues.Kind
	path string
	name string // in ids: "createLeague"
	word string // in summaries
	all  string // in summaries

	request any // the body that creates one
	decode  func(h *handlers, w http.ResponseWriter, r *http.Request) (leagues.Request, error)
	list    func([]leagues.View) any // the body that lists all
}

// A seriesReply is the body that lists series.
type seriesReply struct {
	Series []leagues.View `json:"series"`
}

// A leaguesReply is the body that lists leagues.
type leaguesReply struct {
	Leagues []leagues.View `json:"leagues"`
}

func (h *handlers) leagueRoutes() []web.Route {
	routes := slices.Concat(
		h.competitionRoutes(competition{
			leagues.Series, "/api/series", "Series", "series", "series",
			leagues.SeriesRequest{},
			(*handlers).decodeSeries,
			func(all []leagues.View) any { return seriesReply{all} },
		}),
		h.competitionRoutes(competition{
			leagues.RoundRobin, "/api/leagues", "League", "league", "leagues",
			leagues.Request{},
			(*handlers).decodeLeague,
			func(all []leagues.View) any { return leaguesReply{all} },
		}),
	)
	return web.When(routes, func() bool { return h.Leagues != nil })
}

// competitionRoutes returns the routes of series, or those of leagues. Reading follows NOTIFY_ACCESS; the id
// of a private one is its link.
func (h *handlers) competitionRoutes(c competition) []web.Route {
	one := answers("The "+c.word+".", leagues.View{})
	path := c.path + "/:id"
	start, leave := h.onLeague(c, (*leagues.Leagues).Start), h.onLeague(c, (*leagues.Leagues).Leave)
	return []web.Route{
		web.NewRoute(http.MethodPost, c.path, web.SessionRequired, h.createLeague(c), web.Operation{
			ID: "create" + c.name, Summary: "Create a " + c.word,
			Description: "It starts when no seat is open. Its games are created by the server, one day after the " +
				"other; games between bots are played without a manager. An account can have 5 unfinished leagues " +
				"and series; of its finished ones, the last 20 are stored. Of the 100 places, 40 are for accounts " +
				"without an unfinished one. A creation counts as that of a game.",
			Request:   c.request,
			Responses: creates("It is saved.", leagues.View{}),
			Problems:  []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, c.path, web.SessionOrVisitor, h.listLeagues(c), web.Operation{
			ID: "list" + c.name, Summary: "List the " + c.all,
			Description: "The listed ones and your own, newest first.",
			Responses:   answers("The list.", c.list(nil)),
		}),
		web.NewRoute(http.MethodGet, path, web.SessionOrVisitor, h.getLeague(c), web.Operation{
			ID: "get" + c.name, Summary: "Get a " + c.word, Responses: one,
			Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodGet, path+"/schedule", web.SessionOrVisitor, h.leagueSchedule(c), web.Operation{
			ID:          "get" + c.name + "Schedule",
			Summary:     "Get the calendar of a " + c.word + " with its results",
			Description: "Of a series or a play-off, the games that are needed so far.",
			Responses:   answers("The games by day.", leagues.Schedule{}),
			Problems:    []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, path+"/standings", web.SessionOrVisitor, h.leagueStandings(c), web.Operation{
			ID: "get" + c.name + "Standings", Summary: "Get the standings of a " + c.word,
			Description: "Managers with the same percentage are placed by the games among them, by run difference, " +
				"by runs scored, and at last by their seats.",
			Responses: answers("The standings, best first.", leagues.Standings{}),
			Problems:  []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, path+"/join", web.SessionRequired, h.joinLeague(c), web.Operation{
			ID: "join" + c.name, Summary: "Take a seat in a " + c.word,
			Description: "With the last seat it starts. Without a body, it is the first open seat.",
			Request:     seatChoice{}, Optional: true, Responses: one, Problems: changeProblems(),
		}),
		web.NewRoute(http.MethodPost, path+"/start", web.SessionRequired, start, web.Operation{
			ID: "start" + c.name, Summary: "Start a " + c.word + "; the bot takes the open seats",
			Description: "Only its creator may. One that has started is returned unchanged.", Responses: one,
			Problems: changeProblems(),
		}),
		web.NewRoute(http.MethodPost, path+"/leave", web.SessionRequired, leave, web.Operation{
			ID: "leave" + c.name, Summary: "Leave a " + c.word,
			Description: "Before the start the seat is open again. Afterwards it is the bot's for good, also in the " +
				"games that have begun.",
			Responses: one, Problems: changeProblems(),
		}),
		web.NewRoute(http.MethodDelete, path, web.SessionRequired, h.cancelLeague(c), web.Operation{
			ID: "cancel" + c.name, Summary: "Delete a " + c.word + " that has not started",
			Description: "Only its creator may.",
			Responses:   deletes("It is deleted."),
			Problems:    changeProblems(),
		}),
	}
}

func (h *handlers) createLeague(c competition) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		request, err := c.decode(h, w, r)
		if err != nil {
			return err
		}
		created, err := h.Leagues.Create(r.Context(), personOf(r), c.kind, request)
		if err != nil {
			return err
		}
		w.Header().Set("Location", c.path+"/"+created.ID)
		return web.WriteJSON(w, http.StatusCreated, created)
	}
}

func (h *handlers) decodeLeague(w http.ResponseWriter, r *http.Request) (leagues.Request, error) {
	request := leagues.Defaults(leagues.RoundRobin)
	err := h.Decode(w, r, &request)
	return request, err
}

func (h *handlers) decodeSeries(w http.ResponseWriter, r *http.Request) (leagues.Request, error) {
	all := leagues.Defaults(leagues.Series)
	request := leagues.SeriesRequest{Terms: all.Terms, BestOf: all.BestOf}
	err := h.Decode(w, r, &request)
	all.Terms, all.Seats, all.BestOf = request.Terms, request.Seats, request.BestOf
	return all, err
}

func (h *handlers) listLeagues(c competition) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return web.WriteLargeJSON(w, r, c.list(h.Leagues.List(personOf(r), c.kind)))
	}
}

func (h *handlers) getLeague(c competition) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return respond(w)(h.Leagues.Get(personOf(r), c.kind, web.Param(r, "id")))
	}
}

func (h *handlers) leagueSchedule(c competition) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return respondLarge(w, r)(h.Leagues.Schedule(r.Context(), personOf(r), c.kind, web.Param(r, "id")))
	}
}

func (h *handlers) leagueStandings(c competition) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return respondLarge(w, r)(h.Leagues.Standings(personOf(r), c.kind, web.Param(r, "id")))
	}
}

// A seatChoice takes a seat.
//
//	{"seat": 1}
type seatChoice struct {
	Seat int `json:"seat" minimum:"0" maximum:"7"` // index of an open seat; default: the first one
}

func (h *handlers) joinLeague(c competition) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		choice := seatChoice{-1}
		if err := h.DecodeOptional(w, r, &choice); err != nil {
			return err
		}
		return respond(w)(h.Leagues.Join(r.Context(), personOf(r), c.kind, web.Param(r, "id"), choice.Seat))
	}
}

// onLeague returns a handler that calls a method of Leagues with the id in the path.
func (h *handlers) onLeague(c competition, do func(
	l *leagues.Leagues, ctx context.Context, by protocol.Person, kind leagues.Kind, id string,
) (leagues.View, error),
) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return respond(w)(do(h.Leagues, r.Context(), personOf(r), c.kind, web.Param(r, "id")))
	}
}

func (h *handlers) cancelLeague(c competition) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return web.WriteNoContent(w, h.Leagues.Cancel(r.Context(), personOf(r), c.kind, web.Param(r, "id")))
	}
}
