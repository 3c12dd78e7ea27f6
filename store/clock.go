package store

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A moment can be compared with a later one although the machine's clock was
// set in between, as happens on a machine without a battery: within one boot
// by the time since then, otherwise by the clock on the wall.
type moment struct {
	wall time.Time
	boot string        // names the boot
	up   time.Duration // since the boot, sleep included
}

// A clock tells the present moment.
type clock func() moment

// since returns how long ago then was; never less than 0.
func (now moment) since(then moment) time.Duration {
	if now.boot == then.boot {
		return max(0, now.up-then.up)
	}
	return max(0, now.wall.Sub(then.wall))
}

// ago returns the moment that lies d before now.
func (now moment) ago(d time.Duration) moment {
	return moment{wall: now.wall.Add(-d), boot: now.boot, up: now.up - d}
}

// machineClock returns this machine's clock.
func machineClock() (clock, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("learn which boot this is: %w", err)
	}
	boot := strings.TrimSpace(string(id))
	return func() moment {
		var up unix.Timespec
		// It fails only for a clock that the kernel does not have; this one
		// came with Linux 2.6.39.
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &up)
		return moment{wall: time.Now(), boot: boot, up: time.Duration(up.Nano())}
	}, nil
}
