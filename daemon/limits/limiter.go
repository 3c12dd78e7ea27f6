// Package limits counts what clients ask for, by their addresses and accounts, and has the table of
// what they can cause to be saved ([Writes]). The servers of all protocols use the same counters, so
// that a second protocol is no second allowance.
package limits

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pressbox/auth/netblock"
)

// maxKeys is the number of clients, networks or accounts that a limiter counts
// separately in each generation. Further ones share one allowance.
const maxKeys = 4096

// A Limiter limits the rate of events of each client, and of the clients of one
// local IPv6 network together (see [netblock.Table]).
type Limiter struct {
	blocks *netblock.Table
	*generations[allowanceKey]
}

type allowanceKey struct {
	block netip.Prefix
	share int // limits of one client
}

// NewLimiter returns a limiter that allows each client perMinute events a
// minute, and burst at once. The blocks of addresses are those of blocks.
func NewLimiter(blocks *netblock.Table, perMinute, burst int) *Limiter {
	return newLimiter(blocks, rate.Limit(float64(perMinute)/60), burst)
}

func newLimiter(blocks *netblock.Table, every rate.Limit, burst int) *Limiter {
	return &Limiter{blocks, newGenerations[allowanceKey](every, burst)}
}

// Reserve counts one event of the address. It returns 0 if the event is
// permitted, otherwise the time until the next one is.
func (l *Limiter) Reserve(a netip.Addr, now time.Time) (wait time.Duration) {
	return l.ReserveN(a, 1, now)
}

// Wait counts one event of the address as soon as it is permitted, or returns ctx's error.
func (l *Limiter) Wait(ctx context.Context, a netip.Addr) error {
	for {
		wait := l.Reserve(a, time.Now())
		if wait == 0 {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ReserveN is Reserve of n events at once, or of as many as a burst has.
func (l *Limiter) ReserveN(a netip.Addr, n int, now time.Time) (wait time.Duration) {
	return reserve(now, min(n, l.burst), l.allowances(l.blocks.Of(a), now))
}

// allowances returns the allowances of a client and of its network, if it has one.
func (l *Limiter) allowances(b netblock.Blocks, now time.Time) []*rate.Limiter {
	host := l.allowance(allowanceKey{b.Host, 1}, 1, now)
	if !b.Network.IsValid() || host == l.overflow {
		return []*rate.Limiter{host}
	}
	return []*rate.Limiter{host, l.allowance(allowanceKey{b.Network, netblock.Share}, netblock.Share, now)}
}

// reserve takes n events from each of some allowances, or from none. It returns 0 if all permit it,
// otherwise the time until they do.
func reserve(now time.Time, n int, allowances []*rate.Limiter) (wait time.Duration) {
	var reserved []*rate.Reservation
	for _, allowance := range allowances {
		r := allowance.ReserveN(now, n)
		wait, reserved = max(wait, r.DelayFrom(now)), append(reserved, r)
	}
	if wait > 0 {
		for _, r := range reserved {
			r.CancelAt(now)
		}
	}
	return wait
}

// generations are the allowances of keys. After an idle period in which a spent
// allowance is restored, a key needs no record; so there are two generations of
// allowances, and the older one is deleted whole.
type generations[K comparable] struct {
	every  rate.Limit
	burst  int
	period time.Duration // until a spent allowance is restored

	mu                sync.Mutex // guards the fields below
	current, previous map[K]*rate.Limiter
	overflow          *rate.Limiter // shared by the keys beyond maxKeys
	periodBegan       time.Time     // start of the current generation
}

func newGenerations[K comparable](every rate.Limit, burst int) *generations[K] {
	burst = max(1, burst)
	return &generations[K]{
		every: every, burst: burst, period: time.Duration(float64(burst) / float64(every) * float64(time.Second)),
		current: map[K]*rate.Limiter{}, overflow: rate.NewLimiter(every, burst),
	}
}

// allowance returns the allowance of a key in the current generation, of share times the size.
func (g *generations[K]) allowance(key K, share int, now time.Time) *rate.Limiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.periodBegan) >= g.period {
		g.previous, g.current, g.periodBegan = g.current, map[K]*rate.Limiter{}, now
	}
	if known, ok := g.current[key]; ok {
		return known
	}
	if len(g.current) >= maxKeys {
		return g.overflow
	}
	known, ok := g.previous[key]
	if !ok {
		known = rate.NewLimiter(g.every*rate.Limit(share), g.burst*share)
	}
	g.current[key] = known
	return known
}
