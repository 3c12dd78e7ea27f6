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

// A Limiter limits how often each address may do something. An address that
// has been quiet for as long as a spent allowance takes to come back is
// forgotten, which changes nothing for it; so two generations of allowances
// are kept, and the older one is dropped whole.
type Limiter struct {
	every  rate.Limit
	burst  int
	period time.Duration // in which a spent allowance comes back

	mu                sync.Mutex // guards what follows
	current, previous map[netip.Prefix]*rate.Limiter
	overflow          *rate.Limiter // for addresses that there was no room for
	periodBegan       time.Time     // when young was begun
}

// NewLimiter returns a limiter that allows each address perMinute events a
// minute, and burst at once.
func NewLimiter(perMinute, burst int) *Limiter {
	l := &Limiter{
		every:   rate.Limit(float64(perMinute) / 60),
		burst:   max(1, burst),
		current: map[netip.Prefix]*rate.Limiter{},
	}
	l.period = time.Duration(float64(l.burst) / float64(l.every) * float64(time.Second))
	l.overflow = rate.NewLimiter(l.every, l.burst)
	return l
}

// reserve counts one event of the address. It returns 0 when it may happen, and
// otherwise how long to wait before the next one may.
func (l *Limiter) reserve(a netip.Addr, now time.Time) (wait time.Duration) {
	r := l.allowance(addrBlock(a), now).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *Limiter) allowance(net netip.Prefix, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.periodBegan) >= l.period {
		l.previous, l.current, l.periodBegan = l.current, map[netip.Prefix]*rate.Limiter{}, now
	}
	if known, ok := l.current[net]; ok {
		return known
	}
	if len(l.current) >= maxAddresses {
		return l.overflow
	}
	known, ok := l.previous[net]
	if !ok {
		known = rate.NewLimiter(l.every, l.burst)
	}
	l.current[net] = known
	return known
}

// addrBlock returns what counts as one address: an IPv4 address, or the /64
// that an IPv6 host picks its addresses from. All unknown ones are one.
func addrBlock(a netip.Addr) netip.Prefix {
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
