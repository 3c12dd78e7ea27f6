//go:build installed

package installed

import (
	"errors"
	"os/exec"
	"strings"
)

// testAdministrators checks that a member of the socket's group may administer and is
// named in the journal, and that another user may not, even if the mode of the socket is
// changed.
func testAdministrators(s *server) {
	const socket = "/run/pressbox/admin.sock"
	s.run("useradd", "--create-home", "--groups=adm", "alice")
	s.run("useradd", "--create-home", "bob")
	s.run("runuser", "--user=alice", "--", "pressbox", "log-level", "INFO")
	alice := s.run("id", "--user", "alice")
	if did := s.journal("PRESSBOX_UID=" + alice); !strings.Contains(did, "/admin/log-level") {
		s.t.Errorf("the journal has no entry of alice, %s:\n%s", alice, did)
	}
	s.mustNotAdminister("bob", 1, "only root, the user pressbox and the group adm may administer")
	s.run("chmod", "0666", socket)
	s.mustNotAdminister("bob", 4, "only root, the server's user and members of the administrator socket's group may administer")
	s.run("chgrp", "bob", socket)
	s.run("runuser", "--user=bob", "--", "pressbox", "log-level")
	s.run("chgrp", "adm", socket)
	s.run("chmod", "0660", socket)
}

// mustNotAdminister checks the exit code and the message when a user without the right
// administers.
func (s *server) mustNotAdminister(name string, code int, why string) {
	s.t.Helper()
	out, err := s.command("runuser", "--user="+name, "--", "pressbox", "tokens", "create", "door").CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != code || !strings.Contains(string(out), why) {
		s.t.Errorf("%s administers (%v), want exit status %d and %q:\n%s", name, err, code, why, out)
	}
}
