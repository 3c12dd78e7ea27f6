package limits

import (
	"context"
	"errors"
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
