// Package confine runs a program that needs nothing but its libraries, its data and the
// files that it has inherited.
//
// One law: a confined program reads only [readable], writes only to what it has inherited,
// and starts, signals and reaches nothing else. Landlock restricts files and TCP, seccomp
// allows only the system calls in [allowed], and resource limits bound memory and files.
// What the kernel does not support is left out, and [Missing] reports it.
//
// These restrictions are of a thread and outlive execve, so that they cannot be set between
// fork and execve by os/exec. Therefore a server runs itself as a helper, by [Command]: its
// main function calls [Main] first, which restricts one thread and replaces the process by
// the program. Nothing of the helper remains in memory.
package confine

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// argument is the first argument of the helper.
const argument = "confined-run"

// Limits of a confined program. espeak-ng uses 5 files and 18 MiB at most.
const (
	maxFiles = 32
	maxData  = 128 << 20 // bytes of private memory
)

// Command returns the beginning of a command that runs a program confined: its file and its
// arguments follow. It is for programs whose main function calls [Main]. The running file is
// used, not its name, so that an upgrade does not mix versions.
func Command() []string { return []string{"/proc/self/exe", argument} }

// Main returns unless args, the process's arguments, are those of the helper. Then it becomes
// the program that they name, or ends the process with status 1.
func Main(args []string) {
	if len(args) < 3 || args[1] != argument {
		return
	}
	err := run(args[2], args[2:])
	fmt.Fprintf(os.Stderr, "run %s confined: %v\n", args[2], err)
	os.Exit(1)
}

// Missing returns an error that names what the kernel cannot restrict, nil if it supports
// everything.
func Missing() error {
	var missing []error
	if _, err := landlockVersion(); err != nil {
		missing = append(missing, fmt.Errorf("landlock: %w", err))
	}
	if err := seccompSupported(); err != nil {
		missing = append(missing, fmt.Errorf("seccomp: %w", err))
	}
	return errors.Join(missing...)
}

// run becomes the program at path. It returns only if that fails.
func run(path string, argv []string) error {
	runtime.LockOSThread() // what follows restricts this thread only
	debug.SetGCPercent(-1) // the collector makes calls that are not allowed
	env := environment()   // before memory is limited
	fd, err := openProgram(path)
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := restrictFiles(path); err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	if err := limitResources(); err != nil {
		return fmt.Errorf("limit resources: %w", err)
	}
	restricted, err := restrictCalls(fd)
	if err != nil {
		return fmt.Errorf("restrict system calls: %w", err)
	}
	if !restricted {
		return unix.Exec(path, argv, env)
	}
	return execFile(fd, argv, env)
}

// environment returns the variables that the program gets: no secret is among them.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "PATH=") || strings.HasPrefix(v, "LANG=") {
			env = append(env, v)
		}
	}
	return env
}

// openProgram opens the file at path for [execFile]. The descriptor is at least maxFiles, so
// that the program, in which it is closed, cannot open another with this number. All others
// but the standard ones are closed in the program, too.
func openProgram(path string) (fd int, err error) {
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) {
		return 0, fmt.Errorf("close inherited files: %w", err)
	}
	file, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open the program: %w", err)
	}
	fd, err = unix.FcntlInt(uintptr(file), unix.F_DUPFD_CLOEXEC, maxFiles)
	if err != nil {
		return 0, fmt.Errorf("number the program's file: %w", err)
	}
	return fd, nil
}

// limitResources sets limits that the program cannot raise. CPU time is not limited: the
// program answers for weeks.
func limitResources() error {
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_DATA: maxData, unix.RLIMIT_NOFILE: maxFiles, unix.RLIMIT_CORE: 0,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}

// execFile replaces the process by the program in fd. The call is the only one that
// [restrictCalls] allows for it.
func execFile(fd int, argv, env []string) error {
	empty, err := unix.BytePtrFromString("")
	if err != nil {
		return err
	}
	argvp, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	envp, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(empty)), //nolint:gosec // execveat(2)
		uintptr(unsafe.Pointer(&argvp[0])), uintptr(unsafe.Pointer(&envp[0])), unix.AT_EMPTY_PATH, 0) //nolint:gosec // execveat(2)
	return fmt.Errorf("execveat: %w", errno)
}

// readable returns the files and directories that a program may read: libraries, and
// espeak-ng's data, of the system and of the place where the program is installed.
func readable(program string) []string {
	paths := []string{"/etc/ld.so.cache"}
	for _, prefix := range []string{"/", "/usr", "/usr/local", filepath.Dir(filepath.Dir(program))} {
		for _, name := range []string{"lib", "lib32", "lib64", "share/espeak-ng-data"} {
			paths = append(paths, filepath.Join(prefix, name))
		}
	}
	return paths
}
