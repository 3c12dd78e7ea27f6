//go:build installed

package installed

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// The unit, and the link to its settings for newer versions of systemd.
const (
	shippedUnit   = "/usr/lib/systemd/system/pressbox.service"
	newerSettings = "/etc/systemd/system/pressbox.service.d/newer.conf"
)

// testUnits checks that systemd knows every setting of the units, and that those for newer versions
// come with an upgrade of systemd.
func testUnits(s *server) {
	newer := s.systemd() >= 257
	s.run("rm", "-f", newerSettings)
	s.run("dpkg-trigger", "--no-await", "--by-package=systemd", "/usr/lib/systemd/systemd")
	s.run("dpkg", "--triggers-only", "pressbox")
	check.Equal(s.t, s.exists(newerSettings), newer, "the settings for newer versions are linked")
	users := s.run("systemctl", "show", "--value", "--property=PrivateUsers", "pressbox.service")
	check.Equal(s.t, users != "no", newer, "PrivateUsers=%s restricts users", users)
	said := s.run("journalctl", "--no-pager", "--boot", "_PID=1", "--priority=warning")
	check.That(s.t, !strings.Contains(said, "pressbox"), "systemd warns:\n%s", said)
	for unit := range strings.FieldsSeq(s.run("sh", "-c", "ls /usr/lib/systemd/system/pressbox*")) {
		out, err := s.command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput()
		check.That(s.t, err == nil && !strings.Contains(string(out), "pressbox"), "%s: %v: %s", unit, err, out)
	}
}

// unitBasics has the directives of the unit that are not part of the sandbox.
const unitBasics = `Type NotifyAccess ExecStart ExecReload Sockets LoadCredential Environment WatchdogSec WatchdogSignal
	TimeoutStartSec TimeoutStopSec Restart RestartSec RestartSteps RestartMaxDelaySec User Group WorkingDirectory
	StateDirectory StateDirectoryMode CacheDirectory CacheDirectoryMode`

// untestable returns the directives whose removal alone changes nothing, with the reason.
func untestable() map[string]string {
	const container = "systemd-nspawn forbids the same"
	const limits = "tested by TestLimits_enforced"
	return map[string]string{
		"NoNewPrivileges":       "systemd implies it for a unit with a call filter and another user than root",
		"DevicePolicy":          "implied by PrivateDevices",
		"PrivateMounts":         "implied by every directive that mounts",
		"RemoveIPC":             "with PrivateIPC there is nothing to remove",
		"SystemCallErrorNumber": "without it the probe is killed",
		"ProtectClock":          container,
		"ProtectKernelLogs":     container,
		"RestrictRealtime":      container,
		"MemoryHigh":            limits,
		"MemoryMax":             limits,
		"TasksMax":              limits,
		"OOMPolicy":             limits,
	}
}

// testSandbox attempts what the unit forbids, from inside. Without the sandbox every
// attempt must succeed; without one directive at least one more attempt must succeed.
func testSandbox(s *server) {
	s.checkHome()
	s.installProbe()
	unit := "[Service]\n" + serviceSection(s.run("cat", shippedUnit))
	newer := s.systemd() >= 257
	if newer {
		unit += serviceSection(s.run("cat", newerSettings))
	}
	sandboxed, bare := s.probe(unit, nil), s.probe(unit, directives(unit))
	for _, try := range forbidden() {
		confined := sandboxed[try.what] != "" || try.what == becomeAnyone && !newer
		check.That(s.t, confined, "in the sandbox the server could %s", try.what)
		check.Equal(s.t, bare[try.what], "", "the error without the sandbox of: %s", try.what)
	}
	for _, try := range needed() {
		check.Equal(s.t, sandboxed[try.what], "", "the error in the sandbox of: %s", try.what)
	}
	if testing.Short() {
		return
	}
	for _, directive := range directives(unit) {
		if untestable()[directive] != "" {
			continue
		}
		var could []string
		for what, refused := range s.probe(unit, []string{directive}) {
			if refused == "" && sandboxed[what] != "" {
				could = append(could, what)
			}
		}
		check.That(s.t, len(could) > 0, "without %s= no further attempt succeeds", directive)
		s.t.Logf("without %s= the server could %s", directive, strings.Join(could, ", "))
	}
}

