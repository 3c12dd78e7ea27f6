package session

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pressbox/auth/netblock"
)

// Limits on passphrase attempts.
const (
	hostInterval, hostBurst = 12 * time.Second, 5 // of a client, for any name
	nameInterval            = 2 * time.Second     // for a name, by all clients
	firstBurst              = 256                 // first ones for a name, in resetAfter
	maxDelay                = time.Minute         // after failures of a client for a name
	resetAfter              = 15 * time.Minute    // without an attempt the failures are forgotten
	maxCounters             = 4096                // of names, of clients, and of failures

	// An attempt is queued if its turn comes soon. Networks with more than a few failures
	// get only the beginning of the queue, so that they never fill it.
	fewFailures = 3
	maxWait     = 5 * time.Second
	maxWaitMany = 3 * time.Second // after more than fewFailures
	grace       = time.Minute     // for which a turn stays valid
)

// A Throttle slows down passphrase guessing. For one name, a client waits 1, 2, 4 …
// 60 seconds after each failure, and all clients together have an attempt every two
// seconds, by a queue in which those that guess delay others by at most 5 seconds,
// however many addresses they have. Clients that have been right before do not wait for
// others, nor does the first attempt of a client whose network has few failures or is the
// local IPv4 one. A client has five attempts a minute, for any names. No account is locked
// for good. The counters are in memory and bounded.
type Throttle struct {
	now    func() time.Time
	blocks *netblock.Table
	exempt func(netip.Addr) bool // addresses without a limit of their own

	mu       sync.Mutex // guards what follows
	names    map[string]*nameLimit
	networks map[netip.Prefix]*rate.Limiter // of clients, and of local IPv6 networks
	failures map[guesser]failures
	known    map[guesser]struct{} // have given the right passphrase
}

type nameLimit struct {
	next  time.Time     // turn in the queue
	first *rate.Limiter // attempts besides the queue
}

// A guesser is a client, or the network of clients, that tries a name.
type guesser struct {
	name  string
	block netip.Prefix
}

// Failures are the attempts of a guesser that were not right, or not yet.
type failures struct {
	count int
	next  time.Time // attempt
	turn  time.Time // that is queued and not used; zero: none
}

// recent returns the number of failures that are not forgotten.
func (f failures) recent(now time.Time) int {
	if now.Sub(f.next) > resetAfter {
		return 0
	}
	return f.count
}

// after returns the failures with another one, of an attempt at a turn.
func (f failures) after(now, turn time.Time) failures {
	n := f.recent(now)
	return failures{count: n + 1, next: turn.Add(min(time.Second<<min(n, 6), maxDelay))}
}

// NewThrottle returns a throttle. exempt reports the addresses that are shared by
// many users: loopback and trusted proxies. They have the limits of the name alone.
func NewThrottle(now func() time.Time, blocks *netblock.Table, exempt func(netip.Addr) bool) *Throttle {
	return &Throttle{
		now: now, blocks: blocks, exempt: exempt,
		names: make(map[string]*nameLimit), networks: make(map[netip.Prefix]*rate.Limiter),
		failures: make(map[guesser]failures), known: make(map[guesser]struct{}),
	}
}

// Try requests an attempt. If wait is 0, the caller may test the passphrase, and
// calls right if it was right; until then the attempt counts as a failure, so that
// concurrent attempts count too. name is canonical; "" counts the address alone.
func (t *Throttle) Try(name string, from netip.Addr) (right func(), wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	blocks := t.blocks.Of(from)
	a := attempt{
		Throttle: t, now: t.now(), name: name, exempt: t.exempt(from), local6: blocks.Network,
		client: guesser{name, blocks.Host}, network: guesser{name, netblock.WideOf(from)},
		local4: from.Unmap().Is4() && netblock.IsLocal(from),
	}
	t.trim(a.now)
	if own := t.failures[a.client]; !own.turn.IsZero() && a.now.Sub(own.turn) <= grace {
		if wait := own.turn.Sub(a.now); wait > 0 {
			return nil, wait
		}
		a.queued, own.turn = true, time.Time{}
		t.failures[a.client] = own
	} else if wait := a.request(); wait > 0 {
		return nil, wait
	}
	return a.succeeded, 0
}

// An attempt is a call of Try.
type attempt struct {
	*Throttle
	now             time.Time
	name            string
	client, network guesser
	local6          netip.Prefix // the local IPv6 network; zero if it is of none
	local4          bool         // it is of the local IPv4 network
	exempt          bool         // from the limits of clients
	queued          bool
}

