package web

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxAddresses is for how many addresses a limiter remembers at once what they
// did. Those beyond share one allowance.
const maxAddresses = 4096

// A limiter limits how often each address may do something. An address that
// has been quiet for as long as a spent allowance takes to come back is
// forgotten, which changes nothing for it; so two generations of allowances
// are kept, and the older one is dropped whole.
type limiter struct {
	every rate.Limit
	burst int
	turn  time.Duration // in which a spent allowance comes back

	mu         sync.Mutex // guards what follows
	young, old map[netip.Prefix]*rate.Limiter
	crowd      *rate.Limiter // for addresses that there was no room for
	turned     time.Time     // when young was begun
}

// newLimiter allows a number of events each minute, and half of it at once.
func newLimiter(perMinute int) *limiter { return newBurstLimiter(perMinute, perMinute/2) }

// newBurstLimiter allows a number of events each minute, and so many at once.
func newBurstLimiter(perMinute, burst int) *limiter {
	l := &limiter{
		every: rate.Limit(float64(perMinute) / 60),
		burst: max(1, burst),
		young: map[netip.Prefix]*rate.Limiter{},
	}
	l.turn = time.Duration(float64(l.burst) / float64(l.every) * float64(time.Second))
	l.crowd = rate.NewLimiter(l.every, l.burst)
	return l
}

// take counts one event of the address. It returns 0 when it may happen, and
// otherwise how long to wait before the next one may.
func (l *limiter) take(a netip.Addr, now time.Time) (wait time.Duration) {
	r := l.allowance(network(a), now).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *limiter) allowance(net netip.Prefix, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.turned) >= l.turn {
		l.old, l.young, l.turned = l.young, map[netip.Prefix]*rate.Limiter{}, now
	}
	if known, ok := l.young[net]; ok {
		return known
	}
	if len(l.young) >= maxAddresses {
		return l.crowd
	}
	known, ok := l.old[net]
	if !ok {
		known = rate.NewLimiter(l.every, l.burst)
	}
	l.young[net] = known
	return known
}

// network returns what counts as one address: an IPv4 address, or the /64
// that an IPv6 host picks its addresses from. All unknown ones are one.
func network(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	net, err := a.Prefix(bits)
	if err != nil { // the zero Addr
		return netip.Prefix{}
	}
	return net
}
