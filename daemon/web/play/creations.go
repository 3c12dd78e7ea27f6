package play

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pressbox/daemon/web"
)

const (
	creationsPerHour = 30   // games that one account can create, also at once
	maxCreators      = 1000 // accounts that are counted before those without a recent game are forgotten
)

// creations limits the games that each account creates. Its zero value is ready.
type creations struct {
	mu        sync.Mutex // guards byAccount
	byAccount map[string]*rate.Limiter
}

// reserve counts a game of an account. It returns 0 if it is permitted, otherwise the time until the next one
// is.
func (c *creations) reserve(account string, now time.Time) (wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byAccount == nil {
		c.byAccount = map[string]*rate.Limiter{}
	}
	if len(c.byAccount) >= maxCreators {
		for id, l := range c.byAccount {
			if l.TokensAt(now) >= creationsPerHour {
				delete(c.byAccount, id)
			}
		}
	}
	l := c.byAccount[account]
	if l == nil {
		l = rate.NewLimiter(rate.Every(time.Hour/creationsPerHour), creationsPerHour)
		c.byAccount[account] = l
	}
	r := l.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// allowCreation counts a new game of the caller, and returns a [web.RetryError] above the limit.
func (h *handlers) allowCreation(r *http.Request) error {
	if wait := h.created.reserve(personOf(r).ID, time.Now()); wait > 0 {
		return &web.RetryError{Err: web.ErrTooManyRequests, After: wait}
	}
	return nil
}