// request returns 0 if the attempt is permitted now, otherwise the time after which to come
// back: it is queued then, or refused. Throttle.mu must be held.
func (a *attempt) request() time.Duration {
	_, known := a.known[a.client]
	known = known && !a.exempt
	own := a.failures[a.client]
	var limits []*rate.Limiter
	if !a.exempt {
		if wait := own.next.Sub(a.now); wait > 0 {
			return wait
		}
		limits = append(limits, a.limiter(a.client.block, 1))
		if a.local6.IsValid() && !known {
			limits = append(limits, a.limiter(a.local6, netblock.Share))
		}
	}
	for _, l := range limits {
		if missing := 1 - l.TokensAt(a.now); missing > 1e-9 {
			return time.Duration(missing / float64(l.Limit()) * float64(time.Second))
		}
	}
	turn := a.now
	if a.name != "" && !known {
		var wait time.Duration
		if turn, wait = a.take(); wait > 0 {
			return wait
		}
	}
	for _, l := range limits {
		l.ReserveN(a.now, 1)
	}
	a.count(turn)
	return turn.Sub(a.now)
}

// take returns the turn of the attempt for the name. If the queue is too long for it, wait is the
// time until it is shorter.
func (a *attempt) take() (turn time.Time, wait time.Duration) {
	limit := a.names[a.name]
	if limit == nil {
		limit = &nameLimit{first: rate.NewLimiter(rate.Every(resetAfter/firstBurst), firstBurst)}
		a.names[a.name] = limit
	}
	few := a.failures[a.network].recent(a.now) <= fewFailures
	first := !a.exempt && a.failures[a.client].recent(a.now) == 0
	if first && (few || a.local4) && limit.first.AllowN(a.now, 1) {
		return a.now, 0
	}
	most := maxWaitMany
	if few {
		most = maxWait
	}
	turn = a.now
	if limit.next.After(a.now) {
		turn = limit.next
	}
	if wait := turn.Sub(a.now) - most; wait > 0 {
		return turn, wait
	}
	limit.next, a.queued = turn.Add(nameInterval), true
	return turn, 0
}

// count counts the attempt as a failure at its turn.
func (a *attempt) count(turn time.Time) {
	if a.name == "" {
		return
	}
	own, others := a.failures[a.client], a.failures[a.network]
	if !a.exempt {
		a.failures[a.network] = others.after(a.now, turn)
		own = own.after(a.now, turn)
	}
	if turn.After(a.now) {
		own.turn = turn
	}
	a.failures[a.client] = own // which is its network if the address is unknown
}

// succeeded forgets the attempt and the client's failures, and admits the client without a queue
// from now on.
func (a *attempt) succeeded() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if limit := a.names[a.name]; a.queued && limit != nil {
		limit.next = limit.next.Add(-nameInterval)
	}
	if a.name == "" || a.exempt {
		return
	}
	others := a.failures[a.network]
	others.count = max(0, others.count-1)
	a.failures[a.network] = others
	delete(a.failures, a.client)
	for other := range a.known {
		if len(a.known) < maxCounters {
			break
		}
		delete(a.known, other)
	}
	a.known[a.client] = struct{}{}
}

// limiter returns the limit of a block of addresses, which has a share of that of a client.
func (t *Throttle) limiter(block netip.Prefix, share int) *rate.Limiter {
	if t.networks[block] == nil {
		t.networks[block] = rate.NewLimiter(rate.Every(hostInterval/time.Duration(share)), hostBurst*share)
	}
	return t.networks[block]
}

// trim deletes counters that no longer limit anything. If that is not enough,
// thousands of names are being guessed, and it deletes all of a kind: the other
// limits still apply.
func (t *Throttle) trim(now time.Time) {
	full := func(l *rate.Limiter) bool { return l.TokensAt(now) >= float64(l.Burst()) }
	trimMap(t.names, func(n *nameLimit) bool { return !n.next.After(now) && full(n.first) })
	trimMap(t.networks, full)
	trimMap(t.failures, func(f failures) bool { return f.recent(now) == 0 && now.Sub(f.turn) > grace })
}

// trimMap deletes the idle entries of a map that is full, and all if none is idle.
func trimMap[K comparable, V any](m map[K]V, idle func(V) bool) {
	const room = 2 // for what an attempt adds
	if len(m) <= maxCounters-room {
		return
	}
	maps.DeleteFunc(m, func(_ K, v V) bool { return idle(v) })
	if len(m) > maxCounters-room {
		clear(m)
	}
}
