package main

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Setting the clock to what it shows is enough to be told. Who may not set it
// sees at least that the watch is kept until the end.
func TestTheClockIsWatched(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	set := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() { ended <- watchClock(ctx, set) }()
	for told := false; !told; {
		var now unix.Timespec
		err := errors.Join(unix.ClockGettime(unix.CLOCK_REALTIME, &now), unix.ClockSettime(unix.CLOCK_REALTIME, &now))
		if errors.Is(err, syscall.EPERM) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-set:
			told = true
		case err := <-ended:
			t.Fatalf("the watch ended: %v", err)
		case <-time.After(time.Millisecond): // it had not begun
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("at the end: %v", err)
	}
}
