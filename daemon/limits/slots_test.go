package limits

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/packaging/check"
)

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
