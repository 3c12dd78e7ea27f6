//go:build installed

package installed

import (
	"errors"
	"os/exec"
	"strings"

	"pressbox/packaging/check"
)

// testAdministrators checks that a member of the socket's group may administer and is named in the journal, and
// that another user may not, even if the mode of the socket is changed.
func testAdministrators(s *server) {
	const socket = "/run/pressbox/admin.sock"
	s.run("useradd", "--create-home", "--groups=adm", "alice")
	s.run("useradd", "--create-home", "bob")
	s.run("runuser", "--user=alice", "--", "pressbox", "log-level", "INFO")
	alice := s.run("id", "--user", "alice")
	check.Contains(s.t, s.journal("PRESSBOX_UID="+alice), "/admin/log-level", "the journal of alice, %s,", alice)
	s.checkSay()
	create := []string{"runuser", "--user=bob", "--", "pressbox", "tokens", "create", "door"}
	s.mustRefuse(1, "only root, the user pressbox and the group adm may administer", create...)
	s.run("chmod", "0666", socket)
	s.mustRefuse(4, "only root, the server's user and members of the administrator socket's group may administer",
		create...)
	s.run("chgrp", "bob", socket)
	s.run("runuser", "--user=bob", "--", "pressbox", "log-level")
	s.run("chgrp", "adm", socket)
	s.run("chmod", "0660", socket)
}

// checkSay checks that a member of the socket's group can announce where NOTIFY_ACCESS permits
// no one, and another user cannot.
func (s *server) checkSay() {
	s.t.Helper()
	s.run("sed", "-i", "s/^#NOTIFY_ACCESS=.*/NOTIFY_ACCESS=off/", settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
	s.run("runuser", "--user=alice", "--", "pressbox", "say", "On the socket.")
	s.mustRefuse(4, "(403)", "runuser", "--user=bob", "--", "pressbox", "say", "Over the port.")
	s.run("sed", "-i", "s/^NOTIFY_ACCESS=.*/#NOTIFY_ACCESS=lan/", settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
}

// mustRefuse checks the exit status and the message of a command that fails.
func (s *server) mustRefuse(code int, why string, args ...string) {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != code || !strings.Contains(string(out), why) {
		s.t.Errorf("%q: %v, want exit status %d and %q:\n%s", args, err, code, why, out)
	}
}