// checkHome checks that the server cannot write the home of its user, where the user's
// service manager, which is not in the sandbox, reads units.
func (s *server) checkHome() {
	s.t.Helper()
	home := strings.Split(s.run("getent", "passwd", "pressbox"), ":")[5]
	server := s.run("systemctl", "show", "--value", "--property=MainPID", "pressbox.service")
	for path, want := range map[string]bool{"/var/lib/pressbox": true, home: false} {
		out, err := s.command("nsenter", "--mount", "--target", server, "setpriv", "--reuid=pressbox",
			"--clear-groups", "test", "-w", path).CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
			s.t.Fatalf("test -w %s: %v: %s", path, err, out)
		}
		check.Equal(s.t, err == nil, want, "the server could write %s", path)
	}
}

// systemd returns the version of the host's systemd.
func (s *server) systemd() int {
	s.t.Helper()
	var version int
	check.Must(fmt.Sscanf(s.run("systemctl", "--version"), "systemd %d", &version))(s.t)
	return version
}

// installProbe copies the probe to the host, and creates the files that it accesses.
func (s *server) installProbe() {
	s.t.Helper()
	program := check.Must(os.Executable())(s.t)
	s.run("rm", "-f", "/usr/local/bin/probe", probeDevice)
	s.run("mv", s.copyIn(program), "/usr/local/bin/probe")
	s.run("chmod", "0755", "/usr/local/bin/probe")
	s.run("mkdir", "-p", probeHome, probeFolder, probeModules, "/run/user/0")
	s.run("chmod", "0777", probeFolder)
	s.run("touch", probeNote)
	s.run("mknod", "--mode=0666", probeDevice, "c", "10", "200") // the tun device, which any user may open
}

// serviceSection returns the section [Service] of a unit.
func serviceSection(unit string) string {
	_, text, _ := strings.Cut(unit, "[Service]\n")
	text, _, _ = strings.Cut(text, "\n[")
	return text + "\n"
}

// directives returns the names of the sandbox directives of a unit.
func directives(unit string) []string {
	var all []string
	known := strings.Fields(unitBasics)
	for line := range strings.Lines(serviceSection(unit)) {
		name, _, set := strings.Cut(line, "=")
		if set && !strings.HasPrefix(line, "#") && !slices.Contains(known, name) {
			all, known = append(all, name), append(known, name)
		}
	}
	return all
}

// probe runs the probe in a unit without some of its directives. It returns the error of
// each attempt, "" for success.
func (s *server) probe(unit string, without []string) map[string]string {
	s.t.Helper()
	const name, path, out = "probe.service", "/run/systemd/system/probe.service", "/run/probe.json"
	settings := "[Service]\nType=oneshot\nUser=pressbox\nGroup=pressbox\nStateDirectory=probe\nCacheDirectory=probe\n" +
		"ExecStart=/usr/local/bin/probe\nStandardOutput=truncate:" + out + "\nEnvironment=" + probing + "=all\n"
	for _, kind := range []string{"ipc", "uts", "mnt"} {
		settings += fmt.Sprintf("Environment=%s=%s\n", kind, s.run("readlink", "/proc/1/ns/"+kind))
	}
	for _, directive := range directives(unit) {
		for line := range strings.Lines(serviceSection(unit)) {
			if strings.HasPrefix(line, directive+"=") && !slices.Contains(without, directive) {
				settings += line
			}
		}
	}
	s.write(path, []byte(settings))
	s.run("systemctl", "daemon-reload")
	s.run("systemctl", "start", name)
	done := make(map[string]string)
	check.NoError(s.t, json.Unmarshal([]byte(s.run("cat", out)), &done))
	return done
}
