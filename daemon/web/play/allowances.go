package play

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// What one account may have written, whatever its clients.
const (
	creationsPerHour  = 30  // games, rematches, series and leagues, also at once
	lineupsPerHour    = 120 // line-ups, also at once
	changesPerHour    = 300 // other changes of games, series and leagues, also at once
	commandsPerSecond = 20  // commands of websockets
	commandBurst      = 600 // commands of websockets at once: those of a whole game
	maxAccounts       = 1000
)

// An allowance limits what each account may do.
type allowance struct {
	rate  rate.Limit
	burst int

	mu        sync.Mutex // guards byAccount
	byAccount map[string]*rate.Limiter
}

// hourly returns an allowance of n an hour, also at once.
func hourly(n int) *allowance {
	return &allowance{rate: rate.Every(time.Hour / time.Duration(n)), burst: n}
}

// reserve counts an act of an account. It returns 0 if it is permitted, otherwise the time until the next one is.
// With [maxAccounts] accounts, those that have used nothing are forgotten.
func (a *allowance) reserve(account string, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byAccount == nil {
		a.byAccount = map[string]*rate.Limiter{}
	}
	if len(a.byAccount) >= maxAccounts {
		for id, l := range a.byAccount {
			if l.TokensAt(now) >= float64(a.burst) {
				delete(a.byAccount, id)
			}
		}
	}
	l := a.byAccount[account]
	if l == nil {
		l = rate.NewLimiter(a.rate, a.burst)
		a.byAccount[account] = l
	}
	r := l.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// allow counts a request of its caller, and returns a [web.RetryError] above the limit.
func (a *allowance) allow(r *http.Request) error {
	if wait := a.reserve(personOf(r).ID, time.Now()); wait > 0 {
		return &web.RetryError{Err: web.ErrTooManyRequests, After: wait}
	}
	return nil
}

// allowCommand counts a command of a websocket, and refuses it above the limit.
func (h *handlers) allowCommand(by protocol.Person) error {
	if h.commands.reserve(by.ID, time.Now()) > 0 {
		return protocol.Refuse(protocol.RateLimited, "an account can send %d commands a second", commandsPerSecond)
	}
	return nil
}
