package teamdata

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressbox/game/teams"
)

// Freshness lifetimes without Cache-Control, their limits, and the age up to which stale data is served.
const (
	teamsFreshness   = 30 * time.Minute
	playersFreshness = 10 * time.Minute
	minFreshness     = time.Minute
	maxFreshness     = 24 * time.Hour
	maxStale         = 30 * 24 * time.Hour
)

// lastSeason is the largest season accepted; leagues count seasons or name them by year.
const lastSeason = 9999

// A cacheEntry is a saved response. The body is saved unchanged, so that a later version can read more of it.
type cacheEntry struct {
	URL      string          `json:"address"` // must equal the cache key
	ETag     string          `json:"etag,omitempty"`
	Modified string          `json:"modified,omitempty"` // Last-Modified
	Fetched  time.Time       `json:"fetched"`            // time of the last fetch or revalidation
	Fresh    time.Duration   `json:"fresh"`              // freshness lifetime from Fetched
	Body     json.RawMessage `json:"body"`
}

// A list is a decoded entry; it has either teams or players.
type list struct {
	teams   []teams.Team
	players []teams.Player
	fetched time.Time
	stale   bool
}

// age returns the time since the entry was fetched or revalidated, negative if the clock was set back.
func (r *cacheEntry) age() time.Duration { return time.Since(r.Fetched) }

func (r *cacheEntry) isFresh() bool { return r.age() >= 0 && r.age() < r.Fresh }

// revalidated updates validators and freshness from a response.
func (r *cacheEntry) revalidated(h http.Header, fallback time.Duration) {
	r.Fetched = time.Now().UTC().Round(0)
	r.Fresh = freshness(h.Get("Cache-Control"), fallback)
	if tag := h.Get("ETag"); tag != "" {
		r.ETag = tag
	}
	if at := h.Get("Last-Modified"); at != "" {
		r.Modified = at
	}
}

// defaultFreshness returns the freshness lifetime without Cache-Control.
func (r resource) defaultFreshness() time.Duration {
	if r.name == "teams" {
		return teamsFreshness
	}
	return playersFreshness
}

// freshness returns the lifetime in Cache-Control (RFC 9111 §5.2.2), at least minFreshness even for no-store, so
// that page views do not load the API.
func freshness(control string, fallback time.Duration) time.Duration {
	lifetime := fallback
	for d := range strings.SplitSeq(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), "=")
		switch name {
		case "no-cache", "no-store":
			return minFreshness
		case "max-age":
			if s, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				lifetime = time.Duration(s) * time.Second
			}
		}
	}
	return min(max(lifetime, minFreshness), maxFreshness)
}

// cached returns the cached entry of a resource and its list. It reports false if there is none, or it is too old or
// invalid.
func (c *Client) cached(ctx context.Context, r resource) (cacheEntry, list, bool) {
	raw, err := c.cache.TeamData(ctx, r.url)
	if err != nil {
		c.log.Error("reading cached team data failed", "resource", r.String(), "err", err)
		return cacheEntry{}, list{}, false
	}
	var entry cacheEntry
	if raw == nil || json.Unmarshal(raw, &entry) != nil || entry.URL != r.url || entry.age() > maxStale {
		return cacheEntry{}, list{}, false
	}
	a, err := r.decode(entry.Body)
	if err != nil {
		return cacheEntry{}, list{}, false
	}
	a.fetched, a.stale = entry.Fetched, !entry.isFresh()
	return entry, a, true
}

// save saves an entry. An error is logged only; the data will be fetched again.
func (c *Client) save(ctx context.Context, r resource, entry cacheEntry) {
	raw, err := json.Marshal(entry)
	if err == nil {
		err = c.cache.SaveTeamData(ctx, r.url, raw)
	}
	if err != nil {
		c.log.Error("caching team data failed", "resource", r.String(), "err", err)
	}
}

// get returns the cached list of a resource, or waits until Run has fetched it.
func (c *Client) get(ctx context.Context, r resource) (list, error) {
	if r.season < 1 || r.season > lastSeason {
		return list{}, teams.ErrUnknown
	}
	_, a, ok := c.cached(ctx, r)
	if ok {
		if a.stale {
			select {
			case c.requests <- request{resource: r}:
			default: // Run is busy; a later request revalidates
			}
		}
		return a, nil
	}
	done := make(chan fetchResult, 1)
	select {
	case c.requests <- request{r, done}:
	case <-ctx.Done():
		return list{}, ctx.Err()
	}
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
		return list{}, ctx.Err()
	}
}

// refresh fetches a resource and saves it, unless it is already fresh or the API is backed off.
func (c *Client) refresh(ctx context.Context, r resource) (list, error) {
	entry, old, ok := c.cached(ctx, r)
	if ok && !old.stale {
		return old, nil
	}
	if err := c.allowed(r); err != nil {
		return list{}, err
	}
	next, err := c.fetch(ctx, r, entry)
	var a list
	if err == nil {
		a, err = r.decode(next.Body)
	}
	if ctx.Err() != nil {
		return list{}, fmt.Errorf("%w: %w", teams.ErrUnavailable, ctx.Err())
	}
	c.recordResult(r, err)
	if err != nil {
		if ok {
			c.log.Warn("revalidating team data failed", "resource", r.String(), "fetched", entry.Fetched, "err", err)
		}
		return list{}, unavailable(err)
	}
	a.fetched = next.Fetched
	c.save(ctx, r, next)
	return a, nil
}
