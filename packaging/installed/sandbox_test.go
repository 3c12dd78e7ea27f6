//go:build installed

package installed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

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

// probe runs the probe in a unit without some of its directives. It returns the error of each attempt, "" for success.
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

// probing is the environment variable that makes this program the probe: it attempts what
// the sandbox of the unit forbids and prints the results.
const probing = "PRESSBOX_PROBE"

func TestMain(m *testing.M) {
	if os.Getenv(probing) == "" {
		os.Exit(m.Run())
	}
	done := make(map[string]string)
	for _, a := range attempts() {
		done[a.what] = ""
		if err := a.do(); err != nil {
			done[a.what] = err.Error()
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(done); err != nil {
		panic(err)
	}
}

// Files on the host for the probe. The environment has the namespaces of the first process by kind.
const (
	probeNote    = "/tmp/probe.note"
	probeHome    = "/home/probe"
	probeFolder  = "/srv/probe"
	probeDevice  = "/srv/probe/device"
	probeModules = "/usr/lib/modules/probe"
)

// becomeAnyone is forbidden by PrivateUsers=identity, where systemd supports it.
const becomeAnyone = "become any user"

// An attempt is an action that a sandbox may forbid.
type attempt struct {
	what string
	do   func() error // returns nil if the action succeeded
}

// attempts returns the forbidden actions, then the needed ones.
func attempts() []attempt { return append(forbidden(), needed()...) }

var errConfined = errors.New("held")

// expectError returns an error if a fact shows the sandbox.
func expectError(is bool) error {
	if is {
		return errConfined
	}
	return nil
}

func forbidden() []attempt {
	return []attempt{
		{"gain privileges", func() error {
			set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			return errors.Join(err, expectError(set == 1))
		}},
		{"ever have a capability", func() error {
			status, err := os.ReadFile("/proc/self/status")
			return errors.Join(err, expectError(strings.Contains(string(status), "CapBnd:\t0000000000000000\n")))
		}},
		{"see the host's temporary files", stat(probeNote)},
		{"see devices", stat("/dev/net/tun")},
		{"use a device", open(probeDevice)},
		{"see a home", stat(probeHome)},
		{"see a session's sockets", stat("/run/user/0")},
		{"write outside its folders", write(filepath.Join(probeFolder, "written"))},
		{"share the host's IPC", sameNamespace("ipc")},
		{"rename the host", sameNamespace("uts")},
		{"mount for the host", sameNamespace("mnt")},
		{becomeAnyone, func() error {
			users, err := os.ReadFile("/proc/self/uid_map")
			return errors.Join(err, expectError(!strings.Contains(string(users), "4294967295")))
		}},
		{"read the kernel's modules", open(probeModules)},
		{"write tunables", writable("/proc/sys/net")},
		{"write control groups", writable("/sys/fs/cgroup")},
		{"see other processes", stat("/proc/1")},
		{"talk in another family", func() error {
			for _, family := range []int{unix.AF_ALG, unix.AF_VSOCK, unix.AF_CAN, unix.AF_BLUETOOTH} {
				for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET, unix.SOCK_RAW} {
					if connectable(family, kind) == nil {
						return nil
					}
				}
			}
			return unix.EAFNOSUPPORT
		}},
		{"make a namespace", func() error {
			cmd := exec.Command("/bin/true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
			return cmd.Run()
		}},
		{"make a program that changes its user", func() error {
			path, err := stateFile()
			if err != nil {
				return err
			}
			return os.Chmod(path, 0o700|fs.ModeSetuid)
		}},
		{"change its personality", func() error {
			const noRandomAddresses = 0x0040000
			_, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, noRandomAddresses, 0, 0)
			return result(errno)
		}},
		{"run what it has written", func() error {
			_, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC,
				unix.MAP_ANON|unix.MAP_PRIVATE)
			return err
		}},
		// the lowest priority, always permitted outside
		{"change priorities", func() error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 19) }},
		{"call as another architecture", callForeign},
		{"leave files that others can read", func() error {
			path, err := stateFile()
			if err != nil {
				return err
			}
			info, err := os.Stat(path)
			return errors.Join(err, expectError(info.Mode().Perm()&0o077 == 0))
		}},
		{"have as many files open as it likes", func() error {
			var limit unix.Rlimit
			err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
			return errors.Join(err, expectError(limit.Max == 8192))
		}},
		{"outlive others when memory is short", func() error {
			score, err := os.ReadFile("/proc/self/oom_score_adj")
			return errors.Join(err, expectError(string(score) == "200\n"))
		}},
	}
}

// needed returns the actions that the server needs.
func needed() []attempt {
	return []attempt{
		{"keep state", write(filepath.Join(os.Getenv("STATE_DIRECTORY"), "probe"))},
		{"keep a cache", write(filepath.Join(os.Getenv("CACHE_DIRECTORY"), "probe"))},
		{"know the processor", open("/proc/cpuinfo")},
		{"choose a processor", func() error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(0, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(0, &set)
		}},
		{"talk over IPv4", func() error { return connectable(unix.AF_INET, unix.SOCK_STREAM) }},
		{"talk over IPv6", func() error { return connectable(unix.AF_INET6, unix.SOCK_STREAM) }},
		{"talk to a sound server", func() error { return connectable(unix.AF_UNIX, unix.SOCK_STREAM) }},
		{"know its network", func() error { return connectable(unix.AF_NETLINK, unix.SOCK_RAW) }},
		{"run espeak-ng", func() error { return exec.Command("espeak-ng", "--version").Run() }},
	}
}

