package limits

import (
	"net/netip"
	"testing"
	"time"
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
	if l.Reserve(spent, now) == 0 {
		t.Error("other addresses reset the limit of an address")
	}
	now = now.Add(time.Minute)
	if wait := l.Reserve(a, now); wait != 0 {
		t.Errorf("after an idle minute: wait %v", wait)
	}
}
