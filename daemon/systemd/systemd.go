// Package systemd connects the server to systemd: sockets, notifications, the watchdog and
// the journal.
//
// One law: without systemd every call succeeds and does nothing, so that the server runs the
// same from a shell.
package systemd

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// Listeners returns the sockets that systemd passed to this process, by FileDescriptorName=.
// The second call returns none: a socket has one owner. A descriptor that does not listen is
// an error.
func Listeners() (map[string][]net.Listener, error) {
	named := make(map[string][]net.Listener)
	for _, file := range activation.Files(true) {
		l, err := net.FileListener(file)
		if err != nil {
			return nil, fmt.Errorf("use the socket %s from systemd: %w", file.Name(), err)
		}
		if err := file.Close(); err != nil { // l has a duplicate
			return nil, fmt.Errorf("use the socket %s from systemd: %w", file.Name(), err)
		}
		named[file.Name()] = append(named[file.Name()], l)
	}
	return named, nil
}

// Ready notifies systemd that the server accepts requests, and of its status line.
func Ready(status string) error {
	return notify(daemon.SdNotifyReady + "\nSTATUS=" + oneLine(status))
}

// Starting extends the timeout of the start by limit from now on.
func Starting(limit time.Duration) error {
	return notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", limit.Microseconds()))
}

// Status sets the status line of "systemctl status".
func Status(status string) error {
	return notify("STATUS=" + oneLine(status))
}

// Reloading notifies systemd of the start of a reload, with the time that Type=notify-reload
// requires (systemd.service(5)); [Ready] notifies it of the end.
func Reloading() error {
	return notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// Watchdog returns the time without [Alive] after which systemd ends this process; 0 means
// never.
func Watchdog() (time.Duration, error) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("read WATCHDOG_USEC: %w", err)
	}
	return limit, nil
}

// Alive notifies the watchdog.
func Alive() error {
	return notify(daemon.SdNotifyWatchdog)
}

// Stopping notifies systemd that the server is stopping.
func Stopping() error {
	return notify(daemon.SdNotifyStopping)
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}

// oneLine removes line breaks, which would begin further assignments.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
