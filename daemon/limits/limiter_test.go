package limits

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/packaging/check"
)

func TestLimiter_generations(t *testing.T) {
	t.Parallel()
	l := NewLimiter(nil, 60, 30) // one a second, 30 at once
	now := time.Unix(1_700_000_000, 0)
	a := netip.MustParseAddr("192.0.2.1")
	for range 30 {
		if wait := l.Reserve(a, now); wait != 0 {
			t.Fatalf("wait %v inside the burst", wait)
		}
	}
	// Exactly one event a second is permitted across changes of the generation.
	for second := range 200 {
		now = now.Add(time.Second)
		if wait := l.Reserve(a, now); wait != 0 {
			t.Fatalf("second %d: wait %v", second, wait)
		}
		if wait := l.Reserve(a, now); wait != time.Second {
			t.Fatalf("second %d: the second event waits %v, want 1s", second, wait)
		}
	}
}

func TestLimiter_maxAddresses(t *testing.T) {
	t.Parallel()
	l := NewLimiter(nil, 60, 30)
	now := time.Unix(1_700_000_000, 0)
	spent := netip.MustParseAddr("192.0.2.1")
	for range 30 {
		l.Reserve(spent, now)
	}
	a := netip.MustParseAddr("10.0.0.0")
	refused := 0
	for range 100_000 {
		a = a.Next()
		if l.Reserve(a, now) > 0 {
			refused++
		}
	}
	if len(l.current) > maxAddresses || len(l.previous) > maxAddresses {
		t.Errorf("%d and %d addresses, want at most maxAddresses", len(l.current), len(l.previous))
	}
	if want := 100_000 - (maxAddresses - 1) - 30; refused != want {
		t.Errorf("%d of 100,000 addresses refused, want %d", refused, want)
	}
	check.That(t, l.Reserve(spent, now) != 0, "other addresses reset the limit of an address")
	now = now.Add(time.Minute)
	if wait := l.Reserve(a, now); wait != 0 {
		t.Errorf("after an idle minute: wait %v", wait)
	}
}

func TestSlots_take(t *testing.T) {
	t.Parallel()
	s := NewSlots(2)
	a, b, c := netip.MustParsePrefix("192.0.2.1/32"),
		netip.MustParsePrefix("192.0.2.2/32"), netip.MustParsePrefix("192.0.2.3/32")
	release, err := s.Take(a)
	check.NoError(t, err)
	if _, err := s.Take(a); !errors.Is(err, ErrClientBusy) {
		t.Errorf("second slot of a client: %v", err)
	}
	if _, err := s.Take(b); err != nil {
		t.Errorf("second client: %v", err)
	}
	if _, err := s.Take(c); !errors.Is(err, ErrBusy) {
		t.Errorf("third client: %v", err)
	}
	release()
	if _, err := s.Take(netip.Prefix{}); err != nil {
		t.Errorf("after a release: %v", err)
	}
	if _, err := s.Take(netip.Prefix{}); !errors.Is(err, ErrBusy) {
		t.Errorf("slot 3: %v", err)
	}
}

func TestSlots_wait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(1)
		release, err := s.Take(netip.Prefix{})
		check.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Wait(ctx, netip.Prefix{}); !errors.Is(err, ErrBusy) {
			t.Errorf("no slot for a second: %v", err)
		}
		waited := make(chan error)
		for range 2 {
			go func() {
				release, err := s.Wait(t.Context(), netip.Prefix{})
				if err == nil {
					release()
				}
				waited <- err
			}()
		}
		synctest.Wait()
		release()
		for range 2 {
			check.NoError(t, <-waited)
		}
	})
}

// connsOf returns a count of at most 32, of which 30 are not from loopback, and 8 of a client; and what opens one.
func connsOf(t *testing.T) (c *Count, ended map[string]int, open func(from string, want bool) (release func())) {
	t.Helper()
	c, ended = NewCount(Conns{Max: 32, Each: 8, Exempt: netip.Addr.IsLoopback}), map[string]int{}
	return c, ended, func(from string, want bool) func() {
		t.Helper()
		release, ok := c.Add(netip.MustParseAddr(from), func() { ended[from]++ })
		check.Require(t, ok == want, "one more of %s is permitted: %t; ended are %v", from, ok, ended)
		return release
	}
}

// When all places are taken, a new client gets one of the client that has most, until both have as many.
func TestCount_newClient(t *testing.T) {
	t.Parallel()
	c, ended, open := connsOf(t)
	for from, n := range map[string]int{"10.0.0.1": 8, "10.0.0.2": 8, "10.0.0.3": 8, "10.0.0.4": 6} {
		for range n {
			open(from, true)
		}
	}
	open("10.0.0.1", false)
	check.Equal(t, len(ended), 0, "places lost to a client that has as many as it may")
	var last func()
	for range 6 {
		last = open("10.0.0.5", true)
	}
	open("10.0.0.5", false)
	check.Equal(t, fmt.Sprint(ended), "map[10.0.0.1:2 10.0.0.2:2 10.0.0.3:2]", "places lost")
	last()
	last()
	open("10.0.0.6", true)
	check.Equal(t, len(c.open), 30, "places taken, after one was released")
}

// Loopback addresses have places of their own, take others, and leave the last ones to others.
func TestCount_loopback(t *testing.T) {
	t.Parallel()
	c, ended, open := connsOf(t)
	for i := range 30 {
		open(fmt.Sprint("10.0.0.", i+1), true)
	}
	open("10.0.0.31", false) // all others have one
	open("127.0.0.1", true)
	open("::1", true)
	check.Equal(t, len(ended), 0, "places lost to the first of loopback")
	for range 28 {
		open("127.0.0.1", true)
	}
	open("127.0.0.1", false)
	check.Equal(t, len(c.open), 32, "places taken")
	open("10.0.0.31", false) // each of the two others has one
}

// The addresses of a local IPv6 network have as many places as eight of them may have.
func TestCount_network(t *testing.T) {
	t.Parallel()
	c := NewCount(Conns{Max: 1000, Each: 4})
	var last func()
	for i := range 8 {
		for n := range 5 {
			release, ok := c.Add(netip.MustParseAddr(fmt.Sprint("fe80::", i+1)), nil)
			check.Require(t, ok == (n < 4), "place %d of address %d: %t", n+1, i+1, ok)
			if ok {
				last = release
			}
		}
	}
	more := func() bool {
		_, ok := c.Add(netip.MustParseAddr("fe80::9"), nil)
		return ok
	}
	check.That(t, !more(), "more than 32 of a network")
	last()
	check.That(t, more(), "none of a network after one was released")
}
