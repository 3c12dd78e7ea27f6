// Package limits counts what clients ask for, by their addresses. The servers of
// all protocols use the same counters, so that a second protocol is no second
// allowance.
package limits

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pressbox/auth/netblock"
)

// maxAddresses is the number of clients and networks that a limiter counts
// separately in each generation. Further clients share one allowance.
const maxAddresses = 4096

// A Limiter limits the rate of events of each client, and of the clients of one
// local IPv6 network together (see [netblock.Table]). After an idle period in which
// a spent allowance is restored, a client needs no record; so the limiter has two
// generations of allowances, and deletes the older one whole.
type Limiter struct {
	blocks *netblock.Table
	every  rate.Limit
	burst  int
	period time.Duration // until a spent allowance is restored

	mu                sync.Mutex // guards the fields below
	current, previous map[allowanceKey]*rate.Limiter
	overflow          *rate.Limiter // shared by the clients beyond maxAddresses
	periodBegan       time.Time     // start of the current generation
}

type allowanceKey struct {
	block netip.Prefix
	share int // limits of one client
}

// NewLimiter returns a limiter that allows each client perMinute events a
// minute, and burst at once. The blocks of addresses are those of blocks.
func NewLimiter(blocks *netblock.Table, perMinute, burst int) *Limiter {
	l := &Limiter{
		blocks:  blocks,
		every:   rate.Limit(float64(perMinute) / 60),
		burst:   max(1, burst),
		current: map[allowanceKey]*rate.Limiter{},
	}
	l.period = time.Duration(float64(l.burst) / float64(l.every) * float64(time.Second))
	l.overflow = rate.NewLimiter(l.every, l.burst)
	return l
}

// Reserve counts one event of the address. It returns 0 if the event is
// permitted, otherwise the time until the next one is.
func (l *Limiter) Reserve(a netip.Addr, now time.Time) (wait time.Duration) {
	var reserved []*rate.Reservation
	for _, allowance := range l.allowances(l.blocks.Of(a), now) {
		r := allowance.ReserveN(now, 1)
		wait, reserved = max(wait, r.DelayFrom(now)), append(reserved, r)
	}
	if wait > 0 {
		for _, r := range reserved {
			r.CancelAt(now)
		}
	}
	return wait
}

// allowances returns the allowances of a client and of its network, if it has one.
func (l *Limiter) allowances(b netblock.Blocks, now time.Time) []*rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.periodBegan) >= l.period {
		l.previous, l.current, l.periodBegan = l.current, map[allowanceKey]*rate.Limiter{}, now
	}
	host := l.allowance(allowanceKey{b.Host, 1})
	if !b.Network.IsValid() || host == l.overflow {
		return []*rate.Limiter{host}
	}
	return []*rate.Limiter{host, l.allowance(allowanceKey{b.Network, netblock.Share})}
}

// allowance returns an allowance of the current generation. l.mu must be held.
func (l *Limiter) allowance(key allowanceKey) *rate.Limiter {
	if known, ok := l.current[key]; ok {
		return known
	}
	if len(l.current) >= maxAddresses {
		return l.overflow
	}
	known, ok := l.previous[key]
	if !ok {
		known = rate.NewLimiter(l.every*rate.Limit(key.share), l.burst*key.share)
	}
	l.current[key] = known
	return known
}
