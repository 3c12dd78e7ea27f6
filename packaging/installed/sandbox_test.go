//go:build installed

package installed

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const shippedUnit = "/usr/lib/systemd/system/pressbox.service"

// aboutTheDaemon are the settings of the unit that say how the daemon is run, and
// nothing of what it may do.
func aboutTheDaemon() []string {
	return []string{
		"Type", "NotifyAccess", "ExecStart", "ExecReload", "Sockets", "LoadCredential", "Environment",
		"WatchdogSec", "WatchdogSignal", "TimeoutStartSec", "TimeoutStopSec", "Restart", "RestartSec", "RestartSteps", "RestartMaxDelaySec",
		"User", "Group", "WorkingDirectory", "StateDirectory", "StateDirectoryMode", "CacheDirectory", "CacheDirectoryMode",
	}
}

// hidden are the directives that show nothing when they alone are taken away, and why.
func hidden() map[string]string {
	const machine = "what the machine is booted by forbids the same"
	const limits = "another test, with a limit that is reached"
	return map[string]string{
		"NoNewPrivileges":       "systemd sets it for whoever filters calls and is not root",
		"DevicePolicy":          "PrivateDevices brings it along",
		"PrivateMounts":         "so does all that mounts",
		"RemoveIPC":             "PrivateIPC leaves nothing to remove",
		"SystemCallErrorNumber": "it would end the probe",
		"ProtectClock":          machine,
		"ProtectKernelLogs":     machine,
		"RestrictRealtime":      machine,
		"MemoryHigh":            limits,
		"MemoryMax":             limits,
		"TasksMax":              limits,
		"OOMPolicy":             limits,
	}
}

// isConfined tries what the unit forbids from inside of it. The same without the
// sandbox shows that each attempt could succeed; the same without one directive, that
// it is this one that forbids something.
func isConfined(a *appliance) {
	a.layOut()
	unit := a.run("cat", shippedUnit)
	ignored := ""
	if a.systemd() < 257 {
		ignored = "PrivateUsers"
	}
	sandboxed, bare := a.probe(unit, nil), a.probe(unit, directives(unit))
	for _, try := range forbidden() {
		if sandboxed[try.what] == "" && (try.what != becomeAnyone || ignored == "") {
			a.t.Errorf("in its sandbox the daemon could %s", try.what)
		}
		if bare[try.what] != "" {
			a.t.Errorf("without the sandbox it is refused as well (%s), so this shows nothing: %s", bare[try.what], try.what)
		}
	}
	for _, try := range needed() {
		if refused := sandboxed[try.what]; refused != "" {
			a.t.Errorf("in its sandbox the daemon could not %s: %s", try.what, refused)
		}
	}
	if testing.Short() {
		return
	}
	for _, directive := range directives(unit) {
		if hidden()[directive] != "" || directive == ignored {
			continue
		}
		var could []string
		for what, refused := range a.probe(unit, []string{directive}) {
			if refused == "" && sandboxed[what] != "" {
				could = append(could, what)
			}
		}
		if len(could) == 0 {
			a.t.Errorf("without %s= the same is refused", directive)
		}
		a.t.Logf("without %s= it could %s", directive, strings.Join(could, ", "))
	}
}

// systemd is the version of the machine's service manager.
func (a *appliance) systemd() int {
	a.t.Helper()
	var version int
	if _, err := fmt.Sscanf(a.run("systemctl", "--version"), "systemd %d", &version); err != nil {
		a.t.Fatal(err)
	}
	return version
}

// layOut puts there what the probe reaches for.
func (a *appliance) layOut() {
	a.t.Helper()
	program, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	a.run("rm", "-f", "/usr/local/bin/probe", probeDevice)
	a.run("mv", a.copyIn(program), "/usr/local/bin/probe")
	a.run("chmod", "0755", "/usr/local/bin/probe")
	a.run("mkdir", "-p", probeHome, probeFolder, probeModules, "/run/user/0")
	a.run("chmod", "0777", probeFolder)
	a.run("touch", probeNote)
	a.run("mknod", "--mode=0666", probeDevice, "c", "10", "200") // of tunnels: without a number in it, anybody may open it
}

// service is a unit's section [Service].
func service(unit string) string {
	_, text, _ := strings.Cut(unit, "[Service]\n")
	text, _, _ = strings.Cut(text, "\n[")
	return text + "\n"
}

// directives are those of a unit that say what it may do.
func directives(unit string) []string {
	var all []string
	for line := range strings.Lines(service(unit)) {
		name, _, set := strings.Cut(line, "=")
		if set && !strings.HasPrefix(line, "#") && !slices.Contains(aboutTheDaemon(), name) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// probe runs the probe in a unit, but without some of its directives, and returns what
// could be done: of each attempt why not, or "".
func (a *appliance) probe(unit string, without []string) map[string]string {
	a.t.Helper()
	const name, path, out = "probe.service", "/run/systemd/system/probe.service", "/run/probe.json"
	settings := "[Service]\nType=oneshot\nUser=pressbox\nGroup=pressbox\nStateDirectory=probe\nCacheDirectory=probe\n" +
		"ExecStart=/usr/local/bin/probe\nStandardOutput=truncate:" + out + "\nEnvironment=" + probing + "=all\n"
	for _, kind := range []string{"ipc", "uts", "mnt"} {
		settings += fmt.Sprintf("Environment=%s=%s\n", kind, a.run("readlink", "/proc/1/ns/"+kind))
	}
	for _, directive := range directives(unit) {
		for line := range strings.Lines(service(unit)) {
			if strings.HasPrefix(line, directive+"=") && !slices.Contains(without, directive) {
				settings += line
			}
		}
	}
	a.write(path, []byte(settings))
	a.run("systemctl", "daemon-reload")
	a.run("systemctl", "start", name)
	done := make(map[string]string)
	if err := json.Unmarshal([]byte(a.run("cat", out)), &done); err != nil {
		a.t.Fatal(err)
	}
	return done
}
