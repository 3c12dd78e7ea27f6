package system_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/packaging/check"
	"pressbox/store/clock/system"
)

// Setting the clock to its current value suffices to be notified. Without the right to set
// it, the test proves only that the watch lasts until its context ends.
func TestWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	changed := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() { ended <- system.Watch(ctx, changed) }()
	for notified := false; !notified; {
		var now unix.Timespec
		err := errors.Join(unix.ClockGettime(unix.CLOCK_REALTIME, &now), unix.ClockSettime(unix.CLOCK_REALTIME, &now))
		if errors.Is(err, syscall.EPERM) {
			break
		}
		check.NoError(t, err)
		select {
		case <-changed:
			notified = true
		case err := <-ended:
			t.Fatalf("the watch ended: %v", err)
		case <-time.After(time.Millisecond): // the watch had not begun
		}
	}
	cancel()
	check.NoError(t, <-ended) // at the end
}
