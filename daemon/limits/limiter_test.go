package limits

import (
	"context"
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

func TestLimiter_maxKeys(t *testing.T) {
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
	if len(l.current) > maxKeys || len(l.previous) > maxKeys {
		t.Errorf("%d and %d addresses, want at most maxKeys", len(l.current), len(l.previous))
	}
	if want := 100_000 - (maxKeys - 1) - 30; refused != want {
		t.Errorf("%d of 100,000 addresses refused, want %d", refused, want)
	}
	check.That(t, l.Reserve(spent, now) != 0, "other addresses reset the limit of an address")
	now = now.Add(time.Minute)
	if wait := l.Reserve(a, now); wait != 0 {
		t.Errorf("after an idle minute: wait %v", wait)
	}
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

// clientOf returns one of many clients.
func clientOf(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 32)
}

// take takes a slot of a client.
func take(t *testing.T, s *Slots, client netip.Prefix) (context.Context, *Slot) {
	t.Helper()
	ctx, slot, err := s.Take(t.Context(), client)
	check.NoError(t, err)
	return ctx, slot
}

// refused returns the error of a client that gets no slot.
func refused(t *testing.T, s *Slots, client netip.Prefix) error {
	t.Helper()
	_, _, err := s.Take(t.Context(), client)
	return err
}

func TestSlots_take(t *testing.T) {
	t.Parallel()
	s := NewSlots()
	_, first := take(t, s, clientOf(1))
	check.ErrorIs(t, refused(t, s, clientOf(1)), ErrClientBusy, "a second slot of a client")
	take(t, s, clientOf(2))
	check.ErrorIs(t, refused(t, s, clientOf(3)), ErrBusy, "a third client")
	first.Release()
	take(t, s, netip.Prefix{})
	check.ErrorIs(t, refused(t, s, netip.Prefix{}), ErrBusy, "a third slot")
}

// A client that reads has no processor. Beyond the places, the one that has been reading for longest loses its own,
// but none of the host does.
func TestSlots_slowReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, stop, ended := NewSlots(), make(chan struct{}), make(chan error, Readers)
		var lost []context.Context
		for i := range Readers {
			client := clientOf(i)
			if i == 0 {
				client = netip.Prefix{}
			}
			ctx, slot := take(t, s, client)
			lost = append(lost, ctx)
			go func() {
				ended <- slot.Read(ctx, func() error { <-stop; return nil })
				slot.Release()
			}()
			synctest.Wait()
			time.Sleep(time.Second)
		}
		_, slot := take(t, s, clientOf(100))
		for i, ctx := range lost {
			check.Equal(t, ctx.Err() != nil, i == 1, "reader %d has lost its place", i)
		}
		take(t, s, clientOf(101))
		check.ErrorIs(t, refused(t, s, clientOf(102)), ErrBusy, "beyond the processors")
		close(stop)
		synctest.Wait()
		for range 2 {
			check.ErrorIs(t, <-ended, ErrBusy, "a reader that has lost its place")
		}
		slot.Release()
		for range Readers - 2 {
			check.NoError(t, <-ended)
		}
		synctest.Wait() // until they have released their places
		check.Equal(t, len(s.slots), 1, "slots that are left")
	})
}

func TestSlots_wait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots()
		_, first := take(t, s, clientOf(1))
		take(t, s, clientOf(2))
		_, _, err := s.Wait(t.Context(), clientOf(3), time.Second)
		check.ErrorIs(t, err, ErrBusy, "no slot for a second")
		waited := make(chan error)
		for i := range 2 {
			go func() {
				_, slot, err := s.Wait(t.Context(), clientOf(4+i), time.Minute)
				if err == nil {
					slot.Release()
				}
				waited <- err
			}()
		}
		synctest.Wait()
		first.Release()
		for range 2 {
			check.NoError(t, <-waited)
		}
	})
}
