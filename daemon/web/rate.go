package web

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxAddresses is the number of addresses that a limiter counts separately in
// each generation. Further ones share one allowance.
const maxAddresses = 4096

// A Limiter limits the rate of events of each address. After an idle period in
// which a spent allowance is restored, an address needs no record; so the
// limiter has two generations of allowances, and deletes the older one whole.
type Limiter struct {
	every  rate.Limit
	burst  int
	period time.Duration // until a spent allowance is restored

	mu                sync.Mutex // guards the fields below
	current, previous map[netip.Prefix]*rate.Limiter
	overflow          *rate.Limiter // shared by the addresses beyond maxAddresses
	periodBegan       time.Time     // start of the current generation
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

// reserve counts one event of the address. It returns 0 if the event is
// permitted, otherwise the time until the next one is.
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

// addrBlock returns the block that counts as one address: an IPv4 address, or
// the /64 of an IPv6 address. All unknown addresses are one block.
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
