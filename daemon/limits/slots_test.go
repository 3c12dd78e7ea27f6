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
