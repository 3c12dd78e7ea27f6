// Package teamdata is the client of the external team-data API, in the shape of SBA v3.
//
// Its one law: an answer is what was asked for. It belongs to that season and that team, it could field a line-up, and
// it says whether it is stale; otherwise there is an error. What is wrong with one entry costs that entry only.
//
// What the API said is kept in a [Cache], as it was sent, under the address that was asked. As long as it is fresh it is
// the answer. After that it is still the answer, marked stale, while [Client.Run] asks the API whether it has changed; so
// an API that is slow or down is felt only by who asks for what was never kept, or not in 30 days.
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

// A Cache keeps what the API said over a restart. Nothing is lost with it but time.
type Cache interface {
	TeamData(ctx context.Context, key string) ([]byte, error) // nil and no error: nothing kept
	SaveTeamData(ctx context.Context, key string, value []byte) error
}

// Config says where the API is.
type Config struct {
	URL           string // ends before or with /v3: https://example.org/api
	Token         string // bearer; "" sends none
	DefaultSeason int    // what season 0 means to [Client.Teams] and [Client.Roster]
	Cache         Cache
	Transport     http.RoundTripper // nil means an own one over the network
	Log           *slog.Logger
}

// A Client asks the API. Its methods may be called concurrently, and need [Client.Run] to be running for whatever is
// not kept. Who asks at the same time shares an answer, so its slices are not to be written to.
type Client struct {
	base   *url.URL
	token  string
	season int
	cache  Cache
	http   *http.Client
	log    *slog.Logger

	jobs    chan job
	flights singleflight.Group // by address

	mu   sync.Mutex // guards what follows
	rest rest
}

// New returns a client that has not asked anything yet.
func New(c Config) (*Client, error) {
	base, err := baseURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("address of the team-data API: %w", err)
	}
	transport := c.Transport
	if transport == nil {
		transport = newTransport()
	}
	return &Client{
		base: base, token: c.Token, season: c.DefaultSeason, cache: c.Cache, log: c.Log,
		http: &http.Client{Transport: transport, CheckRedirect: sameHost},
		jobs: make(chan job),
		rest: rest{keys: map[string]rested{}},
	}, nil
}

// baseURL reads an address and lets it end with /v3. Its errors do not repeat it: there may be a secret inside.
func baseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("it cannot be read")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("it begins with http:// or https:// and a host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("it has no user, query or fragment; a token goes into TEAM_DATA_TOKEN")
	case path.Base(u.Path) == "v3":
		return u.JoinPath(), nil
	}
	return u.JoinPath("v3"), nil
}

// A job is a resource that Run shall ask for.
type job struct {
	resource
	done chan<- outcome // has room for the outcome; nil if nobody waits
}

type outcome struct {
	answer answer
	err    error
}

// Run asks the API for what the other methods want, until ctx ends and the last request with it.
func (c *Client) Run(ctx context.Context) error {
	var asking sync.WaitGroup
	defer asking.Wait()
	defer c.http.CloseIdleConnections()
	for {
		select {
		case <-ctx.Done():
			return nil
		case j := <-c.jobs:
			asking.Go(func() { c.do(ctx, j) })
		}
	}
}

// do asks for a job's resource, together with whoever else wants it now.
func (c *Client) do(ctx context.Context, j job) {
	result, err, _ := c.flights.Do(j.address, func() (any, error) {
		return c.renew(ctx, j.resource)
	})
	if j.done == nil {
		return // renew has logged it
	}
	a, _ := result.(answer)
	j.done <- outcome{a, err}
}

// Teams returns the clubs of a season; 0 means the default one. Farm clubs and injured lists are left out. The error
// wraps [teams.ErrUnknown] or [teams.ErrUnavailable], or is that of ctx.
func (c *Client) Teams(ctx context.Context, season int) (teams.List, error) {
	if season == 0 {
		season = c.season
	}
	a, err := c.answer(ctx, c.resource("teams", season, ""))
	if err != nil {
		return teams.List{}, fmt.Errorf("teams of season %d: %w", season, err)
	}
	return teams.List{Season: season, Source: c.base.Host, Stale: a.stale, FetchedAt: a.fetched, Teams: a.teams}, nil
}

// Roster returns one of the clubs that [Client.Teams] lists, with its players. The error wraps
// [teams.ErrUnknown], [teams.ErrUnavailable] or [teams.ErrTooFewPlayers], or is that of ctx.
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
	a, err := c.answer(ctx, c.resource("players", t.Season, t.ID))
	if err == nil {
		err = complete(a.players)
	}
	if err != nil {
		return teams.Roster{}, fmt.Errorf("roster of %s in season %d: %w", t.Abbrev, t.Season, err)
	}
	return teams.Roster{Team: t, Season: t.Season, Source: c.base.Host, Stale: a.stale, FetchedAt: a.fetched, Players: a.players}, nil
}

// complete checks that the players could take the field.
func complete(players []teams.Player) error {
	var hitters, pitchers int
	for i := range players {
		pitches, hits := duties(players[i].Positions)
		if pitches {
			pitchers++
		}
		if hits {
			hitters++
		}
	}
	if hitters < 9 || pitchers < 1 {
		return fmt.Errorf("%w: %d who hit and %d who pitch, not 9 and 1", teams.ErrTooFewPlayers, hitters, pitchers)
	}
	return nil
}

// A resource is a list that the API has.
type resource struct {
	name    string // "teams" or "players"; also what the list is called in the answer
	season  int
	team    string // its id, for players
	address string // where it is asked for, and the key under which it is kept
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
