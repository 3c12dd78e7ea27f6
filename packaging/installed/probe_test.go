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
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

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
