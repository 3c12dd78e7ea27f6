package teamdata

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"pressbox/game/teams"
)

// How long the API is left alone.
const (
	restKey   = 30 * time.Second // with a question that it could not answer
	restFirst = time.Second      // after the first failure; doubled with each that follows
	restMost  = 5 * time.Minute
	restAsked = time.Hour // at most, when the API itself asks for it

	restedMost = 256 // questions that are remembered
)

// rest says what is not asked now. Nothing waits for it to end: who comes after that asks.
type rest struct {
	failures int // in a row
	until    time.Time
	why      error // of the last failure
	keys     map[string]rested
}

// rested is one question.
type rested struct {
	until time.Time
	why   error
}

// A downError is a failure of the API as a whole, not of one question.
type downError struct {
	error
	after time.Duration // for which the API asks to be left alone; 0: it did not say
}

func (e *downError) Unwrap() error { return e.error }

// mayAsk returns why the resource is not asked for now, or nil.
func (c *Client) mayAsk(r resource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.rest.until) {
		return unavailable(c.rest.why)
	}
	if k, ok := c.rest.keys[r.address]; ok && now.Before(k.until) {
		return unavailable(k.why)
	}
	return nil
}

// note remembers how a question ended.
func (c *Client) note(r resource, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.rest.failures, c.rest.until = 0, time.Time{}
		delete(c.rest.keys, r.address)
		return
	}
	down, ok := errors.AsType[*downError](err)
	if !ok {
		c.rest.failures, c.rest.until = 0, time.Time{}
		c.rest.remember(r.address, err)
		return
	}
	c.rest.failures++
	c.rest.why = err
	c.rest.until = time.Now().Add(max(pause(c.rest.failures), min(down.after, restAsked)))
}

// pause returns how long to wait after so many failures: between half and all of the doubled time, so that not all
// appliances come back together.
func pause(failures int) time.Duration {
	d := min(restFirst<<min(failures-1, 20), restMost)
	return d/2 + rand.N(d/2) //nolint:gosec // it spreads load
}

// remember lets one question rest, and forgets such as may be asked again.
func (r *rest) remember(address string, why error) {
	now := time.Now()
	for a, k := range r.keys {
		if !now.Before(k.until) || len(r.keys) >= restedMost {
			delete(r.keys, a)
		}
	}
	r.keys[address] = rested{now.Add(restKey), why}
}

// unavailable gives err the name that callers branch on.
func unavailable(err error) error {
	if errors.Is(err, teams.ErrUnknown) || errors.Is(err, teams.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", teams.ErrUnavailable, err)
}
