package session

import (
	"net/netip"
	"sync"
	"time"

	"pressbox/auth/netblock"
)

// Limits on passphrase attempts.
const (
	maxDelay    = time.Minute      // between attempts of one client for one name
	resetAfter  = 15 * time.Minute // without an attempt the count of a client restarts
	maxCounters = 4096             // of names, of clients, and of pairs of them
)

// Paces of passphrase attempts.
//
//nolint:gochecknoglobals // constants
var (
	hostPace    = pace{5, 12 * time.Second}                                   // attempts of a client, for any name
	networkPace = pace{5 * netblock.Share, 12 * time.Second / netblock.Share} // of a local IPv6 network
	askPace     = pace{60, time.Second}                                       // attempts of a client, refused ones included
	namePace    = pace{1, 2 * time.Second}                                    // for a name, from any clients
	// firstPace bounds the first attempts of clients of the local IPv4 network for a
	// name: one per client and resetAfter in a network of 256.
	firstPace = pace{256, resetAfter / 256}
)

// A Throttle slows down passphrase guessing. For one name, a client waits 1, 2, 4 …
// 60 seconds after each wrong passphrase, and all clients together have a try every
// two seconds, in turn; so a client that guesses delays others for seconds, however
// many addresses it has. Clients that have been right before, and the first try of a
// client in the local IPv4 network, need not wait for others. A client has five
// attempts a minute, for any names. No account is locked for good. The counters are
// in memory and bounded.
type Throttle struct {
	now    func() time.Time
	blocks *netblock.Table
	exempt func(netip.Addr) bool // addresses without a limit of their own

	mu       sync.Mutex // guards what follows
	names    map[string]*nameLimit
	hosts    map[netip.Prefix]*hostLimit
	networks map[netip.Prefix]*line
	guesses  map[guesser]guesses
	known    map[guesser]struct{} // have given the right passphrase
}

// A guesser is a client, or the network of clients, that tries a name.
type guesser struct {
	name  string
	block netip.Prefix
}

type guesses struct {
	wrong int
	until time.Time // no attempt before
}

// after returns the guesses with another wrong one.
func (g guesses) after(now time.Time) guesses {
	if now.Sub(g.until) > resetAfter {
		g.wrong = 0
	}
	return guesses{g.wrong + 1, now.Add(min(time.Second<<min(g.wrong, 6), maxDelay))}
}

// count returns the number of recent wrong guesses.
func (g guesses) count(now time.Time) int {
	if now.Sub(g.until) > resetAfter {
		return 0
	}
	return g.wrong
}

type nameLimit struct {
	line  line
	first bucket
}

type hostLimit struct{ attempts, asked bucket }

// NewThrottle returns a throttle. exempt reports the addresses that are shared by
// many users: loopback and trusted proxies. They have the limits of the name alone.
func NewThrottle(now func() time.Time, blocks *netblock.Table, exempt func(netip.Addr) bool) *Throttle {
	return &Throttle{
		now: now, blocks: blocks, exempt: exempt,
		names: make(map[string]*nameLimit), hosts: make(map[netip.Prefix]*hostLimit),
		networks: make(map[netip.Prefix]*line), guesses: make(map[guesser]guesses), known: make(map[guesser]struct{}),
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
	a := attempt{
		Throttle: t, now: now, name: name, exempt: t.exempt(from), Blocks: t.blocks.Of(from), wide: netblock.WideOf(from),
	}
	if wait := a.wait(); wait > 0 {
		return nil, wait
	}
	a.inLine = !a.isKnown() && !a.isFirst()
	a.count()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		a.succeeded()
	}, 0
}

// An attempt is a call of Try. Throttle.mu must be held for its methods.
type attempt struct {
	*Throttle
	netblock.Blocks
	wide   netip.Prefix // its clients share the guilt
	now    time.Time
	name   string
	exempt bool
	inLine bool // it was permitted in the line of the name
}

// wait returns the time to wait, 0 for none. A client waits in the line of its
// network only when it is its turn in that of the name.
func (a attempt) wait() time.Duration {
	if wait := a.ownWait(); wait > 0 {
		return wait
	}
	if wait := a.nameWait(); wait > 0 {
		return wait
	}
	wait := a.networkWait()
	if wait > 0 && a.name != "" {
		getOrAdd(a.names, a.name).line.hold(a.Host, a.now.Add(wait))
	}
	return wait
}

