package store

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/clock"
)

// systemClock returns the time source of the host.
func systemClock() (clock.Source, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return clock.Source{}, fmt.Errorf("read the boot id: %w", err)
	}
	return clock.Source{Wall: time.Now, Since: sinceBoot, Boot: strings.TrimSpace(string(id))}, nil
}

// sinceBoot returns CLOCK_BOOTTIME, which every kernel since 2.6.39 has.
func sinceBoot() time.Duration {
	var up unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &up)
	return time.Duration(up.Nano())
}
