package teamdata

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"pressbox/game/teams"
)

// Delays after failures.
const (
	resourceDelay = 30 * time.Second // for a resource with an invalid response
	firstDelay    = time.Second      // after the first failure; doubles with each further one
	maxDelay      = 5 * time.Minute
	maxRetryAfter = time.Hour // upper limit of Retry-After

	maxResources = 256 // resources with a delay
)

// backoff holds the times before which no request is sent.
type backoff struct {
	failures  int // consecutive
	until     time.Time
	err       error // the last failure
	resources map[string]resourceBackoff
}

// resourceBackoff is the delay of one resource.
type resourceBackoff struct {
	until time.Time
	err   error
}

// An apiError is a failure of the API as a whole, not of one resource.
type apiError struct {
	error
	retryAfter time.Duration // 0 without Retry-After
}

func (e *apiError) Unwrap() error { return e.error }

// allowed returns an error if the resource may not be fetched now.
func (c *Client) allowed(r resource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.backoff.until) {
		return unavailable(c.backoff.err)
	}
	if k, ok := c.backoff.resources[r.url]; ok && now.Before(k.until) {
		return unavailable(k.err)
	}
	return nil
}

// recordResult sets the delays after a fetch.
func (c *Client) recordResult(r resource, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.backoff.failures, c.backoff.until = 0, time.Time{}
		delete(c.backoff.resources, r.url)
		return
	}
	down, ok := errors.AsType[*apiError](err)
	if !ok {
		c.backoff.failures, c.backoff.until = 0, time.Time{}
		c.backoff.delay(r.url, err)
		return
	}
	c.backoff.failures++
	c.backoff.err = err
	c.backoff.until = time.Now().Add(max(delayAfter(c.backoff.failures), min(down.retryAfter, maxRetryAfter)))
}

// delayAfter returns the delay after consecutive failures: a random time between half and all of the doubled
// delay, so that hosts do not retry in step.
func delayAfter(failures int) time.Duration {
	d := min(firstDelay<<min(failures-1, 20), maxDelay)
	return d/2 + rand.N(d/2) //nolint:gosec // it spreads load
}

// delay delays one resource and drops expired delays.
func (r *backoff) delay(url string, err error) {
	now := time.Now()
	for a, k := range r.resources {
		if !now.Before(k.until) || len(r.resources) >= maxResources {
			delete(r.resources, a)
		}
	}
	r.resources[url] = resourceBackoff{now.Add(resourceDelay), err}
}

// unavailable wraps err in [teams.ErrUnavailable] unless it already has one of the package's sentinels.
func unavailable(err error) error {
	if errors.Is(err, teams.ErrUnknown) || errors.Is(err, teams.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", teams.ErrUnavailable, err)
}
