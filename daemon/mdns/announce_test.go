package mdns_test

import (
	"bufio"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"pressbox/daemon/mdns"
	"pressbox/packaging/check"
)

// An avahi is a stand-in for Avahi on a message bus: it tells what it is to announce.
type avahi struct {
	t     *testing.T
	bus   *dbus.Conn
	added chan string // names of services
}

// EntryGroupNew returns the group of a service.
func (a *avahi) EntryGroupNew() (dbus.ObjectPath, *dbus.Error) { return "/group", nil }

// GetAlternativeServiceName returns the name that is tried when another host has one.
func (a *avahi) GetAlternativeServiceName(name string) (string, *dbus.Error) {
	return name + " #2", nil
}

// AddService takes a service.
//
//nolint:revive // the arguments of Avahi's method
func (a *avahi) AddService(
	_, _ int32, _ uint32, name, kind, _, _ string, port uint16, records [][]byte,
) *dbus.Error {
	check.That(a.t, kind == "_esphomelib._tcp" && port == 6053 && string(records[0]) == "mac=020001234567",
		"%s at %d with %q", kind, port, records)
	a.added <- name
	return nil
}

// Commit ends the group.
func (a *avahi) Commit() *dbus.Error { return nil }

// start takes Avahi's name on the bus.
func (a *avahi) start() {
	a.t.Helper()
	reply := check.Must(a.bus.RequestName("org.freedesktop.Avahi", dbus.NameFlagDoNotQueue))(a.t)
	check.Equal(a.t, reply, dbus.RequestNameReplyPrimaryOwner, "the owner of Avahi's name")
}

// startBus starts a message bus, and returns its address.
func startBus(t *testing.T) (address string) {
	t.Helper()
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address",
		"--address=unix:path="+filepath.Join(t.TempDir(), "bus"))
	out := check.Must(cmd.StdoutPipe())(t)
	check.Require(t, cmd.Start() == nil, `"make parts" installs dbus`)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line := check.Must(bufio.NewReader(out).ReadString('\n'))(t)
	return strings.TrimSpace(line)
}

// A service is announced when Avahi starts, again when it has been restarted, and under another name when another host
// has the name; without a bus it is tried again.
func TestAnnounce(t *testing.T) { //nolint:paralleltest // it sets the environment
	if testing.Short() {
		t.Skip("it needs dbus")
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", startBus(t))
	a := &avahi{t: t, bus: check.Must(dbus.ConnectSystemBus())(t), added: make(chan string, 10)}
	check.Close(t, a.bus)
	for path, name := range map[dbus.ObjectPath]string{"/": "Server", "/group": "EntryGroup"} {
		check.NoError(t, a.bus.Export(a, path, "org.freedesktop.Avahi."+name))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended, begun := make(chan error), make(chan error, 10)
	go func() {
		ended <- mdns.Announce(ctx, mdns.Service{
			Name: "Pressbox kitchen", Type: "_esphomelib._tcp", Port: 6053,
			TXT: map[string]string{"mac": "020001234567"},
		}, func(err error) { begun <- err })
	}()
	time.Sleep(100 * time.Millisecond) // Avahi may start before or after
	a.start()
	check.Equal(t, <-a.added, "Pressbox kitchen", "the name")
	check.NoError(t, <-begun)
	check.Must(a.bus.ReleaseName("org.freedesktop.Avahi"))(t)
	a.start()
	check.Equal(t, <-a.added, "Pressbox kitchen", "the name after a restart of Avahi")
	check.NoError(t, <-begun)
	const changed = "org.freedesktop.Avahi.EntryGroup.StateChanged"
	check.NoError(t, a.bus.Emit("/group", changed, int32(3), "")) // a collision
	check.Equal(t, <-a.added, "Pressbox kitchen #2", "the name when another host has it")
	check.NoError(t, <-begun)
	check.NoError(t, a.bus.Emit("/group", changed, int32(4), "no")) // a failure
	check.That(t, <-begun != nil, "a failure is not told")
	cancel()
	check.NoError(t, <-ended)
}
