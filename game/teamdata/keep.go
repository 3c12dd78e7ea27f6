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

// How long an answer is fresh unless the API says otherwise, and how long it may be served after.
const (
	freshTeams   = 30 * time.Minute
	freshPlayers = 10 * time.Minute
	freshLeast   = time.Minute
	freshMost    = 24 * time.Hour
	staleMost    = 30 * 24 * time.Hour
)

// lastSeason is beyond any; leagues count them or call them by their year.
const lastSeason = 9999

// A record is what is kept of an answer: the body as it was sent, so that a later version may read more from it.
type record struct {
	Address  string          `json:"address"` // as the key; what lies under a wrong one is not served
	ETag     string          `json:"etag,omitempty"`
	Modified string          `json:"modified,omitempty"` // Last-Modified
	Fetched  time.Time       `json:"fetched"`            // when the API said or confirmed it
	Fresh    time.Duration   `json:"fresh"`              // from then on
	Body     json.RawMessage `json:"body"`
}

// An answer is a record that was read, with one of the lists.
type answer struct {
	teams   []teams.Team
	players []teams.Player
	fetched time.Time
	stale   bool
}

// age returns how long ago the API confirmed the record, negative when the clock was set back since.
func (r *record) age() time.Duration { return time.Since(r.Fetched) }

func (r *record) fresh() bool { return r.age() >= 0 && r.age() < r.Fresh }

// confirm notes what the API's answer says about the record: the validators, and how long it stays fresh.
func (r *record) confirm(h http.Header, usually time.Duration) {
	r.Fetched = time.Now().UTC().Round(0)
	r.Fresh = freshness(h.Get("Cache-Control"), usually)
	if tag := h.Get("ETag"); tag != "" {
		r.ETag = tag
	}
	if at := h.Get("Last-Modified"); at != "" {
		r.Modified = at
	}
}

// usually is how long the resource stays fresh when nobody says.
func (r resource) usually() time.Duration {
	if r.name == "teams" {
		return freshTeams
	}
	return freshPlayers
}

// freshness reads Cache-Control (RFC 9111 §5.2.2). What must not be kept is kept for the least time nevertheless: a
// page that is looked at must not become a load on the API.
func freshness(control string, usually time.Duration) time.Duration {
	fresh := usually
	for d := range strings.SplitSeq(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), "=")
		switch name {
		case "no-cache", "no-store":
			return freshLeast
		case "max-age":
			if s, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				fresh = time.Duration(s) * time.Second
			}
		}
	}
	return min(max(fresh, freshLeast), freshMost)
}

// kept returns what the cache has of a resource. What is too old, or cannot be read any more, is not there.
func (c *Client) kept(ctx context.Context, r resource) (record, answer, bool) {
	raw, err := c.cache.TeamData(ctx, r.address)
	if err != nil {
		c.log.Error("team data cannot be read from the store", "resource", r.String(), "err", err)
		return record{}, answer{}, false
	}
	var rec record
	if raw == nil || json.Unmarshal(raw, &rec) != nil || rec.Address != r.address || rec.age() > staleMost {
		return record{}, answer{}, false
	}
	a, err := r.decode(rec.Body)
	if err != nil {
		return record{}, answer{}, false
	}
	a.fetched, a.stale = rec.Fetched, !rec.fresh()
	return rec, a, true
}

// keep puts a record into the cache. When that fails the answer is as good, only it will be asked for again.
func (c *Client) keep(ctx context.Context, r resource, rec record) {
	raw, err := json.Marshal(rec)
	if err == nil {
		err = c.cache.SaveTeamData(ctx, r.address, raw)
	}
	if err != nil {
		c.log.Error("team data cannot be kept", "resource", r.String(), "err", err)
	}
}

// answer returns what is kept of a resource, or waits until Run has asked for it.
func (c *Client) answer(ctx context.Context, r resource) (answer, error) {
	if r.season < 1 || r.season > lastSeason {
		return answer{}, teams.ErrUnknown
	}
	_, a, ok := c.kept(ctx, r)
	if ok {
		if a.stale {
			select {
			case c.jobs <- job{resource: r}:
			default: // Run is busy for a moment: the next one who asks will do
			}
		}
		return a, nil
	}
	done := make(chan outcome, 1)
	select {
	case c.jobs <- job{r, done}:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

// renew asks the API for a resource and keeps the answer, unless that was just done or the API is left alone.
func (c *Client) renew(ctx context.Context, r resource) (answer, error) {
	rec, old, ok := c.kept(ctx, r)
	if ok && !old.stale {
		return old, nil
	}
	if err := c.mayAsk(r); err != nil {
		return answer{}, err
	}
	next, err := c.ask(ctx, r, rec)
	var a answer
	if err == nil {
		a, err = r.decode(next.Body)
	}
	if ctx.Err() != nil {
		return answer{}, fmt.Errorf("%w: %w", teams.ErrUnavailable, ctx.Err())
	}
	c.note(r, err)
	if err != nil {
		if ok {
			c.log.Warn("team data cannot be renewed", "resource", r.String(), "fetched", rec.Fetched, "err", err)
		}
		return answer{}, unavailable(err)
	}
	a.fetched = next.Fetched
	c.keep(ctx, r, next)
	return a, nil
}
