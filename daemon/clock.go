package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchClock sends on set each time that somebody sets this machine's clock,
// until ctx ends; set needs a buffer of one. The kernel tells when it happens
// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET), so nothing ticks.
func watchClock(ctx context.Context, set chan<- struct{}) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("watch the clock: %w", err)
	}
	timer := os.NewFile(uintptr(fd), "clock")
	defer timer.Close()                                          //nolint:errcheck // it was never written
	defer context.AfterFunc(ctx, func() { _ = timer.Close() })() // ends the reading
	for {
		err := nextSetting(timer)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			continue
		case !errors.Is(err, syscall.ECANCELED):
			return fmt.Errorf("watch the clock: %w", err)
		}
		select {
		case set <- struct{}{}:
		default: // it has not been looked at since the last time
		}
	}
}

// nextSetting waits until the clock is set, and then returns ECANCELED; after a
// year it returns nil.
func nextSetting(timer *os.File) error {
	raw, err := timer.SyscallConn()
	if err != nil {
		return err
	}
	late := unix.ItimerSpec{Value: unix.NsecToTimespec(time.Now().AddDate(1, 0, 0).UnixNano())}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &late, nil)
	})
	if err := errors.Join(err, refused); err != nil {
		return err
	}
	_, err = timer.Read(make([]byte, 8))
	return err
}
