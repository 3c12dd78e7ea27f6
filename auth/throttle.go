package auth

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How passphrases may be tried.
const (
	maxDelay     = time.Minute      // the longest wait for one name
	forgetAfter  = 15 * time.Minute // without a try, what was counted is forgotten
	triesPerAddr = 5                // at once, and then as many a minute
	maxCounters  = 4096             // of each sort
)

// A Throttle slows down whoever guesses: each name waits 1, 2, 4 … 60 seconds
// after a wrong passphrase, and each address has a few tries a minute.
// Nobody is ever locked out for good. Its counters are in memory and bounded.
type Throttle struct {
	now    func() time.Time
	exempt func(netip.Addr) bool // addresses that are not counted, only names are

	mu    sync.Mutex // guards what follows
	names map[string]nameCount
	addrs map[netip.Addr]*rate.Limiter
}

type nameCount struct {
	wrong int
	until time.Time // no try before
}

// NewThrottle makes a throttle. Loopback and the trusted proxies are exempt:
// many people come from there.
func NewThrottle(now func() time.Time, exempt func(netip.Addr) bool) *Throttle {
	return &Throttle{
		now: now, exempt: exempt,
		names: make(map[string]nameCount), addrs: make(map[netip.Addr]*rate.Limiter),
	}
}

// Try asks to test a passphrase. When wait is 0 it may be tested, counted as
// wrong beforehand so that tries at the same time count too; right must be
// called if it was right. name is canonical; "" counts for the address alone.
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
		if now.Sub(count.until) > forgetAfter {
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

// charge takes one try from an address. t.mu must be held.
func (t *Throttle) charge(from netip.Addr, now time.Time) (wait time.Duration) {
	if t.exempt(from) {
		return 0
	}
	from = subscriber(from)
	limiter := t.addrs[from]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Every(time.Minute/triesPerAddr), triesPerAddr)
		t.addrs[from] = limiter
	}
	r := limiter.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// trim forgets what has had its time, and everything when that is not enough:
// then thousands of names are being guessed, and addresses are what slows them.
// t.mu must be held.
func (t *Throttle) trim(now time.Time) {
	if len(t.names) >= maxCounters {
		for name, c := range t.names {
			if now.Sub(c.until) > forgetAfter {
				delete(t.names, name)
			}
		}
	}
	if len(t.names) >= maxCounters {
		clear(t.names)
	}
	if len(t.addrs) >= maxCounters {
		for addr, l := range t.addrs {
			if l.TokensAt(now) >= triesPerAddr {
				delete(t.addrs, addr)
			}
		}
	}
	if len(t.addrs) >= maxCounters {
		clear(t.addrs)
	}
}

// subscriber is the part of an address that one household cannot change at
// will: all of IPv4, the first 64 bits of IPv6.
func subscriber(a netip.Addr) netip.Addr {
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
