// Package lantest runs a test in a network of its own.
//
// One law: the network is a namespace (network_namespaces(7)) without a connection to the
// outside, so every port is free, also 443.
package lantest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pressbox/packaging/check"
)

// The addresses of the network's only host, in addition to 127.0.0.1: a private one, and a public one (RFC 5737).
const (
	Address       = "192.168.77.5"
	PublicAddress = "203.0.113.5"
)

// testVariable names the environment variable with the test that runs in its own network.
const testVariable = "PRESSBOX_LANTEST"

// Inside runs the calling test a second time, in a child process with a network of its own, and reports whether this
// is the child. In the parent it returns false after the child has passed. It fails the test if the child fails or the
// host refuses to create namespaces. The test calls it first.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(testVariable) == t.Name() {
		addAddresses(t)
		return true
	}
	if testing.Short() {
		t.Skip("runs in a child process with a network namespace")
	}
	program, err := os.Executable()
	check.NoError(t, err)
	//nolint:gosec // this program
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), testVariable+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Fatalf("the host refuses a network namespace "+
			"(as root: CAP_SYS_ADMIN; otherwise: unprivileged user namespaces): %v", err)
	}
	if err != nil {
		t.Fatalf("in the network namespace: %v\n%s", err, out)
	}
	return false
}

// addAddresses enables the loopback interface with all addresses.
func addAddresses(t *testing.T) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	check.NoError(t, err)
	defer unix.Close(socket) //nolint:errcheck // nothing was written
	configure(t, socket, "lo", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP); return nil })
	configure(t, socket, "lo:1", unix.SIOCSIFADDR,
		func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{192, 168, 77, 5}) })
	configure(t, socket, "lo:2", unix.SIOCSIFADDR,
		func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{203, 0, 113, 5}) })
}

// configure sends a request of netdevice(7) for an interface.
func configure(t *testing.T, socket int, name string, request uint, fill func(*unix.Ifreq) error) {
	t.Helper()
	r, err := unix.NewIfreq(name)
	if err == nil {
		err = fill(r)
	}
	if err == nil {
		err = unix.IoctlIfreq(socket, request, r)
	}
	if err != nil {
		t.Fatalf("configure %s in the network namespace: %v", name, err)
	}
}
