// Package confine runs a program that needs nothing but its libraries, its data and the files that it has
// inherited.
//
// One law: a confined program reads only [readable], writes only to what it has inherited, and starts,
// signals and reaches nothing else. Landlock restricts files and TCP, seccomp allows only the system calls in
// [allowed], and resource limits bound memory and files. What the kernel does not support is left out, and
// [Missing] reports it.
//
// These restrictions are of a thread and outlive execve, so that they cannot be set between fork and execve
// by os/exec. Therefore a server runs itself as a helper, by [Command]: its main function calls [Main] first,
// which restricts one thread and replaces the process by the program. Nothing of the helper remains in
// memory.
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

// Command returns the beginning of a command that runs a program confined: its file and its arguments follow.
// It is for programs whose main function calls [Main]. The running file is used, not its name, so that an
// upgrade does not mix versions.
func Command() []string { return []string{"/proc/self/exe", argument} }

// Main returns unless args, the process's arguments, are those of the helper. Then it becomes the program
// that they name, or ends the process with status 1.
func Main(args []string) {
	if len(args) < 3 || args[1] != argument {
		return
	}
	err := run(args[2], args[2:])
	fmt.Fprintf(os.Stderr, "run %s confined: %v\n", args[2], err)
	os.Exit(1)
}

// Missing returns an error that names what the kernel cannot restrict, nil if it supports everything.
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
	runtime.GOMAXPROCS(1)  // no other goroutine runs while this one makes raw calls
	fd, err := openProgram(path)
	if err != nil {
		return err
	}
	program, err := newProgram(fd, argv, environment())
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := restrictFiles(path); err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	if seccompSupported() == nil {
		return program.exec()
	}
	if errno := program.limitResources(); errno != 0 {
		return fmt.Errorf("limit resources: %w", errno)
	}
	return unix.Exec(path, argv, environment())
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

// openProgram opens the file at path for [program.exec]. The descriptor is at least maxFiles, so that the
// program, in which it is closed, cannot open another with this number. All others but the standard ones are
// closed in the program, too.
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

// A program is what the last calls of the helper need. They allocate nothing: the limit of memory applies to
// the helper as well, whose runtime may have more.
type program struct {
	fd         uintptr
	name       *byte // "": fd is the program itself
	argv, envv []*byte
	calls      unix.SockFprog
	limits     []resourceLimit
}

type resourceLimit struct {
	resource uintptr
	value    unix.Rlimit
}

// newProgram returns the program in fd with its arguments, its environment and its limits. CPU time is not
// limited: the program answers for weeks.
func newProgram(fd int, argv, env []string) (*program, error) {
	calls := filter(fd)
	p := &program{
		fd:    uintptr(fd),
		name:  new(byte),
		calls: unix.SockFprog{Len: uint16(len(calls)), Filter: &calls[0]}, //nolint:gosec // the kernel's limit is lower
		limits: []resourceLimit{
			{unix.RLIMIT_CORE, unix.Rlimit{}},
			{unix.RLIMIT_NOFILE, unix.Rlimit{Cur: maxFiles, Max: maxFiles}},
			{unix.RLIMIT_DATA, unix.Rlimit{Cur: maxData, Max: maxData}},
		},
	}
	var argErr, envErr error
	p.argv, argErr = syscall.SlicePtrFromStrings(argv)
	p.envv, envErr = syscall.SlicePtrFromStrings(env)
	return p, errors.Join(argErr, envErr)
}

// exec limits resources and system calls and replaces the process by the program: the only call of its kind
// that the [filter] allows.
func (p *program) exec() error {
	if errno := p.limitResources(); errno != 0 {
		return fmt.Errorf("limit resources: %w", errno)
	}
	calls := uintptr(unsafe.Pointer(&p.calls)) //nolint:gosec // seccomp(2)
	_, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, calls, 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("restrict system calls: %w", errno)
	}
	//nolint:gosec // execveat(2)
	name, args, env := unsafe.Pointer(p.name), unsafe.Pointer(&p.argv[0]), unsafe.Pointer(&p.envv[0])
	_, _, errno = unix.RawSyscall6(unix.SYS_EXECVEAT, p.fd, uintptr(name), uintptr(args), uintptr(env),
		unix.AT_EMPTY_PATH, 0)
	return fmt.Errorf("execveat: %w", errno)
}

// limitResources sets limits that the program cannot raise.
func (p *program) limitResources() syscall.Errno {
	for i := range p.limits {
		l := &p.limits[i]
		//nolint:gosec // prlimit(2)
		_, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, l.resource, uintptr(unsafe.Pointer(&l.value)), 0, 0, 0)
		if errno != 0 {
			return errno
		}
	}
	return 0
}

// readable returns the files and directories that a program may read: libraries, and espeak-ng's data, of the
// system and of the place where the program is installed.
func readable(program string) []string {
	paths := []string{"/etc/ld.so.cache"}
	for _, prefix := range []string{"/", "/usr", "/usr/local", filepath.Dir(filepath.Dir(program))} {
		for _, name := range []string{"lib", "lib32", "lib64", "share/espeak-ng-data"} {
			paths = append(paths, filepath.Join(prefix, name))
		}
	}
	return paths
}