// ownWait returns the time to wait because of the client's own attempts.
func (a attempt) ownWait() time.Duration {
	if a.exempt {
		return 0
	}
	host := getOrAdd(a.hosts, a.Host)
	if wait := host.asked.wait(askPace, 0, a.now); wait > 0 {
		return wait
	}
	host.asked.take(askPace, a.now)
	return max(host.attempts.wait(hostPace, 0, a.now), a.guesses[guesser{a.name, a.Host}].until.Sub(a.now))
}

// networkWait returns the time to wait because of other clients of the network.
func (a attempt) networkWait() time.Duration {
	if a.exempt || !a.Network.IsValid() || a.isKnown() {
		return 0
	}
	used := getOrAdd(a.hosts, a.Host).attempts.used(hostPace, a.now)
	return getOrAdd(a.networks, a.Network).turn(networkPace, a.Host, guilt{host: used}, a.now)
}

// nameWait returns the time to wait because of attempts for the same name.
func (a attempt) nameWait() time.Duration {
	if a.name == "" || a.isKnown() || a.isFirst() {
		return 0
	}
	g := guilt{
		network: a.guesses[guesser{a.name, a.wide}].count(a.now), host: a.guesses[guesser{a.name, a.Host}].count(a.now),
	}
	return getOrAdd(a.names, a.name).line.turn(namePace, a.Host, g, a.now)
}

// isKnown reports whether the client has given the name's passphrase before.
func (a attempt) isKnown() bool {
	_, ok := a.known[guesser{a.name, a.Host}]
	return ok && !a.exempt
}

// isFirst reports whether the attempt is one of the first attempts that the name's
// line does not delay.
func (a attempt) isFirst() bool {
	return !a.exempt && netblock.IsLocal(a.Host.Addr()) && a.Host.Addr().Is4() && a.guesses[guesser{a.name, a.Host}].count(a.now) == 0 &&
		getOrAdd(a.names, a.name).first.wait(firstPace, 0, a.now) <= 0
}

// count counts the attempt as a wrong one.
func (a attempt) count() {
	if !a.exempt {
		getOrAdd(a.hosts, a.Host).attempts.take(hostPace, a.now)
	}
	if !a.exempt && a.Network.IsValid() {
		getOrAdd(a.networks, a.Network).pass(networkPace, a.Host, a.now)
	}
	if a.name == "" {
		return
	}
	switch name := getOrAdd(a.names, a.name); {
	case a.inLine:
		name.line.pass(namePace, a.Host, a.now)
	case !a.isKnown():
		name.first.take(firstPace, a.now)
		fallthrough
	default:
		name.line.leave(a.Host)
	}
	if a.exempt {
		return
	}
	blocks := []netip.Prefix{a.Host, a.wide}
	if a.Host == a.wide { // of an unknown address
		blocks = blocks[:1]
	}
	for _, block := range blocks {
		who := guesser{a.name, block}
		a.guesses[who] = a.guesses[who].after(a.now)
	}
}

// succeeded forgets the attempt and the client's wrong ones, and admits the client
// without a line from now on.
func (a attempt) succeeded() {
	if a.name == "" {
		return
	}
	if a.inLine {
		getOrAdd(a.names, a.name).line.bucket.refund(namePace)
	}
	if a.exempt {
		return
	}
	who, wide := guesser{a.name, a.Host}, guesser{a.name, a.wide}
	delete(a.guesses, who)
	if g, ok := a.guesses[wide]; ok {
		a.guesses[wide] = guesses{max(0, g.wrong-1), g.until}
	}
	for other := range a.known {
		if len(a.known) < maxCounters {
			break
		}
		delete(a.known, other)
	}
	a.known[who] = struct{}{}
}

// getOrAdd returns the value of a key, and adds a zero value if there is none.
func getOrAdd[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

// trim deletes counters that no longer limit anything. If that is not enough,
// thousands of names are being guessed, and it deletes all of a kind: the other
// limits still apply. t.mu must be held.
func (t *Throttle) trim(now time.Time) {
	trimMap(t.names, func(n *nameLimit) bool { return n.line.idle(now) && !n.first.full.After(now) })
	trimMap(t.hosts, func(h *hostLimit) bool { return !h.attempts.full.After(now) && !h.asked.full.After(now) })
	trimMap(t.networks, func(l *line) bool { return l.idle(now) })
	trimMap(t.guesses, func(g guesses) bool { return g.count(now) == 0 })
}

// trimMap deletes the idle entries of a map that is full, and all if none is idle.
func trimMap[K comparable, V any](m map[K]V, idle func(V) bool) {
	const room = 2 // for what an attempt adds
	if len(m) <= maxCounters-room {
		return
	}
	for key, v := range m {
		if idle(v) {
			delete(m, key)
		}
	}
	if len(m) > maxCounters-room {
		clear(m)
	}
}
