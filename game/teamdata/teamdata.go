// Package teamdata is the client of the external team-data API, in the shape of SBA v3.
//
// Its one law: an answer matches the request. It is of that season and team, has enough players for a line-up, and
// is marked if it is stale; otherwise there is an error. An invalid entry costs that entry only.
//
// Response bodies are saved unchanged in a [Cache] under their URL. A fresh one is the answer. An older one is
// still the answer, marked stale, while [Client.Run] revalidates it in the background. A slow or unreachable API
// therefore delays only requests for data that was not fetched in the last 30 days.
package teamdata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"pressbox/game/teams"
)

// A Cache stores response bodies across restarts. Losing it costs only time.
type Cache interface {
	TeamData(ctx context.Context, key string) ([]byte, error) // nil and no error: not found
	SaveTeamData(ctx context.Context, key string, value []byte) error
}

// Config configures a [Client].
type Config struct {
	URL           string // up to and with or without /v3: https://example.org/api
	Token         string // bearer token; "": none
	DefaultSeason int    // used for season 0
	Cache         Cache
	Transport     http.RoundTripper // nil: a new http.Transport
	Log           *slog.Logger
}

// A Client fetches teams and rosters. Its methods may be called concurrently. [Client.Run] must run; until it
// does, only cached data is returned. Concurrent callers share results, so their slices must not be modified.
type Client struct {
	base   *url.URL
	token  string
	season int
	cache  Cache
	http   *http.Client
	log    *slog.Logger

	requests chan request
	flights  singleflight.Group // by address

	mu      sync.Mutex // guards backoff
	backoff backoff
}

// New returns a client. It sends no request.
func New(c Config) (*Client, error) {
	base, err := baseURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("URL of the team-data API: %w", err)
	}
	transport := c.Transport
	if transport == nil {
		transport = newTransport()
	}
	return &Client{
		base: base, token: c.Token, season: c.DefaultSeason, cache: c.Cache, log: c.Log,
		http: &http.Client{Transport: transport, CheckRedirect: sameHost}, requests: make(chan request),
		backoff: backoff{resources: map[string]resourceBackoff{}},
	}, nil
}

// baseURL parses a URL and appends /v3 if it is missing. Its errors do not contain the URL, which may hold a secret.
func baseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("invalid URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("expected http:// or https:// and a host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("user, query and fragment are not allowed; set TEAM_DATA_TOKEN for a token")
	case path.Base(u.Path) == "v3":
		return u.JoinPath(), nil
	}
	return u.JoinPath("v3"), nil
}

// A request asks Run to fetch a resource.
type request struct {
	resource
	done chan<- fetchResult // buffered; nil if no caller waits
}

type fetchResult struct {
	answer list
	err    error
}

// Run fetches what the other methods request until ctx ends, and returns after the last request has ended.
func (c *Client) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer c.http.CloseIdleConnections()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-c.requests:
			running.Go(func() { c.run(ctx, r) })
		}
	}
}

// run fetches a resource; concurrent requests for it share the result.
func (c *Client) run(ctx context.Context, r request) {
	result, err, _ := c.flights.Do(r.url, func() (any, error) {
		return c.refresh(ctx, r.resource)
	})
	if r.done == nil {
		return // refresh has logged the error
	}
	l, _ := result.(list)
	r.done <- fetchResult{l, err}
}

// Teams returns the teams of a season, 0 for the default one, without farm teams and injured lists. The error wraps
// [teams.ErrUnknown] or [teams.ErrUnavailable], or is that of ctx.
func (c *Client) Teams(ctx context.Context, season int) (teams.List, error) {
	if season == 0 {
		season = c.season
	}
	l, err := c.get(ctx, c.resource("teams", season, ""))
	if err != nil {
		return teams.List{}, fmt.Errorf("teams of season %d: %w", season, err)
	}
	return teams.List{Season: season, Source: c.base.Host, Stale: l.stale, FetchedAt: l.fetched, Teams: l.teams}, nil
}

// Roster returns one of the teams of [Client.Teams] with its players. The error wraps [teams.ErrUnknown],
// [teams.ErrUnavailable] or [teams.ErrTooFewPlayers], or is that of ctx.
func (c *Client) Roster(ctx context.Context, season int, team string) (teams.Roster, error) {
	list, err := c.Teams(ctx, season)
	if err != nil {
		return teams.Roster{}, err
	}
	for _, t := range list.Teams {
		if t.ID == team {
			return c.roster(ctx, t)
		}
	}
	return teams.Roster{}, fmt.Errorf("team %.40q in season %d: %w", team, list.Season, teams.ErrUnknown)
}

func (c *Client) roster(ctx context.Context, t teams.Team) (teams.Roster, error) {
	l, err := c.get(ctx, c.resource("players", t.Season, t.ID))
	if err == nil {
		err = checkComplete(l.players)
	}
	if err != nil {
		return teams.Roster{}, fmt.Errorf("roster of %s in season %d: %w", t.Abbrev, t.Season, err)
	}
	return teams.Roster{
		Team: t, Season: t.Season, Source: c.base.Host, Stale: l.stale, FetchedAt: l.fetched, Players: l.players,
	}, nil
}

// checkComplete returns an error unless there are enough players for a line-up.
func checkComplete(players []teams.Player) error {
	var hitters, pitchers int
	for i := range players {
		pitches, hits := pitchesAndHits(players[i].Positions)
		if pitches {
			pitchers++
		}
		if hits {
			hitters++
		}
	}
	if hitters < 9 || pitchers < 1 {
		return fmt.Errorf("%w: %d hitters and %d pitchers, expected at least 9 and 1",
			teams.ErrTooFewPlayers, hitters, pitchers)
	}
	return nil
}

// A resource is a list that the API offers.
type resource struct {
	name   string // "teams" or "players"; also the key of the list in the response
	season int
	team   string // team id, for players
	url    string // URL; also the cache key
}

func (c *Client) resource(name string, season int, team string) resource {
	query := url.Values{"season": {strconv.Itoa(season)}}
	if team != "" {
		query.Set("team_id", team)
	}
	u := c.base.JoinPath(name)
	u.RawQuery = query.Encode()
	return resource{name, season, team, u.String()}
}

func (r resource) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s of season %d %s", r.name, r.season, r.team))
}
