package session

import (
	"net/netip"
	"slices"
	"time"
)

// A pace is a rate limit: burst events at once, and one more after each interval.
type pace struct {
	burst    int
	interval time.Duration
}

// A bucket counts the events under a pace (the generic cell rate algorithm). Its
// zero value is full.
type bucket struct{ full time.Time } // when the whole burst is available again

// wait returns the time until an event is permitted that has ahead others before
// it; 0 or less means now.
func (b bucket) wait(p pace, ahead int, now time.Time) time.Duration {
	behind := max(b.full.Sub(now), 0) + time.Duration(ahead+1)*p.interval
	return behind - time.Duration(p.burst)*p.interval
}

// take counts an event.
func (b *bucket) take(p pace, now time.Time) {
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(p.interval)
}

// refund takes back an event.
func (b *bucket) refund(p pace) { b.full = b.full.Add(-p.interval) }

// used returns the number of events that the bucket has not restored yet.
func (b bucket) used(p pace, now time.Time) int {
	return int((max(b.full.Sub(now), 0) + p.interval - 1) / p.interval)
}

const (
	// maxTurn is the longest time after which a waiting client has to come back to
	// keep its place, so that absent clients delay others no longer.
	maxTurn = 5 * time.Second
	// patience is the time for which a client that is late keeps its place. Clients
	// round the time to wait up to a whole second.
	patience   = 2 * time.Second
	maxWaiting = 256 // clients in a line; the last one loses its place
)

// A line admits clients at a pace, and in turn: a client that was refused and comes
// back keeps its place, so that another one that tries at the first possible moment
// cannot always be earlier.
type line struct {
	bucket  bucket
	waiting []waiter // in the order of their turns
}

// A waiter is a client that was refused.
type waiter struct {
	host  netip.Prefix
	guilt guilt
	due   time.Time // it may be absent until then
}

// guilt orders a line: clients whose network, and who themselves, have guessed less
// go first.
type guilt struct{ network, host int }

func (g guilt) less(than guilt) bool {
	return g.network < than.network || g.network == than.network && g.host < than.host
}

// turn returns 0 if it is the client's turn, otherwise the time after which to come
// back. It keeps a place for the client until pass or leave. g counts when the
// client is new.
func (l *line) turn(p pace, host netip.Prefix, g guilt, now time.Time) time.Duration {
	l.waiting = slices.DeleteFunc(l.waiting, func(w waiter) bool { return now.Sub(w.due) > patience })
	at := slices.IndexFunc(l.waiting, func(w waiter) bool { return w.host == host })
	if at < 0 {
		at = l.placeOf(g)
		l.waiting = slices.Insert(l.waiting, at, waiter{host: host, guilt: g})
	}
	wait := min(max(l.bucket.wait(p, at, now), 0), maxTurn)
	l.waiting[at].due = now.Add(wait)
	l.waiting = l.waiting[:min(len(l.waiting), maxWaiting)]
	return wait
}

// placeOf returns the place of a new client: behind all whose guilt is not greater.
func (l *line) placeOf(g guilt) int {
	at := slices.IndexFunc(l.waiting, func(w waiter) bool { return g.less(w.guilt) })
	if at < 0 {
		return len(l.waiting)
	}
	return at
}

// hold keeps the place of a client that has to wait elsewhere.
func (l *line) hold(host netip.Prefix, until time.Time) {
	for i := range l.waiting {
		if l.waiting[i].host == host {
			l.waiting[i].due = until
		}
	}
}

// pass counts a client that is admitted, and frees its place.
func (l *line) pass(p pace, host netip.Prefix, now time.Time) {
	l.bucket.take(p, now)
	l.leave(host)
}

// leave frees the place of a client.
func (l *line) leave(host netip.Prefix) {
	l.waiting = slices.DeleteFunc(l.waiting, func(w waiter) bool { return w.host == host })
}

// idle reports whether the line limits nothing.
func (l *line) idle(now time.Time) bool {
	return !l.bucket.full.After(now) &&
		!slices.ContainsFunc(l.waiting, func(w waiter) bool { return now.Sub(w.due) <= patience })
}
