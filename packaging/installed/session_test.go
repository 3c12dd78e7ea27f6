//go:build installed

package installed

import (
	"strings"
	"testing"
)

// The desktop of somebody whose sound server is a PulseAudio.
func TestDesktopWithPulseAudio(t *testing.T) {
	a := newAppliance(boot(t, "bookworm"))
	a.run("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends",
		a.copyIn(current(t)), "pulseaudio", "libpam-systemd", "dbus-user-session")
	a.run("useradd", "--create-home", "alice")
	a.logIn("alice")
	a.run("pressbox", "setup-audio", "session", "--user=alice")
	a.speaksThrough("alice")
	a.run("pressbox", "setup-audio", "--undo")
	a.until("nobody is heard", func() bool { return a.health().Status == "degraded" })
	if info := a.as("alice", "pactl", "info"); !strings.Contains(info, "Server Name: pulseaudio") {
		t.Errorf("alice has no sound server any more: %s", info)
	}
}

// isHeardInASession has the daemon, which had a sound server of its own, speak by that
// of somebody who is logged in, for as long as they are; then it has its own again.
func isHeardInASession(a *appliance) {
	a.logIn("alice")
	a.run("pressbox", "setup-audio", "session", "--user=alice")
	a.speaksThrough("alice")
	a.until("its own sound server has ended", func() bool { return a.try("pgrep", "--uid=pressbox", "pipewire") == "exit status 1" })

	a.logOut("alice")
	a.until("nobody is heard", func() bool { return a.health().Status == "degraded" })
	if says := a.try("pressbox", "doctor"); !strings.Contains(says, "alice is not logged in") {
		a.t.Errorf("doctor does not know why nobody is heard:\n%s", says)
	}
	a.logIn("alice")
	a.speaksThrough("alice")

	a.run("pressbox", "setup-audio", "--undo")
	a.until("nobody is heard", func() bool { return a.health().Status == "degraded" })
	if left := a.run("find", "/etc", "/var/lib/systemd/linger", "-name", "*pressbox*",
		"!", "-path", "/etc/pressbox*", "!", "-path", "/etc/avahi/*", "!", "-path", "/etc/systemd/system/*"); left != "" || a.exists("/run/pressbox-audio") {
		a.t.Errorf("the folder of the socket is there (%v), and of the arrangement\n%s", a.exists("/run/pressbox-audio"), left)
	}
	if info := a.as("alice", "pactl", "info"); !strings.Contains(info, "Default Sink") {
		a.t.Errorf("alice has no sound server any more: %s", info)
	}
	a.run("pressbox", "setup-audio", "headless")
	a.speaksThrough("pressbox")
}

// logIn logs a user in, as a display manager does.
func (a *appliance) logIn(name string) {
	a.t.Helper()
	a.run("systemd-run", "--quiet", "--collect", "--unit=login-"+name, "--property=PAMName=login", "--property=User="+name, "sleep", "infinity")
	a.until(name+" is logged in", func() bool {
		return a.try("systemctl", "--user", "--machine="+name+"@.host", "is-active", "default.target") == "active"
	})
}

// logOut ends all sessions of a user, and returns when nothing is left of them.
func (a *appliance) logOut(name string) {
	a.t.Helper()
	folder := "/run/user/" + a.run("id", "--user", name)
	a.run("systemctl", "stop", "login-"+name+".service")
	a.run("loginctl", "terminate-user", name)
	a.until(name+" is logged out", func() bool { return !a.exists(folder) })
}

// as runs a program as a user who is logged in.
func (a *appliance) as(name string, args ...string) string {
	a.t.Helper()
	return a.run(append([]string{"runuser", "--user=" + name, "--", "env", "XDG_RUNTIME_DIR=/run/user/" + a.run("id", "--user", name)}, args...)...)
}
