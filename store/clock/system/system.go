// Package system reads the clocks of the host: which boot this is, the time since it, and
// whether and when the time of day is set.
//
// One law: it asks the kernel (Linux) and nothing else.
package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// BootID returns the id of the current boot (random(4)).
func BootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(id)), nil
}

// SinceBoot returns CLOCK_BOOTTIME, which every Linux since 2.6.39 has.
func SinceBoot() time.Duration {
	var up unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &up)
	return time.Duration(up.Nano())
}

// Synchronized reports whether a time server keeps the clock (adjtimex(2)).
func Synchronized() (bool, error) {
	var state unix.Timex
	if _, err := unix.Adjtimex(&state); err != nil {
		return false, fmt.Errorf("read the clock's state: %w", err)
	}
	return state.Status&unix.STA_UNSYNC == 0, nil
}

// Watch sends on changed each time the time of day is set, until ctx ends. changed needs a
// buffer of one. The kernel reports the change (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
func Watch(ctx context.Context, changed chan<- struct{}) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("watch the clock: %w", err)
	}
	timer := os.NewFile(uintptr(fd), "clock")
	defer timer.Close()                                          //nolint:errcheck // nothing was written
	defer context.AfterFunc(ctx, func() { _ = timer.Close() })() // unblocks the read
	for {
		err := awaitChange(timer)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			continue
		case !errors.Is(err, syscall.ECANCELED):
			return fmt.Errorf("watch the clock: %w", err)
		}
		select {
		case changed <- struct{}{}:
		default: // an earlier change has not been received yet
		}
	}
}

// awaitChange waits until the clock is set and returns ECANCELED, or nil after a year.
func awaitChange(timer *os.File) error {
	raw, err := timer.SyscallConn()
	if err != nil {
		return err
	}
	expiry := unix.ItimerSpec{Value: unix.NsecToTimespec(time.Now().AddDate(1, 0, 0).UnixNano())}
	var setErr error
	err = raw.Control(func(fd uintptr) {
		setErr = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &expiry, nil)
	})
	if err := errors.Join(err, setErr); err != nil {
		return err
	}
	_, err = timer.Read(make([]byte, 8))
	return err
}
