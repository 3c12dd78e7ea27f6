// Package lantest gives a test a local network of its own.
//
// One law: nothing that a test does there is seen outside, and nothing outside
// is reached from it. It is a network namespace (network_namespaces(7)), so
// every port is free, also 443.
package lantest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The addresses of the network's only machine besides 127.0.0.1: one of a local
// network, and one of the internet (RFC 5737).
const (
	Address  = "192.168.77.5"
	Stranger = "203.0.113.5"
)

// mark names, in the environment, the test that runs in a network of its own.
const mark = "PRESSBOX_LANTEST"

// Inside runs the calling test a second time, in a process with a network of
// its own, and says whether this is that run; in the first one it is false
// once the second has passed. It fails the test when the second run fails, or
// when the machine refuses to make namespaces. It must be called first.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(mark) == t.Name() {
		raise(t)
		return true
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.count=1") //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Fatalf("this machine refuses a network namespace, which the test needs "+
			"(as root: CAP_SYS_ADMIN; otherwise: unprivileged user namespaces): %v", err)
	}
	if err != nil {
		t.Fatalf("in a network of its own: %v\n%s", err, out)
	}
	return false
}

// raise sets the network's loopback interface up, with all addresses.
func raise(t *testing.T) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket) //nolint:errcheck // it holds nothing
	configure(t, socket, "lo", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP); return nil })
	configure(t, socket, "lo:1", unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{192, 168, 77, 5}) })
	configure(t, socket, "lo:2", unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{203, 0, 113, 5}) })
}

// configure asks for something of an interface (netdevice(7)).
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
		t.Fatalf("set up %s in a network of its own: %v", name, err)
	}
}
