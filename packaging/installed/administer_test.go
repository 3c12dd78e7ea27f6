//go:build installed

package installed

import (
	"errors"
	"os/exec"
	"strings"
)

// isAdministered has a member of the socket's group administer, and the journal say who
// it was; a stranger gets no further when somebody loosens the mode of the socket.
func isAdministered(a *appliance) {
	const socket = "/run/pressbox/admin.sock"
	a.run("useradd", "--create-home", "--groups=adm", "alice")
	a.run("useradd", "--create-home", "bob")
	a.run("runuser", "--user=alice", "--", "pressbox", "log-level", "INFO")
	alice := a.run("id", "--user", "alice")
	if did := a.journal("PRESSBOX_UID=" + alice); !strings.Contains(did, "/admin/log-level") {
		a.t.Errorf("the journal does not say what alice, %s, has done:\n%s", alice, did)
	}
	a.refuses("bob", 1, "only root, the user pressbox and the group adm may administer")
	a.run("chmod", "0666", socket)
	a.refuses("bob", 4, "only root, the daemon's user and the group of the administrator's socket may administer")
	a.run("chgrp", "bob", socket)
	a.run("runuser", "--user=bob", "--", "pressbox", "log-level")
	a.run("chgrp", "adm", socket)
	a.run("chmod", "0660", socket)
}

// refuses checks that a user may not administer, by the exit code and what is said.
func (a *appliance) refuses(name string, code int, why string) {
	a.t.Helper()
	out, err := a.command("runuser", "--user="+name, "--", "pressbox", "tokens", "create", "door").CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != code || !strings.Contains(string(out), why) {
		a.t.Errorf("%s administers (%v), want exit status %d and %q:\n%s", name, err, code, why, out)
	}
}
