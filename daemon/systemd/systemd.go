// Package systemd is the daemon's line to the service manager that started it:
// the sockets that it was handed, what it tells back, and the journal.
//
// One law: without a service manager every call succeeds and does nothing, so
// that the daemon runs the same from a shell.
package systemd

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// Listeners takes over the sockets that the service manager opened for this
// process, by the name that their unit gives them (FileDescriptorName=). It
// returns none when there are none, and the second call always does: a socket
// has one owner. A descriptor that does not listen is an error.
func Listeners() (map[string][]net.Listener, error) {
	named := make(map[string][]net.Listener)
	for _, file := range activation.Files(true) {
		l, err := net.FileListener(file)
		if err != nil {
			return nil, fmt.Errorf("take over the inherited socket %s: %w", file.Name(), err)
		}
		if err := file.Close(); err != nil { // l has a duplicate of its own
			return nil, fmt.Errorf("take over the inherited socket %s: %w", file.Name(), err)
		}
		named[file.Name()] = append(named[file.Name()], l)
	}
	return named, nil
}

// Ready tells that clients are served from now on, and status in words.
func Ready(status string) error {
	return notify(daemon.SdNotifyReady + "\nSTATUS=" + oneLine(status))
}

// Starting tells that the start takes longer, at most so much from now on.
func Starting(most time.Duration) error {
	return notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", most.Microseconds()))
}

// Status tells how the daemon is, in words for "systemctl status".
func Status(status string) error {
	return notify("STATUS=" + oneLine(status))
}

// Reloading tells that the daemon takes over changes now; [Ready] tells when it has.
// It says when, as Type=notify-reload wants it (systemd.service(5)).
func Reloading() error {
	return notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// Watchdog returns after how long without a sign of life the service manager ends
// this process; 0 means that it does not.
func Watchdog() (time.Duration, error) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("read the watchdog's time: %w", err)
	}
	return limit, nil
}

// Alive is a sign of life.
func Alive() error {
	return notify(daemon.SdNotifyWatchdog)
}

// Stopping tells that the daemon has begun to end.
func Stopping() error {
	return notify(daemon.SdNotifyStopping)
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	return nil
}

// oneLine keeps a text from being read as further assignments.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
