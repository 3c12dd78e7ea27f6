//go:build installed

package installed

import (
	"testing"

	"pressbox/packaging/check"
)

// A desktop whose sound server is PulseAudio.
func TestDesktop_pulseAudio(t *testing.T) {
	s := newServer(boot(t, "bookworm"))
	s.run("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends",
		s.copyIn(currentPackage(t)), "pulseaudio", "libpam-systemd", "dbus-user-session")
	s.run("useradd", "--create-home", "alice")
	s.logIn("alice")
	s.run("pressbox", "setup-audio", "session", "--user=alice")
	s.checkPlayback("alice")
	s.run("pressbox", "setup-audio", "--undo")
	s.until("playback has stopped", func() bool { return s.health().Status == "degraded" })
	check.Contains(t, s.as("alice", "pactl", "info"), "Server Name: pulseaudio", "alice's sound server")
}

// testSessionSound switches from the server's own sound server to that of a user's session
// and back. Playback needs the session.
func testSessionSound(s *server) {
	s.logIn("alice")
	s.run("pressbox", "setup-audio", "session", "--user=alice")
	s.checkPlayback("alice")
	s.until("its own sound server has ended",
		func() bool { return s.try("pgrep", "--uid=pressbox", "pipewire") == "exit status 1" })

	s.logOut("alice")
	s.until("playback has stopped", func() bool { return s.health().Status == "degraded" })
	check.Contains(s.t, s.try("pressbox", "doctor"), "alice is not logged in", "doctor")
	s.logIn("alice")
	s.checkPlayback("alice")

	s.run("pressbox", "setup-audio", "--undo")
	s.until("playback has stopped", func() bool { return s.health().Status == "degraded" })
	left := s.run("find", "/etc", "/var/lib/systemd/linger", "-name", "*pressbox*", "!", "-path", "/etc/pressbox*",
		"!", "-path", "/etc/avahi/*", "!", "-path", "/etc/systemd/system/*")
	check.Equal(s.t, left, "", "the remaining files")
	check.That(s.t, !s.exists("/run/pressbox-audio"), "the folder of the socket exists")
	check.Contains(s.t, s.as("alice", "pactl", "info"), "Default Sink", "alice's sound server")
	s.run("pressbox", "setup-audio", "headless")
	s.checkPlayback("pressbox")
}

// logIn logs a user in, as a display manager does.
func (s *server) logIn(name string) {
	s.t.Helper()
	s.run("systemd-run", "--quiet", "--collect", "--unit=login-"+name, "--property=PAMName=login",
		"--property=User="+name, "sleep", "infinity")
	s.until(name+" is logged in", func() bool {
		return s.try("systemctl", "--user", "--machine="+name+"@.host", "is-active", "default.target") == "active"
	})
}

// logOut ends all sessions of a user and waits until they have ended.
func (s *server) logOut(name string) {
	s.t.Helper()
	folder := "/run/user/" + s.run("id", "--user", name)
	s.run("systemctl", "stop", "login-"+name+".service")
	s.run("loginctl", "terminate-user", name)
	s.until(name+" is logged out", func() bool { return !s.exists(folder) })
}

// as runs a program as a user who is logged in.
func (s *server) as(name string, args ...string) string {
	s.t.Helper()
	return s.run(append([]string{"runuser", "--user=" + name, "--", "env", "XDG_RUNTIME_DIR=/run/user/" +
		s.run("id", "--user", name)}, args...)...)
}
