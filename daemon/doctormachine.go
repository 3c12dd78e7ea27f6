package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lookAtMachine looks at what is not ours and matters nevertheless; of a daemon that
// somebody started by hand, systemd and the arrangement of sound do not.
func (p patient) lookAtMachine(ctx context.Context) []finding {
	found := lookAtClock()
	if p.byHand() {
		return found
	}
	found = append(found, lookAtArrangement()...)
	if !underSystemdNow() {
		return found
	}
	found = append(found, lookAtUnit(ctx)...)
	found = append(found, lookAtJournal("/")...)
	return append(found, lookAtMemory("/sys/fs/cgroup")...)
}

// underSystemdNow says whether systemd runs this machine (sd_booted(3)).
func underSystemdNow() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

func lookAtClock() []finding {
	var state unix.Timex
	if _, err := unix.Adjtimex(&state); err != nil {
		return one("clock", doubtful, "", "whether a time server keeps it right is not known: %s", oneLine(err))
	}
	if state.Status&unix.STA_UNSYNC != 0 {
		return one("clock", doubtful, "timedatectl set-ntp true", "no time server keeps the clock right; signing in by another provider may fail")
	}
	return one("clock", well, "", "a time server keeps it right")
}

// lookAtUnit asks the service manager about our units.
func lookAtUnit(ctx context.Context) []finding {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, "systemctl", "show", "pressbox.service",
		"--property=LoadState,ActiveState,Result,NRestarts,UnitFileState").Output()
	if err != nil {
		return one("unit", doubtful, "", "systemctl: %s", oneLine(err))
	}
	return unitFindings(string(out))
}

func unitFindings(properties string) []finding {
	is := make(map[string]string)
	for line := range strings.Lines(properties) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		is[name] = value
	}
	switch {
	case is["LoadState"] == "not-found":
		return nil // it is not installed as a package
	case is["LoadState"] == "masked":
		return one("unit", broken, "systemctl unmask pressbox", "pressbox.service is masked")
	case is["ActiveState"] == "failed":
		return one("unit", broken, "journalctl -u pressbox -xe", "pressbox.service has failed: %s", is["Result"])
	case is["UnitFileState"] == "disabled":
		return one("unit", doubtful, "systemctl enable pressbox.socket pressbox-admin.socket pressbox", "pressbox does not start with the machine")
	case is["NRestarts"] != "0" && is["NRestarts"] != "":
		return one("unit", doubtful, "journalctl -u pressbox -x", "pressbox was restarted %s times after it failed", is["NRestarts"])
	default:
		return one("unit", well, "", "pressbox.service is %s", is["ActiveState"])
	}
}

// lookAtJournal says whether the journal outlives the machine's stops.
func lookAtJournal(root string) []finding {
	if _, err := os.Stat(root + "var/log/journal"); errors.Is(err, fs.ErrNotExist) {
		return one("journal", doubtful,
			"mkdir -p /etc/systemd/journald.conf.d /var/log/journal; printf '[Journal]\\nStorage=persistent\\nSystemMaxUse=100M\\n' >/etc/systemd/journald.conf.d/90-keep.conf; systemctl restart systemd-journald",
			"it is in memory, so that of the last run is gone after a restart of the machine")
	}
	return one("journal", well, "", "is kept on disk")
}

// lookAtMemory says whether the unit's limits of memory hold.
func lookAtMemory(cgroup string) []finding {
	controllers, err := os.ReadFile(cgroup + "/cgroup.controllers") //nolint:gosec // the kernel's
	if err != nil || strings.Contains(string(controllers), "memory") {
		return nil // on a machine of the older kind, systemd has its own ways
	}
	return one("memory", doubtful, "on a Raspberry Pi: add cgroup_enable=memory to /boot/firmware/cmdline.txt and restart the machine", "the kernel does not limit memory, so MemoryMax does not hold")
}