// callForeign calls getpid with the x32 ABI. The system-call filter ends the thread that does.
func callForeign() error {
	const getpid = 0x40000000 | 39
	answered, thread := make(chan struct{}), make(chan int)
	go func() {
		runtime.LockOSThread()
		thread <- unix.Gettid()
		_, _, _ = unix.Syscall(getpid, 0, 0, 0) // any answer will do, also ENOSYS
		close(answered)
	}()
	path := fmt.Sprintf("/proc/self/task/%d/status", <-thread)
	for {
		status, err := os.ReadFile(path)
		select {
		case <-answered:
			return nil
		default:
		}
		if err != nil || strings.Contains(string(status), "(zombie)") { // the first thread stays a zombie
			return unix.ESRCH
		}
		runtime.Gosched()
	}
}

func stat(path string) func() error {
	return func() error {
		_, err := os.Stat(path)
		return err
	}
}

func open(path string) func() error {
	return func() error {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
}

func write(path string) func() error {
	return func() error { return os.WriteFile(path, nil, 0o666) }
}

// writable returns an action that succeeds if the file system at path is mounted writable.
func writable(path string) func() error {
	return func() error {
		var st unix.Statfs_t
		err := unix.Statfs(path, &st)
		return errors.Join(err, expectError(st.Flags&unix.ST_RDONLY != 0))
	}
}

// sameNamespace returns an action that succeeds in the namespace of the host's first process.
func sameNamespace(kind string) func() error {
	return func() error {
		own, err := os.Readlink("/proc/self/ns/" + kind)
		return errors.Join(err, expectError(own != os.Getenv(kind)))
	}
}

func connectable(family, kind int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// stateFile creates an empty file in the state folder.
func stateFile() (path string, err error) {
	path = filepath.Join(os.Getenv("STATE_DIRECTORY"), "probe.file")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, os.WriteFile(path, nil, 0o666)
}

func result(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// The limits of the unit are sufficient for everything that the server does. Under a limit that is too small, the
// server is killed and restarted, and waiting clients are answered as soon as the limit is raised.
func TestLimits_enforced(t *testing.T) {
	s := newServer(boot(t, "bookworm", "limits"))
	version1 := s.exists("/sys/fs/cgroup/memory")
	if version1 { // systemd-nspawn mounts them read-only
		for _, controller := range []string{"memory", "pids"} {
			s.run("mount", "--options=remount,bind,rw", "/sys/fs/cgroup/"+controller)
		}
		s.run("systemctl", "daemon-reexec")
	}
	s.run("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", s.copyIn(currentPackage(t)))
	s.checkSpeech()
	game := s.play()
	s.run("pressbox", "backup", "/root/backup.db")
	s.run("systemctl", "restart", "pressbox.service")
	s.until("the voice is calibrated", s.calibrated)
	s.checkSpeech()
	game.finish()

	files := limitFiles(version1)
	check.Equal(t, s.readNumber(files.memory), 768<<20, "%s", files.memory)
	check.Equal(t, s.readNumber(files.tasks), 256, "%s", files.tasks)
	if peak := s.readNumber(files.peak); peak > 512<<20 {
		t.Errorf("peak memory is %d MiB, MemoryHigh is 512 MiB", peak>>20)
	} else {
		t.Logf("peak memory %d MiB", peak>>20)
	}
	now := s.readNumber(files.now)
	check.That(t, now <= 128, "the unit has %d tasks, want at most half of its limit of 256", now)

	since := s.now()
	s.run("systemctl", "set-property", "--runtime", "pressbox.service", "MemoryMax=24M", "MemoryHigh=24M")
	s.run("systemctl", "restart", "--no-block", "pressbox.service")
	s.logged(since, "Failed with result")
	answered := make(chan error)
	go func() {
		_, err := s.Request("GET", "/health", nil, nil)
		answered <- err
	}()
	s.run("systemctl", "set-property", "--runtime", "pressbox.service", "MemoryMax=768M", "MemoryHigh=512M")
	check.NoError(t, <-answered)
	s.checkSpeech()
}

// limitPaths are the files of a unit's control group: the limit and the usage of memory and of tasks.
type limitPaths struct{ memory, peak, tasks, now string }

func limitFiles(version1 bool) limitPaths {
	const unit = "/system.slice/pressbox.service/"
	const first, second, both = "/sys/fs/cgroup/memory" + unit, "/sys/fs/cgroup/pids" + unit, "/sys/fs/cgroup" + unit
	if version1 {
		return limitPaths{
			first + "memory.limit_in_bytes", first + "memory.max_usage_in_bytes",
			second + "pids.max", second + "pids.current",
		}
	}
	return limitPaths{both + "memory.max", both + "memory.peak", both + "pids.max", both + "pids.current"}
}

// readNumber returns the number in a file on the host.
func (s *server) readNumber(path string) int {
	s.t.Helper()
	return check.Must(strconv.Atoi(s.run("cat", path)))(s.t)
}
