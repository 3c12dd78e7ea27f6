package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"pressbox/game"
)

// Teams is where clubs and players come from. Season 0 is the default one. The
// errors wrap [ErrNoTeam], [ErrThinRoster] or [ErrNoTeamData], or are ctx's.
type Teams interface {
	Teams(ctx context.Context, season int) (TeamList, error)
	Roster(ctx context.Context, season int, team string) (Roster, error)
}

// Why there is no team.
var (
	ErrNoTeam     = errors.New("there is no such season or team")
	ErrThinRoster = errors.New("the team has too few players for a line-up")
	ErrNoTeamData = errors.New("the team-data API does not answer, and nothing of it is kept")
)

// lastSeason is beyond any; leagues count them or call them by their year.
const lastSeason = 9999

// A TeamList is the body of GET /api/teams.
type TeamList struct {
	Season  int       `json:"season"`
	Source  string    `json:"source"`
	Stale   bool      `json:"stale"`               // not confirmed for a while
	Fetched time.Time `json:"fetched_at,omitzero"` // when it was said or confirmed; zero: it is ours
	Teams   []Team    `json:"teams"`
}

// A Team is a club without its players.
type Team struct {
	ID     string `json:"id"`
	Season int    `json:"season"`
	Abbrev string `json:"abbrev"`
	Name   string `json:"name"`
	Short  string `json:"short_name,omitempty"`
	City   string `json:"city,omitempty"`
	Color  string `json:"color,omitempty"`
	Text   string `json:"text_color,omitempty"` // on Color
	Logo   string `json:"logo_url,omitempty"`
	Park   Park   `json:"park,omitzero"`
}

// A Park is where a club plays at home.
type Park struct {
	Name string `json:"name"`
}

// A Roster is the body of GET /api/teams/{id}/roster.
type Roster struct {
	Team    Team      `json:"team"`
	Season  int       `json:"season"`
	Source  string    `json:"source"`
	Stale   bool      `json:"stale"`
	Fetched time.Time `json:"fetched_at,omitzero"`
	Players []Player  `json:"players"`
}

// A Player is a line of a roster.
type Player struct {
	game.Player
	Age   int    `json:"age,omitempty"`
	Image string `json:"image_url,omitempty"`
}

func (s *Server) teamRoutes() []route {
	routes := []route{
		{http.MethodGet, "/api/teams", people, s.teams, operation{
			id: "listTeams", tag: "games", summary: "The clubs of a season",
			params:   []string{"season"},
			answers:  []success{{status: http.StatusOK, description: "The clubs.", schema: "Teams"}},
			problems: []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}},
		{http.MethodGet, "/api/teams/:id/roster", people, s.roster, operation{
			id: "getRoster", tag: "games", summary: "The players of a club",
			params:   []string{"season"},
			answers:  []success{{status: http.StatusOK, description: "The players.", schema: "Roster"}},
			problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		}},
	}
	return where(routes, func() bool { return s.cfg.Teams != nil })
}

func (s *Server) teams(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	list, err := s.cfg.Teams.Teams(r.Context(), season)
	if err != nil {
		return err
	}
	list.Teams = append([]Team{}, list.Teams...) // [] rather than null
	return reply(w, http.StatusOK, list)
}

func (s *Server) roster(w http.ResponseWriter, r *http.Request) error {
	season, err := seasonOf(r)
	if err != nil {
		return err
	}
	roster, err := s.cfg.Teams.Roster(r.Context(), season, param(r, "id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, roster)
}

// seasonOf is the season that a request asks for; 0 when it names none.
func seasonOf(r *http.Request) (int, error) {
	text := r.URL.Query().Get("season")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > lastSeason {
		return 0, wrongQuery("season", "out_of_range", "must be a whole number from 1 to 9999")
	}
	return n, nil
}

// wrongQuery says what is wrong with a parameter of the address.
func wrongQuery(name, code, detail string) error {
	return &bodyError{[]violation{{Path: "/" + name, Code: code, Detail: detail}}}
}

// where hides routes while what they need is not there.
func where(routes []route, there func() bool) []route {
	for i, rt := range routes {
		routes[i].handle = func(w http.ResponseWriter, r *http.Request) error {
			if !there() {
				return errNoSuchPage
			}
			return rt.handle(w, r)
		}
	}
	return routes
}
