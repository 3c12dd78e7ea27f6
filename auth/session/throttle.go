package session

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits on passphrase attempts.
const (
	maxDelay        = time.Minute      // between attempts for one name
	resetAfter      = 15 * time.Minute // without an attempt the count of a name restarts
	attemptsPerAddr = 5                // burst, and then per minute
	maxCounters     = 4096             // of names, and of addresses
)

// A Throttle slows down passphrase guessing: a name waits 1, 2, 4 … 60 seconds
// after each wrong passphrase, and an address has a few attempts per minute. It
// locks no account for good. Its counters are in memory and bounded.
type Throttle struct {
	now    func() time.Time
	exempt func(netip.Addr) bool // addresses without a limit

	mu    sync.Mutex // guards what follows
	names map[string]nameCount
	addrs map[netip.Addr]*rate.Limiter
}

type nameCount struct {
	wrong int
	until time.Time // no attempt before
}

// NewThrottle returns a throttle. exempt reports the addresses that are shared by
// many users: loopback and trusted proxies.
func NewThrottle(now func() time.Time, exempt func(netip.Addr) bool) *Throttle {
	return &Throttle{
		now: now, exempt: exempt,
		names: make(map[string]nameCount), addrs: make(map[netip.Addr]*rate.Limiter),
	}
}

// Try requests an attempt. If wait is 0, the caller may test the passphrase, and
// calls right if it was right; until then the attempt counts as wrong, so that
// concurrent attempts count too. name is canonical; "" counts the address alone.
func (t *Throttle) Try(name string, from netip.Addr) (right func(), wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.trim(now)
	count := t.names[name]
	if wait := count.until.Sub(now); name != "" && wait > 0 {
		return nil, wait
	}
	if wait := t.charge(from, now); wait > 0 {
		return nil, wait
	}
	if name != "" {
		if now.Sub(count.until) > resetAfter {
			count.wrong = 0
		}
		count.until = now.Add(min(time.Second<<min(count.wrong, 6), maxDelay))
		count.wrong++
		t.names[name] = count
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.names, name)
	}, 0
}

// charge takes one attempt from an address. t.mu must be held.
func (t *Throttle) charge(from netip.Addr, now time.Time) (wait time.Duration) {
	if t.exempt(from) {
		return 0
	}
	from = subscriberPrefix(from)
	limiter := t.addrs[from]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Every(time.Minute/attemptsPerAddr), attemptsPerAddr)
		t.addrs[from] = limiter
	}
	r := limiter.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// trim deletes counters that no longer limit anything. If that is not enough,
// thousands of names are being guessed, and it deletes all: the limits of the
// addresses still apply. t.mu must be held.
func (t *Throttle) trim(now time.Time) {
	if len(t.names) >= maxCounters {
		for name, c := range t.names {
			if now.Sub(c.until) > resetAfter {
				delete(t.names, name)
			}
		}
	}
	if len(t.names) >= maxCounters {
		clear(t.names)
	}
	if len(t.addrs) >= maxCounters {
		for addr, l := range t.addrs {
			if l.TokensAt(now) >= attemptsPerAddr {
				delete(t.addrs, addr)
			}
		}
	}
	if len(t.addrs) >= maxCounters {
		clear(t.addrs)
	}
}

// subscriberPrefix returns the part of an address that one subscriber cannot
// change: all of IPv4, the first 64 bits of IPv6.
func subscriberPrefix(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a
	}
	p, err := a.Prefix(64)
	if err != nil {
		return a
	}
	return p.Addr()
}
